"""Symmetry: what may change places without changing any objective.

:mod:`problems.symmetry.servers` devices one by one and in whole servers;
:mod:`problems.symmetry.automorphisms` nodes, for repeated parallel branches;
:mod:`problems.symmetry.layers` blocks of nodes that repeat one after another.
"""
