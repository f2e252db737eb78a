"""The CP-SAT model of :mod:`solvers.cpsat.hops`: placement, the rules of the chain, loads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems import chips
from problems.answer import Answer
from problems.bounds.pipeline import as_pipeline
from problems.instance import Instance
from solvers.cpsat._program import real
from solvers.cpsat._units import unit_of, whole
from solvers.formulations._contract import Contracted, contract
from solvers.formulations._floor import floor
from solvers.formulations._positions import fitting, windows

FINEST = 44
"""At most two to this power units make the known answer."""


class Program:
    """The model of an instance and its literals.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    unit : float
        Seconds.
    end : int
        Units that no load exceeds.
    on : list of list
        Literal "group g is on chip k", or None where it cannot be.
    upto : list of list
        Literal "group g is on chip k or before".
    """

    def __init__(
        self, instance: Instance, c: Contracted, model: Any, unit: float, end: int
    ) -> None:
        self.instance, self.c, self.model = instance, c, model
        self.unit, self.end = unit, end
        self.true = model.new_constant(1)
        self.on: list[list[Any]] = []
        self.upto: list[list[Any]] = []
        self._implied: list[tuple[Any, list[list[Any]]]] = []

    def units(self, seconds: np.ndarray) -> np.ndarray:
        """Whole units; see :func:`solvers.cpsat._units.whole`."""
        return whole(seconds, self.unit, self.end)

    def implied(self, bodies: list[list[Any]]) -> Any:
        """A literal that holds where all of a body hold; None without bodies."""
        if not bodies:
            return None
        head = self.model.new_bool_var("")
        for body in bodies:
            self.model.add_bool_or([head, *(each.negated() for each in body)])
        self._implied.append((head, bodies))
        return head

    def hint(self, answer: Answer) -> None:
        """Hint an answer, and all literals that follow from it."""
        placed = answer.device[np.unique(self.instance.group, return_index=True)[1]].tolist()
        known: dict[int, bool] = {self.true.index: True}

        def put(literal: Any, value: bool) -> None:
            i = literal.index
            known[max(i, -i - 1)] = value if i >= 0 else not value

        def holds(literal: Any) -> bool:
            i = literal.index
            return known[i] if i >= 0 else not known[-i - 1]

        for on, upto, chip in zip(self.on, self.upto, placed, strict=True):
            for k, (here, before) in enumerate(zip(on, upto, strict=True)):
                if here is not None:
                    put(here, k == chip)
                if before.index not in (self.true.index, self.true.negated().index):
                    put(before, chip <= k)
        for head, bodies in self._implied:
            known[head.index] = any(all(map(holds, body)) for body in bodies)
        self.model.clear_hints()
        for i, value in known.items():
            self.model.add_hint(self.model.get_bool_var_from_proto_index(i), value)

    def read(self, value: Any) -> Answer:
        """The answer of a solution, given as a function of literals."""
        placed = [
            next(k for k, on in enumerate(row) if on is not None and value(on)) for row in self.on
        ]
        return Answer(np.array(placed, np.int64)[self.instance.group])


def build(instance: Instance, upper: float, model: Any, *, symmetry: bool) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Largest load of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    symmetry : bool
        Chips of a chain cannot change places: nothing depends on it.
    """
    case = as_pipeline(instance)
    c = contract(case)
    horizon = upper if math.isfinite(upper) else _longest(c)
    terms = len(c.supported) + 2 * len(c.net_group) * instance.K
    unit = unit_of(horizon, terms, FINEST)
    program = Program(instance, c, model, unit, int(horizon / unit) + 1)
    _place(program, fitting(c, upper), *windows(c, upper, instance.K, instance.memory))
    _skip_no_chip(program)
    _no_detour(program)
    _hold(program)
    top = model.new_int_var(0, program.end, "top")
    _loads(program, top)
    least = floor(case)
    if math.isfinite(least):  # else there is no answer, as the rows say themselves
        model.add(top >= int(program.units(np.array(least))))
    model.minimize(top)
    return program


def _longest(c: Contracted) -> float:
    """Seconds that no load exceeds."""
    K = c.supported.shape[1]
    most = c.net_time.max(axis=0, initial=0.0).sum() * 2 * K
    return float(c.work.sum(axis=0).max(axis=1).sum() + most) or 1.0


