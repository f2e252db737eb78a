"""Loads and memory over slots: the part that every throughput formulation shares.

A *slot* is a place that stands for one device: the device itself, or "the device at position b is
of class c". A formulation supplies the variables x[g, q] = 1 iff group g is in slot q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.instance import Instance
from problems.rules import ThroughputRules
from solvers.formulations._contract import Contracted
from solvers.formulations._floor import floor
from solvers.model import Builder

RULED_OUT = 1e6
"""Times the known answer, far above the number of devices that share a row."""

MEMORY_UNITS = 1024.0
"""A full memory in row units: solvers allow an absolute error of about 1e-6 in a row."""


@dataclass(frozen=True, eq=False)
class Slots:
    """S slots.

    Attributes
    ----------
    device : int64 array, shape (S,)
        A device of the slot's class.
    link : int64 array, shape (S, S)
        `direct`: link from a slot to another, 0 where no payload can go or it takes no time.
    apart : bool array, shape (S, S)
        Whether groups can be in both slots at once.
    bundle, member : int64 arrays
        Pairs (bundle, slot). The loads of a bundle's slots together are at most `count` periods:
        one where only one of the slots can be in use. Every slot is in a bundle of count 1.
    count : float64 array, shape (bundles,)
    behind : bool array, shape (S, S)
        Whether the first slot certainly comes after the second in a chain.
    """

    device: np.ndarray
    link: np.ndarray
    apart: np.ndarray
    bundle: np.ndarray
    member: np.ndarray
    count: np.ndarray
    behind: np.ndarray


class Loads:
    """Adds the variables and rows of loads and memory; fills them in for a known answer.

    Parameters
    ----------
    x : int64 array, shape (G, S)
        Columns of the placement variables.
    scale : float
        Seconds a unit.
    upper : float
        Upper bound on each phase's largest load in seconds.
    """

    def __init__(
        self,
        builder: Builder,
        instance: Instance,
        rules: ThroughputRules,
        contracted: Contracted,
        slots: Slots,
        x: np.ndarray,
        scale: float,
        upper: float,
    ) -> None:
        self.c, self.slots, self.x, self.scale = contracted, slots, x, scale
        self.rules, self.builder, self.instance = rules, builder, instance
        # What takes that much longer than the known answer is ruled out by any such coefficient,
        # and solvers refuse or mistake huge ones.
        self.most = RULED_OUT * upper / scale
        phases = len(contracted.work)
        self.top = builder.variables("period", (phases,), upper=upper / scale, cost=1.0)
        # Lowered by more than rounding, or the best answer could miss it.
        least = builder.rows("floor", (1,), lower=floor(instance) / scale * (1 - 1e-9))
        builder.add(least, self.top, 1.0)
        self._load_rows()
        if len(contracted.net_group):
            if instance.staged:
                self._staged()
            else:
                self._direct()
        self._memory()

    def _load_rows(self) -> None:
        """Rows resource - count * top <= 0, shape (P, bundles), for compute, receive and send."""
        c, b = self.c, self.builder
        shape = len(c.work), len(self.slots.count)
        rows = {"compute": b.rows("load", shape, upper=0.0)}
        if self.rules.overlap == "none":
            rows["receive"] = rows["send"] = rows["compute"]
        elif self.rules.overlap == "half":
            rows["receive"] = rows["send"] = b.rows("transfer load", shape, upper=0.0)
        else:
            rows["receive"] = b.rows("receive load", shape, upper=0.0)
            rows["send"] = b.rows("send load", shape, upper=0.0)
        for each in {id(r): r for r in rows.values()}.values():
            b.add(each, self.top[:, None], -self.slots.count)
        bundle, member = self.slots.bundle, self.slots.member
        work = c.work[:, :, self.slots.device[member]] / self.scale
        work = np.minimum(work, self.most)
        b.add(rows["compute"][:, None, bundle], self.x[:, member][None], work)
        self.load = rows

    def _charge(self, name: str, slot: np.ndarray, columns: np.ndarray, cost: np.ndarray) -> None:
        """Add entries to the loads: columns and cost of shape (E, M) for M slots."""
        for i in range(len(self.slots.count)):
            mine = np.isin(slot, self.slots.member[self.slots.bundle == i])
            rows = self.load[name][self.c.net_phase, i]
            charged = np.minimum(cost[:, mine], self.most)
            self.builder.add(rows[:, None], columns[:, mine], charged)

    def _staged(self) -> None:
        """Receive is x[consumer] - x[producer] or more, send is x[producer] - x[consumer]."""
        c, b = self.c, self.builder
        self.port = np.flatnonzero(~self.instance.host[self.slots.device])
        cost = c.net_time[self.instance.port[self.slots.device[self.port]]].T / self.scale
        shape = len(c.net_group), len(self.port)
        pins = len(c.pin_net), len(self.port)
        source = self.x[c.net_group[c.pin_net]][:, self.port]
        target = self.x[c.pin_group][:, self.port]
        self.moves = {}
        for name, (plus, minus) in {
            "receive": (target, source),
            "send": (source, target),
        }.items():
            move = self.moves[name] = b.variables(name, shape)
            rows = b.rows(f"{name} pin", pins, lower=0.0)
            b.add(rows, move[c.pin_net], 1.0)
            b.add(rows, plus, -1.0)
            b.add(rows, minus, 1.0)
            self._charge(name, self.port, move, cost)

    def _direct(self) -> None:
        """flow[q, r] = 1 iff the producer is in q and a consumer in r.

        From the rows sum_q flow[q, r] + x[producer, r] >= reach[r] and flow[q, r] <= x[producer, q]
        follows flow[q, r] >= x[producer, q] + reach[r] - 1, and more in the relaxation.
        """
        c, b, slots = self.c, self.builder, self.slots
        nets, S = len(c.net_group), len(slots.device)
        self.reach = b.variables("reach", (nets, S))
        rows = b.rows("reach pin", (len(c.pin_net), S), lower=0.0)
        b.add(rows, self.reach[c.pin_net], 1.0)
        b.add(rows, self.x[c.pin_group], -1.0)
        self.ends = np.argwhere(slots.apart)
        source, target = self.ends.T
        # What goes to later groups of a chain only never goes back.
        G = len(c.supported)
        onward = np.isin(c.net_group[c.pin_net] * G + c.pin_group, c.order @ [G, 1])
        ahead = np.ones(nets, bool)
        np.logical_and.at(ahead, c.pin_net, onward)
        never = ahead[:, None] & slots.behind[source, target]
        self.flow = b.variables("flow", (nets, len(self.ends)), upper=1.0 - never, implied=True)
        arrive = b.rows("arrive", (nets, S), lower=0.0)
        b.add(arrive, self.reach, -1.0)
        b.add(arrive, self.x[c.net_group], 1.0)
        b.add(arrive[:, target], self.flow, 1.0)
        leave = b.rows("leave", (nets, len(self.ends)), upper=0.0)
        b.add(leave, self.flow, 1.0)
        b.add(leave, self.x[c.net_group][:, source], -1.0)
        cost = c.net_time[slots.link[source, target]].T / self.scale
        host = self.instance.host[slots.device]
        for name, end in {"send": source, "receive": target}.items():
            self._charge(name, end, self.flow, cost * ~host[end])

    def _memory(self) -> None:
        c, b = self.c, self.builder
        limit = self.instance.memory[self.slots.device]
        tight = np.flatnonzero(limit < c.bytes.sum() + c.shared_bytes.sum())
        # Where the limit is 0, only groups of no bytes are left (`supported`).
        factor = MEMORY_UNITS / np.maximum(limit[tight], 1.0)
        self.tight = tight
        self.held = b.variables("held", (len(c.shared_bytes), len(tight)))
        # As with loads: the used shares of a bundle's memories together are at most `count`.
        rows = b.rows("memory", (len(self.slots.count),), upper=self.slots.count * MEMORY_UNITS)
        for i in range(len(rows)):
            mine = np.isin(tight, self.slots.member[self.slots.bundle == i])
            b.add(rows[i], self.x[:, tight[mine]], c.bytes[:, None] * factor[mine])
            b.add(rows[i], self.held[:, mine], c.shared_bytes[:, None] * factor[mine])
        reads = b.rows("held reader", (len(c.reader_group), len(tight)), lower=0.0)
        b.add(reads, self.held[c.reader_weight], 1.0)
        b.add(reads, self.x[c.reader_group][:, tight], -1.0)

    def fill(self, solution: np.ndarray) -> None:
        """Set all variables of this part for the placement already in `solution`, shape (N,)."""
        c = self.c
        placed = solution[self.x]
        if len(c.net_group) and self.instance.staged:
            source = placed[c.net_group[c.pin_net]][:, self.port]
            target = placed[c.pin_group][:, self.port]
            for name, difference in {"receive": target - source, "send": source - target}.items():
                move = np.zeros(self.moves[name].shape)
                np.maximum.at(move, c.pin_net, difference)
                solution[self.moves[name]] = move
        elif len(c.net_group):
            reach = np.zeros(self.reach.shape)
            np.maximum.at(reach, c.pin_net, placed[c.pin_group])
            source, target = self.ends.T
            solution[self.reach] = reach
            solution[self.flow] = placed[c.net_group][:, source] * reach[:, target]
        held = np.zeros(self.held.shape)
        np.maximum.at(held, c.reader_weight, placed[c.reader_group][:, self.tight])
        solution[self.held] = held

    def set_period(self, solution: np.ndarray, loads: np.ndarray) -> None:
        """Set the objective's variables from loads in seconds, shape (P, K)."""
        solution[self.top] = loads.max(axis=1) / self.scale
