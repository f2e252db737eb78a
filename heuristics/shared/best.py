"""The best answer so far of one run: judged by the one evaluator, reported when it improves."""

from __future__ import annotations

import math

import numpy as np

from problems import calls, chips, latency, mixture
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import CallsRules, ChipsRules, ThroughputRules
from solvers.method import Context

# Time to hand over the last answer, seconds.
MARGIN = 0.01


def objective(instance: Instance, answer: Answer) -> float:
    """Seconds; inf where the answer breaks a rule."""
    if isinstance(instance.rules, ThroughputRules):
        valid = mixture.is_valid(instance, answer)
        return mixture.period(instance, answer) if valid else math.inf
    if isinstance(instance.rules, CallsRules):
        valid = calls.is_valid(instance, answer)
        return calls.makespan(instance, answer) if valid else math.inf
    if isinstance(instance.rules, ChipsRules):
        valid = chips.is_valid(instance, answer.device)
        return chips.period(instance, answer.device) if valid else math.inf
    valid = latency.is_valid(instance, answer)
    return latency.makespan(instance, answer) if valid else math.inf


class Best:
    """Keeps the best answer offered and reports every improvement.

    Attributes
    ----------
    answer : Answer or None
    value : float
        Its objective in seconds; inf without one.
    """

    def __init__(self, instance: Instance, context: Context) -> None:
        self.instance = instance
        self.context = context
        self.answer: Answer | None = None
        self.value = math.inf

    def offer(self, answer: Answer | None) -> bool:
        """Take an answer if it is valid and better than what is there."""
        if answer is None:
            return False
        value = objective(self.instance, answer)
        if not value < self.value:
            return False
        self.answer, self.value = answer, value
        self.context.report(answer)
        return True

    def offer_device(self, device: np.ndarray) -> bool:
        """Take a mapping of nodes; under `latency` and `calls` completed by dispatch."""
        if isinstance(self.instance.rules, ThroughputRules | ChipsRules):
            return self.offer(Answer.of(device))
        if isinstance(self.instance.rules, CallsRules):
            return self.offer(calls.dispatch(self.instance, device))
        return self.offer(latency.dispatch(self.instance, device))

    def done(self) -> bool:
        """Whether time is up or a known lower bound is met."""
        return self.context.time_left() < MARGIN or self.value <= self.context.bound
