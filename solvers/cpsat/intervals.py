"""`latency` by intervals in CP-SAT: one optional interval a node and device, no big-M.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its schedules are re-evaluated in exact arithmetic. Heads and tails
(:mod:`problems.bounds.headtail`) stand as redundant rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from problems import latency
from problems.answer import Answer
from problems.bounds.headtail import heads, tails
from problems.instance import Instance
from solvers import start
from solvers.cpsat._sound import keep_sound
from solvers.formulations._contract import memory_by_group
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.keeper import Keeper
from solvers.method import Context, Method, options_of

SAFETY = 1 - 1e-12
"""Heads and tails are rounded to nearest: lowered by this they are certainly no more."""


@dataclass(frozen=True, eq=False)
class Program:
    """The CP-SAT model of an instance and its variables.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    x : list of list
        Literal "group g is on device k", or None where it cannot be.
    begin : list
        Start of every node in units.
    duration : int64 array, shape (n, K)
        Units; 0 where not supported.
    """

    model: Any
    x: list[list[Any]]
    begin: list[Any]
    makespan: Any
    duration: np.ndarray
    unit: float
    order: np.ndarray


def intervals(
    instance: Instance, context: Context, *, symmetry: bool = True, gap: float = 0.0
) -> Answer | None:
    """Optional intervals in CP-SAT with heads and tails."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    keeper = Keeper(context, lambda answer: _value(instance, answer))
    for answer in (context.start, start.latency_start(instance)):
        if answer is not None:
            keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    program = build(instance, keeper.value, cp_model.CpModel(), symmetry=symmetry)
    if keeper.best is not None:
        _hint(instance, program, keeper.best, symmetry)
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = context.threads
    solver.parameters.random_seed = context.seed % 2**31
    solver.parameters.relative_gap_limit = gap
    left = context.time_left()
    if math.isfinite(left):
        solver.parameters.max_time_in_seconds = max(left - min(0.05 * left, 1.0), 0.01)
    solver.best_bound_callback = lambda bound: keeper.bound_by(bound * program.unit * SAFETY)

    class Stream(cp_model.CpSolverSolutionCallback):  # type: ignore[misc] # the base is untyped
        def on_solution_callback(self) -> None:
            keeper.take(_read(instance, program, self.Value))

    status = solver.solve(program.model, Stream())
    note = f"CP-SAT: {solver.status_name(status)}, unit {program.unit:.3g} s"
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"{note}: {program.model.validate()}")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        keeper.take(_read(instance, program, solver.value))
    if status != cp_model.INFEASIBLE:
        keeper.bound_by(solver.best_objective_bound * program.unit * SAFETY)
    words: dict[Any, Literal["optimal", "infeasible"]] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.INFEASIBLE: "infeasible",
    }
    keeper.conclude(words.get(status, "stopped"), note, gap)
    return keeper.best


def _value(instance: Instance, answer: Answer) -> float | None:
    if not latency.is_valid(instance, answer):
        return None
    return latency.makespan(instance, answer)


