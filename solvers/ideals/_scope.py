"""Which instances the programs over ideals take, and where they only bound."""

from __future__ import annotations

import math

import numpy as np

from problems import throughput
from problems.instance import Instance

MOST_VECTORS = 2**12
"""Combinations of used devices: 12 devices that are all unlike."""


def refuses(instance: Instance) -> str | None:
    """Why no program over ideals can take the instance, or None."""
    if not throughput.rules_of(instance).contiguous:
        return "the program places chains: an instance that is not contiguous is for assign"
    vectors = math.prod(int(count) + 1 for count in np.bincount(instance.device_class))
    if vectors > MOST_VECTORS:
        kinds = int(instance.device_class.max()) + 1
        return (
            f"{instance.K} devices of {kinds} kinds: {vectors} states an ideal, and the program"
            f" takes up to {MOST_VECTORS}"
        )
    return None


def undecided(instance: Instance) -> str | None:
    """Why a device's part and class do not tell its load, or None where they do.

    They do on staged platforms and between two devices. Over direct links between more, they do if
    all links of a device are alike and every producer is read by one other group at most.
    """
    if instance.staged or instance.K <= 2:
        return None
    for k in np.flatnonzero(~instance.host):
        others = np.arange(instance.K) != k
        for wire in (instance.wire[k, others], instance.wire[others, k]):
            if (instance.link_time[wire] != instance.link_time[wire[0]]).any():
                return (
                    "direct links that differ: what a device sends depends on where its consumers"
                    " sit, and the program knows a device's part only; dp-relaxed and prefix take"
                    " them"
                )
    group, pays = instance.group, instance.link_time.any(axis=0)
    for u in np.flatnonzero(pays):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        if len(set(group[consumers].tolist()) - {int(group[u])}) > 1:
            return (
                "direct links between more than two devices: a producer sends once to every device"
                " that reads it, and the program knows a device's part only; dp-relaxed and prefix"
                " take them"
            )
    return None
