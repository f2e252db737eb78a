"""`throughput`, module after module: what follows lies in blocks, what is done is fixed.

Loads so far alone would let the first modules spread over all devices, and a chain would have no
place left for the others. So the modules still to come take part as blocks, consecutive runs of
their atoms that move as one. Each solve refines the blocks of one module to its atoms and keeps
what it had: the objective never grows, and a whole answer exists after the first solve.
"""

from __future__ import annotations

import math

import numpy as np

from heuristics.modules import exact
from heuristics.modules.atoms import Atoms
from heuristics.modules.exact import Backend
from heuristics.modules.reduced import part_nodes, reduced
from heuristics.shared import state as state_
from heuristics.shared.balance import balance
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context

BLOCKS = 4, 24, 64
"""Blocks in all: so many a device, at least, at most."""
SHARE = 0.25
"""Of the largest memory that a block may fill."""


def run(
    instance: Instance,
    space: Space,
    best: Best,
    atoms: Atoms,
    modules: list[np.ndarray],
    fine: int,
    backend: Backend,
    effort: float,
    context: Context,
) -> None:
    """Place all modules and offer what comes of it.

    Parameters
    ----------
    modules : list of int64 arrays
        Atoms, in topological order.
    fine : int
        Elements of a module at most: atoms, or runs of them where it has more atoms.
    effort : float
        Deterministic time of all solves together.
    context : Context
        Its deadline cuts.
    """
    parts = Parts(instance, atoms, modules, fine)
    device = np.full(len(parts.block), -1, np.int64)
    for i in range(len(modules)):
        if context.time_left() <= 0 or best.done():
            break
        if not solve(instance, parts, i, device, backend, effort / len(modules), context):
            break
        best.offer_device(device[parts.element])
    if (device < 0).any():
        _complete(space, best, device[parts.element])


class Parts:
    """Elements and blocks of an instance.

    Attributes
    ----------
    element : int64 array, shape (n,)
        Element of every node, numbered along the modules.
    block, module : int64 arrays, shape (E,)
        Block and module of every element.
    """

    def __init__(
        self, instance: Instance, atoms: Atoms, modules: list[np.ndarray], fine: int
    ) -> None:
        K, A = instance.K, atoms.number
        time = np.zeros((A, K))
        np.add.at(time, atoms.atom, instance.time)
        size = np.bincount(atoms.atom, instance.node_bytes, A)
        held = SHARE * float(instance.memory.max())
        work = time.min(axis=1)
        many, least, most = BLOCKS
        target = float(work.sum()) / max(min(most, many * K), least)
        of_atom = np.empty(A, np.int64)
        block: list[int] = []
        owner: list[int] = []
        for i, members in enumerate(modules):
            runs = np.arange(len(members))
            if len(members) > fine:
                goal = float(work[members].sum()) / fine
                runs = _runs(time[members], work[members], size[members], goal, held)
            number = int(runs[-1]) + 1
            of_atom[members] = runs + len(block)
            sums = np.zeros((number, K))
            np.add.at(sums, runs, time[members])
            first = block[-1] + 1 if block else 0
            mine = _runs(sums, sums.min(axis=1), np.bincount(runs, size[members]), target, held)
            block += (first + mine).tolist()
            owner += [i] * number
        self.element = of_atom[atoms.atom]
        self.block, self.module = np.array(block), np.array(owner)


def _runs(
    time: np.ndarray, work: np.ndarray, size: np.ndarray, target: float, held: float
) -> np.ndarray:
    """Run of each of N things in a row: about `target` seconds and at most `held` bytes each.

    A run has a device that supports all of it.
    """
    masks = [int("".join("1" if x else "0" for x in row), 2) for row in np.isfinite(time).tolist()]
    result = np.empty(len(work), np.int64)
    at, seconds, bytes_, mask = -1, math.inf, 0.0, 0
    for j, (w, b, m) in enumerate(zip(work.tolist(), size.tolist(), masks, strict=True)):
        if seconds + w / 2 > target or bytes_ + b > held or not mask & m:
            at, seconds, bytes_, mask = at + 1, 0.0, 0.0, m
        mask &= m
        seconds += w if math.isfinite(w) else 0.0
        bytes_ += b
        result[j] = at
    return result


def solve(
    instance: Instance,
    parts: Parts,
    i: int,
    device: np.ndarray,
    backend: Backend,
    effort: float,
    context: Context,
) -> bool:
    """Solve module i and set `device`, shape (E,), of its elements and of all that follow.

    False, and nothing set, where no answer is found.
    """
    part, fixed, start = boundary(parts, i, device, instance.K)
    small = reduced(instance, part[parts.element], fixed)
    spread = part_nodes(small, len(fixed))
    known = None
    if (start >= 0).all():
        of_node = np.empty(small.n, np.int64)
        of_node[spread] = start
        of_group = np.empty(len(fixed), np.int64)
        of_group[small.group[spread]] = start
        known = Answer(of_group[small.group])
    answer = exact.mapping(small, known, backend, effort, context)
    if answer is None:
        return False
    device[:] = answer.device[spread][part]
    return True


def boundary(
    parts: Parts, i: int, device: np.ndarray, devices: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parts of the model of module i.

    Returns
    -------
    part : int64 array, shape (E,)
        What is placed by device, the elements of module i alone, the others by block.
    fixed : int64 array, shape (P,)
        Device of what is placed; -1 elsewhere.
    start : int64 array, shape (P,)
        Device of all parts in the answer before; -1 where there is none.
    """
    done, mine = parts.module < i, parts.module == i
    key = np.where(done, device, np.where(mine, 0, parts.block))
    key = np.where(mine, devices + np.arange(len(key)), key)
    key = np.where(~done & ~mine, devices + len(key) + parts.block, key)
    first, part = np.unique(key, return_index=True, return_inverse=True)[1:]
    part = part.reshape(-1)
    return part, np.where(done[first], device[first], -1), device[first]


def _complete(space: Space, best: Best, device: np.ndarray) -> None:
    """Offer what is placed with the other units one by one where the period grows least."""
    place = device[space.unit_node[space.unit_ptr[:-1]]]
    time = space.unit_time.copy()
    placed = np.flatnonzero(place >= 0)
    time[placed] = np.inf
    time[placed, place[placed]] = space.unit_time[placed, place[placed]]
    state = state_.empty(space)
    devices = np.arange(time.shape[1])
    order = np.concatenate([placed, np.flatnonzero(place < 0)])
    if balance(space._replace(unit_time=time), state, order, devices):
        best.offer_device(state.place[space.unit])
