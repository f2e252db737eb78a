"""`throughput`, contiguous: the prefix MILP over the positions of a chain (this suite).

y[g, b] = 1 iff group g is at position b or before. An order edge (g, h) is y[g, b] >= y[h, b], so
that no position sees a flow against the chain. Which device sits at a position is decided by class
of like devices, z[b, c]; with one class only there is nothing to decide.
"""

from __future__ import annotations

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._contract import contract
from solvers.formulations._loads import Loads, Slots
from solvers.formulations._positions import windows
from solvers.model import Builder, Model

PROBLEMS = ("throughput",)
SOURCE = "this suite; rules of Tarnawski et al. 2020 (arXiv 2006.16423)"


def refuses(instance: Instance) -> str | None:
    """Why the formulation cannot take the instance, or None."""
    if not throughput.rules_of(instance).contiguous:
        return "prefix places chains: an instance that is not contiguous is for assign"
    return None


def build(instance: Instance, *, symmetry: bool, upper: float, scale: float) -> Model:
    """Build the model.

    Parameters
    ----------
    symmetry : bool
        Treat like devices as one class; otherwise every device is a class of its own.
    upper : float
        Known upper bound on the objective in seconds; inf without one.
    scale : float
        Seconds a unit.
    """
    c = contract(instance)
    G, K = c.supported.shape
    B = min(K, G)  # more positions than groups would stay empty
    classes = instance.device_class if symmetry else np.arange(K)
    members = [np.flatnonzero(classes == i) for i in range(int(classes.max()) + 1)]
    C = len(members)
    slots, home = _slots(instance, members, B)
    builder = Builder()
    earliest, latest = windows(c, upper, B, instance.memory)
    surely = latest[:, None] <= np.arange(B - 1)
    # Where there is no answer both can rule each other out: other rows tell, bounds must not cross.
    maybe = surely | (earliest[:, None] <= np.arange(B - 1))
    y = builder.variables(
        "y", (G, B - 1), integer=True, lower=surely.astype(float), upper=maybe.astype(float)
    )
    z = builder.variables("z", (B, C), integer=True, lower=float(C == 1))
    possible = c.supported[:, [each[0] for each in members]].astype(float)
    by_position = builder.variables("position", (G, B, C), upper=possible[:, None], implied=True)
    x = _places(builder, by_position, home)

    last = np.zeros(B)
    last[-1] = 1.0  # all groups are at the last position or before
    place = builder.rows("place", (G, B), lower=last, upper=last)
    builder.add(place[:, :, None], by_position, 1.0)
    builder.add(place[:, :-1], y, -1.0)
    builder.add(place[:, 1:], y, 1.0)
    order = builder.rows("order", (len(c.order), B - 1), lower=0.0)
    builder.add(order, y[c.order[:, 0]], 1.0)
    builder.add(order, y[c.order[:, 1]], -1.0)
    if C > 1:
        one = builder.rows("one class", (B,), lower=1.0, upper=1.0)
        builder.add(one[:, None], z, 1.0)
        stock = np.array([len(each) for each in members], float)
        builder.add(builder.rows("stock", (C,), upper=stock)[None], z, 1.0)
        link = builder.rows("class", (G, B, C), upper=0.0)
        builder.add(link, by_position, 1.0)
        builder.add(link, z[None], -1.0)
    rules = throughput.rules_of(instance)
    loads = Loads(builder, instance, rules, c, slots, x, scale, upper)
    if x.shape[1] < B * C:  # some slots are no positions
        work = np.minimum(c.work[:, :, [each[0] for each in members]] / scale, loads.most)
        rows = builder.rows("position load", (len(work), B), upper=0.0)
        builder.add(rows, loads.top[:, None], -1.0)
        builder.add(rows[:, None, :, None], by_position[None], work[:, :, None, :])
    member = np.unique(instance.group, return_index=True)[1]

    def read(solution: np.ndarray) -> Answer:
        position = (solution[y] < 0.5).sum(axis=1)
        left = [each.tolist() for each in members]
        at = np.zeros(B, np.int64)
        for b, i in enumerate(solution[z].argmax(axis=1)):
            # An empty class is an accident of tolerance; the validity check will drop the answer.
            at[b] = left[i].pop(0) if left[i] else members[i][0]
        return Answer(at[position][instance.group])

    def encode(answer: Answer) -> np.ndarray | None:
        if not throughput.is_valid(instance, answer.device):
            return None
        chain = throughput.chain(instance, answer.device)
        assert chain is not None
        placed = answer.device[member]
        used = set(placed.tolist())
        # Used devices first; the sort is stable, so that their order stays.
        at = np.array(sorted(chain, key=lambda k: k not in used)[:B])
        where = np.zeros(K, np.int64)
        where[at] = np.arange(B)
        position = where[placed]
        solution = np.zeros(builder.width)
        solution[y] = position[:, None] <= np.arange(B - 1)
        solution[z[np.arange(B), classes[at]]] = 1.0
        solution[by_position[np.arange(G), position, classes[placed]]] = 1.0
        solution[x[np.arange(G), home[position, classes[placed]]]] = 1.0
        loads.fill(solution)
        loads.set_period(solution, throughput.loads(instance, answer.device))
        return solution

    return builder.build(scale, read, encode)


