import time

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.lists import offer_schedule
from heuristics.shared.ranks import mean_rank
from problems import latency
from problems.checker import check
from problems.graph import GraphFile, Node
from problems.instance import Bundle, InstanceSpec
from problems.platform import AlphaBeta, Device, DeviceFile, LinkFile, Platform, Timing
from problems.resolve import from_bundle
from solvers.method import Context
from tests import tiny
from tests.heuristics.samples import samples


def heft(instance):
    """HEFT's own answer, without the best single device beside it."""
    space, best = space_.build(instance), Best(instance, Context())
    offer_schedule(instance, space, best, mean_rank(instance, space))
    return best.answer


def delay(instance, u, k, to):
    return float(latency.delays(instance, u)[k, to])


def reference(instance):
    """Topcuoglu et al. 2002, fig. 4, in plain Python; returns ranks and (device, start, finish)."""
    n, K, time = instance.n, instance.K, instance.time
    consumers = [instance.succ[instance.succ_ptr[v] : instance.succ_ptr[v + 1]] for v in range(n)]
    producers = [instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]] for v in range(n)]
    pairs = [(k, to) for k in range(K) for to in range(K) if k != to]
    rank = [0.0] * n
    for u in reversed(range(n)):
        able = [time[u, k] for k in range(K) if np.isfinite(time[u, k])]
        mean = sum(delay(instance, u, *pair) for pair in pairs) / len(pairs) if pairs else 0.0
        rank[u] = sum(able) / len(able) + max((mean + rank[v] for v in consumers[u]), default=0.0)
    busy = [[] for _ in range(K)]
    placed = {}
    for v in sorted(range(n), key=lambda v: (-rank[v], v)):
        options = []
        for k in range(K):
            if not np.isfinite(time[v, k]):
                continue
            ready = max(
                (placed[u][2] + delay(instance, u, placed[u][0], k) for u in producers[v]),
                default=0.0,
            )
            # The earliest moment, now or when something ends, from which k is idle long enough.
            moments = [ready, *(end for _, end in busy[k] if end > ready)]
            if instance.unlimited[k]:
                moments = [ready]
            for t in sorted(moments):
                clash = [b < t + time[v, k] and e > t for b, e in busy[k]]
                if instance.unlimited[k] or not any(clash):
                    options.append((t + time[v, k], k, t))
                    break
        finish, k, start = min(options)
        placed[v] = (k, start, finish)
        busy[k].append((start, finish))
    return rank, placed


def example():
    """Ten tasks on three processors (their figure 2)."""
    times = [
        (14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10),
        (13, 16, 9), (7, 15, 11), (5, 11, 14), (18, 12, 20), (21, 7, 16),
    ]  # fmt: skip
    cost = {
        (1, 2): 18, (1, 3): 12, (1, 4): 9, (1, 5): 11, (1, 6): 14, (2, 8): 19, (2, 9): 16,
        (3, 7): 23, (4, 8): 27, (4, 9): 23, (5, 9): 13, (6, 8): 15, (7, 10): 17, (8, 10): 11,
        (9, 10): 13,
    }  # fmt: skip
    # Our payload belongs to the producer, theirs to the edge: a relay of no time carries each.
    # A relay is colocated with its producer.
    edges, relays = [], list(cost)
    groups = {u - 1: f"g{u}" for u, _ in relays}
    rows = [tuple(map(float, row)) for row in times]
    payload = [0] * 10
    for i, (u, v) in enumerate(relays):
        edges += [(u - 1, 10 + i), (10 + i, v - 1)]
        rows.append((0.0, 0.0, 0.0))
        payload.append(cost[u, v])
        groups[10 + i] = f"g{u}"
    delay = {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.0}
    return tiny.instance(rows, edges, payload=payload, colocate=groups, delay=delay)


