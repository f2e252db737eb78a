"""Runs the plan: a context for every part, all answers, bounds and proofs in one hand."""

from __future__ import annotations

import math
import time

from heuristics.champion.parts import PARTS, Task
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Claim, Context

MEETS = 1 + 1e-9
"""An answer within this factor of a bound meets it: rounding, no more."""


class Conductor:
    """One run.

    Attributes
    ----------
    best : Best
        Judges what the parts offer, and reports it.
    bound : float
        The largest lower bound in seconds; `bound_by` says whose.
    proved : str
        Which part proved the best answer, or that there is none; empty as long as none has.
    failures : list of str
        Part, name and message of every exception.
    """

    def __init__(self, instance: Instance, space: Space, context: Context) -> None:
        self.instance, self.space, self.context = instance, space, context
        self.begin = time.monotonic()
        self.limit = context.deadline - self.begin
        self.best = Best(instance, context)
        self.bound, self.bound_by = context.bound, "the context" if context.bound > 0 else ""
        self.proved, self.infeasible = "", False
        self.failures: list[str] = []
        self.found: list[Answer] = []
        self.answer_by, self.answer_at = "", 0.0

    def run(self, steps: tuple[tuple[str, float], ...], thorough: bool) -> None:
        """Take the steps until the answer is proved or time is up; all of them if `thorough`."""
        for name, share in steps:
            if not thorough and (self.met() or self.proved):
                return
            if self.context.time_left() < MARGIN:
                return
            self.take(name, share)

    def take(self, name: str, share: float) -> None:
        """Run one part; an exception of it is noted."""
        try:
            PARTS[name](self._task(name, share))
        except Exception as error:
            self.failures.append(f"{name}: {type(error).__name__}: {error}")

    def offer(self, name: str, answer: Answer | None) -> None:
        """Take an answer of a part."""
        if self.best.offer(answer):
            self.answer_by, self.answer_at = name, time.monotonic() - self.begin

    def met(self) -> bool:
        """Whether the best answer meets the bound."""
        return self.best.value <= self.bound * MEETS

    def conclude(self) -> None:
        """Claim what is proved, and say which part did what."""
        value, best = self.best.value, self.best.answer
        notes: list[str] = []
        if best is not None:
            notes.append(f"answer by {self.answer_by} after {self.answer_at:.3g} s")
        if self.proved:
            notes.append(self.proved)
        elif best is not None and self.met():
            notes.append(f"it meets the bound of {self.bound_by}")
        elif self.bound_by:
            notes.append(f"bound by {self.bound_by}")
        notes += [f"failed: {each}" for each in self.failures]
        note = "; ".join(notes)
        if best is None:
            claim: Claim = "infeasible" if self.infeasible else "bound"
            self.context.claim(claim, None if self.infeasible else self.bound, note)
        else:
            proved = bool(self.proved) or self.met()
            self.context.claim("optimal" if proved else "feasible", value, note)

    def _task(self, name: str, share: float) -> Task:
        left = self.context.time_left()
        context = Context(
            seed=int(self.context.rng.integers(2**31)),
            deadline=self.context.deadline if share >= 1 else time.monotonic() + share * left,
            threads=self.context.threads,
            start=self.best.answer or self.context.start,
            bound=self.bound * MEETS,
            on_answer=lambda answer: self.offer(name, answer),
            on_bound=lambda bound: self._bound_by(name, bound),
            on_claim=lambda claim, objective, note: self._claimed(name, claim, objective, note),
        )
        own = Best(self.instance, context)
        own.answer, own.value = self.best.answer, self.best.value
        return Task(
            self.instance, self.space, self.limit, self.context.deadline, context, own,
            self.found, self.met,
        )  # fmt: skip

    def _bound_by(self, name: str, bound: float) -> None:
        # A bound of an exact part may be above a better answer by the solver's tolerance.
        bound = min(bound, self.best.value)
        if math.isfinite(bound) and bound > self.bound:
            self.bound, self.bound_by = bound, name
            self.context.report_bound(bound)

    def _claimed(self, name: str, claim: Claim, objective: float | None, note: str) -> None:
        if claim == "bound" and objective is not None and name == "bounds":
            self._bound_by(note, objective)
        if claim == "infeasible" and self.best.answer is None:
            self.proved, self.infeasible = f"no answer, by {name}: {note}", True
        if claim == "optimal" and objective is not None and self.best.value <= objective:
            self.proved = f"proved by {name}: {note}"
