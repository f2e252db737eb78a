"""`calls` by slots in CP-SAT: times bound to literals, no big-M.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its answers are re-evaluated in exact arithmetic. Ranks order the calls and
host nodes, as in :mod:`solvers.formulations.calls`: calls that take no time could wait for each
other in a circle otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from problems import calls
from problems.answer import Answer
from problems.bounds.calls_path import as_schedule
from problems.bounds.destructive import destructive
from problems.bounds.headtail import heads, tails
from problems.cp_sat import keep_sound
from problems.instance import Instance
from solvers import objective
from solvers.formulations._contract import memory_by_group
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.formulations.calls import refuses
from solvers.keeper import Keeper
from solvers.method import Context, Method, Unsupported, options_of

SAFETY = 1 - 1e-12
"""Sums are rounded to nearest: lowered by this they are certainly no more."""
SHARE, LONGEST = 0.15, 10.0
"""What a bound of schedules may take before: a share of the time left, at most so many seconds."""
BITS = 30
"""Units of the horizon, in bits. Or-tools 9.15 called one of 352 tiny models with 34 and more bits
infeasible that is not (no such case below 31 bits, nor without its dual reductions)."""


@dataclass(frozen=True, eq=False)
class Program:
    """The CP-SAT model of an instance and its variables.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    d : list of list
        Literal "group g is on device k", or None where it cannot be.
    x : list of dict
        Slot of (accelerator, number) -> literal "node v runs in it".
    """

    model: Any
    d: list[list[Any]]
    x: list[dict[tuple[int, int], Any]]
    total: Any
    unit: float
    order: np.ndarray


def slots(
    instance: Instance, context: Context, *, symmetry: bool = True, gap: float = 0.0
) -> Answer | None:
    """Subgraph calls by slots in CP-SAT."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    keeper = Keeper(context, lambda answer: objective.value(instance, answer))
    for answer in (context.start, objective.starting(instance)):
        if answer is not None:
            keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    known = _schedule_bound(instance, context) if keeper.best is not None else 0.0
    keeper.bound_by(known)
    program = build(instance, keeper.value, cp_model.CpModel(), symmetry=symmetry)
    program.model.add(program.total >= math.floor(known / program.unit * SAFETY))
    if keeper.best is not None:
        _hint(instance, program, keeper.best, symmetry)
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.keep_all_feasible_solutions_in_presolve = True  # no dual reductions
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


def _schedule_bound(instance: Instance, context: Context) -> float:
    case = as_schedule(instance)
    if destructive.valid_for(case) is not None:
        return 0.0
    value = destructive(case, min(SHARE * max(context.time_left(), 0.0), LONGEST)).value
    return value * SAFETY if math.isfinite(value) else 0.0


