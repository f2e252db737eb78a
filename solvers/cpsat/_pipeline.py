"""The CP-SAT model of a pipeline: a device literal a group, prefix literals along a chain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._contract import Contracted, contract
from solvers.formulations._floor import floor
from solvers.formulations._positions import fitting, windows
from solvers.formulations._symmetry import canonical, leaders, successors

SAFETY = 1 - 1e-12
"""Seconds are rounded to nearest: lowered by this they are certainly no more."""

PRECISION = 22
"""Rounding loses less than a part in two to this power of the known answer."""


class Program:
    """The CP-SAT model of an instance and its variables; see :func:`build`.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    unit : float
        Seconds.
    x : list of list
        Literal "group g is on device k", or None where it cannot be.
    at : list of list
        `contiguous`: literal "group g is at position b", or None; empty otherwise.
    seat : list of list
        `contiguous` with unlike devices: literal "device k is at position b"; empty otherwise.
    top : list
        Largest load of each phase in units.
    floor : float
        A cheap lower bound in seconds.
    classes : int64 array, shape (K,)
        Which devices are interchangeable in the model.
    order : int64 array
        Groups along which like devices are ordered where there is no chain.
    """

    def __init__(self, instance: Instance, model: Any, unit: float, symmetry: bool) -> None:
        self.instance, self.model, self.unit, self.symmetry = instance, model, unit, symmetry
        self.classes = instance.device_class if symmetry else np.arange(instance.K)
        self.x: list[list[Any]] = []
        self.at: list[list[Any]] = []
        self.seat: list[list[Any]] = []
        self.top: list[Any] = []
        self.floor = 0.0
        self.order = leaders(instance)
        self._implied: list[tuple[Any, list[list[Any]]]] = []

    def units(self, seconds: np.ndarray) -> np.ndarray:
        """Whole units, rounded down."""
        return np.floor(seconds / self.unit * SAFETY).astype(np.int64)

    def literal(self, possible: bool = True) -> Any:
        """A new literal, or None."""
        return self.model.new_bool_var("") if possible else None

    def implied(self, bodies: list[list[Any]]) -> Any:
        """A literal that holds where all of a body hold; None for no bodies, or the body itself."""
        if not bodies:
            return None
        if len(bodies) == 1 == len(bodies[0]):
            return bodies[0][0]
        head = self.literal()
        for body in bodies:
            self.model.add_bool_or([head, *(each.negated() for each in body)])
        self._implied.append((head, bodies))
        return head

    def hint(self, answer: Answer) -> None:
        """Hint an answer, and all literals that follow from it."""
        instance = self.instance
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        rank = np.arange(instance.K)
        if self.at:
            chain = throughput.chain(instance, answer.device)
            assert chain is not None
            used = set(placed.tolist())
            rank = np.argsort(sorted(chain, key=lambda k: k not in used))
            placed, rank = _in_order(placed, rank, self.classes)
        elif self.symmetry:
            placed = canonical(self.order, placed, instance.device_class)
        self.model.clear_hints()
        known: dict[int, bool] = {}

        def put(rows: list[list[Any]], chosen: np.ndarray) -> None:
            for row, c in zip(rows, chosen.tolist(), strict=True):
                for i, on in enumerate(row):
                    if on is not None:
                        index, value = on.index, i == c
                        known[max(index, -index - 1)] = value if index >= 0 else not value

        def holds(literal: Any) -> bool:
            i = literal.index
            return known[i] if i >= 0 else not known[-i - 1]

        put(self.x, placed)
        if self.at:
            put(self.at, rank[placed])
        if self.seat:
            put(self.seat, rank)
        for head, bodies in self._implied:
            known[head.index] = any(all(map(holds, body)) for body in bodies)
        for i, value in known.items():
            self.model.add_hint(self.model.get_bool_var_from_proto_index(i), value)

    def read(self, value: Any) -> Answer:
        """The answer of a solution, given as a function of literals."""
        placed = [
            next(k for k, on in enumerate(row) if on is not None and value(on)) for row in self.x
        ]
        return Answer(np.array(placed, np.int64)[self.instance.group])


def _in_order(
    placed: np.ndarray, rank: np.ndarray, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Relabel like devices by position: device of every group, position of every device."""
    to, position = np.arange(len(rank)), rank.copy()
    for i in range(int(classes.max()) + 1):
        mine = np.flatnonzero(classes == i)
        by_rank = mine[np.argsort(rank[mine])]
        to[by_rank] = mine
        position[mine] = np.sort(rank[mine])
    return to[placed], position


