"""A lower bound that a throughput method starts from, so that no search must find it again."""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np

from problems.bounds.load_lp import load_lp
from problems.bounds.local_polytope import LARGEST_LP, local_polytope
from problems.bounds.node_bound import node
from problems.bounds.node_cut import node_cut
from problems.bounds.registry import Bounder
from problems.instance import Instance

SHARE = 0.1
"""Of the time left that the dearer bounds may take, by their estimates."""
NODE_CUT = 1.0
"""Seconds that the minimum cuts take at most, roughly: their number is limited."""
FIRST_CUTS = 1_000_000
"""Groups x (nodes + edges) from which on they take that long."""
POLYTOPE = 3.0
"""Seconds of the largest local polytope, roughly; the LP grows faster than its size."""

_FOUND: WeakKeyDictionary[Instance, float] = WeakKeyDictionary()
"""What was proved of an instance that is in use: method, model and rows ask one after the other."""


def floor(instance: Instance, seconds: float = 0.0, enough: float = np.inf) -> float:
    """The best of load LP, heaviest group and what `seconds` allow of the dearer bounds.

    Parameters
    ----------
    seconds : float
        Time left to the method, of which :data:`SHARE` may go into it.
    enough : float
        Value in seconds of a known answer, beyond which no bound helps.

    Returns
    -------
    float
        Seconds; at least what was returned for the same instance before.
    """
    value = _FOUND.get(instance)
    if value is None:
        value = _best(instance, [load_lp, node])
    for each, cost in ((local_polytope, _of_polytope), (node_cut, _of_cuts)):
        if value < enough and cost(instance) <= SHARE * seconds:
            value = max(value, _best(instance, [each]))
    _FOUND[instance] = value
    return value


def _best(instance: Instance, bounds: list[Bounder]) -> float:
    held = [each for each in bounds if each.valid_for(instance) is None]
    return max((each(instance).value for each in held), default=0.0)


def _of_polytope(instance: Instance) -> float:
    size = len(np.unique(instance.device_class)) * (instance.n + 2 * instance.m)
    return POLYTOPE * math.pow(size / LARGEST_LP, 1.5)


def _of_cuts(instance: Instance) -> float:
    """Estimated seconds; inf where a host takes the groups that are dear elsewhere."""
    if instance.host.any():
        return np.inf
    groups = int(instance.group.max()) + 1
    return NODE_CUT * min(1.0, groups * (instance.n + instance.m) / FIRST_CUTS)
