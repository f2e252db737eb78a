"""Items as the arrays that the compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.graph import topological_order
from solvers.ideals._contraction import Items

WORD = 64


@dataclass(frozen=True, eq=False)
class Arrays:
    """N items in a topological order, C classes of devices, P phases, R = P x channels resources.

    A channel is what carries transfers: one for both directions, or one each where they count
    apart.

    Attributes
    ----------
    key : int64 array, shape (N,)
        Item -> its key in :class:`Items`.
    work : float64 array, shape (N, P, C)
    supported : bool array, shape (N, C)
    count : int64 array, shape (C,)
        Devices of a class.
    stride : int64 array, shape (C,)
        The number of a vector of used devices is sum_c stride[c] * used[c], of V vectors.
    before, succ_ptr, succ : arrays
        Items that must come before an item as bits, shape (N, W), and direct successors.
    net_member : uint64 array, shape (E, W)
    net_producer : int64 array, shape (E,)
        -1 where both directions share a channel: then nobody needs to know.
    net_into, net_out : int64 arrays, shape (E,)
        The resource that a receiver and the sender are charged on.
    net_receive, net_send : float64 arrays, shape (C, E)
    on_ptr, on : int64 arrays
        Nets that an item is a member of.
    kept, moved : float64 arrays, shape (N,)
        Bytes; see :class:`Items`.
    share_ptr, share : int64 arrays
        Weights of `shared_bytes` that an item reads.
    rate, hold : float64 arrays, shape (L, C)
        Multipliers of loads and bytes: the sum over items of the least rate * work + hold * bytes
        is at most the sum over devices of rate * load + hold * limit, for any multipliers.
    least : float64 array, shape (L, N)
        That least of each item.
    rate_phase : int64 array, shape (L,)
    """

    key: np.ndarray
    work: np.ndarray
    supported: np.ndarray
    count: np.ndarray
    stride: np.ndarray
    V: int
    R: int
    before: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    net_member: np.ndarray
    net_producer: np.ndarray
    net_into: np.ndarray
    net_out: np.ndarray
    net_receive: np.ndarray
    net_send: np.ndarray
    on_ptr: np.ndarray
    on: np.ndarray
    kept: np.ndarray
    moved: np.ndarray
    limit: np.ndarray
    share_ptr: np.ndarray
    share: np.ndarray
    shared_bytes: np.ndarray
    rate: np.ndarray
    hold: np.ndarray
    least: np.ndarray
    rate_phase: np.ndarray

    @property
    def N(self) -> int:  # noqa: N802 - the field's symbol
        """Number of items."""
        return len(self.key)


def arrays_of(
    items: Items,
    count: np.ndarray,
    limit: np.ndarray,
    *,
    directed: bool,
    most: float,
    sequence: list[int] | None = None,
) -> Arrays:
    """Number the items and lay them out.

    Parameters
    ----------
    count, limit : arrays, shape (C,)
        Devices of each class, and bytes of one.
    directed : bool
        Whether receiving and sending are different resources.
    most : float
        Seconds; longer transfers are cut to it, so that no sum loses the short ones.
    sequence : list of int, optional
        A topological order of the items: only its prefixes are ideals then.
    """
    order = depth_first(items) if sequence is None else sequence
    number = {key: i for i, key in enumerate(order)}
    N, C, P = len(order), len(count), len(items.work)
    W = (N + WORD - 1) // WORD
    if sequence is None:
        following = [sorted(number[b] for b in items.succ[key]) for key in order]
    else:
        following = [[i + 1] for i in range(N - 1)] + [[]]
    before = np.zeros((N, W), np.uint64)
    for a, each in enumerate(following):
        for b in each:
            before[b, a // WORD] |= np.uint64(1 << a % WORD)
    channels = 2 if directed else 1
    member = np.zeros((len(items.nets), W), np.uint64)
    on: list[list[int]] = [[] for _ in order]
    for e, net in enumerate(items.nets):
        for g in net.members:
            i = number[g]
            on[i].append(e)
            member[e, i // WORD] |= np.uint64(1 << i % WORD)
    phase = np.array([net.phase for net in items.nets], np.int64)
    share: list[list[int]] = [[] for _ in order]
    shared = [(size, readers) for size, readers in items.shared]
    for t, (_, readers) in enumerate(shared):
        for g in readers:
            share[number[g]].append(t)
    rate, hold, least, rate_phase = _multipliers(items, order, limit)
    receive = np.array([net.receive for net in items.nets]).reshape(-1, C)
    send = np.array([net.send for net in items.nets]).reshape(-1, C)
    stride = np.concatenate([[1], np.cumprod(count + 1)])
    return Arrays(
        key=np.array(order, np.int64),
        work=np.ascontiguousarray(items.work[:, order].transpose(1, 0, 2)),
        supported=items.supported[order],
        count=count.astype(np.int64),
        stride=stride[:-1].astype(np.int64),
        V=int(stride[-1]),
        R=P * channels,
        before=before,
        succ_ptr=_pointer(following),
        succ=_flat(following),
        net_member=member,
        net_producer=np.array(
            [number[net.producer] if directed else -1 for net in items.nets], np.int64
        ),
        net_into=phase * channels,
        net_out=phase * channels + channels - 1,
        net_receive=np.ascontiguousarray(np.minimum(receive, most).T),
        net_send=np.ascontiguousarray(np.minimum(send, most).T),
        on_ptr=_pointer(on),
        on=_flat(on),
        kept=items.kept[order],
        moved=items.moved[order],
        limit=limit.astype(float),
        share_ptr=_pointer(share),
        share=_flat(share),
        shared_bytes=np.array([size for size, _ in shared], float),
        rate=rate,
        hold=hold,
        least=least,
        rate_phase=rate_phase,
    )


def depth_first(items: Items) -> list[int]:
    """A topological order that follows one branch to its end before it turns to the next."""
    missing = {key: len(items.pred[key]) for key in items.succ}
    stack = [key for key in sorted(items.succ, reverse=True) if not missing[key]]
    order: list[int] = []
    while stack:
        key = stack.pop()
        order.append(key)
        for other in sorted(items.succ[key], reverse=True):
            missing[other] -= 1
            if not missing[other]:
                stack.append(other)
    return order


def by_number(items: Items) -> list[int]:
    """The topological order that takes the smallest key that is ready."""
    keys = sorted(items.succ)
    number = {key: i for i, key in enumerate(keys)}
    order = topological_order(len(keys), [[number[p] for p in items.pred[key]] for key in keys])
    assert order is not None
    return [keys[i] for i in order]


def _multipliers(
    items: Items, order: list[int], limit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Multipliers by speed and by memory; the largest sums that they give cut off the most."""
    supported, size = items.supported[order], items.kept[order]
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray, int]] = []
    for p, each in enumerate(items.work):
        work = np.where(supported, each[order], 0.0)

        def add(rate: np.ndarray, hold: np.ndarray, work: np.ndarray = work, p: int = p) -> None:
            cost = np.where(supported, rate * work + hold * size[:, None], np.inf).min(axis=1)
            rows.append((rate, hold, np.where(np.isfinite(cost), cost, 0.0), p))

        for rate in _speeds(work, supported):
            add(rate, np.zeros(len(limit)))
        bounded = np.isfinite(limit)
        if len(items.work) == 1 and limit.min() < size.sum():
            # What the bounded memories cannot hold takes time elsewhere, which the fractional
            # knapsack spends best on items of many bytes a second.
            for worth in (0.0,) if bounded.all() else _worths(work[:, ~bounded], size):
                add(np.where(bounded, 0.0, worth), bounded.astype(float))
    rate, hold, least, phase = zip(*rows, strict=True)
    return np.array(rate), np.array(hold), np.array(least), np.array(phase, np.int64)


