"""The two modes of repair: SAMPLE and FIX. What comes back is valid, or None."""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from problems.compiled import REHEARSAL
from solvers.repair import partition, search, state
from solvers.repair.cuts import any_valid
from solvers.repair.problem import Problem
from solvers.repair.valid import is_valid, steps
from solvers.rng import seeded

Rule = Literal["exact", "difference"]
LADDER: dict[Rule, tuple[float, ...]] = {
    "exact": (0.0, 0.5, 0.8, 0.95, 1.0, 1.0),
    "difference": (1.0, 1.0, 1.0),
}
"""Share of the edges that are tight, attempt by attempt. The first one of `exact` reaches every
valid partition; the more are tight, the less a search has to take back."""
WORK = 100_000
"""Edges looked at between two looks at the clock: less than a millisecond."""
FAILS = 200_000
"""Failed decisions an attempt, times nodes: small graphs are searched to the end."""
LEAST_FAILS = 100
SEARCHED = 2_000
"""Nodes times chips up to which all attempts are made where memory is short; beyond, only the last
one, for they fail nearly always."""
RETRY = 16
"""Calls of a mode of which one makes all attempts; the others begin with the one that the last
call came to. So every partition stays within reach, and what hardly ever succeeds is hardly paid
for. A graph whose first attempts succeed never leaves any out."""
SWEEPS = 4
"""Sweeps over all nodes that pull cuts towards what is asked for."""


class Repaired(NamedTuple):
    """A valid partition.

    Attributes
    ----------
    chip : int64 array, shape (n,)
    by : {'search', 'sweeps', 'cuts'}
        `sweeps`: no attempt came to an end, and cuts of an order were pulled towards what is asked
        for, node by node; `cuts`: there was no time for that either.
    attempt : int
        Attempts before the one that found it.
    fails : int
        Decisions of that attempt that had to be taken back.
    """

    chip: np.ndarray
    by: Literal["search", "sweeps", "cuts"]
    attempt: int
    fails: int