def _place(program: Program, possible: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
    """Every group on one chip, and no edge backwards (C1)."""
    model, true, (_, K) = program.model, program.true, possible.shape
    for fits, lo, hi in zip(possible, first.tolist(), last.tolist(), strict=True):
        upto = [
            true.negated() if k < lo else true if k >= hi else model.new_bool_var("")
            for k in range(K)
        ]
        program.upto.append(upto)
        on: list[Any] = [None] * K
        for k in range(lo, hi + 1):
            before = upto[k - 1] if k else true.negated()
            if not fits[k]:
                model.add_bool_or([upto[k].negated(), before])
                continue
            on[k] = model.new_bool_var("")
            model.add_implication(on[k], upto[k])
            model.add_implication(on[k], before.negated())
            model.add_bool_or([on[k], upto[k].negated(), before])
        for k in range(lo, hi):
            model.add_implication(upto[k], upto[k + 1])
        program.on.append(on)
        model.add_exactly_one(real(on))  # of none, where no answer is within `upper`: infeasible
    for a, b in program.c.order.tolist():
        for later, earlier in zip(program.upto[b], program.upto[a], strict=True):
            model.add_implication(later, earlier)


def _skip_no_chip(program: Program) -> None:
    """C2: where something is on a later chip, something is on this one."""
    model = program.model
    for k in range(program.instance.K - 1):
        here = real([row[k] for row in program.on])
        later = program.implied([[row[k].negated()] for row in program.upto])
        model.add_bool_or([*here, later.negated()])


def _no_detour(program: Program) -> None:
    """C3: no chip feeds another one both directly and over others."""
    model, K, on = program.model, program.instance.K, program.on
    feeds: dict[tuple[int, int], Any] = {}
    for a in range(K):
        for b in range(a + 1, K):
            pairs = [[on[g][a], on[h][b]] for g, h in program.c.order.tolist()]
            feeds[a, b] = program.implied([each for each in pairs if len(real(each)) == 2])
    beyond: dict[tuple[int, int], Any] = {}
    for a in reversed(range(K)):
        for b in range(a + 1, K):
            bodies = []
            for c in range(a + 1, b):
                for rest in (feeds[c, b], beyond[c, b]):
                    if feeds[a, c] is not None and rest is not None:
                        bodies.append([feeds[a, c], rest])
            beyond[a, b] = program.implied(bodies)
            if beyond[a, b] is not None and feeds[a, b] is not None:
                model.add_bool_or([feeds[a, b].negated(), beyond[a, b].negated()])


def _hold(program: Program) -> None:
    """C4: bytes of every chip; a weight that several groups read counts once."""
    c = program.c
    for k, limit in enumerate(program.instance.memory.tolist()):
        if limit >= c.bytes.sum() + c.shared_bytes.sum():
            continue
        terms = [int(size) * row[k] for size, row in zip(c.bytes, program.on, strict=True)
                 if size and row[k] is not None]  # fmt: skip
        for i, size in enumerate(c.shared_bytes.tolist()):
            readers = c.reader_group[c.reader_weight == i].tolist()
            held = program.implied([[on] for on in real([program.on[g][k] for g in readers])])
            if held is not None:
                terms.append(int(size) * held)
        program.model.add(sum(terms) <= math.floor(limit))


def _loads(program: Program, top: Any) -> None:
    """Compute, receive and send of every chip against the largest load."""
    instance, c, model = program.instance, program.c, program.model
    rules, K = chips.rules_of(instance), instance.K
    compute: list[list[Any]] = [[] for _ in range(K)]
    receive: list[list[Any]] = [[] for _ in range(K)]
    send: list[list[Any]] = [[] for _ in range(K)]
    work = program.units(c.work[0])
    for g, k in np.argwhere(work).tolist():
        if program.on[g][k] is not None:
            compute[k].append(int(work[g, k]) * program.on[g][k])
    seconds = program.units(c.net_time[chips.hops(instance)])
    pins = np.split(c.pin_group, np.flatnonzero(np.diff(c.pin_net)) + 1)
    charge = _through if rules.through_traffic else _once_a_destination
    for e, g in enumerate(c.net_group.tolist()):
        charge(program, g, pins[e].tolist(), seconds[:, e].tolist(), receive, send)
    for k in range(K):
        own, into, out = compute[k], receive[k], send[k]
        for terms in {
            "none": [own + into + out],
            "half": [own, into + out],
            "full": [own, into, out],
        }[rules.overlap]:
            if terms:
                model.add(sum(terms) <= top)


def _through(
    program: Program,
    g: int,
    pins: list[int],
    seconds: list[int],
    receive: list[list[Any]],
    send: list[list[Any]],
) -> None:
    """A net loads every link between its source and its last consumer, once."""
    upto = program.upto
    for k, cost in enumerate(seconds):
        if not cost:
            continue
        crosses = program.implied([[upto[g][k], upto[h][k].negated()] for h in pins])
        send[k].append(cost * crosses)
        receive[k + 1].append(cost * crosses)


def _once_a_destination(
    program: Program,
    g: int,
    pins: list[int],
    seconds: list[int],
    receive: list[list[Any]],
    send: list[list[Any]],
) -> None:
    """A net loads the first link of its source and the last one before each consuming chip."""
    on = program.on
    for to in range(1, len(seconds) + 1):
        before = program.upto[g][to - 1]
        arrives = program.implied([[here, before] for here in real([on[h][to] for h in pins])])
        if arrives is None:
            continue
        receive[to].append(seconds[to - 1] * arrives)
        for k in range(to):
            if seconds[k] and on[g][k] is not None:
                send[k].append(seconds[k] * program.implied([[on[g][k], arrives]]))
