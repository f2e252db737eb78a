"""`latency`, module after module: what is scheduled stays, gaps on the devices may be filled.

The objective of a module is the largest finish plus the least time from there to the end of any
schedule (heads and tails, :mod:`problems.bounds.headtail`), so that a node on a long path matters
more than one that happens to finish last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from heuristics.modules import exact
from heuristics.modules.atoms import Atoms
from heuristics.modules.exact import Backend
from heuristics.modules.extend import extend
from heuristics.modules.local import Local
from heuristics.modules.timed import Partial, Timed, empty, timed
from heuristics.shared import state as state_
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.space import Space
from problems import latency, ports
from problems.answer import Answer
from problems.bounds.headtail import tails
from problems.instance import Instance
from solvers.cpsat import _schedule
from solvers.cpsat._search import search
from solvers.formulations import disjunctive
from solvers.formulations._symmetry import canonical
from solvers.formulations._windows import serial
from solvers.keeper import Keeper
from solvers.method import Context
from solvers.mip import ROOM

LARGEST = 200_000
"""Rows of a module's model beyond which building it takes seconds."""


def run(
    instance: Instance,
    space: Space,
    best: Best,
    atoms: Atoms,
    modules: list[np.ndarray],
    backend: Backend,
    effort: float,
    context: Context,
) -> None:
    """Schedule all modules and offer what comes of it.

    Parameters
    ----------
    modules : list of int64 arrays
        Atoms, in topological order.
    effort : float
        Deterministic time of all solves together.
    context : Context
        Its deadline cuts; the rest then goes to the ends of the devices.
    """
    tail = tails(instance)
    tail = np.where(np.isfinite(tail), tail, 0.0)
    part = empty(instance)
    for members in modules:
        if context.time_left() <= MARGIN or best.done():
            break
        module = np.flatnonzero(np.isin(atoms.atom, members))
        found = solve(instance, space, part, module, tail, backend, effort / len(modules), context)
        if found is None:
            return  # memory leaves no place: whatever is known stands
        part = found
    if part.placed.all():
        best.offer(answer_of(instance, part))
    else:
        _complete(instance, space, best, part, tail)


def _complete(
    instance: Instance, space: Space, best: Best, part: Partial, tail: np.ndarray
) -> None:
    """Offer the schedule with all other nodes at the ends of the devices."""
    rest = np.flatnonzero(~part.placed)
    time = np.where(np.isfinite(instance.time), instance.time, np.inf)
    # Long ways to the end first: they never grow along an edge, and node numbers are topological.
    urgent = np.argsort(-(tail + time)[rest].min(axis=1), kind="stable")
    start, place = part.start.copy(), part.place.copy()
    if _extended(instance, space, part, rest[urgent], start, place):
        sequence = np.argsort(start, kind="stable")
        best.offer(latency.answer_of(instance, place[instance.group], sequence))


def answer_of(instance: Instance, part: Partial) -> Answer:
    """The answer of a schedule of all nodes."""
    none = np.zeros((instance.n, instance.K))
    local = Local(instance, part, np.zeros(0, np.int64), none)
    return local.answer(part.place[instance.group], part.start, {})


def solve(
    instance: Instance,
    space: Space,
    part: Partial,
    module: np.ndarray,
    tail: np.ndarray,
    backend: Backend,
    effort: float,
    context: Context,
) -> Partial | None:
    """The schedule with a module more, given as nodes, ascending; None where none is found."""
    local = Local(instance, part, module, tail)
    keeper = Keeper(context, local.value)
    start, place = part.start.copy(), part.place.copy()
    if _extended(instance, space, part, module, start, place):
        device = place[instance.group[local.nodes]]
        keeper.take(local.answer(device, start[local.nodes], {}))
    model = timed(instance, part, module, tail)
    size = (len(model.instance.edges) + model.instance.n) * instance.K**2
    least = MARGIN + size * exact.BUILDING
    if keeper.value > 0 and size <= LARGEST and context.time_left() > least:
        (_native if backend == "cp-sat" else _tree)(local, model, keeper, backend, effort, context)
    if keeper.best is None:
        return None
    return local.extended(keeper.best)


