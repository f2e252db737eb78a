"""The theoretical lower bound of an instance: the largest of the valid ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Imported for their entries in the registry.
from problems.bounds import (
    block,
    block_position,
    calls_path,
    chain,
    critical_path,
    destructive,
    head_tail_load,
    headtail,
    joint_lp,
    load_lp,
    local_polytope,
    node_bound,
    node_cut,
    pipeline,
    series,
    set_partition,
    spans,
)
from problems.bounds.registry import REGISTRY, SECONDS, Bound, Effort
from problems.instance import Instance

__all__ = [
    "Theoretical",
    "block",
    "block_position",
    "calls_path",
    "chain",
    "critical_path",
    "destructive",
    "head_tail_load",
    "headtail",
    "joint_lp",
    "load_lp",
    "local_polytope",
    "node_bound",
    "node_cut",
    "pipeline",
    "series",
    "set_partition",
    "spans",
    "theoretical",
]


@dataclass(frozen=True)
class Theoretical:
    """The largest bound, with all that were computed.

    Attributes
    ----------
    value : float
        Seconds; 0 where no bound is valid.
    bounds : tuple of Bound
        Every valid bound, largest first.
    refused : tuple of (str, str)
        (name, reason) of the bounds that are not valid for the instance.
    left_out : tuple of str
        Valid bounds that search, where only cheap ones were asked for.
    """

    value: float
    bounds: tuple[Bound, ...]
    refused: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()


def theoretical(
    instance: Instance,
    effort: Effort = "cheap",
    seconds: float = SECONDS,
    known: Iterable[Bound] = (),
) -> Theoretical:
    """Compute the bounds that are valid for an instance.

    Parameters
    ----------
    effort : {'cheap', 'search'}
        Only what takes seconds at most a few, or also the bounds that search.
    seconds : float
        What each bound that searches may take.
    known : iterable of Bound
        Bounds of this instance that the caller vouches for; those are not computed again. One that
        the instance refuses is not used.
    """
    given = {each.name: each for each in known}
    bounds: list[Bound] = []
    refused: list[tuple[str, str]] = []
    left_out: list[str] = []
    for entry in REGISTRY.values():
        reason = entry.valid_for(instance)
        if reason is not None:
            refused.append((entry.name, reason))
        elif entry.name in given:
            bounds.append(given[entry.name])
        elif entry.effort == "cheap" or effort == "search":
            bounds.append(entry(instance, seconds))
        else:
            left_out.append(entry.name)
    bounds.sort(key=lambda each: -each.value)
    value = bounds[0].value if bounds else 0.0
    return Theoretical(value, tuple(bounds), tuple(refused), tuple(left_out))
