"""Large neighbourhoods for `calls`: annealing from several starts, new cuts, windows of CP-SAT.

Answers differ in what is on which accelerator, which no small change gets from one to the other:
rounds of annealing go out from other starts, some of which exceed memory, and from the best
answer, cool and hot. Of each new best answer, the order in which its nodes are finished is cut
anew (:mod:`heuristics.orders.runs`). After each round some nodes are set free and CP-SAT places
them anew: a run of the topological order, what is near a node, or nodes of two calls. All else
keeps its device and call. CP-SAT is asked for something better only, so that most windows end with
a proof that there is nothing. Kinds are drawn by what they have brought, and windows grow while
CP-SAT is through with them in time, counted in its own deterministic time.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from heuristics.orders import runs
from heuristics.shared import anneal_calls
from heuristics.shared.best import Best
from heuristics.shared.pieces import in_pieces
from heuristics.shared.space import Space
from heuristics.starts.calls import seeds
from problems import calls
from problems.answer import Answer
from problems.compiled import REHEARSAL
from problems.cp_sat import keep_sound
from problems.instance import Instance
from solvers import rng as rng_
from solvers.cpsat._calls import Program, build
from solvers.method import Context

# Rounds without a deadline.
ROUNDS = 2
# First and last temperature, parts of the best value: from other starts, and from the best answer.
FRESH, HEATS = (0.1, 0.0005), ((0.03, 0.0003), (0.3, 0.003))
STEPS = 200
# Moves a node, and how much more those from the best answer take from round to round.
MOVES, GROWTH = 400, 1.5
# Passes over the labels of cuts.
PASSES = 2
# Windows after each round.
WINDOWS = 2
# Seconds by which CP-SAT may be late on a model of the whole instance.
LATE = 0.1
# Deterministic seconds of one window, and the share of them under which windows grow.
EFFORT, EASY = 0.25, 0.2
# Nodes of the first windows and of the smallest ones.
FIRST, LEAST = 24, 6
# Nodes times calls beyond which a model takes too long to build and to copy.
LARGEST = 1_200
# Seconds that a model takes to build and presolve, for every node and call.
SECONDS = 6e-4
# What a kind's score keeps from round to round.
MEMORY = 0.9
KINDS = ("run", "near", "two calls")


def improve(
    instance: Instance, space: Space, context: Context, best: Best, rounds: int = 0
) -> None:
    """Improve `best` until it is done or, if `rounds` are given, for so many rounds.

    Without a deadline there are :data:`ROUNDS`.
    """
    if best.answer is None or best.value <= 0.0:
        return
    if instance.n <= REHEARSAL:  # before the clock, which may end there before there is a window
        importlib.import_module("ortools.sat.python.cp_model")
    first = seeds(instance)
    arrays = anneal_calls.arrays(instance, best.answer)
    run = anneal_calls.search(arrays, rng_.seeded(context.rng))
    anneal_calls.restart(instance, arrays, run, best.answer)
    windows = Windows(instance, context, best)
    few = MOVES * instance.n
    count, moves, known = 0, float(few), math.inf
    if rounds == 0 and context.deadline == math.inf:
        rounds = ROUNDS
    while not best.done() and (rounds == 0 or count < rounds):
        # Many short walks from other starts, one of which may end somewhere better.
        for other in first:
            _walk(instance, arrays, run, best, other, FRESH, few)
        for heat in HEATS:
            _walk(instance, arrays, run, best, best.answer, heat, int(moves))
        if best.value < known and runs.refuses(instance) is None:
            runs.cut(instance, _finished(instance, best.answer), best, PASSES)
        known = best.value
        windows.improve()
        count, moves = count + 1, moves * GROWTH


def _finished(instance: Instance, answer: Answer) -> np.ndarray:
    """The nodes as they are finished, shape (n,): an order that is topological, as numbers are."""
    finish = calls.finishes(instance, answer)
    assert finish is not None
    return np.argsort(finish, kind="stable")


def _walk(
    instance: Instance,
    arrays: anneal_calls.Calls,
    run: anneal_calls.Search,
    best: Best,
    answer: Answer,
    heat: tuple[float, float],
    moves: int,
) -> None:
    """One round of annealing from an answer."""
    if not anneal_calls.restart(instance, arrays, run, answer):
        return
    hot, cooling = heat[0] * best.value, (heat[1] / heat[0]) ** (1 / STEPS)
    known = run.energy[1]

    def some(at: int, count: int) -> None:
        anneal_calls.anneal(arrays, run, at, count, hot, cooling, max(1, moves // STEPS))

    def offer() -> None:
        nonlocal known
        if run.energy[1] < known:
            known = run.energy[1]
            best.offer(Answer(run.best_device.copy(), slot=run.best_slot.copy()))

    in_pieces(moves, some, best.done, offer)


class Windows:
    """The windows of one run, with what has been learnt of their kinds."""

    def __init__(self, instance: Instance, context: Context, best: Best) -> None:
        self.instance, self.context, self.best = instance, context, best
        self.score, self.width = np.ones(len(KINDS)), np.full(len(KINDS), float(FIRST))
        self.program: Program | None = None
        self.known = math.inf

    def improve(self) -> None:
        """Solve :data:`WINDOWS` windows, if models of the instance are small enough."""
        context, best, rng = self.context, self.best, self.context.rng
        assert best.answer is not None
        narrow = _narrow(self.instance, best.answer)
        size = narrow.n * int((~narrow.host).sum()) * calls.most_slots(narrow)
        for _ in range(WINDOWS if size <= LARGEST else 0):
            if best.done() or context.time_left() < LATE + 3 * SECONDS * size:
                return
            if self.program is None or best.value < self.known:
                self.known, self.program = best.value, _model(narrow, best)
            kind = int(rng.choice(len(KINDS), p=self.score / self.score.sum()))
            free = _window(narrow, best.answer, kind, int(self.width[kind]), rng)
            found, spent = _solve(self.program, best, free, context)
            self.score[kind] = MEMORY * self.score[kind] + (1 - MEMORY) * (1.0 if found else 0.1)
            if spent < EASY * EFFORT:
                self.width[kind] = min(1.1 * self.width[kind], narrow.n)
            elif spent > EFFORT * 0.99:
                self.width[kind] = max(0.8 * self.width[kind], LEAST)


def _narrow(instance: Instance, answer: Answer) -> Instance:
    """The instance with one slot more than the answer needs at most."""
    slot = calls.compact(instance, answer).slot
    assert slot is not None
    room = min(calls.most_slots(instance), int(slot.max(initial=0)) + 2)
    return replace(instance, rules=msgspec.structs.replace(calls.rules_of(instance), slots=room))


def _model(instance: Instance, best: Best) -> Program:
    from ortools.sat.python import cp_model  # heavy: out of start-up

    return build(instance, best.value, cp_model.CpModel(), symmetry=False)


def _window(
    instance: Instance, answer: Answer, kind: int, width: int, rng: np.random.Generator
) -> np.ndarray:
    """Whether each node is free, bool array of shape (n,)."""
    n, first = instance.n, int(rng.integers(instance.n))
    free = np.zeros(n, bool)
    if KINDS[kind] == "run":
        first = int(rng.integers(max(n - width, 0) + 1))
        free[first : first + width] = True
        return free
    if KINDS[kind] == "two calls":
        part, _ = calls.parts(instance, answer)
        other = int(rng.integers(n))
        mine = np.flatnonzero((part == part[first]) | (part == part[other]))
        near = mine[np.argsort(np.abs(mine - first), kind="stable")[: width // 2]]
        far = mine[np.argsort(np.abs(mine - other), kind="stable")[: width - width // 2]]
        free[near] = free[far] = True
        return free
    queue, at = [first], 0
    free[first] = True
    while at < len(queue) and len(queue) < width:
        v, at = queue[at], at + 1
        around = _row(instance.pred_ptr, instance.pred, v)
        for w in around + _row(instance.succ_ptr, instance.succ, v):
            if not free[w] and len(queue) < width:
                free[w] = True
                queue.append(w)
    return free


def _row(ptr: np.ndarray, values: np.ndarray, v: int) -> list[int]:
    row: list[int] = values[ptr[v] : ptr[v + 1]].tolist()
    return row


def _solve(program: Program, best: Best, free: np.ndarray, context: Context) -> tuple[bool, float]:
    """Place the free nodes anew; whether that was better, and the deterministic time it took."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    assert best.answer is not None
    instance, answer = program.instance, calls.compact(program.instance, best.answer)
    assert answer.slot is not None
    model = program.model.clone()
    model.clear_hints()
    loose = np.zeros(len(program.d), bool)
    loose[instance.group[free]] = True
    fixed: list[Any] = []
    first = np.unique(instance.group, return_index=True)[1]
    for g, row in enumerate(program.d):
        for k, on in enumerate(row):
            if on is None:
                continue
            here = k == int(answer.device[first[g]])
            if loose[g]:
                model.add_hint(_same(model, on), here)
            elif here:
                fixed.append(_same(model, on))
    for v, slots in enumerate(program.x):
        for (k, j), on in slots.items():
            here = k == int(answer.device[v]) and j == int(answer.slot[v])
            if loose[instance.group[v]]:
                model.add_hint(_same(model, on), here)
            elif here:
                fixed.append(_same(model, on))
    if fixed:
        model.add_bool_and(fixed)
    total = model.get_int_var_from_proto_index(program.total.index)
    model.add(total <= max(int(best.value / program.unit * (1 - 1e-6)) - 1, 0))
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = int(context.rng.integers(2**31))
    solver.parameters.max_deterministic_time = EFFORT
    solver.parameters.linearization_level = 0
    if math.isfinite(context.deadline):
        solver.parameters.max_time_in_seconds = max(context.time_left() - LATE, 0.01)
    status = solver.solve(model)
    found = False
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = best.offer(program.read(lambda on: solver.value(_same(model, on))))
    return found, float(solver.response_proto.deterministic_time)


def _same(model: Any, literal: Any) -> Any:
    """A literal of the model that another is a copy of."""
    i = literal.index
    if i >= 0:
        return model.get_bool_var_from_proto_index(i)
    return model.get_bool_var_from_proto_index(-i - 1).negated()