def _extended(
    instance: Instance,
    space: Space,
    part: Partial,
    nodes: np.ndarray,
    start: np.ndarray,
    place: np.ndarray,
) -> bool:
    """Set `start` and `place` of further nodes, in a topological order, greedily."""
    state = state_.empty(space)
    for g in np.flatnonzero(place >= 0).tolist():
        state_.shift(space, state, g, int(place[g]))
    finish = part.finish(instance)
    free = np.zeros(instance.K)
    np.maximum.at(free, place[instance.group[part.placed]], finish[part.placed])
    if not extend(space, state, nodes, start, free):
        return False
    place[:] = state.place
    return True


def _enough(model: Timed) -> float:
    """Seconds that the best schedule of a module does not exceed: one after another, at the end."""
    small, boundary = model.instance, model.boundary
    at = boundary.fixed
    end = boundary.start[at] + np.where(np.isfinite(small.time), small.time, 0.0).max(axis=1)[at]
    return serial(small) + float(end.max(initial=0.0)) + float(boundary.tail.max(initial=0.0))


def _native(
    local: Local, model: Timed, keeper: Keeper, backend: str, effort: float, context: Context
) -> None:
    from ortools.sat.python import cp_model  # heavy: out of start-up

    upper = min(keeper.value, _enough(model))
    program = _schedule.build(
        model.instance, upper, cp_model.CpModel(), symmetry=True, boundary=model.boundary
    )
    if keeper.best is not None:
        _hint(local, model, program, keeper.best)

    class Native:
        model, unit = program.model, program.unit

        def read(self, value: Callable[[Any], int]) -> Answer:
            placed = np.array(
                [
                    next((k for k, on in enumerate(row) if on is not None and value(on)), -1)
                    for row in program.x
                ]
            )
            start = np.array([value(each) for each in program.begin]) * program.unit
            sent = {
                key: (value(move.begin) * program.unit, value(move.arrive) * program.unit)
                for key, move in program.moves.items()
            }
            return (
                local.module_answer(placed=None, model=model)
                if False
                else local.module_answer(model, placed[model.instance.group], start, sent)
            )

    search(Native(), context, keeper, 0.0, tune=partial(exact.limit, effort, True))


def _hint(local: Local, model: Timed, program: Any, answer: Answer) -> None:
    """Hint devices and starts of the module's nodes."""
    small, m = model.instance, len(local.module)
    begin = latency.starts(local.small, answer)
    assert begin is not None
    placed = np.array([int(np.flatnonzero(np.isfinite(row))[0]) for row in small.time])
    placed[-m:] = answer.device[local.module]
    of_group = placed[np.unique(small.group, return_index=True)[1]]
    of_group = canonical(program.order, of_group, small.device_class)
    for row, at in zip(program.x, of_group.tolist(), strict=True):
        for k, on in enumerate(row):
            if on is not None:
                program.model.add_hint(on, k == at)
    for v, t in zip(range(small.n - m, small.n), begin[local.module].tolist(), strict=True):
        program.model.add_hint(program.begin[v], int(t / program.unit))


def _tree(
    local: Local, model: Timed, keeper: Keeper, backend: str, effort: float, context: Context
) -> None:
    small = model.instance
    if disjunctive.refuses(small):
        return
    scale = min(keeper.value, _enough(model))
    upper = scale * ROOM
    part = disjunctive.Disjunctive(small, True, upper, scale, model.boundary)

    def read(solution: np.ndarray) -> Answer:
        device, start, *legs = part.times(solution)
        sent = {}
        if legs:
            ids = ports.transfers(small, device).id
            keys = zip(*(each.tolist() for each in np.divmod(ids, small.K)), strict=True)
            sent = dict(zip(keys, zip(*(each.tolist() for each in legs), strict=True), strict=True))
        return local.module_answer(model, device, start, sent)

    built = part.builder.build(scale, read, lambda answer: None)
    exact.tree(built, keeper, backend, effort, context)
