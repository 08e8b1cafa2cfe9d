"""Tools made from tools. Pure: no I/O, no tasks, no clock, no environment."""
