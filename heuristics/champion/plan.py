"""The plan: which part runs when, and for which share of the time that is left.

A plan is chosen by problem, size and limit alone. What a part leaves of its share falls to those
after it, so that a plan ends with a part that can use any time. Sizes and limits are upper ends of
classes; the first row that fits holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from problems import ports
from problems.instance import Instance
from problems.rules import ThroughputRules

Kind = Literal["heuristic", "exact", "bound"]
Parts = Literal["all", "heuristic", "exact"]
KINDS: dict[str, Kind] = {
    "bounds": "bound",
    "greedy": "heuristic",
    "lists": "heuristic",
    "starts": "heuristic",
    "walk": "heuristic",
    "sprint": "heuristic",
    "race": "heuristic",
    "annealing": "heuristic",
    "splitting": "heuristic",
    "long-annealing": "heuristic",
    "lns": "heuristic",
    "runs": "exact",
    "dp": "exact",
    "stages": "exact",
    "prefix@highs": "exact",
    "assign@highs": "exact",
    "intervals": "exact",
    "slots": "exact",
}
"""Kind of every part by name; see :mod:`heuristics.champion.parts`."""


ENDLESS = ("stages", "prefix@highs", "assign@highs", "intervals", "slots")
"""Parts that have no fixed effort: without a deadline they run on tiny instances only."""


@dataclass(frozen=True)
class Row:
    """A plan and where it holds.

    Attributes
    ----------
    problem : str
        A problem, or ``contiguous`` for `throughput` along a chain, or ``ports`` for `latency`
        with contended ports.
    places : float
        Holds up to so many places: nodes times devices.
    limit : float
        Holds up to so many seconds; inf for a run without a deadline, too.
    steps : tuple of (str, float)
        Part, and share of the time left that it may take.
    """

    problem: str
    places: float
    limit: float
    steps: tuple[tuple[str, float], ...]


TINY = 60
"""Places of an instance on which all parts run, proved or not: it takes no time, and whatever is
compiled at first use is ready afterwards. Walks and windows come before what proves, as they stop
at an answer that meets a bound, and take little of the time: what proves has to come to its end."""

ANY = math.inf

PLANS = (
    # Along a chain the program over ideals proves most; where it is too large, stages often do.
    Row("contiguous", TINY, ANY, (
        ("greedy", 0.2), ("starts", 0.2), ("annealing", 0.1), ("lns", 0.2), ("dp", 0.6),
        ("bounds", 0.5), ("stages", 0.5), ("prefix@highs", 0.9),
    )),
    Row("contiguous", 10_000, 0.5, (
        ("greedy", 0.3), ("dp", 0.4), ("annealing", 0.4), ("lns", 1.0),
    )),
    Row("contiguous", 10_000, 5.0, (
        ("bounds", 0.2), ("greedy", 0.2), ("dp", 0.6), ("annealing", 0.3), ("lns", 1.0),
    )),
    Row("contiguous", 5_000, 30.0, (
        ("bounds", 0.1), ("greedy", 0.1), ("dp", 0.4), ("stages", 0.5), ("starts", 0.3),
        ("lns", 0.4), ("prefix@highs", 0.5), ("lns", 1.0),
    )),
    # What stages take in a minute is better spent on windows, and they do not prove more by it.
    Row("contiguous", 5_000, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("starts", 0.2), ("dp", 0.3), ("annealing", 0.1),
        ("lns", 0.5), ("stages", 0.6), ("prefix@highs", 0.4), ("lns", 1.0),
    )),
    Row("contiguous", 10_000, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("dp", 0.4), ("starts", 0.3), ("lns", 1.0),
    )),
    Row("contiguous", ANY, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("starts", 0.3), ("annealing", 0.4), ("lns", 1.0),
    )),
    # Placed freely, windows beat whole models unless these are small.
    Row("throughput", TINY, ANY, (
        ("greedy", 0.2), ("starts", 0.5), ("annealing", 0.1), ("lns", 0.2), ("bounds", 0.5),
        ("stages", 0.5), ("assign@highs", 0.9),
    )),
    Row("throughput", 10_000, 0.5, (("greedy", 0.3), ("annealing", 0.5), ("lns", 1.0))),
    # In some seconds a long walk or two find more than many short ones. On the larger instances
    # annealing goes first: from two starts, hot and cold by turns, it finds the basin that the walk
    # then digs in; more starts take half a second there. The whole model only proves, or improves,
    # the smallest.
    Row("throughput", 800, 5.0, (
        ("bounds", 0.1), ("starts", 0.3), ("annealing", 0.15), ("sprint", 0.3), ("lns", 0.2),
        ("assign@highs", 0.8), ("lns", 1.0),
    )),
    Row("throughput", 2_500, 5.0, (
        ("bounds", 0.1), ("starts", 0.2), ("sprint", 0.8), ("lns", 1.0),
    )),
    Row("throughput", 10_000, 5.0, (
        ("bounds", 0.1), ("lists", 0.25), ("long-annealing", 0.4), ("walk", 0.8), ("lns", 1.0),
    )),
    Row("throughput", 50_000, 5.0, (
        ("bounds", 0.1), ("lists", 0.25), ("long-annealing", 0.6), ("walk", 0.8), ("lns", 1.0),
    )),
    Row("throughput", 1_000, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("starts", 0.1), ("annealing", 0.05), ("race", 0.2),
        ("lns", 0.15), ("assign@highs", 0.8), ("lns", 1.0),
    )),
    # Modules solved one after another end elsewhere than chunks and walks from them.
    Row("throughput", 10_000, 30.0, (
        ("bounds", 0.1), ("greedy", 0.1), ("starts", 0.15), ("splitting", 0.4), ("race", 0.5),
        ("lns", 1.0),
    )),
    # Windows still find something after 40 s of their own; the whole model gives a bound at most.
    Row("throughput", 10_000, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("starts", 0.15), ("annealing", 0.1), ("race", 0.3),
        ("lns", 0.85), ("assign@highs", 0.6), ("lns", 1.0),
    )),
    Row("throughput", 50_000, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("starts", 0.3), ("annealing", 0.2), ("race", 0.3),
        ("lns", 1.0),
    )),
    Row("throughput", ANY, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("starts", 0.3), ("annealing", 0.4), ("lns", 1.0),
    )),
    # Schedules of more than some dozens of nodes are not proved in any time.
    Row("latency", TINY, ANY, (
        ("greedy", 0.2), ("starts", 0.2), ("annealing", 0.1), ("lns", 0.2), ("bounds", 0.5),
        ("intervals", 0.9),
    )),
    Row("latency", 10_000, 0.5, (("greedy", 0.3), ("starts", 0.4), ("lns", 1.0))),
    Row("latency", 200, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("starts", 0.2), ("annealing", 0.1), ("lns", 0.2),
        ("intervals", 0.8), ("lns", 1.0),
    )),
    # Windows begin with races of walks from all starts.
    Row("latency", ANY, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("starts", 0.3), ("lns", 1.0),
    )),
    # With ports there are no windows yet: the walk has most of the time, and goes out from a list
    # schedule, too: from a greedy one alone it often does not come to what the list begins with.
    Row("ports", TINY, ANY, (
        ("greedy", 0.2), ("starts", 0.2), ("annealing", 0.1), ("lns", 0.2), ("bounds", 0.5),
        ("intervals", 0.9),
    )),
    Row("ports", 10_000, 0.5, (("greedy", 0.3), ("starts", 0.4), ("lns", 1.0))),
    Row("ports", 200, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("starts", 0.2), ("annealing", 0.3), ("intervals", 0.8),
        ("lns", 1.0),
    )),
    Row("ports", ANY, ANY, (
        ("bounds", 0.1), ("lists", 0.1), ("annealing", 0.9), ("lns", 1.0),
    )),
    # Along an order of the nodes the best cut into calls is soon found, and most often proved.
    Row("calls", TINY, ANY, (
        ("greedy", 0.2), ("starts", 0.2), ("annealing", 0.1), ("lns", 0.2), ("bounds", 0.5),
        ("runs", 0.5), ("slots", 0.9),
    )),
    Row("calls", 1_000, 0.5, (("greedy", 0.2), ("runs", 0.5), ("annealing", 0.6), ("lns", 1.0))),
    Row("calls", 150, ANY, (
        ("bounds", 0.1), ("greedy", 0.2), ("runs", 0.3), ("annealing", 0.2), ("lns", 0.3),
        ("slots", 0.9), ("lns", 1.0),
    )),
    Row("calls", ANY, 5.0, (
        ("bounds", 0.1), ("greedy", 0.1), ("runs", 0.8), ("annealing", 0.5), ("lns", 1.0),
    )),
    Row("calls", ANY, ANY, (
        ("bounds", 0.1), ("greedy", 0.1), ("runs", 0.5), ("annealing", 0.3), ("lns", 1.0),
    )),
)  # fmt: skip


def plan(instance: Instance, limit: float, parts: Parts = "all") -> tuple[tuple[str, float], ...]:
    """The steps for an instance and a limit in seconds; bounds go with any choice of parts."""
    problem, places = _kind(instance), instance.n * instance.K
    rows = [row for row in PLANS if row.problem == problem]
    fitting = next(row for row in rows if places <= row.places and limit <= row.limit)
    endless = limit < math.inf or places <= TINY
    steps = _chosen(fitting, parts, endless)
    if parts == "exact" and not any(KINDS[name] == "exact" for name, _ in steps):
        return _chosen(rows[0], parts, endless)  # of tiny instances, which has them all
    return steps


def _kind(instance: Instance) -> str:
    rules = instance.rules
    if isinstance(rules, ThroughputRules) and rules.contiguous:
        return "contiguous"
    return "ports" if ports.has_ports(instance) else instance.problem


def _chosen(row: Row, parts: Parts, endless: bool) -> tuple[tuple[str, float], ...]:
    return tuple(
        (name, share)
        for name, share in row.steps
        if (parts == "all" or KINDS[name] in (parts, "bound")) and (endless or name not in ENDLESS)
    )
