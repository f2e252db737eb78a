"""Splits by rule of thumb: the same number of consecutive layers on every device.

A layer is a repeated module, known by the number in its path (``encoder.layers.7.fc1`` is of layer
``encoder.layers.7``); what lies between layers goes with the one before. Where paths name fewer
layers than there are devices, every unit is a layer.
"""

from __future__ import annotations

import re

import numpy as np

from heuristics.partition.repair import project
from heuristics.shared.space import Space
from problems.instance import Instance

_LAYER = re.compile(r"(?:[^.]+\.)*?\d+(?=\.|$)")


def layers(instance: Instance, space: Space) -> tuple[np.ndarray, int]:
    """Layer of every unit, shape (U,), numbered as they first appear, and their number."""
    U = len(space.unit_bytes)
    index: dict[str, int] = {}
    result, last = np.zeros(U, np.int64), 0
    if not any(instance.paths):
        return np.arange(U), U
    for g, v in enumerate(space.unit_node[space.unit_ptr[:-1]].tolist()):
        match = _LAYER.match(instance.paths[v])
        if match:
            last = index.setdefault(match.group(), len(index))
        result[g] = last
    return result, len(index)


def split(instance: Instance, space: Space, devices: np.ndarray) -> np.ndarray:
    """Device of every unit, shape (U,): equal runs of layers on `devices` in their order.

    Under `contiguous`, units that read from a later device move there.
    """
    layer, count = layers(instance, space)
    if count < len(devices):
        layer, count = np.arange(len(layer)), len(layer)
    stage = layer * len(devices) // count
    if space.contiguous:
        stage = project(space.before_ptr, space.before, stage, True)
    result: np.ndarray = devices[stage]
    return result
