"""The best single device: what every placement is measured against."""

from __future__ import annotations

import numpy as np

from problems import latency, throughput
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable


def best_single(instance: Instance) -> tuple[Answer, float] | None:
    """The best answer that uses one device, with its objective in seconds.

    None where no device supports and holds everything. A whole graph on one device keeps every
    other rule.
    """
    best: tuple[Answer, float] | None = None
    for k in range(instance.K):
        device = np.full(instance.n, k, np.int64)
        if not is_placeable(instance, device):
            continue
        if instance.problem == "latency":
            answer = latency.answer_of(instance, device, np.arange(instance.n))
            value = latency.makespan(instance, answer)
        else:
            answer, value = Answer(device), throughput.period(instance, device)
        if best is None or value < best[1]:
            best = answer, value
    return best
