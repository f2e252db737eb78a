"""Throughput with ``replicate: mixture``: column generation over mappings."""