def build(instance: Instance, upper: float, model: Any, *, symmetry: bool) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Makespan of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    symmetry : bool
        Order like devices by first use along the heaviest groups.
    """
    n, K, group = instance.n, instance.K, instance.group
    horizon = upper if math.isfinite(upper) else _longest(instance)
    # Rounding loses at most a unit a node and transfer of a path: keep the sum below a part in
    # four million, within what 64-bit propagation bears.
    unit = horizon / 2.0 ** min(40, 22 + math.ceil(math.log2(3 * n + 1)))
    end = int(horizon / unit) + 1

    def units(seconds: np.ndarray) -> np.ndarray:
        return np.floor(np.where(np.isfinite(seconds), seconds, 0.0) / unit * SAFETY).astype(int)

    duration = units(instance.time)
    head, tail = heads(instance), tails(instance)
    through = head + instance.time + tail
    possible = np.ones((int(group.max()) + 1, K), bool)
    np.logical_and.at(possible, group, np.isfinite(instance.time))
    if math.isfinite(upper):  # no better answer passes through such a place
        np.logical_and.at(possible, group, through * SAFETY <= upper)
    head, tail = units(head), units(tail)
    x = [
        [model.new_bool_var(f"x{g}_{k}") if possible[g, k] else None for k in range(K)]
        for g in range(len(possible))
    ]
    for row in x:
        model.add_exactly_one([literal for literal in row if literal is not None])
    begin = [model.new_int_var(0, end, f"s{v}") for v in range(n)]
    makespan = model.new_int_var(0, end, "makespan")
    finish = _nodes(instance, model, x, begin, makespan, duration, head, tail)
    _edges(instance, model, x, begin, finish, units)
    _memory(instance, model, x)
    order = leaders(instance)
    if symmetry:
        for j, k in successors(instance.device_class):
            earlier: list[Any] = []
            for g in order.tolist():
                if x[g][k] is not None:
                    model.add_bool_or([*earlier, x[g][k].negated()])
                if x[g][j] is not None:
                    earlier.append(x[g][j])
    model.minimize(makespan)
    return Program(model, x, begin, makespan, duration, unit, order)


def _longest(instance: Instance) -> float:
    """Seconds that no answer without idle time exceeds: everything one after another."""
    time = np.where(np.isfinite(instance.time), instance.time, 0.0)
    way = instance.link_time[latency.communication(instance)].sum(axis=2)
    return float(time.max(axis=1).sum() + way.max(axis=(0, 1)).sum()) or 1.0


def _nodes(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    begin: list[Any],
    makespan: Any,
    duration: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
) -> list[Any]:
    """Intervals, heads and tails; returns the finish of every node as an expression."""
    finish: list[Any] = []
    lanes: list[list[Any]] = [[] for _ in range(instance.K)]
    for v in range(instance.n):
        row = x[instance.group[v]]
        places = [(k, literal) for k, literal in enumerate(row) if literal is not None]
        finish.append(begin[v] + sum(int(duration[v, k]) * on for k, on in places))
        model.add(begin[v] >= sum(int(head[v, k]) * on for k, on in places))
        model.add(makespan >= finish[v] + sum(int(tail[v, k]) * on for k, on in places))
        for k, on in places:
            if not instance.unlimited[k]:
                lanes[k].append(
                    model.new_optional_fixed_size_interval_var(
                        begin[v], int(duration[v, k]), on, f"i{v}_{k}"
                    )
                )
    for lane in lanes:
        if len(lane) > 1:
            model.add_no_overlap(lane)
    return finish


def _edges(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    begin: list[Any],
    finish: list[Any],
    units: Any,
) -> None:
    links, group = latency.communication(instance), instance.group
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        way = units(instance.link_time[links, u].sum(axis=2))
        pairs = np.argwhere(way > 0).tolist()
        for v in consumers.tolist():
            model.add(begin[v] >= finish[u])
            if group[u] == group[v]:
                continue
            for k, to in pairs:
                source, target = x[group[u]][k], x[group[v]][to]
                if source is not None and target is not None:
                    row = model.add(begin[v] >= finish[u] + int(way[k, to]))
                    row.only_enforce_if(source, target)


def _memory(instance: Instance, model: Any, x: list[list[Any]]) -> None:
    size, shared, weight, reader = memory_by_group(instance)
    total = size.sum() + shared.sum()
    for k in range(instance.K):
        if instance.memory[k] >= total:
            continue
        places = [(int(size[g]), x[g][k]) for g in range(len(x)) if x[g][k] is not None]
        terms = [count * on for count, on in places if count]
        for i, count in enumerate(shared.tolist()):
            held = model.new_bool_var(f"held{i}_{k}")
            for g in reader[weight == i].tolist():
                if x[g][k] is not None:
                    model.add_implication(x[g][k], held)
            terms.append(int(count) * held)
        model.add(sum(terms) <= int(instance.memory[k]))


def _read(instance: Instance, program: Program, value: Any) -> Answer:
    placed = np.array(
        [next(k for k, on in enumerate(row) if on is not None and value(on)) for row in program.x]
    )
    device = placed[instance.group].astype(np.int64)
    begin = np.array([value(variable) for variable in program.begin])
    end = begin + program.duration[np.arange(instance.n), device]
    # A node of no units comes before what starts with it; node numbers are topological.
    return latency.answer_of(instance, device, np.lexsort((np.arange(instance.n), end, begin)))


def _hint(instance: Instance, program: Program, answer: Answer, symmetry: bool) -> None:
    """Hint the answer, its starts recomputed in units."""
    member = np.unique(instance.group, return_index=True)[1]
    completed = answer if answer.order is not None else latency.dispatch(instance, answer.device)
    begin = latency.starts(instance, completed)
    assert begin is not None
    placed = answer.device[member]
    if symmetry:
        placed = canonical(program.order, placed, instance.device_class)
    for g, row in enumerate(program.x):
        for k, on in enumerate(row):
            if on is not None:
                program.model.add_hint(on, k == placed[g])
    for v, variable in enumerate(program.begin):
        program.model.add_hint(variable, int(begin[v] / program.unit))
    program.model.add_hint(
        program.makespan, int(latency.makespan(instance, completed) / program.unit)
    )


METHOD = Method(
    name="intervals",
    run=intervals,
    problems=("latency",),
    kind="exact",
    source="this suite; optional intervals are the field's",
    options=options_of(intervals),
    warm=True,
    needs=("ortools",),
    summary="Optional intervals in CP-SAT with heads and tails",
)
