"""Measurements: each module prints a figure, README.md holds the last ones and the commands."""
