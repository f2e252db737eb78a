"""A cheap lower bound that a throughput model starts from, so that no search must find it again."""

from __future__ import annotations

from problems.bounds.load_lp import load_lp
from problems.bounds.node_bound import node
from problems.instance import Instance


def floor(instance: Instance) -> float:
    """The better of load LP and heaviest group, in seconds."""
    bounds = [each for each in (load_lp, node) if each.valid_for(instance) is None]
    return max((each(instance).value for each in bounds), default=0.0)
