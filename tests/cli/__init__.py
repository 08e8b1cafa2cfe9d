"""Tests of the commands, each run as the program that its users start."""
