"""`latency` by intervals in CP-SAT: one optional interval a node and device, no big-M.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its schedules are re-evaluated in exact arithmetic. Heads and tails
(:mod:`problems.bounds.headtail`) stand as redundant rows. Transfers that take turns at ports:
:mod:`solvers.cpsat._ports`.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from problems import latency
from problems.answer import Answer
from problems.bounds.headtail import headtail
from problems.cp_sat import keep_sound
from problems.instance import Instance
from solvers import start
from solvers.cpsat import _ports
from solvers.cpsat._schedule import Program, build
from solvers.formulations._orders import relabelled
from solvers.formulations._windows import SAFETY
from solvers.improve import improve
from solvers.keeper import Keeper
from solvers.method import Context, Method, options_of

SEARCH = 0.1
"""Share of the time for local search before CP-SAT, which improves long schedules slowly."""


def intervals(
    instance: Instance, context: Context, *, symmetry: bool = True, gap: float = 0.0
) -> Answer | None:
    """Optional intervals in CP-SAT with heads and tails."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    keeper = Keeper(context, lambda answer: _value(instance, answer))
    for answer in (context.start, start.latency_start(instance)):
        if answer is not None:
            keeper.take(answer)
    if keeper.best is not None:
        seconds = SEARCH * context.time_left()
        keeper.take(improve(instance, keeper.best, seconds=seconds, seed=context.seed))
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    # What the heads and tails of the model say before presolve is through.
    simple = headtail(instance).value
    keeper.bound_by(simple)
    program = build(
        instance, keeper.value, cp_model.CpModel(), symmetry=symmetry,
        lower=max(context.bound, simple),
    )  # fmt: skip
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


def _read(instance: Instance, program: Program, value: Any) -> Answer:
    placed = np.array(
        [next(k for k, on in enumerate(row) if on is not None and value(on)) for row in program.x]
    )
    device = placed[instance.group].astype(np.int64)
    begin = np.array([value(variable) for variable in program.begin])
    end = begin + program.duration[np.arange(instance.n), device]
    # A node of no units comes before what starts with it; node numbers are topological.
    sequence = np.lexsort((np.arange(instance.n), end, begin))
    answer = latency.answer_of(instance, device, sequence)
    if not program.moves:
        return answer
    return _ports.read(instance, answer, program.moves, end, program.units, value)


def _hint(instance: Instance, program: Program, answer: Answer, symmetry: bool) -> None:
    """Hint the answer, its starts recomputed in units."""
    answer = latency.complete(instance, answer)
    if symmetry:
        answer = relabelled(instance, answer, program.order)
    begin = latency.starts(instance, answer)
    assert begin is not None
    member = np.unique(instance.group, return_index=True)[1]
    for g, row in enumerate(program.x):
        for k, on in enumerate(row):
            if on is not None:
                program.model.add_hint(on, k == answer.device[member[g]])
    for v, variable in enumerate(program.begin):
        program.model.add_hint(variable, int(begin[v] / program.unit))
    program.model.add_hint(program.makespan, int(latency.makespan(instance, answer) / program.unit))
    if program.moves:
        _ports.hint(instance, program.model, program.moves, answer, program.unit)


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
