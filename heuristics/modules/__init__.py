"""Modules of a graph, solved one after another: the parts of :mod:`heuristics.splitting`."""
