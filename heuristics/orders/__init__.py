"""Slices of one order of units: the dynamic program over them, and where orders come from."""
