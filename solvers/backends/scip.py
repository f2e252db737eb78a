"""SCIP through PySCIPOpt."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from solvers.backends._outcome import Outcome, Task
from solvers.model import Model

NEEDS = ("pyscipopt",)


def solve(model: Model, task: Task) -> Outcome:
    """Solve a model; SCIP searches on one thread whatever `task.threads` says.

    Raises
    ------
    RuntimeError
        If SCIP ends in a way that this module has no word for.
    """
    import pyscipopt  # a solver binding: heavy, and not everybody has every one

    scip = pyscipopt.Model()
    if task.log:
        scip.redirectOutput()  # through Python, or a run that is ended loses what SCIP buffers
    else:
        scip.hideOutput()
    scip.setParam("randomization/randomseedshift", task.seed % 2**31)
    scip.setParam("limits/gap", task.gap)
    scip.setParam("numerics/feastol", 1e-7)
    if math.isfinite(task.seconds):
        scip.setParam("limits/time", max(task.seconds, 0.0))
    if task.nodes is not None:
        scip.setParam("limits/totalnodes", task.nodes)
    x = _variables(model, scip)
    _rows(model, scip, x, pyscipopt)
    if task.start is not None:
        solution = scip.createSol()
        for variable, value in zip(x, task.start.tolist(), strict=True):
            scip.setSolVal(solution, variable, value)
        scip.addSol(solution)

    def values(solution: Any) -> np.ndarray:
        return np.array([scip.getSolVal(solution, variable) for variable in x])

    class Stream(pyscipopt.Eventhdlr):  # type: ignore[misc] # the base is untyped
        EVENTS = pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND | pyscipopt.SCIP_EVENTTYPE.NODESOLVED

        def eventinit(self) -> None:
            self.model.catchEvent(self.EVENTS, self)

        def eventexit(self) -> None:
            self.model.dropEvent(self.EVENTS, self)

        def eventexec(self, event: Any) -> None:
            if event.getType() == pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND:
                task.on_solution(values(self.model.getBestSol()))
            task.on_bound(_finite(self.model.getDualbound(), self.model))

    scip.includeEventhdlr(Stream(), "stream", "hands incumbents and bounds on")
    scip.optimize()
    status = scip.getStatus()
    note = f"SCIP {scip.version()}: {status}"
    if scip.getNSols():
        task.on_solution(values(scip.getBestSol()))
    if status == "infeasible":
        return Outcome("infeasible", note)
    stopped = ("timelimit", "memlimit", "userinterrupt", "nodelimit", "totalnodelimit")
    if status not in ("optimal", "gaplimit", *stopped):
        raise RuntimeError(note)
    task.on_bound(_finite(scip.getDualbound(), scip))
    return Outcome("optimal" if status in ("optimal", "gaplimit") else "stopped", note)


def _finite(bound: float, scip: Any) -> float:
    return -math.inf if scip.isInfinity(abs(bound)) else float(bound)


def _variables(model: Model, scip: Any) -> list[Any]:
    columns = zip(
        model.lower.tolist(), model.upper.tolist(), model.cost.tolist(), model.integer.tolist(),
        strict=True,
    )  # fmt: skip
    return [
        scip.addVar(
            lb=lower,
            ub=None if upper == math.inf else upper,
            obj=cost,
            vtype="I" if integer else "C",
        )
        for lower, upper, cost, integer in columns
    ]


def _rows(model: Model, scip: Any, x: list[Any], pyscipopt: Any) -> None:
    ptr, index, data = (
        each.tolist() for each in (model.matrix.indptr, model.matrix.indices, model.matrix.data)
    )
    for i, (lower, upper) in enumerate(
        zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    ):
        entries = range(ptr[i], ptr[i + 1])
        if not len(entries):
            if lower > 0 or upper < 0:
                raise RuntimeError(f"row {i} is empty and cannot hold")
            continue
        activity = pyscipopt.quicksum(data[j] * x[index[j]] for j in entries)
        if lower == upper:
            scip.addCons(activity == lower)
        elif lower == -math.inf:
            scip.addCons(activity <= upper)
        elif upper == math.inf:
            scip.addCons(activity >= lower)
        else:
            scip.addCons(lower <= (activity <= upper))
