"""From an instance to its optimum: contraction, lattice, levels, phases, memory.

Levels rise from a lower bound to the best known answer: a level at which no chain of loads exists
is a proved bound; the first one at which there is a chain gives the optimum, since the program
finds the best of all chains with loads up to the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.bounds.load_lp import load_lp
from problems.bounds.node_bound import node
from problems.compiled import REHEARSAL
from problems.instance import Instance
from solvers.ideals._arrays import Arrays, arrays_of, by_number, depth_first
from solvers.ideals._contraction import Items, items_of, simplify
from solvers.ideals._lattice import Lattice, OutOfTime, TooMany, lattice
from solvers.ideals._scope import undecided
from solvers.ideals._search import ROUNDING, Chain, Search
from solvers.keeper import Keeper
from solvers.method import Context

GIB = 2.0**30
FIRST_STEP = 0.02
"""The first level lies this share above the lower bound."""
GROWTH, AT_ONCE = 3.0, 2e6
"""The next level shall take so many times the visits of the last one, or so many visits."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What stays the same for all contractions of an instance.

    Attributes
    ----------
    members : list of int64 arrays
        Devices of each class.
    binding : bool
        Some memory is less than all bytes.
    """

    instance: Instance
    keeper: Keeper
    context: Context
    members: list[np.ndarray]
    directed: bool
    binding: bool

    @property
    def first(self) -> np.ndarray:
        """One device of each class, shape (C,)."""
        return np.array([each[0] for each in self.members])

    @property
    def count(self) -> np.ndarray:
        """Devices of each class, shape (C,)."""
        return np.array([len(each) for each in self.members])

    def in_time(self) -> bool:
        """Whether to go on."""
        return self.context.time_left() > 0.0

    def arrays(self, items: Items, sequence: list[int] | None = None) -> Arrays:
        """Lay items out."""
        value = self.keeper.value
        return arrays_of(
            items,
            self.count,
            self.instance.memory[self.first],
            directed=self.directed,
            most=2 * value if math.isfinite(value) else math.inf,
            sequence=sequence,
        )

    def answer(self, items: Items, a: Arrays, chain: Chain) -> Answer:
        """Place the nodes as a chain of items says."""
        left = [each.tolist() for each in self.members]
        device = np.array([left[c].pop(0) for c in chain.device_class])
        position = items.positions(dict(zip(a.key.tolist(), chain.position.tolist(), strict=True)))
        return Answer(device[position][self.instance.group].astype(np.int64))


def setting(instance: Instance, keeper: Keeper, context: Context) -> Setting:
    """Classes of devices and what matters of the rules."""
    classes = instance.device_class
    members = [np.flatnonzero(classes == i) for i in range(int(classes.max()) + 1)]
    overlap = throughput.rules_of(instance).overlap
    uneven = not instance.staged and bool((instance.wire != instance.wire.T).any())
    total = instance.node_bytes.sum() + instance.shared_bytes.sum()
    return Setting(
        instance, keeper, context, members, overlap == "full" or uneven,
        bool((instance.memory < total).any()),
    )  # fmt: skip


def lower_bound(instance: Instance) -> float:
    """The larger of two cheap bounds, seconds."""
    bounds = [each(instance).value for each in (load_lp, node) if each.valid_for(instance) is None]
    return max(bounds, default=0.0)


def items_for(s: Setting, *, move: bool) -> Items:
    """Contract the instance for answers up to the best known one."""
    items = items_of(s.instance, s.first, s.keeper.value * (1 + ROUNDING))
    if move:
        overlap = throughput.rules_of(s.instance).overlap
        simplify(
            items,
            directed=s.directed,
            compute_apart=overlap != "none",
            bytes_matter=s.binding,
        )
    return items


def solve_levels(s: Setting, items: Items, search: Search, lower: float) -> tuple[float, bool]:
    """Raise levels until the optimum of `search` is known, as far as it is under the best answer.

    Parameters
    ----------
    lower : float
        A proved lower bound in seconds.

    Returns
    -------
    float, bool
        The optimum of the items' problem or, if that is less, the best known value; and whether
        the answer behind it is valid. inf if there is none at all.
    """
    keeper, step, proved = s.keeper, FIRST_STEP, lower
    pace: list[tuple[float, float]] = []
    target = min(keeper.value * (1 - ROUNDING), _ceiling(s.instance))
    if s.instance.n <= REHEARSAL:
        # Perhaps there to have it compiled: below the best answer may be no chain at all.
        at_level(search, min(keeper.value, _ceiling(s.instance)) * (1 + ROUNDING), s.in_time)
    while proved < target:
        level = proved * (1 + step) if proved > 0 else target
        if level * (1 + step / 2) > target:
            level = target
        before = search.visits
        value, chain = at_level(search, level, s.in_time)
        if chain is not None:
            answer = s.answer(items, search.a, chain)
            sound = keeper.value_of(answer) is not None
            if sound:
                keeper.take(answer)
            return value, sound
        if level == target:
            break
        proved = level * (1 - 2 * ROUNDING)
        keeper.bound_by(proved)
        pace.append((math.log(level), math.log(search.visits - before + 1)))
        step = _next_step(pace)
    return keeper.value, True


def _next_step(pace: list[tuple[float, float]]) -> float:
    """Share by which the level rises, from (log level, log visits) of the levels so far."""
    power = 1.0
    if len(pace) > 1:
        (l0, v0), (l1, v1) = pace[-2:]
        power = max((v1 - v0) / (l1 - l0), power)
    more = max(math.log(GROWTH), math.log(AT_ONCE) - pace[-1][1])
    return min(math.expm1(more / power), FIRST_STEP * 2.0 ** len(pace))


def _ceiling(instance: Instance) -> float:
    """Seconds that no device's load exceeds."""
    time = np.where(np.isfinite(instance.time), instance.time, 0.0)
    way = instance.link_time.max(axis=0).sum() * 2 * instance.K
    return float(time.max(axis=1).sum() + way) * 2.0 + 1e-300


