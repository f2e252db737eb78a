"""Running an exact method in a test: what it reported, bounded and claimed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from problems.answer import Answer
from problems.checker import check
from problems.instance import Instance
from solvers.catalogue import load
from solvers.method import Context


@dataclass
class Ran:
    answer: Answer | None = None
    objective: float | None = None
    reports: list[Answer] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    claims: list[tuple[str, float | None, str]] = field(default_factory=list)

    @property
    def claim(self) -> str:
        (claim,) = self.claims
        return claim[0]


def run(
    name: str,
    instance: Instance,
    *,
    seconds: float = 60.0,
    start: Answer | None = None,
    threads: int = 1,
    **options: Any,
) -> Ran:
    """Run a method; everything it reports must be valid, and better every time."""
    for module in load(name).needs:
        pytest.importorskip(module, reason=f"{name} needs {module}, of an extra")
    ran = Ran()
    context = Context(
        seed=1,
        deadline=time.monotonic() + seconds,
        start=start,
        threads=threads,
        on_answer=ran.reports.append,
        on_bound=ran.bounds.append,
        on_claim=lambda *claim: ran.claims.append(claim),
    )
    ran.answer = load(name).run(instance, context, **options)
    values = []
    for each in ran.reports:
        verdict = check(instance, each)
        assert verdict.valid, (name, verdict)
        values.append(verdict.objective)
    assert values == sorted(set(values), reverse=True)
    assert ran.bounds == sorted(set(ran.bounds))
    if ran.answer is not None:
        ran.objective = check(instance, ran.answer).objective
        assert ran.objective == values[-1]
    return ran


def agrees(ran: Ran, optimum: float | None) -> bool:
    """Whether the run found the optimum, proved it, and bounded nothing wrongly."""
    if optimum is None:
        return ran.answer is None and ran.claim == "infeasible"
    return (
        ran.objective is not None
        and math.isclose(ran.objective, optimum, rel_tol=1e-6, abs_tol=1e-12)
        and ran.claim == "optimal"
        and all(bound <= optimum * (1 + 1e-9) for bound in ran.bounds)
    )
