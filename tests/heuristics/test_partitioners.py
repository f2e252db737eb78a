"""What the three graph partitioners promise, each where its package is installed."""

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.kahip import blocks_of
from heuristics.partition.network import Graph
from problems.checker import check
from problems.formats import msr
from problems.resolve import from_bundle
from solvers.method import Context
from tests import tiny
from tests.heuristics.samples import sample

PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "msr"
public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no public MSR inputs in ../shared/msr")
NEEDS = {"scotch": "scotchpy", "metis": "pymetis", "kahip": "kahip"}
NAMES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            find_spec(package) is None, reason=f"{name} needs {package} (extra: partition)"
        ),
    )
    for name, package in NEEDS.items()
]
each = pytest.mark.parametrize("name", NAMES)


def cutter(name):
    module = sys.modules[catalogue.load(name).run.__module__]
    options = {"scotch": ("quality",), "kahip": ("eco",), "metis": ()}[name]
    return module._cutter(*options)


def weighted(load, edges):
    """A graph of given loads and (u, v, cost)."""
    both = sorted([*edges, *((v, u, cost) for u, v, cost in edges)])
    ptr = np.searchsorted([u for u, _, _ in both], np.arange(len(load) + 1))
    return Graph(
        ptr.astype(np.int64),
        np.array([v for _, v, _ in both], np.int64),
        np.array([cost for _, _, cost in both], np.int64),
        np.array(load, np.int64),
    )


@pytest.mark.parametrize(("name", "package"), NEEDS.items())
def test_each_says_what_it_needs(name, package):
    assert catalogue.load(name).needs == (package,)


@each
def test_two_cliques_are_told_apart(name):
    pairs = [(u, v, 100) for h in (0, 5) for u in range(h, h + 5) for v in range(h, u)]
    graph = weighted([10] * 10, [*pairs, (4, 5, 1)])
    part = cutter(name)(graph, np.array([0.5, 0.5]), 0.05, 1)
    assert len(set(part[:5].tolist())) == len(set(part[5:].tolist())) == 1
    assert part[0] != part[9]


@each
def test_shares_are_met(name):
    n = 400
    graph = weighted([7] * n, [(v, v + 1, 3) for v in range(n - 1)])
    for share in ((0.5, 0.25, 0.25), (0.75, 0.25), (0.4, 0.3, 0.2, 0.1), (1 / 12,) * 12):
        part = cutter(name)(graph, np.array(share), 0.05, 1)
        got = np.bincount(part, minlength=len(share)) / n
        assert got == pytest.approx(np.array(share), rel=0.15)


@each
def test_cuts_repeat(name):
    """Scotch would cut a graph of this size by several threads, each time in another way."""
    rng = np.random.default_rng(0)
    n = 4000
    pairs = {(int(v - 1 - rng.integers(min(v, 30))), v) for v in range(1, n) for _ in "ab"}
    edges = [(u, v, 1 + (7 * u + v) % 1000) for u, v in sorted(pairs)]
    graph = weighted(rng.integers(1, 1000, n).tolist(), edges)
    cut, share = cutter(name), np.full(6, 1 / 6)
    first, *others = (cut(graph, share, 0.05, 1) for _ in range(4))
    assert all(np.array_equal(first, other) for other in others)


@pytest.mark.skipif(find_spec("kahip") is None, reason="kahip needs kahip (extra: partition)")
def test_blocks_of_one_device_follow_each_other():
    n = 120
    graph = weighted([1] * n, [(v, v + 1, 3) for v in range(n - 1)])
    for share in ((0.25, 0.75), (0.75, 0.25), (0.5, 0.125, 0.375)):
        part = cutter("kahip")(graph, np.array(share), 0.05, 1)
        assert np.count_nonzero(np.diff(part)) == len(share) - 1
        assert (np.diff(part) >= 0).all() or (np.diff(part) <= 0).all()