def at_level(
    search: Search, level: float, in_time: Callable[[], bool]
) -> tuple[float, Chain | None]:
    """Value of the best chain whose phases together stay up to `level`, and the chain.

    With two phases, the second one's least largest load is sought for falling limits of the
    first's: a chain with more of the first has at least that much of the second.
    """
    if search.a.work.shape[1] == 1:
        chain = search.run(np.array([level]), in_time)
        return (math.inf, None) if chain is None else (chain.value, chain)
    best, found = level * (1 + ROUNDING), None
    first = best
    while first >= 0.0:
        chain = search.run(np.array([first, best]), in_time)
        if chain is None:
            break
        if chain.first + chain.value < best:
            best, found = chain.first + chain.value, chain
        if chain.first == 0.0:
            break
        # Three times: a chain may be traced that is above its limit by the rounding.
        first = min(chain.first * (1 - 3 * ROUNDING), best - chain.value)
    return (math.inf, None) if found is None else (best, found)


def solve(s: Setting, max_gib: float) -> tuple[str, str]:
    """Search until the best known answer is proved; returns how that ended, and a note.

    Where loads are undecided (:func:`undecided`), the program's are the least possible: its optimum
    is a bound, and the optimum of the instance if the answer behind it costs no more.

    Memory is first left to chance: moved bytes do not count. A valid answer is the optimum then.
    If it is not, moved bytes count, which may do as well; else nothing is moved.
    """
    keeper, lower = s.keeper, max(lower_bound(s.instance), s.context.bound)
    keeper.bound_by(lower)
    note = ""
    try:
        for order in ("depth-first", "by number"):
            if not keeper.proved():
                solve_linear(s, order)
        lower = max(lower, keeper.reported)
        items = items_for(s, move=True)
        a = s.arrays(items)
        ideals = lattice(a, max_gib * GIB, s.in_time)
        note = f"{a.N} items, {ideals.I} ideals"
        relaxed = s.binding and bool(a.moved.any())
        optimum, sound = solve_levels(s, items, search_in(s, a, ideals, moved=False), lower)
        if not sound and relaxed:
            lower = optimum * (1 - ROUNDING)
            keeper.bound_by(lower)
            within, _ = solve_levels(s, items, search_in(s, a, ideals, moved=True), lower)
            if within > optimum * (1 + ROUNDING):
                items = items_for(s, move=False)
                a = s.arrays(items)
                ideals = lattice(a, max_gib * GIB, s.in_time)
                note = f"{a.N} items, {ideals.I} ideals as moved bytes do not fit"
                optimum, _ = solve_levels(s, items, search_in(s, a, ideals, moved=True), lower)
    except TooMany as many:
        return "stopped", (
            f"needs about {many.size * many.found / GIB:.3g} GiB and more, for {many.found:.3g}"
            f" ideals and more of {a.N} items; the limit is {max_gib:g} GiB"
        )
    except OutOfTime as late:
        return "stopped", note or f"out of time with {late}"
    if keeper.best is None:
        return "infeasible", note
    if undecided(s.instance) is None:
        keeper.bound_by(keeper.value)
        return "optimal", note
    keeper.bound_by(min(optimum * (1 - ROUNDING), keeper.value))
    if keeper.proved():
        return "optimal", note
    return "stopped", f"{note}; the answer costs more than the relaxation's optimum"


def search_in(s: Setting, a: Arrays, ideals: Lattice, *, moved: bool) -> Search:
    """A search under the instance's rules."""
    return Search(a, ideals, throughput.rules_of(s.instance).overlap, moved, s.in_time)


def solve_linear(s: Setting, order: str) -> None:
    """The best chain along one linear order (DPL), if it is better than what is known.

    Raises
    ------
    OutOfTime
        As soon as the time is over.
    """
    for move in (True, False):
        items = items_for(s, move=move)
        sequence = depth_first(items) if order == "depth-first" else by_number(items)
        a = s.arrays(items, sequence)
        search = search_in(s, a, lattice(a, math.inf, s.in_time), moved=True)
        target = min(s.keeper.value * (1 - ROUNDING), _ceiling(s.instance))
        _, chain = at_level(search, target, s.in_time)
        if chain is not None:
            s.keeper.take(s.answer(items, a, chain))
        if not (s.binding and a.moved.any()):
            return
