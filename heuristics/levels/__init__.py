"""Coarser and coarser views of an instance, for `multilevel`."""
