"""Coarser views of a graph: one node a module instead of one an operator."""

from __future__ import annotations

from problems.graph import OpGraph


def coarsen(graph: OpGraph, level: str) -> OpGraph:
    """Contract `graph` to a level; so far the operators themselves."""
    if level != "operator":
        raise NotImplementedError(level)
    return graph
