"""The known mappings with their loads, and what the instance's symmetry makes of each."""

from __future__ import annotations

import math

import numpy as np

from problems import mixture
from problems.instance import Instance

MOST_TURNS = 32
"""Relabelled copies of one mapping at most."""


class Columns:
    """Mappings that keep every rule by themselves, each once.

    Attributes
    ----------
    devices : list of int64 arrays, shape (n,)
    loads : list of float64 arrays, shape (E * K,)
        Seconds a sample of every engine, in units of `scale` seconds.
    turns : list of int64 arrays, shape (K,)
        Devices in place of those of a mapping that is added, for each of its copies.
    """

    def __init__(self, instance: Instance, scale: float) -> None:
        self.instance, self.scale = instance, scale
        self.devices: list[np.ndarray] = []
        self.loads: list[np.ndarray] = []
        self._known: dict[bytes, int] = {}
        self.turns = [np.arange(instance.K)]

    def turn(self, on: bool = True) -> None:
        """Take mappings with all that like devices make of them, known ones too, or no longer."""
        self.turns = _turns(self.instance) if on else self.turns[:1]
        for device in list(self.devices) if on else []:
            self.add(device)

    def add(self, device: np.ndarray) -> bool:
        """Take a mapping, with its turns; whether any of them is new."""
        fresh = False
        for turn in self.turns:
            turned = turn[device]
            key = turned.tobytes()
            if key in self._known:
                continue
            self._known[key] = len(self.devices)
            self.devices.append(turned)
            self.loads.append(mixture.engine_loads(self.instance, turned).ravel() / self.scale)
            fresh = True
        return fresh

    def even(self, weights: np.ndarray) -> np.ndarray:
        """Weights, shape (E * K,), with those of like devices made equal, where mappings turn.

        The least weighted load is concave in the weights, and the same for any order of like
        devices: so it is at least as large at their mean.
        """
        if len(self.turns) == 1:
            return weights
        each = weights.reshape(-1, self.instance.K)
        classes = self.instance.device_class
        size = np.bincount(classes)
        rows = [np.bincount(classes, row) / size for row in each]
        return np.concatenate([row[classes] for row in rows])


def by_part(weights: np.ndarray) -> np.ndarray:
    """Weights of computing, receiving and sending, shape (K, 3), from those of engines, (E, K)."""
    # One engine for all of a device, or the port for both ways, or each its own.
    port = weights[min(1, len(weights) - 1)]
    return np.ascontiguousarray(np.stack([weights[0], port, weights[-1]], axis=1))


def _turns(instance: Instance) -> list[np.ndarray]:
    """Orders of the devices that turn every class of like ones in step."""
    classes = instance.device_class
    members = [np.flatnonzero(classes == c) for c in range(int(classes.max()) + 1)]
    count = math.lcm(*(len(each) for each in members))
    if count > MOST_TURNS:
        return [np.arange(instance.K)]
    turns = []
    for step in range(count):
        turn = np.arange(instance.K)
        for each in members:
            turn[each] = np.roll(each, step)
        turns.append(turn)
    return turns
