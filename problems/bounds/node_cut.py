"""Throughput: what the device of a group pays for it and for whatever it takes along.

Let f_c(g) be the least load of a device of class c that holds group g,

    f_c(g) = min over sets S with g in S of  w_c(S) + out_c(S) + in_c(S)

which is a minimum cut: S is the source's side, a group in S pays its work to the sink, and each net
pays through an auxiliary node. On a host, which pays no transfers, f_c(g) is g's own work.

Suppose that the optimum is under t. Then g is on no device of a class with f_c(g) >= t. Where that
leaves g no device, or leaves some devices so much that their load is t or more, the optimum is at
least t: small groups may escape to a host, but not all of them.

Under `overlap` the load is a maximum, which is at least any weighted mean of its parts. The chain
of a contiguous instance, and memory beyond single groups, are left out, which is a relaxation.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from problems.bounds.allowed import Groups
from problems.bounds.linear import budget
from problems.bounds.load_lp import best_multipliers, closed_form, lagrangian
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.registry import bound, round_down
from problems.instance import Instance

# Arcs x minimum cuts: about 2 seconds. The groups that cost most alone come first.
WORK, PACE = 12_000_000, 6_000_000
FIRST_STEP, LAST_STEP = 0.2, 0.01  # how far above a proved bound the next try is, relative
INFINITE = 2**29  # capacities are int32, and two of them are added in a residual network
UNITS = 2**28
LARGEST_LP = 2_000  # groups x classes up to which what is left to them is an LP of its own
# Weights of compute, in and out in a lower estimate of the load.
MEANS = {
    "none": ((1.0, 1.0, 1.0),),
    "half": ((1 / 2, 1 / 2, 1 / 2), (3 / 4, 1 / 4, 1 / 4), (1 / 4, 3 / 4, 3 / 4)),
    "full": ((1 / 2, 1 / 2, 0.0), (1 / 2, 0.0, 1 / 2), (1 / 3, 1 / 3, 1 / 3)),
}


def _refuses(instance: Instance) -> str | None:
    return "no device pays transfers" if instance.host.all() else None


@bound("node-cut", problems=["throughput"], rules=RULES, refuses=_refuses)
def node_cut(instance: Instance) -> tuple[float, str]:
    """The largest t that the least loads around single groups prove, in seconds."""
    return by_phases(instance, lambda nets, _: least(nets), 0.0)


def least(nets: Nets) -> tuple[float, str]:
    """The bound of some phases' costs, in seconds, and a note."""
    effort = Effort(int(min(WORK, PACE * budget())))
    load = least_loads(nets, effort)
    # Each value that a ban may begin at, largest first; a larger t bans less.
    levels = np.unique(load[np.isfinite(load)])[::-1]
    low, high, value = 0, len(levels) - 1, 0.0
    while low <= high:
        middle = (low + high) // 2
        rest = _without(nets, load < levels[middle])
        value = max(value, min(float(levels[middle]), rest))
        if rest >= levels[middle]:
            high = middle - 1
        else:
            low = middle + 1
    # Banned groups cannot be taken along, which raises the loads of others: so on at a given t.
    step = FIRST_STEP
    while value > 0 and step > LAST_STEP and effort.left > 0:
        t = value * (1 + step)
        least = _supposing(nets, load, t, effort)
        step = 2 * step if least >= t else step / 2
        value = max(value, min(t, least))
    return value, f"least loads around single groups, {effort.cuts} minimum cuts"


@dataclasses.dataclass
class Effort:
    """Arcs of the networks that may still be cut, and how many cuts there were."""

    left: int
    cuts: int = 0

    def spend(self, arcs: int) -> None:
        """Count one cut of a network of so many arcs."""
        self.left -= arcs
        self.cuts += 1


def _supposing(nets: Nets, load: np.ndarray, t: float, effort: Effort) -> float:
    """A bound if the optimum is under t; `load` holds the least loads without any ban."""
    may = np.isfinite(nets.time)
    while True:
        now = may & (load < t)
        rest = _without(nets, now)
        if rest >= t:
            return rest
        if effort.left <= 0 or np.array_equal(now, may):
            banned = (now != np.isfinite(nets.time)).any()  # else it is the load LP itself
            return max(rest, _without(nets, now, exact=True)) if banned else rest
        may = now
        load = least_loads(dataclasses.replace(nets, time=np.where(may, nets.time, np.inf)), effort)


