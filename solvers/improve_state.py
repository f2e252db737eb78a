"""What a walk over `latency` schedules reads, and where it stands.

See :mod:`solvers.improve_walk`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from problems import latency, ports
from problems.instance import Instance
from solvers import improve_ports as ports_
from solvers import improve_times as times_
from solvers.by_reference import by_reference
from solvers.formulations._contract import memory_by_group


@by_reference
class Ground(NamedTuple):
    """Arrays of one instance (n nodes, K devices, U units); not written to.

    Attributes
    ----------
    way : float64 array, shape (n, L)
        Seconds that each node's payload takes on every link.
    links : int64 array, shape (K, K, 2)
        See :func:`problems.latency.communication`.
    floor : float64 array, shape (n,)
        Least seconds from the finish of a node to the end, wherever nodes are.
    unit, unit_ptr, unit_node : int64 arrays
        Colocation group of every node; nodes of every group.
    possible : bool array, shape (U, K)
        Whether a device supports all of a group.
    size, shared : float64 arrays, shapes (U,), (T,)
        Bytes of every group, and of weights that several read.
    weight_ptr, weight : int64 arrays
        Which of those a group reads.
    """

    time: np.ndarray
    way: np.ndarray
    links: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    sinks: np.ndarray
    floor: np.ndarray
    unlimited: np.ndarray
    memory: np.ndarray
    unit: np.ndarray
    unit_ptr: np.ndarray
    unit_node: np.ndarray
    possible: np.ndarray
    size: np.ndarray
    shared: np.ndarray
    weight_ptr: np.ndarray
    weight: np.ndarray
    contended: bool
    staged: bool
    port: np.ndarray
    wire: np.ndarray
    host: np.ndarray


@by_reference
class Walk(NamedTuple):
    """Where a walk stands; a call goes on where the last one left.

    Attributes
    ----------
    stream : uint64 array, shape (1,)
    value : float64 array, shape (2,)
        Makespan of the walk and of the best answer, seconds.
    device, sequence, place : int64 arrays, shape (n,)
        Device of every node; all nodes in order; where each stands in it.
    start, tail : float64 arrays, shape (n,)
        Seconds to the start, and from the finish to the end; no tails under ports.
    before, after : int64 arrays, shape (n,)
        Neighbours on the device; -1 without one, and on unlimited devices.
    ends, number : int64 arrays, shapes (K, 2), (K,)
        First and last node of every device, and how many there are.
    use, readers : float64 array, shape (K,); int64 array, shape (T, K)
        Bytes held; groups that read each shared weight.
    best_device, best_sequence : int64 arrays, shape (n,)
    dirty, blocks, changed, old_start
        What is to be timed, and what a refused move brings back.
    touched, old_device : int64 arrays, shape (U,)
        Groups that the move at hand took elsewhere, and from where.
    moved, old_before, old_after : int64 arrays, shape (n + 1,)
        Nodes that it linked anew, and their neighbours before.
    seen, reached : int64 arrays
        Room for clusters.
    fresh, arrive, stamp, counter
        Room for times under ports; `counter` counts moves.
    """

    stream: np.ndarray
    value: np.ndarray
    device: np.ndarray
    sequence: np.ndarray
    place: np.ndarray
    start: np.ndarray
    tail: np.ndarray
    before: np.ndarray
    after: np.ndarray
    ends: np.ndarray
    number: np.ndarray
    use: np.ndarray
    readers: np.ndarray
    best_device: np.ndarray
    best_sequence: np.ndarray
    dirty: np.ndarray
    blocks: np.ndarray
    changed: np.ndarray
    old_start: np.ndarray
    touched: np.ndarray
    old_device: np.ndarray
    moved: np.ndarray
    old_before: np.ndarray
    old_after: np.ndarray
    seen: np.ndarray
    reached: np.ndarray
    fresh: np.ndarray
    arrive: np.ndarray
    stamp: np.ndarray
    counter: np.ndarray


def ground_of(instance: Instance) -> Ground:
    """The arrays that a walk reads."""
    unit = instance.group
    U = int(unit.max()) + 1
    size, shared, weight, reader = memory_by_group(instance)
    order = np.lexsort((weight, reader))
    possible = np.ones((U, instance.K), bool)
    np.logical_and.at(possible, unit, np.isfinite(instance.time))
    # Copies: the instance's arrays are read-only, which is another type to the compiler.
    own = {name: np.array(getattr(instance, name), order="C") for name in TAKEN}
    node = np.argsort(unit, kind="stable").astype(np.int64)
    return Ground(
        **own,
        way=np.array(instance.link_time.T, order="C"),
        links=latency.communication(instance),
        sinks=np.flatnonzero(np.diff(instance.succ_ptr) == 0),
        floor=times_.floors(own["time"].min(axis=1), own["succ_ptr"], own["succ"]),
        unit=unit.astype(np.int64),
        unit_ptr=np.searchsorted(unit[node], np.arange(U + 1)).astype(np.int64),
        unit_node=node,
        possible=possible,
        size=size.astype(float),
        shared=shared.astype(float),
        weight_ptr=np.searchsorted(reader[order], np.arange(U + 1)).astype(np.int64),
        weight=weight[order].astype(np.int64),
        contended=ports.has_ports(instance),
        staged=bool(instance.staged),
    )


TAKEN = (
    "time", "pred_ptr", "pred", "succ_ptr", "succ", "unlimited", "memory", "port", "wire", "host",
)  # fmt: skip
"""Fields of :class:`Ground` that are called as in the instance."""


def walk_of(ground: Ground, stream: np.ndarray) -> Walk:
    """A walk that stands nowhere; :func:`restart` gives it an answer.

    Parameters
    ----------
    stream : uint64 array, shape (1,)
        See :func:`solvers.rng.seeded`.
    """
    (n, K), U = ground.time.shape, len(ground.size)
    whole = [np.zeros(n + 1, np.int64) for _ in range(3)]
    number = [np.zeros(n, np.int64) for _ in range(8)]
    real = [np.zeros(n) for _ in range(4)]
    pairs = (n, K) if ground.contended else (0, 0)
    return Walk(
        stream=stream,
        value=np.full(2, np.inf),
        device=number[0], sequence=number[1], place=number[2],
        start=real[0], tail=real[1], before=number[3], after=number[4],
        ends=np.full((K, 2), -1), number=np.zeros(K, np.int64),
        use=np.zeros(K), readers=np.zeros((len(ground.shared), K), np.int64),
        best_device=number[5], best_sequence=number[6],
        dirty=np.zeros(n, np.bool_), blocks=np.zeros((n >> times_.SHIFT) + 2, np.int64),
        changed=number[7], old_start=real[2],
        touched=np.zeros(U, np.int64), old_device=np.zeros(U, np.int64),
        moved=whole[0], old_before=whole[1], old_after=whole[2],
        seen=np.full(U, -1), reached=np.zeros(n, np.int64),
        fresh=real[3], arrive=np.zeros(pairs), stamp=np.zeros(pairs, np.int64),
        counter=np.zeros(2, np.int64),
    )  # fmt: skip


def restart(ground: Ground, walk: Walk, device: np.ndarray, sequence: np.ndarray) -> None:
    """Go on from a valid mapping and topological sequence, int64 arrays of shape (n,)."""
    walk.device[:], walk.sequence[:] = device, sequence
    device, sequence = walk.device, walk.sequence
    walk.place[sequence] = np.arange(len(device))
    _hold(ground, walk)
    _link(ground, walk)
    if ground.contended:
        walk.counter[0] += 1
        walk.value[0] = ports_.served(
            ground.time, ground.way, ground.pred_ptr, ground.pred, ground.unlimited, ground.floor,
            ground.staged, ground.port, ground.wire, ground.host, device, sequence, np.inf,
            walk.start, walk.arrive, walk.stamp, walk.counter[0], walk.seen[:0],
        )  # fmt: skip
    else:
        walk.value[0] = times_.afresh(
            device, sequence, ground.time, ground.way, ground.links, ground.pred_ptr,
            ground.pred, ground.succ_ptr, ground.succ, ground.unlimited, walk.start, walk.tail,
        )  # fmt: skip
        times_.by_start(sequence, walk.place, walk.start)
    if walk.value[0] < walk.value[1] * (1 - 1e-9) or walk.value[1] == np.inf:
        walk.value[1] = walk.value[0]
        walk.best_device[:], walk.best_sequence[:] = device, sequence


def _hold(ground: Ground, walk: Walk) -> None:
    """Count what devices hold."""
    U, K = ground.possible.shape
    place = walk.device[ground.unit_node[ground.unit_ptr[:-1]]]
    reader = np.repeat(np.arange(U), np.diff(ground.weight_ptr))
    walk.readers[:] = 0
    np.add.at(walk.readers, (ground.weight, place[reader]), 1)
    walk.use[:] = np.bincount(place, ground.size, K) + ground.shared @ (walk.readers > 0)


def _link(ground: Ground, walk: Walk) -> None:
    """Link the nodes of every limited device as they follow in the sequence."""
    walk.before[:], walk.after[:], walk.ends[:], walk.number[:] = -1, -1, -1, 0
    limited = walk.sequence[~ground.unlimited[walk.device[walk.sequence]]]
    lane = limited[np.argsort(walk.device[limited], kind="stable")]
    k = walk.device[lane]
    same = k[1:] == k[:-1]
    walk.before[lane[1:][same]] = lane[:-1][same]
    walk.after[lane[:-1][same]] = lane[1:][same]
    walk.number[:] = np.bincount(k, minlength=len(ground.unlimited))
    some, last = np.flatnonzero(walk.number), np.cumsum(walk.number)
    walk.ends[some, 0], walk.ends[some, 1] = lane[(last - walk.number)[some]], lane[last[some] - 1]
