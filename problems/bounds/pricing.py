"""The most valuable set of groups that one device can hold, by HiGHS.

    minimise  lambda L - pi(S)
    over sets S of groups that class c can run and hold, load_c(S) <= L <= level

Without the level and the memory this is a minimum cut, whose linear relaxation is
integral; few branches are left to take.
"""

from __future__ import annotations

import numpy as np

from problems.bounds.linear import TOLERANCE, Linear
from problems.bounds.nets import Nets

NEAR = 1e-4  # in units: a set that is so little from the best is as good


class Pricing:
    """What one device of class `c` can hold; times in units of `unit` seconds."""

    def __init__(self, nets: Nets, unit: float, c: int) -> None:
        self.nets, self.c = nets, c
        G = len(nets.time)
        may = np.isfinite(nets.time[:, c])
        self.model = model = Linear()
        self.load = int(model.variables(1, upper=np.inf)[0])
        self.x = model.variables(G, upper=may.astype(float), integer=True)
        # The load is the largest of so many sums.
        parts = model.rows({"none": 1, "half": 2, "full": 3}[nets.overlap], upper=0.0)
        model.add(parts, self.load, -1.0)
        compute, into, out = parts[0], parts[1 % len(parts)], parts[-1]
        model.add(compute, self.x, np.where(may, nets.time[:, c], 0.0) / unit)
        for row, seconds, way in ((into, nets.receive[c], 1), (out, nets.send[c], -1)):
            pays = seconds > 0
            crosses = model.variables(int(pays.sum()))
            model.add(row, crosses, seconds[pays] / unit)
            mine = pays[nets.pin_net]
            differ = model.rows(int(mine.sum()), lower=0.0)
            number = (np.cumsum(pays) - 1)[nets.pin_net[mine]]
            model.add(differ, crosses[number], 1.0)
            model.add(differ, self.x[nets.pin[mine]], -float(way))
            model.add(differ, self.x[nets.source[nets.pin_net[mine]]], float(way))
        if np.isfinite(nets.memory[c]):
            # In parts of the limit, which bytes alone would put out of scale.
            scale = max(float(nets.memory[c]), 1.0)
            held = model.rows(1, upper=float(nets.memory[c]) / scale)
            model.add(held, self.x, nets.bytes / scale)

    def least(
        self, load: float, cover: np.ndarray, level: float, seconds: float
    ) -> tuple[float, np.ndarray | None]:
        """Lower bound on load x load_c(S) - cover(S), and the best set that was found.

        Parameters
        ----------
        load : float
            lambda, at least 0.
        cover : float64 array, shape (G,)
            pi, in units like the loads.
        level : float
            Most load of a set, in units.
        seconds : float
            After which the bound that is proved by then is returned.
        """
        cost = np.zeros(self.model.width)
        cost[self.load], cost[self.x] = load, -cover
        most = {self.load: level * (1 + TOLERANCE)}
        low, found = self.model.minimise(cost, seconds, most, NEAR)
        nothing = -float(np.maximum(cover, 0.0).sum()) * (1 + 1e-9)  # no set gains more than all
        held = None if found is None else np.flatnonzero(found[self.x] > 0.5)
        # The empty set costs nothing: were there no set at all, that would be the least too.
        return max(min(low, 0.0), nothing), held
