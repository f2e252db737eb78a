"""The CP-SAT model of a pipeline: a device literal a group, prefix literals along a chain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems import throughput
from problems.instance import Instance
from solvers.cpsat._pipeline_loads import add_loads, add_memory
from solvers.cpsat._program import Program, real
from solvers.cpsat._units import unit_of
from solvers.formulations._contract import Contracted, contract
from solvers.formulations._floor import floor
from solvers.formulations._positions import fitting, windows
from solvers.formulations._symmetry import successors

FINEST = 44
"""At most two to this power units make the known answer."""


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
    terms = len(c.supported) + 2 * len(c.net_group) * instance.K
    unit = unit_of(horizon, terms, FINEST)
    program = Program(instance, model, unit, int(horizon / unit) + 1, symmetry)
    possible = fitting(c, upper)
    if throughput.rules_of(instance).contiguous:
        _chain(program, c, possible, *windows(c, upper, min(possible.shape), instance.memory))
    else:
        _free(program, possible)
    add_memory(program, c)
    add_loads(program, c)
    program.floor = floor(instance)
    if math.isfinite(program.floor):  # else there is no answer, as the rows say themselves
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
        model.add_exactly_one(real(row))
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
        model.add_exactly_one(real(program.at[-1]))
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
        later = program.implied([[on] for on in real([row[b + 1] for row in program.at])])
        if later is not None:
            here = real([row[b] for row in program.at])
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
        model.add_exactly_one(real(row))
        for k, on in enumerate(row):
            for b, here in enumerate(at):
                # Any two of them imply the third.
                three = [on, here, seat[k][b]]
                for i, each in enumerate(three):
                    others = three[:i] + three[i + 1 :]
                    if all(other is not None for other in others):
                        then = [] if each is None else [each]
                        model.add_bool_or([*then, *(other.negated() for other in others)])
