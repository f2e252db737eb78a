"""Latency: the longest path when every node runs on its fastest device and data move for free."""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.bounds.allowed import allowed_times
from problems.bounds.registry import bound, round_down
from problems.instance import Instance


@bound("critical-path", problems=["latency"], rules=["contention", "memory", "colocate_tied"])
def critical_path(instance: Instance) -> tuple[float, str]:
    """Longest path of min_k p_k(v), in seconds."""
    finish = _finish(allowed_times(instance).min(axis=1), instance.pred_ptr, instance.pred)
    last = int(finish.argmax())
    value = round_down(float(finish[last]), instance.n)
    return value, f"path to {instance.names[last]!r}, every node on its fastest device"


@njit(cache=True)
def _finish(time, pred_ptr, pred):  # type: ignore[no-untyped-def]
    finish = np.zeros(time.shape[0])
    for v in range(time.shape[0]):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            finish[v] = max(finish[v], finish[pred[i]])
        finish[v] += time[v]
    return finish
