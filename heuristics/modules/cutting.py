"""From communities to modules: convex, in topological order, of a wanted size.

Communities need not be convex: two can lie on a cycle of the quotient graph. What lies on a cycle
together is one piece, and a piece that is too large is cut again along a topological order that
stays in a community as long as it can. All modules are intervals of one topological order, hence
convex and in order.
"""

from __future__ import annotations

import heapq

import numpy as np

from heuristics.modules.atoms import Atoms, components

SLACK = 0.25
"""A cut may lie so far from where pieces would be of one size, as a part of the size."""


def modules(atoms: Atoms, label: np.ndarray, size: int, count: int = 0) -> list[np.ndarray]:
    """Modules in topological order, each an array of atoms in topological order.

    Parameters
    ----------
    label : int64 array, shape (A,)
        Community of every atom.
    size : int
        Atoms that a module has at most.
    count : int
        Modules wanted, instead of a size: no more than that, and about as many; 0 for no wish.
    """
    if count:
        size = -(-atoms.number // count)
    piece = components(int(label.max()) + 1, label[atoms.pairs])[label]
    number = int(piece.max()) + 1
    order = np.argsort(piece, kind="stable")
    starts = np.searchsorted(piece[order], np.arange(number + 1))
    pieces = [order[starts[i] : starts[i + 1]] for i in range(number)]
    large = [i for i, each in enumerate(pieces) if len(each) > size]
    if large:
        after = _rows(atoms)
        for i in large:
            pieces[i] = _staying(after, pieces[i], label)
    order = np.concatenate(pieces)
    crossing = _crossing(atoms, order) if large else np.zeros(len(order) + 1)
    ends: list[int] = []
    for each in pieces:
        begin = ends[-1] if ends else 0
        ends += _cuts(crossing, begin, begin + len(each), size)
    ends = _packed(ends, size)
    while count and len(ends) > count:
        span = np.diff([0, *ends])
        ends.pop(int(np.argmin(span[:-1] + span[1:])))
    return np.split(order, ends[:-1])


def _rows(atoms: Atoms) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in range(atoms.number)]
    for a, b in atoms.pairs.tolist():
        after[a].append(b)
    return after


def _staying(after: list[list[int]], members: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The members in a topological order that leaves a community only where it has to."""
    missing = dict.fromkeys(members.tolist(), 0)
    for a in missing:
        for b in after[a]:
            if b in missing:
                missing[b] += 1
    of = label.tolist()
    ready: dict[int, list[int]] = {}
    first: list[tuple[int, int]] = []  # (atom, its community), to choose where to go on

    def open_(a: int) -> None:
        heapq.heappush(ready.setdefault(of[a], []), a)
        heapq.heappush(first, (a, of[a]))

    for a, left in missing.items():
        if not left:
            open_(a)
    done: set[int] = set()
    result: list[int] = []
    here = -1
    while len(result) < len(missing):
        if not ready.get(here):
            while first[0][0] in done:
                heapq.heappop(first)
            here = first[0][1]
        a = heapq.heappop(ready[here])
        done.add(a)
        result.append(a)
        for b in after[a]:
            if b in missing:
                missing[b] -= 1
                if not missing[b]:
                    open_(b)
    return np.array(result, np.int64)


def _crossing(atoms: Atoms, order: np.ndarray) -> np.ndarray:
    """Traffic over each cut of the order, seconds, shape (A + 1,)."""
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    ends = np.sort(position[atoms.flow], axis=1)
    change = np.bincount(ends[:, 0] + 1, atoms.traffic, len(order) + 1)
    change -= np.bincount(ends[:, 1] + 1, atoms.traffic, len(order) + 2)[: len(order) + 1]
    return np.cumsum(change)


def _cuts(crossing: np.ndarray, begin: int, end: int, size: int) -> list[int]:
    """Where begin..end-1 is cut into pieces of at most `size`, where little crosses; ends too."""
    cuts: list[int] = []
    while end - begin > size:
        parts = -(-(end - begin) // size)
        middle = begin + (end - begin) // parts
        reach = int(SLACK * size)
        low = max(begin + 1, middle - reach, end - (parts - 1) * size)
        high = min(begin + size, middle + reach)
        begin = low + int(np.argmin(crossing[low : high + 1]))
        cuts.append(begin)
    return [*cuts, end]


def _packed(ends: list[int], size: int) -> list[int]:
    """Neighbours taken together as long as they stay within `size`."""
    result: list[int] = []
    begin = 0
    for i, end in enumerate(ends):
        following = ends[i + 1] if i + 1 < len(ends) else None
        if following is None or following - begin > size:
            result.append(end)
            begin = end
    return result