@each
def test_degenerate_graphs(name, capfd):
    big = 2**29
    graphs = [
        weighted([1, 1], [(0, 1, 1)]),
        weighted([1, 1, 1], [(0, 1, 1)]),  # a vertex alone
        weighted([1] * 6, [(0, v, 1) for v in range(1, 6)]),
        weighted([big, 1, 1, 1], [(0, 1, big), (1, 2, 1), (2, 3, 1)]),
        weighted([1] * 9, [(u, u + 1, 1) for u in (0, 1, 3, 4, 6, 7)]),
    ]
    cut = cutter(name)
    for graph in graphs:
        V = len(graph.load)
        for parts in range(2, V + 1):
            for imbalance in (0.01, 0.4):
                share = np.arange(1.0, parts + 1)
                part = cut(graph, share / share.sum(), imbalance, 3)
                assert part.shape == (V,)
                assert part.dtype == np.int64
                assert 0 <= part.min() <= part.max() < parts
    assert capfd.readouterr().out == ""


@each
def test_degenerate_instances(name):
    entry = catalogue.load(name)
    for rows in ([(1.0, 2.0)], [(1.0, 2.0)] * 2, [(0.0, 0.0, 0.0)] * 4, [(1.0,)] * 3):
        for problem in ("throughput", "latency"):
            instance = tiny.instance(rows, problem=problem, delay=[0.1] * len(rows[0]))
            answer = entry.run(instance, Context(), tries=6)
            assert check(instance, answer).valid


@each
def test_a_chain_of_equal_nodes_is_cut_in_equal_runs(name):
    instance = tiny.instance(
        [(1.0, 1.0, 1.0)] * 12,
        [(v, v + 1) for v in range(11)],
        payload=[1] * 12,
        delay=[0.0] * 3,
        problem="throughput",
        rules={"contiguous": True, "overlap": "full"},
    )
    answer = catalogue.load(name).run(instance, Context(), tries=6)
    assert check(instance, answer).objective == pytest.approx(4.0)


CODE = """
import sys
from tests.heuristics.test_partitioners import digests
print(digests(sys.argv[1:]))
"""


def digests(names):
    found = []
    for name in names:
        for problem in ("throughput", "latency"):
            instance = sample(3, problem=problem, n=200, devices=4, density=0.03, tight=None)
            answer = catalogue.load(name).run(instance, Context(seed=7), tries=8)
            found.append(hashlib.sha256(answer.device.tobytes()).hexdigest())
    return found


def test_same_seed_same_answer_in_another_process():
    names = [name for name, package in NEEDS.items() if find_spec(package)]
    if not names:
        pytest.skip("no graph partitioner is installed (extra: partition)")
    done = subprocess.run(
        [sys.executable, "-c", CODE, *names],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    assert done.stdout == f"{digests(names)}\n"  # and nothing else on standard output


def test_blocks_are_the_least_number_that_meets_the_shares():
    for share, most, expected in (
        ((0.5, 0.5), 8, [1, 1]),
        ((0.75, 0.25), 8, [3, 1]),
        ((0.4, 0.4, 0.2), 12, [2, 2, 1]),
        ((0.999, 0.001), 8, [2, 0]),
        ((0.7, 0.3), 3, [2, 1]),
    ):
        assert blocks_of(np.array(share), most, 0.05).tolist() == expected


@public
@pytest.mark.skipif(find_spec("scotchpy") is None, reason="scotch needs scotchpy")
@pytest.mark.parametrize(
    ("file", "published"),
    [
        ("layer-bert24_inference", 18.0259),
        ("layer-bert24_training", 42.0078),
        ("layer-gnmt_inference", 34.9241),
        ("layer-gnmt_training", 93.8855),
        ("operator-bert_l-3_inference", 35.9352),
        ("operator-bert_l-3_training", 403.773),
    ],
)
def test_scotch_is_no_worse_than_the_published_one(file, published):
    data = (PUBLIC / "throughput" / f"{file}.json").read_bytes()
    instance = from_bundle(msr.read(data, file, file).bundle)
    answer = catalogue.load("scotch").run(instance, Context(seed=1), tries=24)
    value = check(instance, answer).objective * 1e3
    print(f"{file}: {value:.3f} ms, published {published} ms")
    assert value <= published
