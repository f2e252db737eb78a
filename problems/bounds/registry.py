"""What a lower bound is, and the registry of all of them.

Declaring a bound is adding one file with a function ``(instance) -> (value, note)``::

    from problems.bounds.registry import bound

    @bound("critical-path", problems=["latency"], rules=["contention", "memory"])
    def critical_path(instance):
        ...

and its module to :mod:`problems.bounds.theoretical`. A bound that searches (branch and bound,
column generation) is declared with ``effort="search"``; its function is ``(instance, seconds) ->
(value, note)`` and returns the best bound that is proved when the seconds are over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from problems.instance import Instance
from problems.rules import given

Compute = Callable[..., tuple[float, str]]
Effort = Literal["cheap", "search"]
SECONDS = 60.0
"""What a bound that searches may take unless told otherwise."""
UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True)
class Bound:
    """A proved lower bound of one instance.

    Attributes
    ----------
    name : str
        Which bound it is.
    value : float
        Seconds, rounded down; finite and at least 0.
    seconds : float
        What it took to compute.
    note : str
        Why it holds: the path, the multipliers, the node.
    """

    name: str
    value: float
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Bounder:
    """A registered bound.

    Attributes
    ----------
    compute : callable
        Instance -> (value in seconds, note); with ``effort="search"``, (instance, seconds that it
        may take) -> the same.
    problems : tuple of str
        Problems that it bounds.
    rules : frozenset of str
        Rules under which, whatever their value, the proof holds. An instance that sets any other
        rule is refused, so that a rule added later voids no result silently.
    refuses : callable
        Instance -> why the bound does not hold or says nothing there, or None.
    effort : {'cheap', 'search'}
        Polynomial and the same on every machine, or as good as the seconds it is given.
    version : int
        Raised whenever its values may change or its proof does: stored values of another version
        are void.
    """

    name: str
    compute: Compute
    problems: tuple[str, ...]
    rules: frozenset[str]
    refuses: Callable[[Instance], str | None] = lambda instance: None
    effort: Effort = "cheap"
    version: int = 1

    def valid_for(self, instance: Instance) -> str | None:
        """Why the bound is refused for an instance; None where it holds."""
        if instance.problem not in self.problems:
            return f"{self.name} bounds {', '.join(self.problems)}, not {instance.problem}"
        unknown = sorted(set(given(instance.rules)) - self.rules)
        if unknown:
            return f"{self.name} is not proved under the rules {', '.join(unknown)}"
        return self.refuses(instance)

    def covers(self, problem: str, rules: Mapping[str, object]) -> bool:
        """Whether the bound is one for a problem under `rules`, as far as these alone tell."""
        return problem in self.problems and set(rules) <= self.rules

    def __call__(self, instance: Instance, seconds: float = SECONDS) -> Bound:
        """Compute the bound; `seconds` limit one that searches.

        Raises
        ------
        ValueError
            If the bound is not valid for the instance.
        ArithmeticError
            If what it computes is no number.
        """
        refusal = self.valid_for(instance)
        if refusal is not None:
            raise ValueError(f"{instance.id}: {refusal}")
        begin = time.perf_counter()
        limit = (seconds,) if self.effort == "search" else ()
        value, note = self.compute(instance, *limit)
        if not math.isfinite(value):
            raise ArithmeticError(f"{instance.id}: the bound {self.name} came out as {value}")
        return Bound(self.name, max(value, 0.0), time.perf_counter() - begin, note)


REGISTRY: dict[str, Bounder] = {}


def bound(
    name: str,
    *,
    problems: Sequence[str],
    rules: Sequence[str],
    refuses: Callable[[Instance], str | None] = lambda instance: None,
    effort: Effort = "cheap",
    version: int = 1,
) -> Callable[[Compute], Bounder]:
    """Register the decorated function as a bound; see :class:`Bounder`.

    Raises
    ------
    ValueError
        If the name is taken.
    """

    def decorate(compute: Compute) -> Bounder:
        if name in REGISTRY:
            raise ValueError(f"bound name {name!r} is taken")
        entry = Bounder(name, compute, tuple(problems), frozenset(rules), refuses, effort, version)
        REGISTRY[name] = entry
        return entry

    return decorate


def slack(magnitude: float, terms: int) -> float:
    """What rounding can change in a sum of `terms` numbers; `magnitude` is the sum of their sizes.

    Twice the classical bound: once for the bound, once for the objective that it is held against.
    """
    return 2 * (terms + 8) * UNIT_ROUNDOFF * magnitude


def round_down(value: float, terms: int) -> float:
    """Lower a sum of `terms` numbers, none of them negative, by its :func:`slack`."""
    return value - slack(value, terms)
