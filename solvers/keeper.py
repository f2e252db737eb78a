"""What an exact method has found so far: checked answers, bounds, and what they bear out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from problems.answer import Answer
from solvers.method import Context

TOLERANCE = 1e-6
"""Relative difference that solvers do not see."""


class Keeper:
    """Keeps the best valid answer and the best bound, and reports each improvement.

    Parameters
    ----------
    value_of : callable
        Objective of an answer in seconds; None where it is not valid.
    slack : float
        How far a bound may be too high, relatively: the solver's tolerance, 0 for exact ones.
        Bounds are lowered by it before they are reported, save one that meets the answer.
    """

    def __init__(
        self,
        context: Context,
        value_of: Callable[[Answer], float | None],
        slack: float = 0.0,
    ) -> None:
        self.context = context
        self.value_of, self.slack = value_of, slack
        self.best: Answer | None = None
        self.value = math.inf
        self.bound = -math.inf
        self.reported = 0.0
        self.dropped = 0
        self.contradiction = ""

    def take(self, answer: Answer) -> None:
        """Report an answer if it is valid and better than what is known."""
        value = self.value_of(answer)
        if value is None:
            self.dropped += 1
        elif value < self.value:
            self.best, self.value = answer, value
            self.context.report(answer)
            if self.bound > value * (1 + TOLERANCE):
                self._contradict(self.bound, value)

    def bound_by(self, bound: float) -> None:
        """Report a bound in seconds if it is better than what is known."""
        if not math.isfinite(bound):
            return
        if bound > self.value * (1 + TOLERANCE):
            self._contradict(bound, self.value)
            return
        self.bound = max(self.bound, bound)
        meets = bound >= self.value * (1 - TOLERANCE)
        bound = min(bound, self.value) if meets else bound * (1 - self.slack)
        if bound > self.reported:
            self.reported = bound
            self.context.report_bound(bound)

    def _contradict(self, bound: float, value: float) -> None:
        self.contradiction = f"bound {bound:.9g} s above a checked answer of {value:.9g} s"

    def proved(self, gap: float = 0.0) -> bool:
        """Whether the bounds prove the best answer optimal up to a relative gap."""
        return self.bound >= self.value * (1 - TOLERANCE - gap)

    def conclude(
        self, status: Literal["optimal", "infeasible", "stopped"], note: str, gap: float = 0.0
    ) -> None:
        """Claim what the solver says, as far as the checked answers bear it out.

        Parameters
        ----------
        status : {'optimal', 'infeasible', 'stopped'}
            How the solver ended.
        """
        if status == "infeasible" and self.best is not None:
            self.contradiction = "infeasible, and yet there is a checked answer"
        if self.dropped:
            note += f"; {self.dropped} answers dropped: not valid beyond the solver's tolerance"
        if self.contradiction:
            note += f"; {self.contradiction}"
        claim = self.context.claim
        if self.best is not None:
            proved = status == "optimal" and self.proved(gap)
            if status == "optimal" and not proved:
                note += f"; the proof does not hold for checked answers, bound {self.bound:.9g} s"
            proved = proved and not self.contradiction
            claim("optimal" if proved else "feasible", self.value, note)
        elif status == "infeasible" and not self.dropped:
            claim("infeasible", None, note)
        else:
            claim("bound", self.reported, f"{note}; no incumbent")
