"""The best single device: what every placement is measured against."""

from __future__ import annotations

import numpy as np

from problems import calls, chips, latency, throughput
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable


def best_single(instance: Instance) -> tuple[Answer, float] | None:
    """The best answer that uses one device, with its objective in seconds.

    None where no device supports and holds everything. A whole graph on one device keeps every
    other rule.
    """
    sequence = np.arange(instance.n)
    best: tuple[int, float] | None = None
    # One device of every class stands for all of it; chips are like, and none may be skipped.
    several = [0] if instance.problem == "chips" else _one_of_each_class(instance)
    for k in several:
        device = np.full(instance.n, k, np.int64)
        if not is_placeable(instance, device):
            continue
        if instance.problem == "latency":
            # The makespan without its orders: those of 64 devices take longer than the rest.
            start = latency.sequence_starts(instance, device, sequence)
            value = float((start + instance.time[:, k]).max())
        elif instance.problem == "calls":
            value = calls.makespan(instance, _one_call(instance, device))
        elif instance.problem == "chips":
            value = chips.period(instance, device)
        else:
            value = throughput.period(instance, device)
        if best is None or value < best[1]:
            best = k, value
    if best is None:
        return None
    device = np.full(instance.n, best[0], np.int64)
    if instance.problem == "latency":
        return latency.answer_of(instance, device, sequence), best[1]
    if instance.problem == "calls":
        return _one_call(instance, device), best[1]
    return Answer(device), best[1]


def _one_of_each_class(instance: Instance) -> list[int]:
    """The first device of every symmetry class."""
    first: list[int] = np.unique(instance.device_class, return_index=True)[1].tolist()
    return first


def _one_call(instance: Instance, device: np.ndarray) -> Answer:
    """Everything in one call, or node by node on a host."""
    return Answer(device, slot=np.where(instance.host[device], -1, 0))