def build(instance: Instance, upper: float, model: Any, *, symmetry: bool) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Period of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    symmetry : bool
        Order like devices: along the chain, or by first use along the heaviest groups.
    """
    c = contract(instance)
    horizon = upper if math.isfinite(upper) else _longest(c)
    # A load loses at most a unit a group and a transfer.
    terms = len(c.supported) + len(c.net_group) * instance.K + 1
    unit = horizon / 2.0 ** min(44, PRECISION + math.ceil(math.log2(terms)))
    program = Program(instance, model, unit, symmetry)
    possible = fitting(c, upper)
    if throughput.rules_of(instance).contiguous:
        _chain(program, c, possible, *windows(c, upper, min(possible.shape)))
    else:
        _free(program, possible)
    _memory(program, c)
    _loads(program, c, int(horizon / unit) + 1)
    program.floor = floor(instance)
    model.add(sum(program.top) >= int(program.units(np.array(program.floor))))
    model.minimize(sum(program.top))
    return program


def _longest(c: Contracted) -> float:
    """Seconds that no load exceeds."""
    work = c.work.sum(axis=0).max(axis=1).sum()
    most = c.net_time.max(axis=0, initial=0.0).sum() * c.supported.shape[1]
    return float(work + most) or 1.0


def _free(program: Program, possible: np.ndarray) -> None:
    model = program.model
    x = program.x = [[program.literal(fits) for fits in row] for row in possible.tolist()]
    for row in x:
        model.add_exactly_one(_real(row))
    for j, k in successors(program.classes):
        earlier: list[Any] = []
        for g in program.order.tolist():
            if x[g][k] is not None:
                model.add_bool_or([*earlier, x[g][k].negated()])
            if x[g][j] is not None:
                earlier.append(x[g][j])


def _chain(
    program: Program, c: Contracted, possible: np.ndarray, first: np.ndarray, last: np.ndarray
) -> None:
    """Positions along the order of the chain, and the devices that sit there."""
    model, (G, K) = program.model, possible.shape
    B = min(G, K)
    true = model.new_constant(1)
    # y[g][b]: group g is at position b or before.
    y: list[list[Any]] = []
    for lo, hi in zip(first.tolist(), last.tolist(), strict=True):
        row = [
            true.negated() if b < lo else true if b >= hi else program.literal() for b in range(B)
        ]
        y.append(row)
        program.at.append([None] * B)
        for b in range(lo, hi + 1):
            before = row[b - 1].negated() if b > lo else true
            if b in (lo, hi):
                here = row[b] if b == lo else before
            else:
                here = program.literal()
                model.add_implication(here, row[b])
                model.add_implication(here, before)
                model.add_bool_or([here, row[b].negated(), before.negated()])
            program.at[-1][b] = here
        for b in range(lo, hi - 1):
            model.add_implication(row[b], row[b + 1])
        model.add_exactly_one(_real(program.at[-1]))
    for a, b in c.order.tolist():
        for i in range(int(first[b]), int(last[a])):
            model.add_implication(y[b][i], y[a][i])
    if not program.classes.any():  # all alike: positions are devices
        program.x = [[*row, *[None] * (K - B)] for row in program.at]
    else:
        _seats(program, possible, B)
    if program.symmetry:
        _no_gaps(program, B)


def _no_gaps(program: Program, positions: int) -> None:
    """Empty positions come last."""
    for b in range(positions - 1):
        later = program.implied([[on] for on in _real([row[b + 1] for row in program.at])])
        if later is not None:
            here = _real([row[b] for row in program.at])
            program.model.add_bool_or([*here, later.negated()])


def _seats(program: Program, possible: np.ndarray, positions: int) -> None:
    """Which device sits at which position, and the devices of the groups there."""
    model, K = program.model, possible.shape[1]
    seat = program.seat = [[program.literal() for _ in range(positions)] for _ in range(K)]
    for row in seat:
        if positions == K:
            model.add_exactly_one(row)
        else:
            model.add_at_most_one(row)
    for b in range(positions):
        model.add_exactly_one([row[b] for row in seat])
    for j, k in successors(program.classes):
        for b in range(positions):
            model.add_bool_or([seat[k][b].negated(), *seat[j][:b]])
    x = program.x = [[program.literal(fits) for fits in row] for row in possible.tolist()]
    for row, at in zip(x, program.at, strict=True):
        model.add_exactly_one(_real(row))
        for k, on in enumerate(row):
            for b, here in enumerate(at):
                # Any two of them imply the third.
                three = [on, here, seat[k][b]]
                for i, each in enumerate(three):
                    others = three[:i] + three[i + 1 :]
                    if all(other is not None for other in others):
                        then = [] if each is None else [each]
                        model.add_bool_or([*then, *(other.negated() for other in others)])


def _memory(program: Program, c: Contracted) -> None:
    """Bytes of every device; a weight that several groups read counts once."""
    for k, limit in enumerate(program.instance.memory.tolist()):
        if limit >= c.bytes.sum() + c.shared_bytes.sum():
            continue
        terms = [int(size) * row[k] for size, row in zip(c.bytes, program.x, strict=True)
                 if size and row[k] is not None]  # fmt: skip
        for i, size in enumerate(c.shared_bytes.tolist()):
            readers = c.reader_group[c.reader_weight == i].tolist()
            held = program.implied([[on] for on in _real([program.x[g][k] for g in readers])])
            if held is not None:
                terms.append(int(size) * held)
        program.model.add(sum(terms) <= math.floor(limit))


Charges = list[list[list[Any]]]
"""Terms by phase and device."""


def _charges(phases: int, devices: int) -> Charges:
    return [[[] for _ in range(devices)] for _ in range(phases)]


def _loads(program: Program, c: Contracted, most: int) -> None:
    """Compute, receive and send of every device against the largest load of the phase."""
    model, instance = program.model, program.instance
    phases, _, K = c.work.shape
    program.top = [model.new_int_var(0, most, f"top{p}") for p in range(phases)]
    work = program.units(c.work)
    compute, receive, send = (_charges(phases, K) for _ in range(3))
    for p, g, k in np.argwhere(work).tolist():
        if program.x[g][k] is not None:
            compute[p][k].append(int(work[p, g, k]) * program.x[g][k])
    charge = _staged if instance.staged else _direct
    charge(program, c, receive, send)
    overlap = throughput.rules_of(instance).overlap
    for p, top in enumerate(program.top):
        for k in range(K):
            own, into, out = compute[p][k], receive[p][k], send[p][k]
            for terms in {
                "none": [own + into + out],
                "half": [own, into + out],
                "full": [own, into, out],
            }[overlap]:
                if terms:
                    model.add(sum(terms) <= top)


def _pins(c: Contracted) -> list[list[int]]:
    """Consumer groups of each net."""
    return [each.tolist() for each in np.split(c.pin_group, np.flatnonzero(np.diff(c.pin_net)) + 1)]


def _staged(program: Program, c: Contracted, receive: Charges, send: Charges) -> None:
    instance, x = program.instance, program.x
    for e, pins in enumerate(_pins(c) if len(c.net_group) else []):
        g, p = int(c.net_group[e]), int(c.net_phase[e])
        for k in np.flatnonzero(~instance.host).tolist():
            cost = int(program.units(c.net_time[instance.port[k], e]))
            if not cost:
                continue
            source = x[g][k]
            targets = [x[h][k] for h in pins]
            away = [] if source is None else [source.negated()]
            into = program.implied([[on, *away] for on in _real(targets)])
            if into is not None:
                receive[p][k].append(cost * into)
            if source is not None:
                bodies = [[source] if on is None else [source, on.negated()] for on in targets]
                send[p][k].append(cost * program.implied(bodies))


def _direct(program: Program, c: Contracted, receive: Charges, send: Charges) -> None:
    instance, x, model = program.instance, program.x, program.model
    cost = program.units(c.net_time)
    for e, pins in enumerate(_pins(c) if len(c.net_group) else []):
        g, p = int(c.net_group[e]), int(c.net_phase[e])
        for to in range(instance.K):
            reached = program.implied([[on] for on in _real([x[h][to] for h in pins])])
            if reached is None:
                continue
            ways = [reached.negated(), *_real([x[g][to]])]
            for k in range(instance.K):
                if k == to or x[g][k] is None:
                    continue
                flow = program.implied([[x[g][k], reached]])
                ways.append(flow)
                seconds = int(cost[instance.wire[k, to], e])
                if seconds and not instance.host[to]:
                    receive[p][to].append(seconds * flow)
                if seconds and not instance.host[k]:
                    send[p][k].append(seconds * flow)
            # Follows from the clauses, not from their linear relaxation.
            model.add_bool_or(ways)


def _real(literals: list[Any]) -> list[Any]:
    return [each for each in literals if each is not None]
