"""Calls: every bound of `latency`, for an answer of `calls` is a schedule that is no slower.

Lay the nodes of each call one after another in topological order, behind what the call receives,
and give hosts any number of lanes. An accelerator then runs one node at a time. Where u's payload
goes from one device to another, u's call ends tau(u) or more after u itself does, and the reader's
nodes start tau(u) or more after their call does: the transfers of a schedule without contention fit
in. Its makespan is at most the latency of the calls; the least makespan of all schedules, and what
bounds it, is a bound. Own derivation.
"""

from __future__ import annotations

from dataclasses import replace

# Imported for their entries in the registry.
from problems.bounds import critical_path, destructive, head_tail_load, headtail, joint_lp, load_lp
from problems.bounds.registry import bound
from problems.bounds.relaxed import largest
from problems.instance import Instance
from problems.rules import CallsRules, LatencyRules

RULES = ("slots", "memory", "colocate_tied")
CHEAP = (
    critical_path.critical_path,
    headtail.headtail,
    load_lp.load_lp,
    head_tail_load.head_tail_load,
)
SEARCH = (joint_lp.joint_lp, destructive.destructive)


def as_schedule(instance: Instance) -> Instance:
    """The `latency` instance whose optimum is no more than that of a `calls` instance."""
    rules = instance.rules
    assert isinstance(rules, CallsRules)
    loose = LatencyRules(memory=rules.memory, colocate_tied=rules.colocate_tied)
    return replace(instance, problem="latency", rules=loose)


@bound("schedule", problems=["calls"], rules=RULES)
def schedule(instance: Instance) -> tuple[float, str]:
    """The largest cheap bound of the schedule, in seconds."""
    return largest(as_schedule(instance), CHEAP, _terms(instance))


@bound("schedule-search", problems=["calls"], rules=RULES, effort="search")
def schedule_search(instance: Instance, seconds: float) -> tuple[float, str]:
    """The largest bound of the schedule that is found by searching, in seconds."""
    return largest(as_schedule(instance), SEARCH, _terms(instance), seconds)


def _terms(instance: Instance) -> int:
    """What a call sums: its nodes and payloads."""
    return 2 * instance.n + 2 * instance.m
