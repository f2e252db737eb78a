"""What a chart of an answer shows: when which device runs what, or how loaded it is."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from problems import calls, chips, latency, mixture, throughput
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import memory_use

BARS = 1500  # of a Gantt chart; more are joined with their neighbours


@dataclass(frozen=True)
class Use:
    """What an answer makes of one device, in seconds and bytes.

    Attributes
    ----------
    compute, receive, send : float
        Seconds a sample; `receive` and `send` are 0 where the problem has no loads.
    load : float or None
        What the objective takes of it (of both phases together); None where it has no loads.
    """

    nodes: int
    compute: float
    receive: float
    send: float
    load: float | None
    memory: float


@dataclass(frozen=True)
class Chart:
    """A chart as the page's script draws it, and the same as a table.

    Attributes
    ----------
    kind : {'gantt', 'loads'}
    data : dict
        `gantt`: `bars` of (device, lane, lanes, start, seconds, label), `end`, `joined`: how long
        the gaps are that were closed to keep the bars few, in seconds. `loads`: `compute`,
        `receive`, `send`, `load` by device, `objective`, all in seconds.
    uses : list of Use
        By device.
    """

    kind: str
    data: dict[str, Any]
    uses: list[Use] = field(default_factory=list)


def chart(instance: Instance, answer: Answer) -> Chart | None:
    """The chart of a valid answer; None where its orders are impossible."""
    device = np.asarray(answer.device)
    if instance.problem in ("throughput", "chips"):
        return _loads(instance, answer)
    bars = _calls(instance, answer) if instance.problem == "calls" else _nodes(instance, answer)
    if bars is None:
        return None
    k, start, seconds, labels = bars
    end = float((start + seconds).max())
    joined, (k, start, seconds, labels) = _joined(k, start, seconds, labels, end)
    lane, lanes = _lanes(k, start, seconds, instance.K)
    rows = zip(k.tolist(), lane, lanes, start.tolist(), seconds.tolist(), labels, strict=True)
    data = {
        "end": end,
        "joined": joined,
        "bars": [[a, b, c, float(f"{d:.6g}"), float(f"{e:.6g}"), f] for a, b, c, d, e, f in rows],
    }
    return Chart("gantt", data, _uses(instance, device))


def _nodes(
    instance: Instance, answer: Answer
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]] | None:
    start = latency.starts(instance, answer)
    if start is None:
        return None
    seconds = instance.time[np.arange(instance.n), answer.device]
    return np.asarray(answer.device), start, seconds, list(instance.names)


def _calls(
    instance: Instance, answer: Answer
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]] | None:
    """One bar a call of an accelerator, its transfers included, and one a node on a host."""
    if answer.slot is None:
        answer = calls.dispatch(instance, answer.device)
    assert answer.slot is not None
    finish = calls.finishes(instance, answer)
    if finish is None:
        return None
    part, _ = calls.parts(instance, answer)
    k, start, seconds, labels = [], [], [], []
    outside = part[instance.edges[:, 0]] != part[instance.edges[:, 1]]
    u, v = instance.edges[outside].T
    for each in np.unique(part):
        members = np.flatnonzero(part == each)
        d = int(answer.device[members[0]])
        total = float(instance.time[members, d].sum())
        label = instance.names[members[0]]
        if not instance.host[d]:
            moved = np.concatenate([np.unique(u[part[v] == each]), np.unique(u[part[u] == each])])
            total += float(instance.link_time[instance.port[d], moved].sum())
            label = f"call {int(answer.slot[members[0]])}: {len(members)} nodes"
        k.append(d)
        seconds.append(total)
        start.append(float(finish[members[0]]) - total)
        labels.append(label)
    return np.array(k), np.array(start), np.array(seconds), labels


def _joined(
    k: np.ndarray, start: np.ndarray, seconds: np.ndarray, labels: list[str], end: float
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]]:
    """At most about :data:`BARS` bars: neighbours on a device with short gaps between are one."""
    gap = 0.0
    if len(k) <= BARS:
        return gap, (k, start, seconds, labels)
    order = np.lexsort((start, k))
    k, start, seconds = k[order], start[order], seconds[order]
    labels = [labels[i] for i in order]
    stop = start + seconds
    gap = end / BARS
    reach = np.maximum.accumulate(stop + k * 2 * end) - k * 2 * end  # latest end so far, by device
    first = np.ones(len(k), bool)
    first[1:] = (k[1:] != k[:-1]) | (start[1:] - reach[:-1] > gap)
    opens = np.flatnonzero(first)
    counts = np.diff(np.append(opens, len(k)))
    ends = np.maximum.reduceat(stop, opens)
    names = [
        labels[i] if c == 1 else f"{c} nodes from {labels[i]}"
        for i, c in zip(opens, counts, strict=True)
    ]
    return gap, (k[opens], start[opens], ends - start[opens], names)


def _lanes(
    k: np.ndarray, start: np.ndarray, seconds: np.ndarray, K: int
) -> tuple[list[int], list[int]]:
    """Lane of each bar, and how many its device has: more than one where bars overlap."""
    lane = [0] * len(k)
    lanes = [1] * K
    short = 1e-9 * float((start + seconds).max())  # rounding opens no lane
    for d in range(K):
        mine = np.flatnonzero(k == d)
        busy: list[tuple[float, int]] = []
        for i in mine[np.argsort(start[mine], kind="stable")].tolist():
            if busy and busy[0][0] <= start[i] + short:
                _, lane[i] = heapq.heappop(busy)
            else:
                lane[i] = len(busy)
            heapq.heappush(busy, (float(start[i] + seconds[i]), lane[i]))
        lanes[d] = max(1, len(busy))
    return lane, [lanes[d] for d in k.tolist()]


def _loads(instance: Instance, answer: Answer) -> Chart:
    """Seconds a sample of each device; of a mixture the means over its samples."""
    if instance.problem == "chips":
        each, load = chips.parts(instance, answer.device), chips.loads(instance, answer.device)
        value = chips.period(instance, answer.device)
        memory = memory_use(instance, answer.device)
    elif answer.rates is not None:
        used = [
            (d, r) for d, r in zip(mixture.mappings(answer), answer.rates, strict=True) if r > 0
        ]
        value = mixture.period(instance, answer)
        shares = np.array([r for _, r in used]) / sum(r for _, r in used)
        parts = [throughput.parts(instance, d).sum(axis=0) for d, _ in used]
        each = np.tensordot(shares, parts, 1)
        engines = [mixture.engine_loads(instance, d) for d, _ in used]
        load = np.tensordot(shares, engines, 1).max(axis=0)
        held = mixture.held_by(instance, [d for d, _ in used])
        memory = mixture.memory_use(instance, held)
    else:
        each = throughput.parts(instance, answer.device).sum(axis=0)
        load = throughput.loads(instance, answer.device).sum(axis=0)
        value = throughput.period(instance, answer.device)
        memory = memory_use(instance, answer.device)
    nodes = np.bincount(main_mapping(answer), minlength=instance.K)
    uses = [
        Use(
            int(nodes[k]),
            float(each[k, 0]),
            float(each[k, 1]),
            float(each[k, 2]),
            float(load[k]),
            float(memory[k]),
        )
        for k in range(instance.K)
    ]
    data = {
        "compute": [u.compute for u in uses],
        "receive": [u.receive for u in uses],
        "send": [u.send for u in uses],
        "load": [u.load for u in uses],
        "objective": value,
    }
    return Chart("loads", data, uses)


def main_mapping(answer: Answer) -> np.ndarray:
    """Device of every node, shape (n,): of a mixture the mapping that most samples go by."""
    if answer.rates is None:
        return np.asarray(answer.device)
    return np.asarray(mixture.mappings(answer)[int(np.argmax(answer.rates))])


def _uses(instance: Instance, device: np.ndarray) -> list[Use]:
    seconds = np.zeros(instance.K)
    np.add.at(seconds, device, instance.time[np.arange(instance.n), device])
    nodes = np.bincount(device, minlength=instance.K)
    memory = memory_use(instance, device)
    return [
        Use(int(nodes[k]), float(seconds[k]), 0.0, 0.0, None, float(memory[k]))
        for k in range(instance.K)
    ]
