"""The edges: instances on which methods go wrong, each with a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from problems.generate.random import random_bundle
from problems.generate.samples import KINDS
from problems.instance import Bundle, Instance
from problems.platform import Timing
from problems.resolve import from_bundle
from problems.single import best_single


@dataclass(frozen=True)
class Case:
    """An instance at an edge.

    Attributes
    ----------
    name : str
        What is at the edge, and the problem: ``one-node-latency-ports``.
    feasible : bool
        Whether it has an answer.
    """

    name: str
    bundle: Bundle
    feasible: bool = True

    @cached_property
    def instance(self) -> Instance:
        """The resolved instance."""
        return from_bundle(self.bundle, self.name)

    @cached_property
    def single(self) -> float | None:
        """Objective of the best single device in seconds; None where no device takes everything."""
        found = best_single(self.instance)
        return None if found is None else found[1]


# What each edge has on top of eight nodes on three devices; `problem` where it is for one only.
EDGES: dict[str, dict[str, Any]] = {
    "one-node": {"n": 1},
    "one-device": {"devices": 1},
    "disconnected": {"density": 0.0},
    "tight-memory": {"tight": 1.25, "memory": "total"},
    "unsupported": {"unsupported": 0.5},
    "ties": {"ties": True, "like": True},
    "zero-time": {"change": "zero"},
    "nothing-takes-time": {"change": "all-zero"},
    "shared-weights": {"tied": 4, "memory": "weights", "tight": 1.6, "colocate_tied": True},
    "colocation": {"groups": 4},
    "training": {"training": True, "groups": 3},
    "contiguous": {"problem": "throughput", "contiguous": True, "tight": 1.5},
    "split-phases": {"problem": "throughput", "training": True, "split_phases": True},
    "mixture": {"problem": "throughput", "replicate": "mixture"},
    "direct-links": {"topology": "direct", "uneven": True, "only": ("throughput", "latency")},
    "unlimited-host": {"problem": "latency", "unlimited": True},
    "infeasible": {"tight": 0.4, "memory": "total"},
}
_RULES = ("memory", "colocate_tied", "contiguous", "overlap", "split_phases", "replicate")
LARGE = {"n": 400, "devices": 4, "density": 0.02}
MEDIUM = {"n": 24, "devices": 4, "density": 0.2, "tied": 3, "groups": 2, "unsupported": 0.2}


def edges(problems: tuple[str, ...]) -> Iterator[Case]:
    """Every edge for every kind of these problems."""
    for label, kind in _kinds(problems):
        for name, traits in EDGES.items():
            only = traits.get("only", (traits.get("problem", kind["problem"]),))
            if kind["problem"] in only:
                yield _case(f"{name}-{label}", kind, traits, name != "infeasible")


def medium(problems: tuple[str, ...]) -> Iterator[Case]:
    """One instance a kind that is large enough for the order of sets to show."""
    for label, kind in _kinds(problems):
        yield _case(f"medium-{label}", kind, MEDIUM)


def large(problems: tuple[str, ...]) -> Iterator[Case]:
    """One instance a kind that takes some time."""
    for label, kind in _kinds(problems):
        yield _case(f"large-{label}", kind, LARGE)


def _kinds(problems: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in KINDS:
        if kind["problem"] in problems:
            yield "-".join([kind["problem"], *kind.get("rules", {}).values()]), kind


def _case(name: str, kind: dict[str, Any], traits: dict[str, Any], feasible: bool = True) -> Case:
    given = {"n": 8, "devices": 3, "density": 0.4} | traits
    rules = kind.get("rules", {}) | {key: given.pop(key) for key in _RULES if key in given}
    change: Callable[[Bundle], Bundle] = _CHANGES[given.pop("change", "")]
    for key in ("problem", "only"):
        given.pop(key, None)
    bundle = random_bundle(_SEED, problem=kind["problem"], rules=rules, **given)
    return Case(name, change(bundle), feasible)


_SEED = 3


def _with_zeros(every: int) -> Callable[[Bundle], Bundle]:
    def change(bundle: Bundle) -> Bundle:
        devices = {
            name: msgspec.structs.replace(
                file,
                times={
                    signature: Timing(0.0, 0.0, 0.0, 1) if i % every == 0 else timing
                    for i, (signature, timing) in enumerate(file.times.items())
                },
            )
            for name, file in bundle.devices.items()
        }
        return msgspec.structs.replace(bundle, devices=devices)

    return change


_CHANGES: dict[str, Callable[[Bundle], Bundle]] = {
    "": lambda bundle: bundle,
    "zero": _with_zeros(2),
    "all-zero": _with_zeros(1),
}
