"""Constructive answers that searches start from, by problem."""
