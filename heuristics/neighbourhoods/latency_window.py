"""A stretch of a schedule solved anew by CP-SAT: who runs where and when, all around it fixed.

The window is a stretch of the sequence of nodes by start. What comes before keeps its times; what
comes after keeps its devices and orders, so that its tails hold: a node that leaves the window at
some moment makes the makespan so large, exactly. Transfers are pure delays here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.cp_sat import keep_sound
from solvers.improve_state import Ground, Walk

UNITS = 2.0**26
"""Units of a makespan."""
GAIN = 1e-5
"""Least gain that is looked for, a part of the makespan."""
Schedule = tuple[np.ndarray, np.ndarray]
"""Device of every node and all nodes in a sequence, both of shape (n,)."""


def solve(
    ground: Ground,
    walk: Walk,
    first: int,
    last: int,
    allowed: np.ndarray,
    *,
    effort: float,
    seconds: float,
    seed: int,
) -> tuple[Schedule | None, bool, float]:
    """A better schedule, if there is one; whether the search was complete; deterministic seconds.

    Parameters
    ----------
    walk : Walk
        Holds the schedule, its starts and tails; it is not changed.
    first, last : int
        Places ``first..last-1`` of the sequence are the window.
    allowed : bool array, shape (n, K)
        Where a node of the window may run; groups that reach beyond it stay.
    effort, seconds : float
        Deterministic time, and the most that it may take by the clock.

    """
    from ortools.sat.python import cp_model  # heavy: out of start-up

    time = ground.time
    device, start, tail = walk.device, walk.start, walk.tail
    nodes = walk.sequence[first:last]
    index = {int(v): i for i, v in enumerate(nodes)}
    release, outlet, least = _boundary(ground, walk, first, last)
    value = float(walk.value[0])
    unit, target = value / UNITS, value * (1 - GAIN)
    if value <= 0.0 or least > target:
        return None, True, 0.0
    model = cp_model.CpModel()
    choice = _groups(ground, walk, nodes, index, allowed, model)
    base = float(min(release.min(), start[nodes].min()))
    end = int((target - base) / unit)

    def whole(length: float) -> int:
        return int(np.ceil(length / unit - 1e-6))

    begin, finish = [], []
    lanes: list[list[Any]] = [[] for _ in range(len(release))]
    top = model.new_int_var(max(0, int((least - base) / unit)), end, "")
    for v in nodes.tolist():
        head = base
        places = choice[ground.unit[v]]
        s = model.new_int_var(0, end, "")
        length = 0
        for k, on in places.items():
            units = whole(time[v, k])
            length += units * on
            enter = release[k] if not ground.unlimited[k] else base
            for u in ground.pred[ground.pred_ptr[v] : ground.pred_ptr[v + 1]].tolist():
                if u not in index:
                    enter = max(
                        enter, start[u] + time[u, device[u]] + _way(ground, u, device[u], k)
                    )
            if enter > head:
                model.add(s >= whole(enter - base)).only_enforce_if(on)
            leave = outlet[k] if not ground.unlimited[k] else 0.0
            for w in ground.succ[ground.succ_ptr[v] : ground.succ_ptr[v + 1]].tolist():
                if w not in index:
                    to = device[w]
                    leave = max(leave, _way(ground, v, k, to) + time[w, to] + tail[w])
            model.add(top >= s + units + whole(leave)).only_enforce_if(on)
            if not ground.unlimited[k]:
                lanes[k].append(model.new_optional_fixed_size_interval_var(s, units, on, ""))
        begin.append(s)
        finish.append(s + length)
    for lane in lanes:
        if len(lane) > 1:
            model.add_no_overlap(lane)
    for v in nodes.tolist():
        for u in ground.pred[ground.pred_ptr[v] : ground.pred_ptr[v + 1]].tolist():
            if u not in index:
                continue
            model.add(begin[index[v]] >= finish[index[u]])
            if ground.unit[u] == ground.unit[v]:
                continue
            for k, source in choice[ground.unit[u]].items():
                for to, target_on in choice[ground.unit[v]].items():
                    delay = _way(ground, u, k, to)
                    if k != to and delay > 0:
                        row = model.add(begin[index[v]] >= finish[index[u]] + whole(delay))
                        row.only_enforce_if(source, target_on)
    model.minimize(top)
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = effort
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status = solver.solve(model)
    used = float(solver.response_proto.deterministic_time)
    complete = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, complete, used
    placed = device.copy()
    for v in nodes.tolist():
        for k, on in choice[ground.unit[v]].items():
            if solver.value(on):
                placed[v] = k
    begins = np.array([solver.value(s) for s in begin])
    ends = begins + np.array([whole(time[v, placed[v]]) for v in nodes.tolist()])
    order = np.lexsort((np.arange(len(nodes)), ends, begins))
    sequence = np.concatenate([walk.sequence[:first], nodes[order], walk.sequence[last:]])
    return (placed, sequence), complete, used


def _way(ground: Ground, u: int, k: int, to: int) -> float:
    if k == to:
        return 0.0
    return float(ground.way[u, ground.links[k, to, 0]] + ground.way[u, ground.links[k, to, 1]])


def _boundary(
    ground: Ground, walk: Walk, first: int, last: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """When each device is free, its time after the window, and the longest path around that."""
    n, K = ground.time.shape
    device, place = walk.device, walk.place
    finish = walk.start + ground.time[np.arange(n), device]
    rest = ground.time[np.arange(n), device] + walk.tail
    release, outlet = np.zeros(K), np.zeros(K)
    early, late = walk.sequence[:first], walk.sequence[last:]
    np.maximum.at(release, device[early], finish[early])
    np.maximum.at(outlet, device[late], rest[late])
    through = np.where(ground.unlimited, 0.0, release + outlet)
    least = max(float(through.max()), float(finish[early].max(initial=0.0)))
    source = np.repeat(np.arange(n), np.diff(ground.succ_ptr))
    cross = (place[source] < first) & (place[ground.succ] >= last)
    u, v = source[cross], ground.succ[cross]
    if len(u):
        k, to = device[u], device[v]
        seconds = ground.way[u, ground.links[k, to, 0]] + ground.way[u, ground.links[k, to, 1]]
        least = max(least, float((finish[u] + np.where(k == to, 0.0, seconds) + rest[v]).max()))
    # Sources behind the window start on their own.
    least = max(least, float(rest[late].max(initial=0.0)))
    return release, outlet, least


def _groups(
    ground: Ground,
    walk: Walk,
    nodes: np.ndarray,
    index: dict[int, int],
    allowed: np.ndarray,
    model: Any,
) -> dict[int, dict[int, Any]]:
    """Literals of the devices of every group in the window, memory kept."""
    K = ground.time.shape[1]
    choice: dict[int, dict[int, Any]] = {}
    free: list[int] = []
    for g in dict.fromkeys(ground.unit[nodes].tolist()):
        members = ground.unit_node[ground.unit_ptr[g] : ground.unit_ptr[g + 1]]
        here = int(walk.device[members[0]])
        able = ground.possible[g] & allowed[members].all(axis=0)
        able[here] = True
        if able.sum() == 1 or any(v not in index for v in members.tolist()):
            choice[g] = {here: 1}
            continue
        choice[g] = {k: model.new_bool_var("") for k in np.flatnonzero(able).tolist()}
        model.add_exactly_one(choice[g].values())
        free.append(g)
    use = walk.use.copy()
    reads = {g: ground.weight[ground.weight_ptr[g] : ground.weight_ptr[g + 1]] for g in free}
    readers = walk.readers.copy()
    for g in free:
        k = int(walk.device[ground.unit_node[ground.unit_ptr[g]]])
        use[k] -= ground.size[g]
        for w in reads[g].tolist():
            readers[w, k] -= 1
            if readers[w, k] == 0:
                use[k] -= ground.shared[w]
    for k in range(K):
        if not np.isfinite(ground.memory[k]):
            continue
        terms = [(int(ground.size[g]), choice[g][k]) for g in free if k in choice[g]]
        held: dict[int, Any] = {}
        for g in free:
            for w in reads[g].tolist():
                if k in choice[g] and readers[w, k] == 0:
                    if w not in held:
                        held[w] = model.new_bool_var("")
                        terms.append((int(ground.shared[w]), held[w]))
                    model.add_implication(choice[g][k], held[w])
        if terms:
            model.add(sum(a * b for a, b in terms) <= int(ground.memory[k] - use[k]))
    return choice
