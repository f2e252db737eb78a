"""Placements from graph partitioners: the graph they see, the cuts' way to valid placements."""
