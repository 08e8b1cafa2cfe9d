"""toolyard link, unlink and import: the files of the clients on this machine."""
