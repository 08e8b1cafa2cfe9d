"""Bytes in, bytes out. Know a Handler, know no tools."""
