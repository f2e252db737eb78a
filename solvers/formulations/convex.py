"""`throughput`, contiguous: published baseline, x[g, k] and convexity rows by device.

The form of Tarnawski et al. 2020 (Figure 3): z[g, k] = 1 where a group of device k is still to come
on a path from g, and no path enters a device again that it left:

    z[g, k] >= x[g, k],  z[h, k] <= z[g, k],  z[h, k] <= x[h, k] - x[g, k] + 1     on edges g -> h

That makes every device's set convex, which is weaker than the suite's rule: the sets {a, d} and
{b, c} of the edges a -> b and c -> d are convex, and yet neither device comes first. Hence rows of
a linear order of the devices, before[k, l] = 1 iff k comes before l, are added:

    x[g, k] + x[h, l] <= 1 + before[k, l]     on edges g -> h

Without them (``chain=False``) the model is a relaxation, as published: its bound holds, its answers
are checked like any other and dropped where the devices form no chain. It is here to be compared
with, for its root bound knows no communication; prefix is the form to use.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._by_device import ByDevice
from solvers.model import Builder, Model

PROBLEMS = ("throughput",)
SOURCE = "Tarnawski et al. 2020 (arXiv 2006.16423); order of the devices: this suite"


def refuses(instance: Instance) -> str | None:
    """Why the formulation cannot take the instance, or None."""
    if not throughput.rules_of(instance).contiguous:
        return "convex places chains: an instance that is not contiguous is for assign"
    return None


def build(
    instance: Instance, *, symmetry: bool, upper: float, scale: float, chain: bool = True
) -> Model:
    """Build the model.

    Parameters
    ----------
    symmetry : bool
        Order like devices by first use along the heaviest groups.
    upper : float
        Known upper bound on the objective in seconds; inf without one.
    scale : float
        Seconds a unit.
    chain : bool
        Order the devices; otherwise answers may break the rule.
    """
    part = ByDevice(instance, symmetry, upper, scale)
    builder, x = part.builder, part.x
    G, K = x.shape
    a, b = part.contracted.order.T
    z = builder.variables("z", (G, K), implied=True)
    ahead = builder.rows("ahead", (G, K), lower=0.0)
    builder.add(ahead, z, 1.0)
    builder.add(ahead, x, -1.0)
    along = builder.rows("along", (len(a), K), lower=0.0)
    builder.add(along, z[a], 1.0)
    builder.add(along, z[b], -1.0)
    left = builder.rows("left", (len(a), K), upper=1.0)
    builder.add(left, z[b], 1.0)
    builder.add(left, x[b], -1.0)
    builder.add(left, x[a], 1.0)
    before = _order(builder, x, a, b) if chain else None

    def encode(answer: Answer) -> np.ndarray | None:
        encoded = part.encode(answer)
        if encoded is None:
            return None
        solution, placed = encoded
        order = throughput.chain(instance, placed[instance.group])
        assert order is not None
        rank = np.argsort(order)
        solution[z] = rank[placed][:, None] <= rank
        if before is not None:
            solution[before] = rank[:, None] < rank
        return solution

    return builder.build(scale, part.read, encode)


def _order(builder: Builder, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Columns of a linear order of the devices that edges a -> b respect, shape (K, K)."""
    K = x.shape[1]
    before = builder.variables("before", (K, K), upper=1.0 - np.eye(K), integer=True)
    k, l = np.triu_indices(K, 1)  # noqa: E741 - the field's letters
    either = builder.rows("either", (len(k),), lower=1.0, upper=1.0)
    builder.add(either, before[k, l], 1.0)
    builder.add(either, before[l, k], 1.0)
    triples = np.array(list(combinations(range(K), 3)), np.int64).reshape(-1, 3)
    for way, turn in enumerate((triples, triples[:, ::-1])):
        rows = builder.rows(f"no cycle {way}", (len(turn),), upper=2.0)
        for i in range(3):
            builder.add(rows, before[turn[:, i], turn[:, (i + 1) % 3]], 1.0)
    k, l = np.argwhere(~np.eye(K, dtype=bool)).T  # noqa: E741
    follow = builder.rows("follow", (len(a), len(k)), upper=1.0)
    builder.add(follow, x[a][:, k], 1.0)
    builder.add(follow, x[b][:, l], 1.0)
    builder.add(follow, before[k, l], -1.0)
    return before