class Repair:
    """Repairs of one problem; room is taken once, so that one object serves one thread.

    Parameters
    ----------
    rule : {'exact', 'difference'}
        `exact`: the rules as they are, which every valid partition can come out of. `difference`:
        0 <= f(v) - f(u) <= 1 along every edge, which is enough for C1 and C3, forbids to skip
        chips, and is never taken back but for C2 or memory.
    allowed : bool array, shape (n, C), optional
        Chips that a node may have at all; all by default.
    known : int array, shape (n,), optional
        A valid partition to fall back on, in place of cuts of an order.

    Attributes
    ----------
    none : bool
        Whether it has been proved that there is no valid partition (with `difference`: none of
        that kind).
    made : int
        Attempts that the last call made.
    """

    def __init__(
        self,
        problem: Problem,
        rule: Rule = "exact",
        allowed: np.ndarray | None = None,
        known: np.ndarray | None = None,
    ) -> None:
        if rule not in LADDER:
            raise ValueError(f"rule={rule!r} is not one of {', '.join(LADDER)}")
        n, C = len(problem.bytes), problem.chips
        self.problem, self.rule, self.none, self.made = problem, rule, False, 0
        self._allowed = np.ones((n, C), bool) if allowed is None else np.asarray(allowed, bool)
        if self._allowed.shape != (n, C):
            raise ValueError(f"allowed: shape {self._allowed.shape}, not {(n, C)}")
        self._whole = state.domains(self._allowed, np.ones((n, C)))
        self._state = state.empty(problem)
        self._known = None if known is None else np.ascontiguousarray(known, np.int64)
        if self._known is not None and not is_valid(problem, self._known):
            raise ValueError("known: not a valid partition")
        self._partition = partition.empty(problem)
        small = n * C <= SEARCHED or not problem.limited
        self._ladder = LADDER[rule] if small else LADDER[rule][-1:]
        self._even = np.zeros((n, C))
        # Attempts that lately came to nothing, and calls since all were made; SAMPLE and FIX.
        self._skip, self._calls = [0, 0], [0, 0]
        if n <= REHEARSAL:
            self._rehearse()

    def _rehearse(self) -> None:
        """Run every compiled part once: a search that succeeds at once never comes to most."""
        n, p, s, t = len(self._even), self.problem, self._state, self._partition
        zeros, order = np.zeros(n, np.int64), np.arange(n)
        stream = seeded(np.random.default_rng(0))
        self._stays(zeros)
        state.tighten(s, 1.0, stream)
        state.begin(p, s, np.ones(n, np.int64))
        search.root(p, s)
        search.run(p, s, self._even, zeros, order, False, stream, 0, 0)
        state.chips(s)
        partition.settle(p, t, zeros)
        partition.sweep(p, t, zeros + 1, self._even, zeros, order, False, stream)

    @cached_property
    def fallback(self) -> np.ndarray | None:
        """A valid partition that no search was needed for, shape (n,); None without one."""
        chip = any_valid(self.problem) if self._known is None else self._known
        if chip is None or not self._allowed[np.arange(len(chip)), chip].all():
            return None
        return chip

    def sample(
        self,
        likely: np.ndarray,
        order: np.ndarray,
        stream: np.ndarray,
        deadline: float = math.inf,
    ) -> Repaired | None:
        """Draw nodes in `order`, each from its probabilities restricted to what is still possible.

        Parameters
        ----------
        likely : float array, shape (n, C)
            Not negative and finite; proportional to the probabilities of a node's chips. A chip
            of 0 is never drawn.
        order : int array, shape (n,)
            A permutation of the nodes.
        stream : uint64 array, shape (1,)
            Of :func:`solvers.rng.seeded`.
        deadline : float
            On :func:`time.monotonic`'s scale, seconds.

        Returns
        -------
        Repaired or None
            None where no valid partition was found in time, or none exists: see `none`.
        """
        n, C = self._allowed.shape
        likely = np.ascontiguousarray(likely, float)
        domain = np.full(1, -1) if likely.shape != (n, C) else state.domains(self._allowed, likely)
        if (domain < 0).any():
            raise ValueError(f"likely: finite numbers of 0 or more, of shape {(n, C)}")
        candidate = np.zeros(n, np.int64)
        return self._climb(domain, likely, candidate, order, stream, deadline, False)

    def fix(
        self,
        candidate: np.ndarray,
        order: np.ndarray,
        stream: np.ndarray,
        deadline: float = math.inf,
    ) -> Repaired | None:
        """Keep what is still possible of a candidate, node by node in `order`, then the rest.

        Other nodes get the nearest chip that is possible when their turn comes. A candidate that
        is valid (and, with `difference`, of that kind) comes back as it is.

        Parameters
        ----------
        candidate : int array, shape (n,)
            Chips, 0..C-1.
        order, stream, deadline
            As for :meth:`sample`; chance only plays a part after a first failed attempt.
        """
        n, C = self._allowed.shape
        candidate = np.ascontiguousarray(candidate, np.int64)
        if candidate.shape != (n,) or candidate.min() < 0 or candidate.max() >= C:
            raise ValueError(f"candidate: chips 0..{C - 1}, of shape {(n,)}")
        return self._climb(self._whole, self._even, candidate, order, stream, deadline, True)

    def _climb(
        self,
        domain: np.ndarray,
        likely: np.ndarray,
        candidate: np.ndarray,
        order: np.ndarray,
        stream: np.ndarray,
        deadline: float,
        fix: bool,
    ) -> Repaired | None:
        n = len(domain)
        order = np.ascontiguousarray(order, np.int64)
        if order.shape != (n,) or not state.permutes(order):
            raise ValueError(f"order: a permutation of 0..{n - 1}")
        p, s = self.problem, self._state
        fails, self.made = max(LEAST_FAILS, FAILS // n), 0
        if fix and self._stays(candidate):
            return Repaired(candidate.copy(), "search", 0, 0)
        if self._calls[fix] % RETRY == 0:
            self._skip[fix] = 0
        self._calls[fix] += 1
        for attempt, share in enumerate(self._ladder):
            if (domain == 0).any():
                break
            if attempt < self._skip[fix]:
                continue
            self._skip[fix] = attempt
            self.made += 1
            state.tighten(s, share, stream)
            state.begin(p, s, domain)
            search.root(p, s)
            ended = search.PAUSED
            while ended == search.PAUSED:
                ended = search.run(p, s, likely, candidate, order, fix, stream, WORK, fails)
                if ended == search.PAUSED and time.monotonic() > deadline:
                    return self._pull(domain, likely, candidate, order, stream, deadline, fix)
            if ended == search.FOUND:
                chip = state.chips(s)
                assert is_valid(p, chip), "a repair is valid"
                return Repaired(chip, "search", attempt, int(s.number[state.FAILS]))
            if ended == search.NONE and (share == 0 or self.rule == "difference"):
                if fix or (likely > 0).all():
                    self.none = True
                return None
            self._skip[fix] = attempt + 1
        pulled = self._pull(domain, likely, candidate, order, stream, deadline, fix)
        if pulled is None:
            self._skip[fix] = 0  # there is nothing else to go by
        return pulled

    def _stays(self, candidate: np.ndarray) -> bool:
        """Whether a candidate is what FIX would make of it."""
        allowed = ((self._whole >> candidate) & 1).all()
        near = self.rule == "exact" or steps(self.problem, candidate)
        return bool(allowed and near and is_valid(self.problem, candidate))

    def _pull(
        self,
        domain: np.ndarray,
        likely: np.ndarray,
        candidate: np.ndarray,
        order: np.ndarray,
        stream: np.ndarray,
        deadline: float,
        fix: bool,
    ) -> Repaired | None:
        """Cuts that are valid, and sweeps from there."""
        chip = self.fallback
        if chip is None or not ((domain >> chip) & 1).all():
            return None
        p, t, by = self.problem, self._partition, "cuts"
        partition.settle(p, t, chip)
        for _ in range(SWEEPS):
            if time.monotonic() > deadline:
                break
            by = "sweeps"
            if not partition.sweep(p, t, domain, likely, candidate, order, fix, stream):
                break
        chip = t.place.copy()
        assert is_valid(p, chip), "a repair is valid"
        return Repaired(chip, "sweeps" if by == "sweeps" else "cuts", len(self._ladder), 0)
