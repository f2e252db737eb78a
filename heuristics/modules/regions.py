"""Single-entry-single-exit regions of a graph of atoms.

With a source before and a sink behind everything, an atom through which all paths go is an
articulation: between two neighbouring ones lies a region that is entered and left through one atom
each. A region that is larger than wanted is looked into: what remains without its articulation
falls into parts side by side, and each part is such a graph again (the program structure tree).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def regions(count: int, pairs: np.ndarray, size: int) -> np.ndarray:
    """Region of each of `count` atoms, int64 array, numbered by first atom.

    Parameters
    ----------
    pairs : int64 array, shape (., 2)
        The order: pairs a < b.
    size : int
        A region of at most so many atoms is left whole; one of more is taken apart as far as it
        goes.
    """
    label = np.full(count, -1, np.int64)
    found = 0
    work: list[tuple[np.ndarray, np.ndarray]] = [(np.arange(count), pairs)]
    while work:
        members, inner = work.pop()
        for part, edges in _side_by_side(members, inner):
            cut = articulations(len(part), edges)
            bounds = np.concatenate([[0], np.flatnonzero(cut), [len(part)]])
            for i, j in zip(np.unique(bounds)[:-1], np.unique(bounds)[1:], strict=True):
                if j - i > max(size, 1) and (i > 0 or j < len(part) or cut[i]):
                    # Its entry alone, then what the entry held together.
                    first = i + int(cut[i])
                    label[part[i:first]] = found
                    found += first > i
                    work.append((part[first:j], part[_within(edges, first, j)]))
                else:
                    label[part[i:j]] = found
                    found += 1
    first = np.unique(label, return_index=True)[1]
    number = np.empty(found, np.int64)
    number[np.argsort(first)] = np.arange(found)
    result: np.ndarray = number[label]
    return result


def articulations(count: int, pairs: np.ndarray) -> np.ndarray:
    """Whether all paths go through an atom, bool array of shape (count,).

    `pairs`, shape (., 2), are of a graph in one piece, numbered topologically.
    """
    outs = np.bincount(pairs[:, 0], minlength=count) if len(pairs) else np.zeros(count, int)
    ins = np.bincount(pairs[:, 1], minlength=count) if len(pairs) else np.zeros(count, int)
    # The source is at -1 and the sink at `count`; atom i is passed by an edge over it.
    tail = np.concatenate([pairs[:, 0], np.full((ins == 0).sum(), -1), np.flatnonzero(outs == 0)])
    head = np.concatenate(
        [pairs[:, 1], np.flatnonzero(ins == 0), np.full((outs == 0).sum(), count)]
    )
    over = np.bincount(tail + 1, minlength=count + 1)[:count].cumsum()
    over -= np.bincount(head, minlength=count + 1)[:count].cumsum()
    result: np.ndarray = over == 0
    return result


def _side_by_side(members: np.ndarray, pairs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pieces that no pair joins, ascending, each with its pairs as positions in it."""
    if not len(members):
        return []
    ends = np.searchsorted(members, pairs)
    matrix = coo_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(members), len(members))
    )
    count, label = connected_components(matrix, directed=False)
    order = np.argsort(label, kind="stable")
    position = np.empty(len(members), np.int64)
    starts = np.searchsorted(label[order], np.arange(count + 1))
    position[order] = np.arange(len(members)) - starts[label[order]]
    mine = np.argsort(label[ends[:, 0]], kind="stable")
    cuts = np.searchsorted(label[ends[mine, 0]], np.arange(count + 1))
    return [
        (members[order[starts[i] : starts[i + 1]]], position[ends[mine[cuts[i] : cuts[i + 1]]]])
        for i in range(count)
    ]


def _within(pairs: np.ndarray, first: int, last: int) -> np.ndarray:
    """The pairs with both ends in first..last-1."""
    inside = (pairs >= first) & (pairs < last)
    return pairs[inside.all(axis=1)]
