"""Local search on `throughput` mappings, so that exact methods start with a good upper bound.

Simulated annealing over whole colocation groups: one moves, or two devices exchange all they hold.
Memory and support may be violated at a price that rises until they are kept, which is how it finds
a first valid mapping where memory is tight. Along a chain the devices have ranks, and a group may
only move between the ranks of its neighbours in the order; two devices that exchange what they hold
exchange their ranks too.

The energy is the sum over phases of a high norm of the loads, which is the period nearly, but also
falls when one of several full devices is relieved.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems import placement, throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.moves_throughput import State, exchange, fill, may, measure, move, problem_of, span

STEPS = 20_000_000
"""Steps (a net or a device looked at) in all: about half a second."""
STEPS_PER_PLACE = 10_000
"""Steps a pair of a group and a device at most: enough for small ones."""
HOT, COLD = 1e-2, 2e-4
"""First and last temperature, parts of the energy."""
EXCHANGE = 0.01
"""Share of moves in which two devices exchange all they hold."""
RUNS = 0.2
"""Share of the other moves in which a run of groups in topological order moves at once."""
PAIRS = 0.3
"""Share of these in which a group of the other device comes back, if it may."""


def improve(
    instance: Instance,
    units: np.ndarray,
    candidates: list[np.ndarray],
    *,
    steps: int | None = None,
    hot: float = HOT,
    seed: int = 0,
) -> Answer | None:
    """The best valid mapping found; None without one.

    Parameters
    ----------
    units : int array, shape (n,)
        What moves as one: numbers 0..U-1 of colocation groups or, along a chain, of groups that the
        order ties together.
    candidates : list of int arrays, shape (n,)
        Mappings that keep each unit together and the rule of the chain, if nothing else.
    steps : int, optional
        By default grows with the instance up to :data:`STEPS`; shared among the candidates.
    """
    problem = problem_of(instance, units)
    first = np.unique(units, return_index=True)[1]
    if steps is None:
        steps = min(STEPS, STEPS_PER_PLACE * len(first) * instance.K)
    best, least = None, np.inf
    for i, device in enumerate(candidates):
        order = throughput.chain(instance, device) if problem.chain else None
        rank = np.arange(instance.K)
        if order is not None:
            rank[order] = np.arange(instance.K)
        found = np.full(len(first), -1)
        _anneal(problem, device[first], rank, found, steps // len(candidates), hot, seed + i)
        if found[0] < 0:
            continue
        mapping = found[units]
        # Sums that are kept along the search round differently: judge anew.
        if throughput.is_valid(instance, mapping):
            value = throughput.period(instance, mapping)
            if value < least:
                best, least = Answer.of(mapping), value
    return best


def violation(instance: Instance, device: np.ndarray) -> float:
    """How far a mapping breaks support and memory: 0 where it keeps them."""
    wrong = ~np.isfinite(instance.time[np.arange(instance.n), device])
    finite = np.isfinite(instance.memory)
    excess = placement.memory_use(instance, device)[finite] / np.maximum(instance.memory[finite], 1)
    return float(wrong.mean() + np.maximum(excess - 1, 0).sum())


@njit(cache=True)
def _target(q, s, g, at):  # type: ignore[no-untyped-def]
    """A device other than its own where group g may go; its own without one.

    Half of them are where a producer is. `at` is room for the inverse of `rank`.
    """
    low, high = span(q, s, g)
    mine = s.rank[s.device[g]]
    if low >= high:
        return s.device[g]
    producers = q.pin_ptr[g + 1] - q.pin_ptr[g]
    if producers > 0 and np.random.random() < 0.5:
        e = q.pin_net[q.pin_ptr[g] + np.random.randint(producers)]
        place = s.rank[s.home[e]]
        if place != mine and low <= place <= high:
            return s.home[e]
    place = low + np.random.randint(high - low)
    if place >= mine:
        place += 1
    for k in range(s.rank.shape[0]):
        at[s.rank[k]] = k
    return at[place]


@njit(cache=True)
def _anneal(q, start, rank, found, most, hot, seed):  # type: ignore[no-untyped-def]
    """Search from `start`; `found`, shape (G,), takes the best valid mapping, if there is one."""
    np.random.seed(seed)
    P, G, K = q.work.shape
    E, T = q.net_phase.shape[0], q.shared_bytes.shape[0]
    s = State(
        start.copy(), rank.copy(), np.zeros((P, K, 3)), np.zeros((E, K), np.int32),
        np.zeros(E, np.int64), np.zeros(E, np.int64), np.zeros(K), np.zeros((T, K), np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip
    fill(q, s)
    at, moved = np.zeros(K, np.int64), np.zeros(2 * G + 2, np.int64)
    longest = 1
    while (2 << longest) <= G:
        longest += 1
    energy, broken, period = measure(q, s, 1.0)
    scale = period if period > 0.0 else 1.0
    energy, broken, period = measure(q, s, scale)
    least = np.inf
    if broken == 0.0:
        least = period
        found[:] = s.device
    price, steps, accepted, moves = 5.0, 0, 0, 0
    total = energy + price * broken
    while steps < most and K > 1:
        moves += 1
        t = hot * (COLD / hot) ** (steps / most)
        if moves % 4096 == 0:
            if broken > 0.0:
                price *= 1.2
            fill(q, s)
            steps += 4 * G
            energy, broken, period = measure(q, s, scale)
            total = energy + price * broken
        swap, count = np.random.random() < EXCHANGE, 0
        if swap:
            a = np.random.randint(K)
            b = np.random.randint(K - 1)
            b += b >= a
            steps += exchange(q, s, a, b)
        else:
            steps += 6 * P * K
            g = np.random.randint(G)
            a = s.device[g]
            run = 1
            if np.random.random() < RUNS:
                run = 1 << np.random.randint(1, longest + 1)
            b = _target(q, s, g, at)
            if run > 1 and b == a:
                b = np.random.randint(K)  # the whole run may go where g alone may not
            if b == a or (q.barred[g, b] and not q.barred[g, a]):
                continue
            # Neighbours in topological order go along, those nearest to the target first.
            towards = -1 if s.rank[b] > s.rank[a] else 1
            h = g if run == 1 else g - towards * np.random.randint(run)
            for _ in range(run):
                if 0 <= h < G and s.device[h] == a and may(q, s, h, b):
                    steps += move(q, s, h, b)
                    moved[count] = h
                    count += 1
                h += towards
            if count == 0:
                continue
            if np.random.random() < PAIRS:
                # Another comes back, as full devices need.
                h = np.random.randint(G)
                back = s.device[h] == b and may(q, s, h, a)
                for i in range(count):
                    back = back and moved[i] != h
                if back:
                    steps += move(q, s, h, a)
                    moved[count] = h
                    count += 1
        energy, broken, period = measure(q, s, scale)
        new = energy + price * broken
        if new <= total or np.random.random() < np.exp((total - new) / (t * total + 1e-300)):
            total = new
            accepted += 1
            if broken == 0.0 and period < least:
                least = period
                found[:] = s.device
                if least == 0.0:
                    break
                if least < 0.5 * scale:
                    # Keeps the temperature in proportion, and the norm in range.
                    total *= scale / least
                    scale = least
        elif swap:
            steps += exchange(q, s, a, b)
        else:
            for i in range(count - 1, -1, -1):
                h = moved[i]
                steps += move(q, s, h, a if s.device[h] == b else b)
    return steps
