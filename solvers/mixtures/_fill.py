"""Mixtures that fit together, by walks: what the exact search over memory starts from.

What one mixture holds is spent; every mapping that goes into the memory that is left, or into what
is held, may join it. The one that gains most for its memory joins, that memory is spent as well,
and so on until none pays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from problems import mixture
from problems.answer import Answer
from solvers.mixtures._chain import Chain
from solvers.mixtures._columns import Columns, by_part
from solvers.mixtures._generate import PAYS, SMALL, WALKS, WORTH, fits
from solvers.mixtures._local import Local
from solvers.mixtures._master import rates
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room
from solvers.mixtures._stages import spread

IDLE = 2
"""Rounds of walks in a row that bring nothing, after which it ends."""

LITTLE = 0.01
"""Part of the graph's memory that a mapping costs besides what it adds."""


def fill(
    pricing: Pricing,
    local: Local,
    columns: Columns,
    first: list[np.ndarray],
    line: Chain | None,
    wide: bool,
    time_left: Callable[[], float],
    take: Callable[[Answer], None],
) -> None:
    """Offer the mixtures that grow from mappings which fit together, each of shape (n,).

    Parameters
    ----------
    line : Chain or None
        Is asked for mappings besides walks.
    wide : bool
        Spend memory on what lies next to what devices hold, before it goes to what gains most; do
        nothing where that is nothing.
    """
    instance = pricing.instance
    G, K = pricing.contracted.supported.shape
    groups, nobody = np.arange(G), np.zeros((G, K), bool)
    held = nobody.copy()
    for device in first:
        columns.add(device)
        held[groups, device[pricing.member]] = True
    if wide:
        plain, held = held, spread(instance, first)[pricing.member]
        if (held == plain).all():
            return  # the other way is the same
    whole = float(pricing.contracted.bytes.sum() + pricing.contracted.shared_bytes.sum()) or 1.0
    idle, free = 0, wide
    while idle < IDLE and time_left() > 0:
        room = Room(held, nobody)
        inside = [held[groups, each[pricing.member]].all() for each in columns.devices]
        mine = np.flatnonzero(inside)
        solved = rates(np.array([columns.loads[i] for i in mine]))
        if solved is None:
            return
        rate, weights = solved
        take(mixture.answer_of(instance, [columns.devices[i] for i in mine], rate))
        value = 1.0 / rate.sum()
        used = np.flatnonzero(rate > SMALL * rate.sum())
        known = len(columns.devices)
        for j in used[np.argsort(-rate[used], kind="stable")][:WALKS].tolist():
            start = columns.devices[mine[j]]
            barred = ~held if free else None
            found = local.least(weights.reshape(-1, K), start, held, barred, time_left)
            if found is not None:
                columns.add(found)
        if line is not None:
            allowed = Room(held, ~held) if free else room
            _, found = line.least(by_part(weights.reshape(-1, K)), allowed, time_left)
            if found is not None:
                columns.add(found)
        if free:
            # As long as mappings of pairs that are held pay, no memory need be spent.
            fresh = columns.loads[known:]
            free = any(weights @ load < value * (1 - WORTH) for load in fresh)
            continue
        # Not only new ones: what went in by itself may fit beside the others as well.
        before = mixture.memory_use(instance, held[instance.group]).sum()
        able = []
        for i, load in enumerate(columns.loads):
            gain = 1 - weights @ load / value
            if gain < PAYS or not fits(pricing, room, columns.devices[i]):
                continue
            both = held.copy()
            both[groups, columns.devices[i][pricing.member]] = True
            more = mixture.memory_use(instance, both[instance.group]).sum() - before
            able.append((gain / (LITTLE + more / whole), i, both))
        if able:
            held = max(able, key=lambda each: each[:2])[2]
        idle, free = (0, True) if able else (idle + 1, False)