def _speeds(work: np.ndarray, supported: np.ndarray) -> list[np.ndarray]:
    """Rates by mean speed, and by the worst speed beside each class."""
    C = work.shape[1]
    fastest = np.where(supported, work, np.inf).min(axis=1, keepdims=True)
    fastest = np.where(supported, np.where(np.isfinite(fastest), fastest, 0.0), 0.0)
    mine = work.sum(axis=0)
    result = [np.where(mine > 0, fastest.sum(axis=0) / np.where(mine > 0, mine, 1.0), 1.0)]
    for base in range(C) if C > 1 else ():
        both = supported & (work[:, [base]] > 0) & supported[:, [base]]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(both, work[:, [base]] / work, 0.0).max(axis=0, initial=0.0)
        ratio[base] = 1.0
        if np.isfinite(ratio).all():
            result.append(ratio)
    return result


def _worths(work: np.ndarray, size: np.ndarray) -> list[float]:
    """A few prices of a second in bytes: quantiles of bytes a second over the items."""
    least = work.min(axis=1)
    some = (least > 0) & (size > 0)
    if not some.any():
        return []
    worths = np.quantile(size[some] / least[some], [0.3, 0.6, 0.8, 0.9])
    return sorted(set(map(float, worths)))


def _pointer(lists: list[list[int]]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)


def _flat(lists: list[list[int]]) -> np.ndarray:
    return np.array([x for each in lists for x in each], np.int64)
