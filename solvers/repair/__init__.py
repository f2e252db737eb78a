"""Repair of partitions for a one-way chain of chips (problem `chips`): SAMPLE and FIX.

SAMPLE draws the chip of one node after another from given probabilities, restricted to what
propagation of the rules still allows; FIX keeps every value of a given candidate that propagation
still allows and completes the rest. Both are those of arXiv 2112.04041 (Xie et al. 2022), with a
compiled propagator of our own in place of a general solver; :mod:`solvers.repair.reference` is the
same as a CP-SAT model, for small cases. The door is :class:`solvers.repair.modes.Repair`.
"""
