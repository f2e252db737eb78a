"""What the network reads: numbers of units that stay as they are, and those of a state.

All of them are free of units and of the size of the graph: logarithms are standardised within the
graph, loads are parts of the largest load, positions are parts of a path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.rl.columns import depths, fill
from heuristics.rl.task import Task

NODE = (
    "time", "payload", "bytes", "readers", "producers", "from the start", "from the end",
    "work before",
)  # fmt: skip
"""Columns of :func:`static`."""
UNIT = (
    "load of its place", "largest load there", "mean load", "its time", "producers elsewhere",
    "readers elsewhere", "position", "places", "units a place",
)  # fmt: skip
"""Columns of ``Seen.unit``."""
PLACE = ("load", "memory in use", "position", "last in use")
"""Columns of ``Seen.place``."""
PAIR = (
    "stays", "one further", "one back", "producers there", "readers there", "load there",
    "load with it", "memory with it", "time there",
)  # fmt: skip
"""Columns of ``Seen.pair``."""


class Seen(NamedTuple):
    """One state: U units on C places.

    Attributes
    ----------
    unit : float32 array, shape (U, 9)
    place : float32 array, shape (C, 4)
    pair : float32 array, shape (U, C, 9)
    """

    unit: np.ndarray
    place: np.ndarray
    pair: np.ndarray


def static(task: Task) -> np.ndarray:
    """Numbers of the units that no placement changes, float32 array, shape (U, 8)."""
    instance, U = task.instance, task.units
    seconds = np.where(np.isfinite(task.time), task.time, np.nan)
    time = np.nanmin(seconds, axis=1)
    links = instance.link_time[1:]
    payload = links.mean(axis=0) if len(links) else np.zeros(instance.n)
    leaves = task.unit[instance.edges[:, 0]] != task.unit[instance.edges[:, 1]]
    sent = np.zeros(instance.n)
    sent[instance.edges[leaves, 0]] = payload[instance.edges[leaves, 0]]
    before, after = depths(instance.edges, instance.n)
    longest = max(1, int(before.max()))
    members = np.bincount(task.unit, minlength=U)

    def mean(values: np.ndarray) -> np.ndarray:
        result: np.ndarray = np.bincount(task.unit, values, U) / members
        return result

    from_start, from_end = mean(before / longest), mean(after / longest)
    order = np.lexsort((np.arange(U), from_start - from_end))
    work = np.empty(U)
    work[order] = np.cumsum(time[order]) / max(float(time.sum()), 1e-300)
    columns = [
        _standard(time),
        _standard(np.bincount(task.unit, sent, U)),
        _standard(task.bytes),
        _standard(np.bincount(task.edges[:, 0], minlength=U).astype(float)),
        _standard(np.bincount(task.edges[:, 1], minlength=U).astype(float)),
        from_start,
        from_end,
        work,
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _standard(values: np.ndarray) -> np.ndarray:
    """Logarithms with mean 0 and deviation 1, within -4..4; what is 0 is a little below the rest.

    Small values count from a thousandth of the mean on, so that rounding is no signal.
    """
    mean = float(values.mean())
    if mean <= 0:
        return np.zeros(len(values))
    logs = np.log(values / mean + 1e-3)
    deviation = float(logs.std())
    if deviation < 1e-9:
        return np.zeros(len(values))
    result: np.ndarray = np.clip((logs - logs.mean()) / deviation, -4.0, 4.0)
    return result


def allowed(task: Task) -> np.ndarray:
    """Places that support a unit and could hold it, bool array, shape (U, C)."""
    result: np.ndarray = np.isfinite(task.time) & (
        task.bytes[:, None] <= task.instance.memory[None, :]
    )
    return result


def seen(task: Task, place: np.ndarray, loads: np.ndarray) -> Seen:
    """The numbers of a state.

    Parameters
    ----------
    place : int64 array, shape (U,)
        Valid places.
    loads : float64 array, shape (C,)
        Seconds.
    """
    U, C = task.time.shape
    top = max(float(loads.max()), 1e-300)
    rest = np.array([loads.mean() / top, np.log(C) / 4, np.log(U / C) / 4])
    use = np.bincount(place, task.bytes, C)
    room = np.where(np.isfinite(task.instance.memory), task.instance.memory, np.inf)
    unit, pair = fill(
        task.edges, task.time, task.bytes, room, place, loads / top, top, use, task.chain, rest
    )
    position = np.arange(C) / max(1, C - 1) if task.chain else np.zeros(C)
    full = np.where(room > 0, use / np.maximum(room, 1.0), 1.0)
    last = (np.arange(C) == place.max()) & task.chain
    places = np.stack([loads / top, np.minimum(full, 2.0), position, last], axis=1)
    return Seen(unit, places.astype(np.float32), pair)