def _slots(
    instance: Instance, members: list[np.ndarray], positions: int
) -> tuple[Slots, np.ndarray]:
    """The slots, and the slot of each position and class, int64 array of shape (B, C).

    A device without a like one is one slot, wherever it sits: models stay small, above all on
    direct links, whose flows grow with the square of the slots. Like devices have one slot a
    position; one class is in use at a position, and one position for each device of a class:
    bundles of either kind. Without them a fractional z would let a device work at all positions at
    once.
    """
    C = len(members)
    at = np.zeros((positions, C), np.int64)
    kind: list[int] = []
    place: list[int] = []  # -1 for any
    for i, each in enumerate(members):
        wide = positions if len(each) > 1 else 1
        at[:, i] = len(kind) + np.arange(positions) % wide
        kind += [i] * wide
        place += range(wide) if wide > 1 or positions == 1 else [-1]
    classes, position = np.array(kind), np.array(place)
    first = np.array([each[0] for each in members])
    link = instance.wire[np.ix_(first, first)].copy()
    for i, each in enumerate(members):
        if len(each) > 1:  # all pairs inside a class have the same link
            link[i, i] = instance.wire[each[0], each[1]]
    fixed = position >= 0
    apart = (position[:, None] != position) | ~(fixed[:, None] & fixed)
    single = np.array([len(each) == 1 for each in members])[classes]
    apart &= (classes[:, None] != classes) | ~single
    one = np.where(fixed, position, positions + classes)
    several = np.flatnonzero(fixed)
    bundle = np.concatenate([one, positions + classes[several]])
    member = np.concatenate([np.arange(len(kind)), several])
    count = np.concatenate([np.ones(positions), [len(each) for each in members]])
    if C == 1:
        bundle, member, count = one, np.arange(len(kind)), np.ones(positions)
    link = np.where(apart, link[np.ix_(classes, classes)], 0)
    behind = (position[:, None] > position) & fixed[:, None] & fixed
    return Slots(first[classes], link, apart, bundle, member, count, behind), at


def _places(builder: Builder, by_position: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Columns of x[g, q], shape (G, S): those of a position, or the sum over positions."""
    G, S = len(by_position), int(at.max()) + 1
    x = np.empty((G, S), np.int64)
    sums = [i for i in range(at.shape[1]) if len(at) > 1 and at[0, i] == at[1, i]]
    total = builder.variables("x", (G, len(sums)), implied=True)
    rows = builder.rows("x", (G, len(sums)), lower=0.0, upper=0.0)
    for i in range(at.shape[1]):
        if i in sums:
            j = sums.index(i)
            x[:, at[0, i]] = total[:, j]
            builder.add(rows[:, j], total[:, j], -1.0)
            builder.add(rows[:, j, None], by_position[:, :, i], 1.0)
        else:
            x[:, at[:, i]] = by_position[:, :, i]
    return x
