"""HiGHS through highspy: arrays go in at once, incumbents and bounds stream out."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from solvers.backends._outcome import Outcome, Task
from solvers.model import Model

NEEDS = ("highspy",)
MISMATCH = 1e-5
"""Difference between a solution's objective and what HiGHS says of it, in model units."""


def solve(model: Model, task: Task) -> Outcome:
    """Solve a model.

    Raises
    ------
    RuntimeError
        If HiGHS refuses the model, or ends in a way that this module has no word for.
    """
    begin = time.monotonic()
    outcome = _attempt(model, task, task.start, task.seconds)
    if outcome is None:
        left = task.seconds - (time.monotonic() - begin)
        outcome = _attempt(model, task, None, left)
        assert outcome is not None
        outcome = Outcome(outcome.status, f"{outcome.note}; the start was lost in presolve")
    return outcome


def _attempt(model: Model, task: Task, start: np.ndarray | None, seconds: float) -> Outcome | None:
    """One run; None where HiGHS took the start for a better solution than it is.

    Seen in 1.16: presolve improves the start inside the reduced model, HiGHS stops at that value,
    and what it hands back is the start as it was. Without a start this has not been seen.
    """
    import highspy  # a solver binding: heavy, and not everybody has every one

    # One scheduler a process: without a reset a second run cannot have another thread count.
    highspy.Highs.resetGlobalScheduler(True)
    highs = _silent(highspy)
    options = {
        "output_flag": task.log,
        "threads": task.threads,
        "random_seed": task.seed % 2**31,
        "mip_rel_gap": task.gap,
        "mip_abs_gap": 1e-9,
        "mip_feasibility_tolerance": 1e-7,
        "primal_feasibility_tolerance": 1e-7,
    }
    if math.isfinite(seconds):
        options["time_limit"] = max(seconds, 0.0)
    if task.nodes is not None:
        options["mip_max_nodes"] = task.nodes
    for name, value in options.items():
        _done(highs.setOptionValue(name, value), highspy, f"option {name}")
    _done(highs.passModel(_convert(model, highspy)), highspy, "passModel")
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = start.tolist()
        _done(highs.setSolution(solution), highspy, "setSolution")
    lost = False

    def improving(event: Any) -> None:
        nonlocal lost
        x = np.array(event.data_out.mip_solution)
        if start is not None:
            lost |= model.cost @ x > event.data_out.objective_function_value + MISMATCH
        task.on_solution(x)
        task.on_bound(float(event.data_out.mip_dual_bound))

    def progress(event: Any) -> None:
        task.on_bound(float(event.data_out.mip_dual_bound))

    def interrupt(event: Any) -> None:
        event.data_in.user_interrupt = lost

    highs.cbMipImprovingSolution.subscribe(improving)
    highs.cbMipLogging.subscribe(progress)
    if start is not None:
        highs.cbMipInterrupt.subscribe(interrupt)
    _done(highs.run(), highspy, "run")
    return None if lost else _outcome(highs, highspy, task)


def _silent(highspy: Any) -> Any:
    """A `highspy.Highs` that says nothing yet: it prints a banner when it sets its callbacks."""

    class Silent(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:  # noqa: N802 - highspy's name
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Silent()


def _outcome(highs: Any, highspy: Any, task: Task) -> Outcome:
    status = highs.getModelStatus()
    info = highs.getInfo()
    note = f"HiGHS {highs.version()}: {highs.modelStatusToString(status)}"
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        task.on_solution(np.array(highs.getSolution().col_value))
    kinds = highspy.HighsModelStatus
    if status == kinds.kInfeasible:
        return Outcome("infeasible", note)
    if status == kinds.kModelEmpty:
        return Outcome("optimal", note)
    known = (kinds.kOptimal, kinds.kTimeLimit, kinds.kSolutionLimit, kinds.kInterrupt)
    if status not in (*known, kinds.kHighsInterrupt, kinds.kMemoryLimit):
        raise RuntimeError(note)
    if math.isfinite(info.mip_dual_bound):
        task.on_bound(float(info.mip_dual_bound))
    return Outcome("optimal" if status == kinds.kOptimal else "stopped", note)


def _convert(model: Model, highspy: Any) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(model.cost), len(model.row_lower)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model.cost, model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kInteger if i else kinds.kContinuous for i in model.integer]
    return lp


def _done(status: Any, highspy: Any, what: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise RuntimeError(f"HiGHS refuses {what}")
