"""Placements for `latency` where memory is short: who leaves the fast devices, by integer program.

What does not fit goes to slower devices, often slower by far, and which nodes these are decides the
makespan more than any order does. The program sees seconds and bytes only, no schedule: the least
sum of all compute times under memory, a multiple knapsack. Larger programs, with transfers or of
the largest load, take longer and start walks no better.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from heuristics.shared.space import Space
from problems import latency
from problems.answer import Answer
from problems.bounds.allowed import Groups, groups_of
from problems.instance import Instance
from solvers.backends._outcome import Task
from solvers.method import Context
from solvers.model import Builder, Model

LARGEST = 50_000
"""Groups x devices beyond which no program is set up."""
SHARE, LONGEST = 0.1, 2.0
"""Part of the time left that the program may take, and seconds at most."""
NODES = 100
"""Nodes of the search tree where there is no deadline."""
GAP = 1e-3
"""Relative gap at which the program is solved: it is no more than a guess at the makespan."""
UNITS = 1024.0
"""A full memory, and the largest sum of times, in units of a row."""


def binds(space: Space) -> bool:
    """Whether units do not fit where each of them is fastest, so that memory decides."""
    to, K = space.unit_time.argmin(axis=1), len(space.memory)
    use = np.bincount(to, space.unit_bytes, K)
    held = np.zeros((len(space.shared_bytes), K), bool)
    held[space.weight, np.repeat(to, np.diff(space.weight_ptr))] = True
    return bool((use + space.shared_bytes @ held > space.memory).any())


def placements(instance: Instance, context: Context, offer: Callable[[Answer], None]) -> None:
    """Offer the dispatched schedule of every solution that the program comes upon.

    Parameters
    ----------
    offer : callable
        Takes each answer; it may break a rule by a solver's tolerance.
    """
    groups = groups_of(instance)
    if groups.allowed.size > LARGEST or not groups.allowed.any(axis=1).all():
        return
    endless = context.deadline == math.inf
    seconds = math.inf if endless else min(LONGEST, SHARE * context.time_left())
    if seconds <= 0.0:
        return
    from solvers.backends import highs  # heavy, and needed here only

    model = program(instance, groups)
    task = Task(
        start=None,
        seconds=seconds,
        threads=1,
        seed=context.seed,
        gap=GAP,
        on_solution=lambda x: offer(latency.dispatch(instance, model.read(x).device)),
        on_bound=lambda bound: None,
        log=False,
        nodes=NODES if endless else None,
    )
    highs.solve(model, task)


def program(instance: Instance, groups: Groups) -> Model:
    """The least sum of compute times under memory; a weight counts once on each device."""
    time = np.where(groups.allowed, groups.time.sum(axis=0), 0.0)
    G, K = time.shape
    scale = max(float(time.max(axis=1).sum()), 1e-30) / UNITS
    b = Builder()
    x = b.variables(
        "x", (G, K), upper=groups.allowed.astype(float), integer=True, cost=time / scale
    )
    b.add(b.rows("place", (G,), lower=1.0, upper=1.0)[:, None], x, 1.0)
    for k in np.flatnonzero(np.isfinite(instance.memory)).tolist():
        unit = max(float(instance.memory[k]), 1.0) / UNITS
        row = b.rows(f"memory {k}", (1,), upper=float(instance.memory[k]) / unit)
        # What cannot be here has no entry: it may be larger than the memory by any factor.
        b.add(row, x[:, k], np.where(groups.allowed[:, k], groups.bytes, 0.0) / unit)
        for i, (size, readers) in enumerate(groups.shared):
            some = readers[groups.allowed[readers, k]]
            if len(some) and size:
                held = b.variables(f"held {k} {i}", (1,))
                b.add(row, held, size / unit)
                rows = b.rows(f"held {k} {i}", (len(some),), upper=0.0)
                b.add(rows, x[some, k], 1.0)
                b.add(rows, held, -1.0)

    def read(solution: np.ndarray) -> Answer:
        return Answer(solution[x].argmax(axis=1)[instance.group].astype(np.int64))

    return b.build(scale, read, lambda answer: None)