def build(instance: Instance, upper: float, model: Any, *, symmetry: bool) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Latency of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    symmetry : bool
        Order like devices by first use along the heaviest groups, and use slots without gaps.
    """
    finite = np.isfinite(instance.time)
    seconds = np.where(finite, instance.time, 0.0)
    tau = instance.link_time[instance.port].T
    readers = np.diff(instance.succ_ptr)
    # Everything one after another, each payload read by every consumer apart.
    longest = seconds.max(axis=1).sum() + ((readers + 1) * tau.max(axis=1)).sum()
    horizon = upper if math.isfinite(upper) else float(longest) or 1.0
    unit = horizon / 2.0**BITS
    end = int(horizon / unit * (1 + 1e-9)) + 1
    duration = np.floor(seconds / unit * SAFETY).astype(np.int64)
    transfer = np.floor(tau / unit * SAFETY).astype(np.int64)
    # Heads and tails of schedules, which answers are in a way: see problems.bounds.calls_path.
    head, tail = heads(instance), tails(instance)
    through = head + instance.time + tail
    possible = np.isfinite(through)
    if math.isfinite(upper):  # no better answer passes through such a place
        possible &= through * SAFETY <= upper
    d, x = _placement(instance, model, finite & possible)
    ends = np.where(possible, head + instance.time, 0.0), np.where(possible, tail, 0.0)
    head, tail = (np.floor(each / unit * SAFETY).astype(np.int64) for each in ends)
    _memory(instance, model, d)
    keys = [
        (int(k), j)
        for k in np.flatnonzero(~instance.host)
        for j in range(calls.most_slots(instance))
    ]
    total = model.new_int_var(0, end, "total")
    done = [model.new_int_var(0, end, f"done{v}") for v in range(instance.n)]
    level = [model.new_int_var(0, len(keys), f"level{v}") for v in range(instance.n)]
    for each in done:
        model.add(total >= each)
    _paths(instance, model, d, (done, level, total), duration, (head, tail), end)
    before: tuple[Any, Any] | None = None
    for k, j in keys:
        moved = transfer[:, k], duration[:, k]
        start, finish, rank = _call(instance, model, x, (k, j), done, level, moved, end, len(keys))
        if j and before is not None:
            model.add(start >= before[0])
            model.add(rank >= before[1] + 1)
        model.add(total >= finish)
        before = finish, rank
    order = leaders(instance)
    if symmetry:
        _symmetry(instance, model, d, x, order, keys)
    model.minimize(total)
    return Program(model, d, x, total, unit, order)


def _placement(
    instance: Instance, model: Any, finite: np.ndarray
) -> tuple[list[list[Any]], list[dict[tuple[int, int], Any]]]:
    possible = np.ones((int(instance.group.max()) + 1, instance.K), bool)
    np.logical_and.at(possible, instance.group, finite)
    d = [
        [model.new_bool_var(f"d{g}_{k}") if possible[g, k] else None for k in range(instance.K)]
        for g in range(len(possible))
    ]
    for row in d:
        model.add_exactly_one([literal for literal in row if literal is not None])
    x: list[dict[tuple[int, int], Any]] = []
    q = calls.most_slots(instance)
    for v in range(instance.n):
        x.append({})
        for k, on in enumerate(d[instance.group[v]]):
            if on is None or instance.host[k]:
                continue
            if q == 1:
                x[v][k, 0] = on
                continue
            for j in range(q):
                x[v][k, j] = model.new_bool_var(f"x{v}_{k}_{j}")
            model.add_exactly_one([*(x[v][k, j] for j in range(q)), on.negated()])
    return d, x


def _memory(instance: Instance, model: Any, d: list[list[Any]]) -> None:
    size, shared, weight, reader = memory_by_group(instance)
    total = size.sum() + shared.sum()
    for k in range(instance.K):
        if instance.memory[k] >= total:
            continue
        terms = [int(size[g]) * row[k] for g, row in enumerate(d) if row[k] is not None]
        for i, count in enumerate(shared.tolist()):
            held = model.new_bool_var(f"held{i}_{k}")
            for g in reader[weight == i].tolist():
                if d[g][k] is not None:
                    model.add_implication(d[g][k], held)
            terms.append(int(count) * held)
        model.add(sum(terms) <= int(instance.memory[k]))


def _paths(
    instance: Instance,
    model: Any,
    d: list[list[Any]],
    times: tuple[list[Any], list[Any], Any],
    duration: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    end: int,
) -> None:
    """Host nodes, levels, and the chains of computing that run through calls, too.

    A chain passes node v at ``path[v]`` if the nodes of each call run one after another; `ends` are
    the least such time and what is left after it, by node and device.
    """
    done, level, total = times
    head, tail = ends
    path = [model.new_int_var(0, end, f"path{v}") for v in range(instance.n)]
    for v in range(instance.n):
        row = [(k, on) for k, on in enumerate(d[instance.group[v]]) if on is not None]
        host = sum(int(duration[v, k]) * on for k, on in row if instance.host[k])
        any_device = sum(int(duration[v, k]) * on for k, on in row)
        producers = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]].tolist()
        for u in producers:
            model.add(done[v] >= done[u] + host)
            model.add(path[v] >= path[u] + any_device)
            model.add(level[v] >= level[u])
        if not producers:
            model.add(done[v] >= host)
            model.add(path[v] >= any_device)
        model.add(done[v] >= path[v])
        model.add(path[v] >= sum(int(head[v, k]) * on for k, on in row))
        model.add(total >= path[v] + sum(int(tail[v, k]) * on for k, on in row))


def _call(
    instance: Instance,
    model: Any,
    x: list[dict[tuple[int, int], Any]],
    key: tuple[int, int],
    done: list[Any],
    level: list[Any],
    moved: tuple[np.ndarray, np.ndarray],
    end: int,
    ranks: int,
) -> tuple[Any, Any, Any]:
    """Start, finish and rank of one call, with its transfers."""
    transfer, duration = moved
    name = f"{key[0]}_{key[1]}"
    start = model.new_int_var(0, end, f"start{name}")
    finish = model.new_int_var(0, end, f"finish{name}")
    rank = model.new_int_var(1, ranks, f"rank{name}")
    terms: list[Any] = []
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist()
        mine = x[u].get(key)
        if mine is not None:
            terms.append(int(duration[u]) * mine)
            model.add(done[u] >= finish).only_enforce_if(mine)
            model.add(level[u] >= rank).only_enforce_if(mine)
        into, out = model.new_bool_var(f"in{u}_{name}"), model.new_bool_var(f"out{u}_{name}")
        for v in consumers:
            theirs = x[v].get(key)
            if theirs is not None:  # v in, u not: u's payload goes in
                model.add_bool_or([into, theirs.negated(), *([] if mine is None else [mine])])
            if mine is not None:  # u in, v not: u's payload goes out
                model.add_bool_or([out, mine.negated(), *([] if theirs is None else [theirs])])
        if consumers:
            model.add(start >= done[u]).only_enforce_if(into)
            model.add(rank >= level[u] + 1).only_enforce_if(into)
            terms += [int(transfer[u]) * into, int(transfer[u]) * out]
    model.add(finish >= start + sum(terms))
    return start, finish, rank


def _symmetry(
    instance: Instance,
    model: Any,
    d: list[list[Any]],
    x: list[dict[tuple[int, int], Any]],
    order: np.ndarray,
    keys: list[tuple[int, int]],
) -> None:
    for j, k in successors(instance.device_class):
        earlier: list[Any] = []
        for g in order.tolist():
            if d[g][k] is not None:
                model.add_bool_or([*earlier, d[g][k].negated()])
            if d[g][j] is not None:
                earlier.append(d[g][j])
    for k, j in keys:
        if j:  # a slot is used only if the one before it is
            used = model.new_bool_var(f"used{k}_{j - 1}")
            model.add_bool_or([used.negated(), *(row[k, j - 1] for row in x if (k, j - 1) in row)])
            for row in x:
                if (k, j) in row:
                    model.add_implication(row[k, j], used)


def _read(instance: Instance, program: Program, value: Any) -> Answer:
    placed = np.array(
        [next(k for k, on in enumerate(row) if on is not None and value(on)) for row in program.d]
    )
    slot = [next((j for (_, j), on in row.items() if value(on)), -1) for row in program.x]
    return Answer.of(placed[instance.group], slot=slot)


def _hint(instance: Instance, program: Program, answer: Answer, symmetry: bool) -> None:
    """Hint the answer; its times follow."""
    whole = calls.compact(instance, answer)
    assert whole.slot is not None
    placed = answer.device[np.unique(instance.group, return_index=True)[1]]
    if symmetry:
        placed = canonical(program.order, placed, instance.device_class)
    for g, row in enumerate(program.d):
        for k, on in enumerate(row):
            if on is not None:
                program.model.add_hint(on, k == placed[g])
    if calls.most_slots(instance) > 1:  # else the slots are the devices
        device = placed[instance.group]
        for v, slots_of in enumerate(program.x):
            for (k, j), on in slots_of.items():
                program.model.add_hint(on, k == device[v] and j == whole.slot[v])
    program.model.add_hint(program.total, int(calls.makespan(instance, whole) / program.unit))


METHOD = Method(
    name="slots",
    run=slots,
    problems=("calls",),
    kind="exact",
    source="this suite; the slot model is that of Tarnawski et al. 2020 (arXiv 2006.16423)",
    options=options_of(slots),
    warm=True,
    needs=("ortools",),
    refuses=refuses,
    summary="Subgraph calls by slots in CP-SAT",
)
