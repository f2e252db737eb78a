"""The judge: slow, obvious, and independent of the compiled evaluators.

Plain Python over the instance's arrays; imports no evaluator. Tests hold it and the evaluators
together. What a method says about its own answer plays no part here. One module a problem, and
:mod:`problems.checker.mapping` for what all of them ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from problems.answer import Answer
from problems.checker import calls, chips, latency, mapping, mixture, throughput
from problems.checker.shape import shape_violations
from problems.instance import Instance
from problems.rules import CallsRules, ChipsRules, LatencyRules, ThroughputRules, is_mixture


@dataclass(frozen=True)
class Verdict:
    """What the checker found.

    Attributes
    ----------
    objective : float or None
        Seconds; None where the answer is invalid.
    violations : tuple of (str, str)
        Broken rules, each as (rule, what is wrong with names), in the order of checking.
    """

    objective: float | None
    violations: tuple[tuple[str, str], ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations


def check(instance: Instance, answer: Answer) -> Verdict:
    """Judge an answer.

    Returns
    -------
    Verdict
        The objective in seconds, or the rules that are broken: ``shape``, ``device``, ``support``,
        ``colocate``, ``memory``, ``contiguous`` (throughput), ``rates`` (mixtures), ``order``,
        ``start`` (latency), ``slot`` (calls), ``dataflow``, ``skipped``, ``triangle`` (chips).
    """
    shape = shape_violations(instance, answer)
    if shape:
        return Verdict(None, tuple(shape))
    rules = instance.rules
    if isinstance(rules, ThroughputRules) and is_mixture(rules):
        return _verdict(*mixture.judge(instance, rules, answer))
    device = [int(k) for k in answer.device]
    violations = [
        *mapping.support_violations(instance, device),
        *mapping.colocate_violations(instance, device),
        *mapping.memory_violations(instance, device),
    ]
    if isinstance(rules, ThroughputRules):
        violations, value = throughput.judge(instance, rules, device, violations)
    elif isinstance(rules, CallsRules):
        violations, value = calls.judge(instance, rules, answer, device, violations)
    elif isinstance(rules, ChipsRules):
        violations, value = chips.judge(instance, rules, device, violations)
    else:
        assert isinstance(rules, LatencyRules)
        violations, value = latency.judge(instance, answer, device, violations)
    return _verdict(violations, value)


def _verdict(violations: list[tuple[str, str]], value: float) -> Verdict:
    if violations:
        return Verdict(None, tuple(violations))
    if not math.isfinite(value):
        return Verdict(None, (("support", f"the objective is {value}"),))
    return Verdict(value)
