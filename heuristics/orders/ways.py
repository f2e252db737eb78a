"""Which devices a chain may use in turn: the states of the dynamic program over slices.

Devices of one class are interchangeable, so a state counts how many of each class are used. Where
devices are so unlike that there would be too many states, the chain follows one sequence of the
devices instead and may leave some out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from problems.instance import Instance

# States at most; 8 devices that are all unlike have 256.
MOST = 512


class Ways(NamedTuple):
    """S states, 0 being the start, and C classes of devices.

    Attributes
    ----------
    device : int64 array, shape (C,)
        One device of every class.
    step : int64 array, shape (S, C)
        The state after one more device of a class; -1 where none is left.
    taken : int64 array, shape (S, C)
        The device that this step uses.
    rate : float64 array, shape (2, C)
        Weights of loads. What is left to place takes at least the sum of its least weighted times,
        and the devices that are left offer `room` times the largest load.
    room : float64 array, shape (S, 2)
        Sum of the rates of the devices that are left in a state.
    receive, send : float64 arrays, shape (C, n)
        Seconds of a node's payload to and from a device of the class; over direct links, the mean
        over all others, which a slice does not know.
    """

    device: np.ndarray
    step: np.ndarray
    taken: np.ndarray
    rate: np.ndarray
    room: np.ndarray
    receive: np.ndarray
    send: np.ndarray


def build(instance: Instance, unit_time: np.ndarray, sequence: np.ndarray | None = None) -> Ways:
    """The states of an instance.

    Parameters
    ----------
    unit_time : float64 array, shape (U, K)
        Seconds of a unit; inf where it is not supported.
    sequence : int array, shape (K,), optional
        The devices in the order in which a chain uses them, where there are too many states
        otherwise; by default as they are numbered.
    """
    classes = instance.device_class
    members = [np.flatnonzero(classes == c) for c in range(int(classes.max()) + 1)]
    first = np.array([each[0] for each in members])
    sizes = np.array([len(each) for each in members])
    rate = _rates(unit_time[:, first])
    if float(np.prod(sizes + 1.0)) <= MOST:
        stride = np.concatenate([[1], np.cumprod(sizes + 1)])
        used = np.arange(stride[-1])[:, None] // stride[:-1] % (sizes + 1)
        free = used < sizes
        step = np.where(free, np.arange(stride[-1])[:, None] + stride[:-1], -1)
        taken = np.full(step.shape, -1)
        for c, each in enumerate(members):
            taken[free[:, c], c] = each[used[free[:, c], c]]
        room = np.matmul(sizes - used, rate.T)
    else:
        order = np.arange(instance.K) if sequence is None else sequence
        step = np.full((instance.K + 1, len(members)), -1)
        taken = step.copy()
        room = np.zeros((instance.K + 1, 2))
        for s in range(instance.K - 1, -1, -1):
            step[s], taken[s] = step[s + 1], taken[s + 1]
            step[s, classes[order[s]]], taken[s, classes[order[s]]] = s + 1, order[s]
            room[s] = room[s + 1] + rate[:, classes[order[s]]]
    receive, send = _transfers(instance, first)
    return Ways(first, step.astype(np.int64), taken.astype(np.int64), rate, room, receive, send)


def is_exact(instance: Instance) -> bool:
    """Whether a slice and its class tell the load of a device."""
    return instance.staged or instance.K <= 2


def _rates(time: np.ndarray) -> np.ndarray:
    """Equal weights, and the speed of each class against the fastest of them."""
    able = np.isfinite(time)
    fastest = np.where(able, time, np.inf).min(axis=1, keepdims=True)
    fastest = np.where(able & np.isfinite(fastest), fastest, 0.0).sum(axis=0)
    mine = np.where(able, time, 0.0).sum(axis=0)
    speed = np.where(mine > 0, fastest / np.where(mine > 0, mine, 1.0), 1.0)
    return np.stack([np.ones(len(mine)), speed])


def _transfers(instance: Instance, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pays = ~instance.host[first][:, None]
    if instance.staged or instance.K == 1:
        both = instance.link_time[instance.port[first]] * pays
        return both, both.copy()
    receive, send = (np.empty((len(first), instance.n)) for _ in range(2))
    for c, k in enumerate(first):
        others = np.arange(instance.K) != k
        receive[c] = instance.link_time[instance.wire[others, k]].mean(axis=0)
        send[c] = instance.link_time[instance.wire[k, others]].mean(axis=0)
    return receive * pays, send * pays