def least_loads(nets: Nets, effort: Effort) -> np.ndarray:
    """f_c(g) in seconds, rounded down, shape (G, C).

    inf where g cannot go; g's own work where the cut is left out, once the effort is spent.
    """
    load = nets.time.copy()
    cuts = [
        MinimumCut(nets, c, mean)
        for c in np.flatnonzero(~nets.host).tolist()
        for mean in MEANS[nets.overlap]
    ]
    # In turns, so that every class has its heaviest groups done when the effort is spent.
    for place in range(len(load)):
        for each in cuts:
            if effort.left > 0 and place < len(each.heaviest):
                g = int(each.heaviest[place])
                load[g, each.c] = max(load[g, each.c], each.least(g))
                effort.spend(each.arcs)
    return np.where(np.isfinite(load), round_down(1.0, nets.instance.n) * load, np.inf)


def _without(nets: Nets, may: np.ndarray, exact: bool = False) -> float:
    """A bound where group g may go to class c only as `may`, shape (G, C), says.

    `exact`: by the load LP, up to :data:`LARGEST_LP`.
    """
    if not may.any(axis=1).all():
        return np.inf
    only = may & (may.sum(axis=1, keepdims=True) == 1)
    forced = np.where(only, np.where(may, nets.time, 0.0), 0.0).sum(axis=0) / nets.count
    by_device = may[:, nets.device_class]
    groups = Groups(nets.groups.time, nets.groups.bytes, by_device, nets.groups.shared)
    time = np.where(by_device, nets.device_time, np.inf)
    if not exact or may.size > LARGEST_LP:
        spread = lagrangian(nets.instance, groups, time, closed_form(nets.instance, groups, time))
    else:
        spread = best_multipliers(nets.instance, groups, time)[0]
    return max(round_down(float(forced.max()), nets.instance.n), spread)


@dataclasses.dataclass
class MinimumCut:
    """The network of one class and one weighting: 0 source, 1 sink, groups, auxiliary nodes."""

    nets: Nets
    c: int
    mean: tuple[float, float, float]

    def __post_init__(self) -> None:
        nets, c = self.nets, self.c
        compute, into, out = self.mean
        G, pins = len(nets.time), np.bincount(nets.pin_net, minlength=len(nets.source))
        work = compute * nets.time[:, c]
        send, receive = out * nets.send[c], into * nets.receive[c]
        alone = np.where(np.isfinite(work), work, 0.0)
        np.add.at(alone, nets.source, send)
        np.add.at(alone, nets.pin, receive[nets.pin_net])
        self.alone = np.where(np.isfinite(work), alone, -1.0)
        most = float(self.alone.max())
        self.unit = (most if most > 1e-200 else 1.0) / UNITS
        order = np.argsort(-self.alone, kind="stable")
        self.heaviest = order[self.alone[order] >= 0]  # groups that can go there
        # A net of one pin needs no auxiliary node: source -> pin and back.
        several = np.flatnonzero(pins > 1)
        leave = np.full(len(pins), -1)
        leave[several] = np.arange(G, G + len(several))
        enter = leave + len(several)
        single = pins[nets.pin_net] == 1
        a, b, e = nets.source[nets.pin_net[single]], nets.pin[single], nets.pin_net[single]
        many = np.flatnonzero(~single)
        endless = np.full(len(many), np.inf)
        tail = [a, b, nets.source[several], leave[nets.pin_net[many]], nets.pin[many],
                enter[several]]  # fmt: skip
        head = [b, a, leave[several], nets.pin[many], enter[nets.pin_net[many]],
                nets.source[several]]  # fmt: skip
        size = [send[e], receive[e], send[several], endless, endless, receive[several]]
        self.nodes = G + 2 * len(several) + 2
        tail = [np.zeros(1, int), np.arange(G) + 2, *(each + 2 for each in tail)]
        head = [np.full(1, 2), np.ones(G, int), *(each + 2 for each in head)]
        values = np.concatenate([[np.inf], work, *size])
        whole = np.minimum(np.floor(values / self.unit), INFINITE).astype(np.int64)
        graph = sparse.coo_array(
            (whole, (np.concatenate(tail), np.concatenate(head))), shape=(self.nodes, self.nodes)
        ).tocsr()
        graph.data = np.minimum(graph.data, INFINITE)
        self.graph = sparse.csr_array(graph.astype(np.int32))
        self.arcs = graph.nnz

    def least(self, g: int, without: int | None = None) -> float:
        """Weighted least load of a device that holds g, but not `without`, in seconds."""
        self.graph.indices[0] = g + 2  # the only arc of the source is the first entry
        if without is None:
            return float(maximum_flow(self.graph, 0, 1).flow_value) * self.unit
        place = self.graph.indptr[without + 2]  # its arc to the sink, which comes first
        work, self.graph.data[place] = self.graph.data[place], INFINITE
        flow = maximum_flow(self.graph, 0, 1).flow_value
        self.graph.data[place] = work
        return float(flow) * self.unit
