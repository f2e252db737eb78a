"""The objective and a starting answer of any problem: what every exact method asks for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from problems import calls, chips, latency, mixture
from problems.answer import Answer
from problems.instance import Instance
from solvers import start, start_calls, start_chips
from solvers.method import Context

SHARE = 0.5
"""Most of the time that a simple start may take."""


def _throughput(instance: Instance, answer: Answer) -> float | None:
    if not mixture.is_valid(instance, answer):
        return None
    return mixture.period(instance, answer)


def _latency(instance: Instance, answer: Answer) -> float | None:
    return latency.makespan(instance, answer) if latency.is_valid(instance, answer) else None


def _calls(instance: Instance, answer: Answer) -> float | None:
    return calls.makespan(instance, answer) if calls.is_valid(instance, answer) else None


def _chips(instance: Instance, answer: Answer) -> float | None:
    if not chips.is_valid(instance, answer.device):
        return None
    return chips.period(instance, answer.device)


VALUES: dict[str, Callable[[Instance, Answer], float | None]] = {
    "throughput": _throughput,
    "latency": _latency,
    "calls": _calls,
    "chips": _chips,
}
STARTS: dict[str, Callable[[Instance, float], Answer | None]] = {
    "throughput": lambda instance, deadline: start.throughput_start(instance, deadline=deadline),
    "latency": lambda instance, deadline: start.latency_start(instance, deadline=deadline),
    "calls": lambda instance, deadline: start_calls.calls_start(instance, deadline=deadline),
    "chips": start_chips.chips_start,
}


def value(instance: Instance, answer: Answer) -> float | None:
    """Objective of an answer in seconds; None where it is not valid."""
    return VALUES[instance.problem](instance, answer)


def known(instance: Instance, context: Context) -> list[Answer]:
    """The start that was given, if it is valid, or else a simple one, if there is one.

    Who gives a start has searched for it: a simple one would only take its time. It may take
    :data:`SHARE` of that.
    """
    if context.start is not None and value(instance, context.start) is not None:
        return [context.start]
    found = starting(instance, time.monotonic() + SHARE * context.time_left())
    return [] if found is None else [found]


def starting(instance: Instance, deadline: float = math.inf) -> Answer | None:
    """A simple valid answer to start from; None where none was found.

    Parameters
    ----------
    deadline : float
        On :func:`time.monotonic`'s scale, seconds.
    """
    return STARTS[instance.problem](instance, deadline)