def test_the_example_of_the_paper():
    """Makespan 80 (their figure 3a, table 2)."""
    instance = example()
    space = space_.build(instance)
    rank = mean_rank(instance, space)
    names = [instance.names.index(chr(ord("a") + v)) for v in range(10)]
    expected = [108.0, 77.0, 80.0, 80.0, 69.0, 63.333, 42.667, 35.667, 44.333, 14.667]
    assert rank[names] == pytest.approx(expected, abs=1e-3)
    answer = heft(instance)
    assert check(instance, answer).objective == pytest.approx(80.0)


def test_against_the_reference():
    compared = 0
    for seed, instance in samples(
        150, n=25, devices=4, problem="latency", density=0.2, tight=None, groups=0, ties=False,
        rules={"colocate_tied": False},
    ):  # fmt: skip
        rank, placed = reference(instance)
        assert mean_rank(instance, space_.build(instance)) == pytest.approx(rank)
        answer = heft(instance)
        assert answer.device.tolist() == [placed[v][0] for v in range(instance.n)], seed
        best = max(finish for _, _, finish in placed.values())
        assert check(instance, answer).objective == pytest.approx(best)
        compared += 1
    assert compared == 150


def test_a_free_source_waits_for_its_consumer():
    """A weight placed at once would sit on d0 by index and pay the transfer, or drag d0 along."""
    instance = tiny.instance(
        [(0.0, 0.0), (10.0, 1.0)], [(0, 1)], payload=[5, 0], delay={(0, 1): 1.0}
    )
    answer = heft(instance)
    assert answer.device.tolist() == [1, 1]
    assert check(instance, answer).objective == 1.0


def test_a_group_goes_where_it_is_fast_as_a_whole():
    """The first node of the group alone would prefer d0, by far the wrong device for the rest."""
    instance = tiny.instance(
        [(1.0, 2.0), (0.5, 0.5), (50.0, 3.0)],
        [(0, 1), (1, 2)],
        colocate={0: "g", 2: "g"},
        payload=[1, 1, 0],
        delay={(0, 1): 0.1},
    )
    answer = heft(instance)
    assert answer.device[0] == answer.device[2] == 1


def test_large_graphs_are_quick():
    instance = wide(5000)
    heft(instance)
    begin = time.process_time()
    answer = heft(instance)
    taken = time.process_time() - begin
    assert latency.is_valid(instance, answer)
    print(f"HEFT: {instance.n} tasks on 4 devices in {taken:.3f} s")
    assert taken < 2.0  # 0.04 s on a quiet machine; a quadratic step would take far more


def wide(n):
    """A random graph of `n` nodes, up to 30 wide, on four unlike devices."""
    rng = np.random.default_rng(0)
    edges = sorted({(int(v - 1 - rng.integers(min(v, 30))), v) for v in range(1, n) for _ in "ab"})
    nodes = [Node(f"v{v}", "op", f"v{v}", output_bytes=int(rng.integers(50))) for v in range(n)]
    tables = {}
    for k in range(4):
        times = {f"v{v}": Timing(*[float(rng.uniform(0.1, 10))] * 3, 1) for v in range(n)}
        tables[f"d{k}"] = DeviceFile("placebench-device/1", f"d{k}", "modelled", {}, times)
    link = LinkFile("placebench-link/1", "l", "modelled", {}, model=AlphaBeta(0.1, 30.0))
    platform = Platform(
        "placebench-platform/1",
        "four",
        "direct",
        [Device(f"d{k}", f"d{k}") for k in range(4)],
        default_link="l",
    )
    graph = GraphFile("placebench-graph/1", "wide", "random", nodes, edges)
    spec = InstanceSpec("wide", "four", "latency")
    return from_bundle(Bundle("placebench-bundle/1", spec, graph, platform, tables, {"l": link}))


def test_the_entry_is_never_worse_than_single():
    for _, instance in samples(60, problem="latency"):
        single = catalogue.load("single").run(instance, Context())
        answer = catalogue.load("heft").run(instance, Context())
        assert (single is None) == (answer is None)
        if answer is not None:
            assert check(instance, answer).objective <= check(instance, single).objective
