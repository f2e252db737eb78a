"""`throughput` placed freely: `assign` with servers and alike nodes ordered, too.

One order of groups serves all: the heaviest first. Of all answers that symmetry makes of one, the
model keeps the one whose devices, read along that order, come first. Hence (Margot 2010, section
on isomorphism pruning; rows of Liberti 2012 along a stabiliser chain of Sims)

* a device of a class is used only after the one before it (as in `assign`);
* a server of a class is used only after the one before it;
* a group g is on no later device than any group that g can be carried to while all groups before
  it in the order stay where they are.
"""

from __future__ import annotations

import numpy as np

from problems.answer import Answer
from problems.instance import Instance
from problems.symmetry.automorphisms import automorphisms
from problems.symmetry.servers import server_classes
from solvers.formulations._by_device import ByDevice
from solvers.formulations._symmetry import canonical
from solvers.formulations.assign import PROBLEMS, refuses
from solvers.model import Model

__all__ = ["PROBLEMS", "SOURCE", "build", "refuses"]

SOURCE = "this suite; isomorph-free models of Margot 2010 and Liberti 2012"

REFINEMENTS = 300
"""Budget of the search for automorphisms: below a second on graphs that the model is for."""


def build(instance: Instance, *, symmetry: bool, upper: float, scale: float) -> Model:
    """x[g, k] = 1 iff group g is on device k.

    Parameters
    ----------
    symmetry : bool
        Keep one answer of all that symmetry makes of it, as far as the rows above do.
    upper : float
        Known upper bound on the objective in seconds; inf without one.
    scale : float
        Seconds a unit.
    """
    part = ByDevice(instance, symmetry, upper, scale)
    servers = server_classes(instance) if symmetry else []
    rank = np.arange(instance.K)
    for rows in servers:
        for t, row in enumerate(rows):
            rank[row] += t * instance.K
    rank = np.argsort(np.argsort(rank, kind="stable"))
    builder, x, order = part.builder, part.x, part.order
    for c, rows in enumerate(servers):
        for t in range(1, len(rows)):
            block = builder.rows(f"server {c} {t}", (len(order),), upper=0.0)
            later, earlier = np.tril_indices(len(order), -1)
            for k in rows[t]:
                builder.add(block, x[order, k], 1.0)
            for k in rows[t - 1]:
                builder.add(block[later], x[order[earlier], k], -1.0)
    pairs, images = _pairs(instance, order) if symmetry else ([], [])
    if pairs:
        before, after = np.array(pairs).T
        for least in range(1, instance.K):
            block = builder.rows(f"orbits {least}", (len(pairs),), upper=0.0)
            for k in np.flatnonzero(rank >= least):
                builder.add(block, x[before, k], 1.0)
                builder.add(block, x[after, k], -1.0)

    leader = np.unique(instance.group, return_index=True)[1]
    sequence = np.concatenate([order, np.setdiff1d(np.arange(len(leader)), order)])

    def first(placed: np.ndarray) -> tuple[list[int], np.ndarray]:
        """The first that like devices and servers make of it, and what it is compared by."""
        placed = _servers_in_order(sequence, placed, servers, instance.K)[placed]
        placed = canonical(order, placed, instance.device_class)
        return rank[placed[sequence]].tolist(), placed

    def encode(answer: Answer) -> np.ndarray | None:
        if symmetry:
            key, placed = first(answer.device[leader])
            improved = True
            while improved:
                improved = False
                for image in images:
                    turned, candidate = first(placed[image])
                    if turned < key:
                        key, placed, improved = turned, candidate, True
            if any(rank[placed[g]] > rank[placed[h]] for g, h in pairs):
                return None  # a first one by these steps alone, which is not always the first
            answer = Answer(placed[instance.group])
        encoded = part.encode(answer)
        return None if encoded is None else encoded[0]

    return builder.build(scale, part.read, encode)


def _servers_in_order(
    sequence: np.ndarray, placed: np.ndarray, servers: list[np.ndarray], devices: int
) -> np.ndarray:
    """Where every device goes, shape (K,), so that servers of a class open one after another."""
    image = np.arange(devices)
    for rows in servers:
        at = {int(k): t for t, row in enumerate(rows) for k in row}
        used = [at[k] for k in placed[sequence].tolist() if k in at]
        opened = list(dict.fromkeys([*used, *range(len(rows))]))
        for t, old in enumerate(opened):
            image[rows[old]] = rows[t]
    return image


def _pairs(instance: Instance, order: np.ndarray) -> tuple[list[tuple[int, int]], list[np.ndarray]]:
    """Groups (g, h), g first in the order, that the third rule is about; none that others imply.

    And the automorphisms that were found, as permutations of the groups.
    """
    leader = np.unique(instance.group, return_index=True)[1]
    rest = np.setdiff1d(np.arange(len(leader)), order)
    along = leader[np.concatenate([order, rest])].tolist()
    found = automorphisms(instance, REFINEMENTS, along)
    last: dict[int, int] = {}
    for v, orbit in found.base:
        g = int(instance.group[v])
        # An earlier partner of h has g for a partner, too, so that what it asks of h is implied.
        last |= {h: g for h in instance.group[list(orbit)].tolist() if h != g}
    return [(g, h) for h, g in last.items()], [
        instance.group[image[leader]] for image in found.generators
    ]
