"""Column generation: mappings that pay at the master's prices, until there is none left.

For any weights lambda >= 0 of the engines that sum to 1, no mixture is faster than the mapping of
least weighted load is long: with sum_i r_i load_i(e) <= 1,

    1 >= sum_e lambda_e sum_i r_i load_i(e) = sum_i r_i lambda load_i >= (sum_i r_i) min lambda load

so that 1 / sum_i r_i >= min over mappings of lambda load, the Lagrangian bound: every step of the
pricing proves one. Where mappings share memory, those that fit by themselves are more than those
that fit together, and the bound stays valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from problems import mixture
from solvers.keeper import TOLERANCE
from solvers.mixtures._columns import Columns
from solvers.mixtures._local import Local
from solvers.mixtures._master import rates
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room

PULL = 0.5
"""Share of the best weights so far in those that are priced: plain ones jump about."""
PAYS = 1e-7
"""What a mapping's weighted load must be less than 1 by."""
WORTH = 1e-3
"""The same of a walk's: where walks gain less, the exact pricing is asked, which bounds too."""
WALKS = 3
"""Mappings of the master's mixture that walks start from, those of largest share."""
SMALL = 1e-9
"""Rates below this, of a sum of 1, are rounding."""


@dataclass(frozen=True, eq=False)
class Priced:
    """What column generation came to.

    Attributes
    ----------
    bound : float
        Seconds a sample that no mixture in the room is under; inf where there is no mapping.
    value : float
        Seconds a sample of the best mixture of known mappings, memory apart; inf without one.
    columns, shares : int64 and float64 arrays
        That mixture.
    complete : bool
        Whether no mapping that is missing would improve it.
    """

    bound: float
    value: float
    columns: np.ndarray
    shares: np.ndarray
    complete: bool


def fits(pricing: Pricing, room: Room | None, device: np.ndarray) -> bool:
    """Whether a mapping, shape (n,), is in a room."""
    if room is None:
        return True
    place = device[pricing.member]
    groups = np.arange(len(place))
    if room.barred[groups, place].any():
        return False
    held = room.held.copy()
    held[groups, place] = True
    instance = pricing.instance
    use = mixture.memory_use(instance, held[instance.group])
    return bool((use <= instance.memory).all())


def generate(
    pricing: Pricing,
    local: Local | None,
    columns: Columns,
    room: Room | None,
    cutoff: float,
    time_left: Callable[[], float],
    on_step: Callable[[Priced], None],
) -> Priced:
    """Run until the mixture is optimal in the room, the bound reaches `cutoff`, or time is up.

    Walks look for a mapping first, if there is a `local`: the exact pricing is for what they miss.
    """
    scale, shape = pricing.scale, (-1, pricing.instance.K)
    engines = pricing.engines
    centre = columns.even(np.full(engines, 1.0 / engines))
    bound, pulled = 0.0, True
    mine = [i for i, each in enumerate(columns.devices) if fits(pricing, room, each)]
    while True:
        solved = rates(np.array([columns.loads[i] for i in mine])) if mine else None
        if solved is None:
            value, weights, index, share = np.inf, centre, np.zeros(0, int), np.zeros(0)
        else:
            rate, weights = solved
            kept = rate > SMALL * rate.sum()
            index, share = np.array(mine)[kept], rate[kept]
            value, weights = scale / rate.sum(), columns.even(weights)
        on_step(Priced(bound, value, index, share, False))
        if bound >= value * (1 - TOLERANCE):
            return Priced(bound, value, index, share, True)
        if bound >= cutoff or time_left() <= 0:
            return Priced(bound, value, index, share, False)
        if local is not None and solved is not None:
            found = walked(local, columns, room, weights.reshape(shape), index, share, time_left)
            inside = [i for i in found if fits(pricing, room, columns.devices[i])]
            mine += inside
            if any(weights @ columns.loads[i] * scale < value * (1 - WORTH) for i in inside):
                continue
            if time_left() <= 0:
                return Priced(bound, value, index, share, False)
        asked = PULL * centre + (1 - PULL) * weights if pulled else weights
        least, device = pricing.least(asked.reshape(shape), room, time_left())
        if np.isinf(least):
            return Priced(np.inf, np.inf, index, share, True)
        if least * scale > bound:
            bound, centre = least * scale, asked
        first = len(columns.devices)
        if device is not None:
            columns.add(device)
        fresh = range(first, len(columns.devices))
        pays = any(weights @ columns.loads[i] * scale < value * (1 - PAYS) for i in fresh)
        mine += [i for i in fresh if fits(pricing, room, columns.devices[i])]
        if not pays and not pulled:  # neither does anything else, or it was not found in time
            return Priced(bound, value, index, share, bound >= value * (1 - TOLERANCE))
        # What was found at pulled weights and does not pay: ask at the master's own.
        pulled = pays


def walked(
    local: Local,
    columns: Columns,
    room: Room | None,
    weights: np.ndarray,
    index: np.ndarray,
    share: np.ndarray,
    time_left: Callable[[], float],
) -> range:
    """New columns that walks find from those of a mixture, the largest shares first."""
    first = len(columns.devices)
    held, barred = (None, None) if room is None else (room.held, room.barred)
    for i in index[np.argsort(-share, kind="stable")][:WALKS].tolist():
        device = local.least(weights, columns.devices[i], held, barred, time_left)
        if device is not None:
            columns.add(device)
    return range(first, len(columns.devices))
