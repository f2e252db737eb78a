"""A learned policy for placing units on chips or devices; its proposals are repaired by search.

After Xie et al. 2022 (arXiv 2112.04041), of which only the abstract could be read: the details are
ours. :mod:`~heuristics.rl.task` is what a policy sees of an instance,
:mod:`~heuristics.rl.features` turns it into numbers, :mod:`~heuristics.rl.policy` is the network,
:mod:`~heuristics.rl.rounds` proposes and repairs, :mod:`~heuristics.rl.ppo` learns from that.
Modules that import torch, an optional package, say so; :mod:`heuristics.policy` is the entry.
"""
