"""The problem `chips`: its rules as defined, its loads, and the judge against the evaluator."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations, product

import msgspec
import numpy as np
import pytest

from problems import chips
from problems.answer import Answer
from problems.builder import Builder
from problems.checker import check
from problems.files import FileError
from problems.generate.random import random_bundle
from problems.generate.samples import samples
from problems.platform import Wire
from problems.resolve import from_bundle
from problems.single import best_single


def chain(edges, *, n=4, count=4, rules=None, memory=None, hops=None, payload=None):
    """Nodes of one second and one byte of weights; hop k takes hops[k] seconds a byte."""
    builder = Builder("tiny", problem="chips", rules={"memory": "weights", **(rules or {})})
    hops = hops or [0.5] * (count - 1)
    for k in range(count):
        builder.add_device(f"chip{k}", kind="chip", memory_bytes=memory)
    for k, seconds in enumerate(hops):
        builder.add_link(f"hop{k}", latency_s=0.0, bandwidth_Bps=1 / seconds)
        builder.add_wire(f"chip{k}", f"chip{k + 1}", f"hop{k}")
    for v in range(n):
        size = 1 if payload is None else payload[v]
        builder.add_node(f"v{v}", {"chip": 1.0}, output_bytes=size, weights=1)
    for u, v in edges:
        builder.add_edge(f"v{u}", f"v{v}")
    return from_bundle(builder.build())


def accepted(edges, device, K):
    """C1 to C3 as they are defined, over all sets of chips in between."""
    if any(device[u] > device[v] for u, v in edges):
        return False
    if set(device) != set(range(max(device) + 1)):
        return False
    Q = {(device[u], device[v]) for u, v in edges if device[u] != device[v]}
    for a, b in Q:
        others = [c for c in range(K) if c not in (a, b)]
        for size in range(1, len(others) + 1):
            for between in permutations(others, size):
                way = [a, *between, b]
                if all(step in Q for step in pairwise(way)):
                    return False
    return True


@pytest.mark.parametrize("n", [3, 4])
def test_the_judge_accepts_what_the_definition_does(n):
    """Every directed acyclic graph of three and four nodes, every mapping to as many chips."""
    pairs = list(combinations(range(n), 2))
    seen = {True: 0, False: 0}
    for chosen in product([False, True], repeat=len(pairs)):
        edges = [pair for pair, on in zip(pairs, chosen, strict=True) if on]
        instance = chain(edges, n=n, count=n)
        for device in product(range(n), repeat=n):
            wanted = accepted(edges, device, n)
            answer = Answer.of(device)
            assert check(instance, answer).valid == wanted, (edges, device)
            assert chips.is_valid(instance, answer.device) == wanted, (edges, device)
            seen[wanted] += 1
    assert min(seen.values()) > 50


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
def test_judge_and_evaluator_agree(through, overlap):
    valid = 0
    rules = {"through_traffic": through, "overlap": overlap}
    for seed, instance in samples(12, problem="chips", n=5, devices=4, rules=rules):
        for device in product(range(instance.K), repeat=instance.n):
            answer = Answer.of(device)
            verdict = check(instance, answer)
            assert verdict.valid == chips.is_valid(instance, answer.device), (seed, device, verdict)
            if verdict.valid:
                valid += 1
                found = chips.period(instance, answer.device)
                assert verdict.objective == pytest.approx(found, rel=1e-12), (seed, device)
    assert valid > 50


def test_through_traffic_by_hand():
    # v0 is read by v1 on chip 1 and v2 on chip 3; nothing joins chips 1, 2 and 3.
    instance = chain([(0, 1), (0, 2)], hops=[1.0, 10.0, 100.0], payload=[2, 0, 0, 0])
    device = np.array([0, 1, 3, 2])
    parts = chips.parts(instance, device)
    assert parts[:, chips.COMPUTE].tolist() == [1, 1, 1, 1]
    assert parts[:, chips.SEND].tolist() == [2, 20, 200, 0]  # once over the first link
    assert parts[:, chips.RECEIVE].tolist() == [0, 2, 20, 200]
    assert check(instance, Answer(device)).objective == 221
    # Without it, once for each of the two destinations, over the first and their last link.
    rules = {"through_traffic": False}
    direct = chain([(0, 1), (0, 2)], rules=rules, hops=[1.0, 10.0, 100.0], payload=[2, 0, 0, 0])
    parts = chips.parts(direct, device)
    assert parts[:, chips.SEND].tolist() == [4, 0, 0, 0]
    assert parts[:, chips.RECEIVE].tolist() == [0, 2, 0, 200]
    assert check(direct, Answer(device)).objective == 201
    assert instance.digest != direct.digest


@pytest.mark.parametrize(
    ("device", "rule", "words"),
    [
        ([1, 0, 1, 1], "dataflow", "goes back from chip 1 to chip 0"),
        ([0, 0, 0, 2], "skipped", "no node is on chip 1, but chip 2 is in use"),
        ([0, 1, 2, 2], "triangle", "chip 0 feeds chip 2 directly and along 0 -> 1 -> 2"),
        ([0, 0, 0, 0], "memory", "holds 4 of 3 bytes"),
    ],
)
def test_what_is_broken_is_said(device, rule, words):
    instance = chain([(0, 1), (1, 2), (0, 3)], memory=3)
    (found,) = [
        text for name, text in check(instance, Answer.of(device)).violations if name == rule
    ]
    assert words in found
    assert not chips.is_valid(instance, np.array(device))


def test_all_on_the_first_chip_is_the_best_single_one():
    instance = chain([(0, 1)])
    answer, value = best_single(instance)
    assert (answer.device.tolist(), value) == ([0, 0, 0, 0], 4.0)
    assert best_single(chain([(0, 1)], memory=3)) is None
    assert instance.device_class.tolist() == [0, 1, 2, 3]  # none may change places


def test_links_lead_to_the_next_chip_only():
    instance = chain([(0, 1)], hops=[1.0, 2.0, 3.0])
    assert np.argwhere(instance.wire).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert instance.link_time[chips.hops(instance), 0].tolist() == pytest.approx([1, 2, 3])


def test_platforms_that_are_no_chain_are_refused():
    good = random_bundle(1, problem="chips", devices=3, rules={})
    from_bundle(good)
    platform, replace = good.platform, msgspec.structs.replace
    first, *rest = platform.devices
    for changed, words in (
        ({"devices": [replace(first, memory_bytes=5), *rest]}, "are alike"),
        ({"devices": [replace(first, host=True), *rest]}, "has no host"),
        ({"devices": [replace(first, unlimited=True), *rest]}, "unlimited"),
        ({"wires": [*platform.wires, Wire("dev0", "dev2", platform.wires[0].link)]}, "neighbours"),
        ({"wires": platform.wires[1:]}, "no wire joins 'dev0' and 'dev1'"),
        ({"topology": "staged", "wires": []}, "has a `link`"),
    ):
        with pytest.raises(FileError, match=words):
            from_bundle(replace(good, platform=replace(platform, **changed)))
    staged = random_bundle(1)
    staged = replace(staged, instance=replace(staged.instance, problem="chips"))
    with pytest.raises(FileError, match="not staged"):
        from_bundle(staged)


def test_only_chips_instances_have_chip_loads():
    with pytest.raises(ValueError, match="not chips"):
        chips.loads(from_bundle(random_bundle(1)), np.zeros(6, int))
    assert math.isfinite(chips.period(chain([]), np.zeros(4, int)))
