"""Whether an answer is an answer at all: arrays of the right shape and type, in range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems.answer import Answer
from problems.instance import Instance
from problems.rules import is_mixture

# Mappings and rates of a mixture.
MIXED = ("others", "rates")
# What an answer may carry besides the devices, by problem.
CARRIED: dict[str, tuple[str, ...]] = {
    "throughput": (),
    "latency": ("order", "start", "send", "receive"),
    "calls": ("slot",),
    "chips": (),
}


def carried_by(instance: Instance) -> tuple[str, ...]:
    """What an answer of an instance may carry besides the devices."""
    return MIXED if is_mixture(instance.rules) else CARRIED[instance.problem]


def shape_violations(instance: Instance, answer: Answer) -> list[tuple[str, str]]:
    """What makes an answer none: missing, of the wrong shape or type, out of range."""
    broken = array_violations("device", answer.device, instance.n, "iu")
    if broken:
        return broken
    if broken := device_violations(instance, answer.device):
        return broken
    carried = carried_by(instance)
    lists = {"order": answer.order, "send": answer.send, "receive": answer.receive}
    given = {**lists, "start": answer.start, "slot": answer.slot}
    given |= {"others": answer.others, "rates": answer.rates}
    for name, value in given.items():
        if value is not None and name not in carried:
            may = " and ".join(f"`{each}`" for each in carried) or "nothing"
            what = (
                f"a {instance.problem} answer has no `{name}` (besides `device` it may have {may})"
            )
            return [("shape", what)]
    if broken := mixture_violations(instance, answer):
        return broken
    for name, sequences in lists.items():
        if sequences is None:
            continue
        if len(sequences) != instance.K:
            return [("shape", f"`{name}` lists {len(sequences)} devices, not {instance.K}")]
        for k, each in enumerate(sequences):
            if broken := array_violations(f"{name}[{k}]", each, None, "iu"):
                return broken
    if answer.slot is not None and (
        broken := array_violations("slot", answer.slot, instance.n, "iu")
    ):
        return broken
    if answer.start is not None:
        if broken := array_violations("start", answer.start, instance.n, "iuf"):
            return broken
        for v, t in enumerate(answer.start.tolist()):
            if not math.isfinite(t):
                return [("start", f"node {v} ({instance.names[v]!r}) starts at {t}")]
    return []


def device_violations(instance: Instance, device: np.ndarray) -> list[tuple[str, str]]:
    """Nodes on devices that are not there."""
    for v, k in enumerate(device.tolist()):
        if not 0 <= k < instance.K:
            name = instance.names[v]
            return [("device", f"node {v} ({name!r}) is on device {k}, not 0..{instance.K - 1}")]
    return []


def mixture_violations(instance: Instance, answer: Answer) -> list[tuple[str, str]]:
    """Further mappings that are none, and rates that do not go with the mappings."""
    others = () if answer.others is None else answer.others
    for i, each in enumerate(others):
        if broken := array_violations(f"others[{i}]", each, instance.n, "iu"):
            return broken
        if broken := device_violations(instance, each):
            return [(rule, f"others[{i}]: {what}") for rule, what in broken]
    if answer.rates is None:
        if others:
            return [("rates", "`others` without `rates`")]
        return []
    if broken := array_violations("rates", answer.rates, 1 + len(others), "iuf"):
        return broken
    for i, rate in enumerate(answer.rates.tolist()):
        if not (math.isfinite(rate) and rate >= 0):
            return [("rates", f"rate {i} is {rate}, not a finite number of at least 0")]
    total = sum(answer.rates.tolist())
    if not total > 0:
        return [("rates", "all rates are 0")]
    if not (math.isfinite(total) and math.isfinite(1 / total)):
        return [("rates", f"{total} samples a second in all, which no machine does")]
    return []


def array_violations(
    name: str, values: Any, length: int | None, kinds: str
) -> list[tuple[str, str]]:
    """Whether it is an array of one dimension and the right type: methods hand over anything."""
    if not isinstance(values, np.ndarray):
        return [("shape", f"`{name}` is a {type(values).__name__}, not an array")]
    if values.ndim != 1 or (length is not None and len(values) != length):
        wanted = "one dimension" if length is None else f"({length},)"
        return [("shape", f"`{name}` has shape {values.shape}, not {wanted}")]
    if len(values) and values.dtype.kind not in kinds:
        what = "numbers" if "f" in kinds else "integers"
        return [("shape", f"`{name}` holds {values.dtype}, not {what}")]
    return []
