"""The portfolio of `chips`: bounds, cuts, walks and, where it is small enough, the exact model."""

from __future__ import annotations

import math
import time

from heuristics.champion import bounds
from heuristics.chips.entries import annealed, begin, cuts, sampled
from heuristics.chips.units import Units
from heuristics.shared.best import MARGIN, Best
from problems.answer import Answer
from problems.bounds.registry import REGISTRY
from problems.instance import Instance
from solvers import catalogue
from solvers.cpsat import hops
from solvers.method import Claim, Context

MEETS = 1 + 1e-9
"""An answer within this factor of a bound meets it: rounding, no more."""
EXACT = "hops"
WALKS = 0.4
"""Share of the time left that walks may take before the exact model."""
ROUNDS = 6
"""Walks where nothing else ends them."""
BUILD = 0.2
"""Share of the time left that the exact model may take to be built."""
TINY = 60
"""Places, nodes times chips, up to which the exact model also runs without a deadline."""


class Portfolio:
    """One run; see :func:`heuristics.portfolio.portfolio`."""

    def __init__(self, instance: Instance, context: Context, parts: str) -> None:
        self.instance, self.context, self.parts = instance, context, parts
        self.bound, self.bound_by = context.bound, "the context" if context.bound > 0 else ""
        self.proved, self.infeasible = "", False
        self.limit = context.deadline - time.monotonic()
        self.best = Best(instance, context)

    def run(self) -> Answer | None:
        """All parts by turns; claims what is proved."""
        units, self.best = begin(self.instance, self.context)
        if self.parts != "exact":
            cuts(units, self.best)
        self._bounds()
        if self.parts != "exact" and not self._met():
            self._walk(units, WALKS)
        if self.parts != "heuristic" and not self._met():
            self._exact()
        if self.parts != "exact" and not self._met() and not self.proved:
            self._walk(units, 1.0)
        self._conclude()
        return self.best.answer

    def _met(self) -> bool:
        return self.best.value <= self.bound * MEETS

    def _bounds(self) -> None:
        for name in bounds.names(self.instance, self.limit):
            if self._met() or self.context.time_left() < MARGIN:
                return
            self._take_bound(name, REGISTRY[name](self.instance).value)

    def _take_bound(self, name: str, value: float) -> None:
        # A bound of an exact part may be above a better answer by the solver's tolerance.
        value = min(value, self.best.value)
        if math.isfinite(value) and value > self.bound:
            self.bound, self.bound_by = value, name
            self.context.report_bound(value)

    def _walk(self, units: Units, share: float) -> None:
        part = self._part(share)
        own = Best(self.instance, part)
        own.answer, own.value = self.best.answer, self.best.value
        if own.answer is None:
            sampled(units, part, own)
        annealed(units, part, own, rounds=ROUNDS if self.limit == math.inf else 0)

    def _exact(self) -> None:
        entry = catalogue.load(EXACT)
        places = self.instance.n * self.instance.K
        if entry.refusal(self.instance) or (self.limit == math.inf and places > TINY):
            return
        building = hops.CLAUSE * hops.clauses(self.instance)
        if places > TINY and self.parts == "all" and building > BUILD * self.context.time_left():
            return  # most of the time would go into building: walks make more of it
        part = self._part(1.0)
        part.start = self.best.answer
        self.best.offer(entry.run(self.instance, part))

    def _part(self, share: float) -> Context:
        left = max(0.0, self.context.time_left() - MARGIN)
        return Context(
            seed=int(self.context.rng.integers(2**31)),
            deadline=time.monotonic() + share * left,
            threads=self.context.threads,
            bound=self.bound * MEETS,
            on_answer=self._offer,
            on_bound=lambda bound: self._take_bound(EXACT, bound),
            on_claim=self._claimed,
        )

    def _offer(self, answer: Answer) -> None:
        self.best.offer(answer)

    def _claimed(self, claim: Claim, objective: float | None, note: str) -> None:
        if claim == "optimal" and objective is not None:
            if objective >= self.best.value * (1 - 1e-6):
                self.proved = f"proved by {EXACT}"
        elif claim == "infeasible" and self.best.answer is None:
            self.infeasible = True

    def _conclude(self) -> None:
        value, best = self.best.value, self.best.answer
        note = f"bound by {self.bound_by}" if self.bound_by else ""
        if best is None:
            claim: Claim = "infeasible" if self.infeasible else "bound"
            self.context.claim(claim, None if self.infeasible else self.bound, note)
        elif self.proved or self._met():
            self.context.claim("optimal", value, self.proved or f"it meets the {note}")
        else:
            self.context.claim("feasible", value, note)
