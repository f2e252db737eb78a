"""The theoretical lower bound of an instance: the largest of the cheap valid ones."""

from __future__ import annotations

from dataclasses import dataclass

# Imported for their entries in the registry.
from problems.bounds import critical_path, headtail, load_lp, node_bound
from problems.bounds.registry import REGISTRY, Bound
from problems.instance import Instance

__all__ = ["Theoretical", "critical_path", "headtail", "load_lp", "node_bound", "theoretical"]


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
    """

    value: float
    bounds: tuple[Bound, ...]
    refused: tuple[tuple[str, str], ...] = ()


def theoretical(instance: Instance) -> Theoretical:
    """Compute every cheap bound that is valid for an instance; seconds at most a few."""
    bounds: list[Bound] = []
    refused: list[tuple[str, str]] = []
    for entry in REGISTRY.values():
        reason = entry.valid_for(instance)
        if reason is None:
            bounds.append(entry(instance))
        else:
            refused.append((entry.name, reason))
    bounds.sort(key=lambda each: -each.value)
    value = bounds[0].value if bounds else 0.0
    return Theoretical(value, tuple(bounds), tuple(refused))
