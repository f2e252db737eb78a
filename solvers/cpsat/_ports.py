"""Transfers at ports in CP-SAT: optional intervals, presence = producer there, a consumer here.

A transfer goes from wherever producer u is to device l. It is present where a consumer of u is on l
and u is not: the literal may be true elsewhere too, which only takes time. Its source decides how
long it takes, so that there is one optional interval for each source; all share one start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance

PLAY = 64
"""Units that a fixed start may be late: rounding must not set fixed tasks against each other."""


@dataclass(frozen=True, eq=False)
class Transfer:
    """The transfer of one producer to one device.

    Attributes
    ----------
    present : literal
    begin : variable
        Start of the first leg (`direct`: of the whole) in units.
    arrive : variable
        Start of the second leg in units; `direct`: `begin`.
    at : dict of int to literal
        Present and from device k.
    """

    present: Any
    begin: Any
    arrive: Any
    at: dict[int, Any]


def add(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    begin: list[Any],
    finish: list[Any],
    end: int,
    units: Callable[[np.ndarray], np.ndarray],
    sent: Mapping[tuple[int, int], tuple[int, ...]] | None = None,
) -> dict[tuple[int, int], Transfer]:
    """Add the transfers and their ports; by (producer, destination).

    Parameters
    ----------
    x : literals by group and device, None where a group cannot be
    begin, finish : start and finish of every node
    end : largest unit
    units : seconds to whole units, rounded down
    sent : starts of both legs of transfers that are fixed, units; they may be :data:`PLAY` late
    """
    group = instance.group
    sending: list[list[Any]] = [[] for _ in range(instance.K)]
    receiving: list[list[Any]] = [[] for _ in range(instance.K)]
    result: dict[tuple[int, int], Transfer] = {}
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist()
        consumers = [v for v in consumers if group[v] != group[u]]
        source = {k: on for k, on in enumerate(x[group[u]]) if on is not None}
        for to in range(instance.K):
            readers = [v for v in consumers if x[group[v]][to] is not None]
            out, into = _seconds(instance, u, to)
            first, second = units(out), int(units(into))
            if not readers or not (first.any() or second):
                continue
            name = f"{u}_{to}"
            present = model.new_bool_var(f"move{name}")
            here = x[group[u]][to]
            for g in {int(group[v]) for v in readers}:
                model.add_bool_or([x[g][to].negated(), present, *([] if here is None else [here])])
            if here is not None:
                model.add_implication(here, present.negated())
            known = (sent or {}).get((u, to))
            last = (end, end) if known is None else tuple(unit + PLAY for unit in known)
            known = known or (0, 0)
            start = model.new_int_var(known[0], last[0], f"send{name}")
            model.add(start >= finish[u]).only_enforce_if(present)
            arrive = start
            if instance.staged:
                arrive = model.new_int_var(known[1], last[1], f"receive{name}")
                away = sum(int(first[k]) * on for k, on in source.items())
                model.add(arrive >= start + away).only_enforce_if(present)
            at: dict[int, Any] = {}
            for k, on in source.items():
                if k == to or not first[k]:
                    continue
                at[k] = model.new_bool_var(f"from{k}_{name}")
                model.add_bool_or([on.negated(), present.negated(), at[k]])
                model.add_implication(at[k], on)
                model.add_implication(at[k], present)
                leg = model.new_optional_fixed_size_interval_var(
                    start, int(first[k]), at[k], f"leg{k}_{name}"
                )
                if not instance.host[k]:
                    sending[k].append(leg)
                if not instance.staged:
                    for v in readers:
                        row = model.add(begin[v] >= start + int(first[k]))
                        row.only_enforce_if(at[k], x[group[v]][to])
                    if not instance.host[to]:
                        receiving[to].append(leg)
            if instance.staged:
                if second:
                    receiving[to].append(
                        model.new_optional_fixed_size_interval_var(
                            arrive, second, present, f"into{name}"
                        )
                    )
                for v in readers:
                    row = model.add(begin[v] >= arrive + second)
                    row.only_enforce_if(present, x[group[v]][to])
            result[u, to] = Transfer(present, start, arrive, at)
    for port in [*sending, *receiving]:
        if len(port) > 1:
            model.add_no_overlap(port)
    return result


def _seconds(instance: Instance, u: int, to: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of the first leg (`direct`: of all) from every device, and of the second one."""
    if instance.staged:
        return instance.link_time[instance.port, u], instance.link_time[instance.port[to], u]
    return instance.link_time[instance.wire[:, to], u], np.zeros(())


def read(
    instance: Instance,
    answer: Answer,
    moves: dict[tuple[int, int], Transfer],
    end: np.ndarray,
    units: Callable[[np.ndarray], np.ndarray],
    value: Callable[[Any], int],
) -> Answer:
    """The answer with its transfers in the order of their starts.

    Parameters
    ----------
    end : int64 array, shape (n,)
        Finish of every node in units: when what takes no units starts.
    """
    each = ports.transfers(instance, answer.device)
    producer, to = np.divmod(each.id, instance.K)
    first, second = units(each.send), units(each.receive)
    start = np.empty((2, len(each.id)), np.int64)
    for j, key in enumerate(zip(producer.tolist(), to.tolist(), strict=True)):
        move = moves.get(key)
        if move is None:
            start[:, j] = end[key[0]]
        else:
            start[:, j] = value(move.begin), value(move.arrive)
    # Sorted by start, end and producer, nodes and legs of no units follow what they wait for.
    lists = []
    for begin, seconds, port in (
        (start[0], first, each.sender),
        (start[1], second, each.receiver),
    ):
        order = np.lexsort((each.id, begin + seconds, begin))
        lists.append(tuple(each.id[order[port[order] == k]] for k in range(instance.K)))
    return Answer(answer.device, answer.order, send=lists[0], receive=lists[1])


def hint(
    instance: Instance,
    model: Any,
    moves: dict[tuple[int, int], Transfer],
    answer: Answer,
    unit: float,
) -> None:
    """Hint the transfers of an answer that has all its orders."""
    after = latency.successors(instance, answer)
    assert after is not None
    assert answer.send is not None
    assert answer.receive is not None
    start = ports.in_order(instance, answer.device, after, answer.send, answer.receive)
    assert start is not None
    each = ports.transfers(instance, answer.device)
    n, T = instance.n, len(each.id)
    index = {key: j for j, key in enumerate(each.id.tolist())}
    for (u, to), move in moves.items():
        j = index.get(u * instance.K + to)
        model.add_hint(move.present, j is not None)
        for k, on in move.at.items():
            model.add_hint(on, j is not None and answer.device[u] == k)
        begin = 0.0 if j is None else start[n + j]
        model.add_hint(move.begin, int(begin / unit))
        if move.arrive is not move.begin:
            arrive = 0.0 if j is None else start[n + T + j]
            model.add_hint(move.arrive, int(arrive / unit))
