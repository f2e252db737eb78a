"""The model of a module of a schedule against all schedules of the module, the rest fixed."""

import math
from itertools import product

import numpy as np
import pytest

from heuristics.modules import atoms as atoms_
from heuristics.modules.exact import BACKENDS
from heuristics.modules.scheduling import answer_of, solve
from heuristics.modules.timed import empty
from heuristics.shared import space as space_
from heuristics.splitting import split
from problems.bounds.headtail import tails
from problems.checker import check
from solvers.method import Context
from tests.heuristics.samples import samples

SMALL = 1e-9


def least(instance, part, module, tail):
    """Least value of the largest finish + tail over all schedules of the module; inf for none."""
    free = sorted({int(g) for g in instance.group[module] if part.place[g] < 0})
    best = math.inf
    for choice in product(range(instance.K), repeat=len(free)):
        place = part.place.copy()
        place[free] = choice
        if _fits(instance, place):
            best = min(best, _scheduled(instance, part, module, tail, place, best))
    return best


def _fits(instance, place):
    device = place[instance.group]
    placed = np.flatnonzero(device >= 0)
    if not np.isfinite(instance.time[placed, device[placed]]).all():
        return False
    use = [0.0] * instance.K
    for v in placed.tolist():
        use[device[v]] += instance.node_bytes[v]
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        for k in {int(device[v]) for v in readers if device[v] >= 0}:
            use[k] += size
    return all(a <= b for a, b in zip(use, instance.memory.tolist(), strict=True))


def _scheduled(instance, part, module, tail, place, limit):
    """Every order of nodes and transfers, each task into the first gap that takes it."""
    contended = instance.rules.contention == "ports"
    device = place[instance.group]
    # name -> (seconds, resources, [(task before, lag)], release, tail after its end)
    tasks, arrival, busy = {}, {}, {}
    for v in np.flatnonzero(part.placed).tolist():
        if not instance.unlimited[device[v]]:
            end = part.start[v] + instance.time[v, device[v]]
            busy.setdefault(("run", device[v]), []).append((part.start[v], end))

    def legs(u, to):
        k = device[u]
        if instance.staged:
            out, into = instance.link_time[instance.port[[k, to]], u].tolist()
            return [(out, [("send", k)]), (into, [("receive", to)])]
        return [
            (float(instance.link_time[instance.wire[k, to], u]), [("send", k), ("receive", to)])
        ]

    def ports(uses):
        return [use for use in uses if contended and not instance.host[use[1]]]

    for (u, to), begins in part.sent.items():
        for (seconds, uses), begin in zip(legs(u, to), begins, strict=False):
            for use in ports(uses) if seconds > 0 else []:
                busy.setdefault(use, []).append((begin, begin + seconds))
    for v in module.tolist():
        after, release = [], 0.0
        for u in instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]].tolist():
            done = part.start[u] + instance.time[u, device[u]] if part.placed[u] else None
            if device[u] == device[v]:
                if done is None:
                    after.append(((u,), 0.0))
                else:
                    release = max(release, done)
                continue
            to = int(device[v])
            if (u, to) in part.sent:
                seconds = legs(u, to)[-1][0]
                release = max(release, part.sent[u, to][-1] + seconds)
                continue
            if (u, to) not in arrival:
                last = (None, done) if done is not None else ((u,), 0.0)
                for i, (seconds, uses) in enumerate(legs(u, to)):
                    if not ports(uses) or seconds == 0:
                        last = (last[0], last[1] + seconds)
                        continue
                    waits = [last] if last[0] else []
                    tasks[u, to, i] = (
                        seconds,
                        ports(uses),
                        waits,
                        0.0 if waits else last[1],
                        -math.inf,
                    )
                    last = ((u, to, i), 0.0)
                arrival[u, to] = last
            last = arrival[u, to]
            if last[0]:
                after.append(last)
            else:
                release = max(release, last[1])
        k = device[v]
        uses = [] if instance.unlimited[k] else [("run", k)]
        tasks[v,] = (float(instance.time[v, k]), uses, after, release, float(tail[v, k]))
    known = np.flatnonzero(part.placed)
    first = float(
        (part.start[known] + (instance.time + tail)[known, device[known]]).max(initial=0.0)
    )
    best = limit

    def place_at(name, ready):
        seconds, uses = tasks[name][:2]
        taken = sorted({span for use in uses for span in busy.get(use, ())})
        t, moved = ready, True
        while moved:
            moved = False
            for a, b in taken:
                if b > a and t < b - SMALL and (t + seconds > a + SMALL or a + SMALL < t):
                    t, moved = b, True
        return t

    def extend(end, value):
        nonlocal best
        if value >= best:
            return
        if len(end) == len(tasks):
            best = value
            return
        for name, (seconds, uses, after, release, rest) in tasks.items():
            if name in end or any(other not in end for other, _ in after):
                continue
            t = place_at(name, max([release, *(end[other] + lag for other, lag in after)]))
            for use in uses:
                busy.setdefault(use, []).append((t, t + seconds))
            extend(end | {name: t + seconds}, max(value, t + seconds + rest))
            for use in uses:
                busy[use].pop()

    extend({}, first)
    return best


@pytest.mark.parametrize("contention", ["none", "ports"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_module_is_as_good_as_its_best_schedule(backend, contention):
    pytest.importorskip({"cp-sat": "ortools", "highs": "highspy", "scip": "pyscipopt"}[backend])
    compared = better = 0
    for seed, case in samples(40, n=7, problem="latency", rules={"contention": contention}):
        space = space_.build(case)
        atoms = atoms_.build(case)
        tail = np.where(np.isfinite(tails(case)), tails(case), 0.0)
        part = empty(case)
        modules = split(atoms, ("louvain", "sese")[seed % 2], 3, 0, seed)
        nodes = [np.flatnonzero(np.isin(atoms.atom, each)) for each in modules]
        if max(map(len, nodes)) > 3 or (backend != "cp-sat" and seed % 3):
            continue
        for module in nodes:
            expected = least(case, part, module, tail)
            found = solve(case, space, part, module, tail, backend, 20.0, Context())
            assert (found is None) == (expected == math.inf)
            if found is None:
                break
            device = found.place[case.group]
            end = found.start + case.time[np.arange(case.n), device]
            value = (end + tail[np.arange(case.n), device])[found.placed].max()
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-9), seed
            compared += 1
            better += bool(part.placed.any())
            part = found
        else:
            verdict = check(case, answer_of(case, part))
            assert verdict.valid
            assert verdict.objective == pytest.approx(value, rel=1e-9)
    assert compared > (20 if backend == "cp-sat" else 6)
    assert better > (5 if backend == "cp-sat" else 1)
