"""The dynamic program over ideals against brute force, published values and the prefix MILP."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from problems.builder import Builder
from problems.catalogue import Library
from problems.files import FileError
from problems.formats import msr
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from problems.statistics.ideals import ideals
from problems.throughput import order_edges
from solvers.catalogue import load
from solvers.method import Context, Unsupported
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import arguments

PUBLIC = Path(__file__).resolve().parents[4] / "shared" / "msr"
public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no public MSR inputs in ../shared/msr")
PACKS = 4
SMALL = [
    "resnet50:block/server/throughput[contiguous]",
    "alexnet:operator/server/throughput[contiguous]",
    "vgg16:operator/server/throughput[contiguous]",
    "squeezenet:operator/server/throughput[contiguous]",
    "resnet18:operator/edge/throughput[contiguous]",
    "unet-train:operator/server/throughput[contiguous,split_phases]",
    "bert-base:parent/server/throughput[contiguous,overlap=full]",
    "convnext-tiny:operator/edge/throughput[contiguous]",
    "mobilenetv2:operator/edge/throughput[contiguous]",
    "densenet121:operator/unlike-tcp/throughput[contiguous]",
    "lstm:operator/unlike-tcp/throughput[contiguous]",
    "inceptionv3:parent/server-4gpu/throughput[contiguous]",
]


def tiny(seeds):
    """Random instances that the program takes."""
    for seed in seeds:
        given = arguments("throughput", seed)
        given["rules"]["contiguous"] = True
        given["topology"] = "staged" if seed % 3 else "direct"
        try:
            instance = from_bundle(random_bundle(seed, **given, uneven=seed % 2 == 0))
        except FileError:  # some group runs on no device
            continue
        if load("dp").refusal(instance) is None:
            yield seed, instance


def reference():
    if not PUBLIC.is_dir():
        return []
    with open(PUBLIC / "reference.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "dp"]
    return [(row["file"], float(row["objective_ms"]) / 1e3) for row in rows]


@pytest.mark.parametrize("pack", range(PACKS))
def test_it_equals_brute_force(pack):
    for seed, instance in tiny(range(pack, 320, PACKS)):
        best = optimum(instance).objective
        ran = run("dp", instance)
        assert agrees(ran, best), (seed, best, ran)
        if best is not None:
            assert math.isclose(ran.objective, best, rel_tol=1e-9, abs_tol=1e-12), (seed, best, ran)


def test_brute_force_covers_what_matters():
    mine = [instance for _, instance in tiny(range(320))]
    assert len(mine) >= 250
    assert {(i.staged, i.rules.overlap, i.rules.split_phases) for i in mine} == {
        (staged, overlap, split)
        for staged in (True, False)
        for overlap in ("none", "half", "full")
        for split in (True, False)
    }
    assert sum(i.phase.max() > 0 for i in mine) >= 50
    assert sum(i.K > 1 and len(set(i.device_class.tolist())) < i.K for i in mine) >= 20
    assert sum(len(set(i.device_class.tolist())) == 3 for i in mine) >= 20
    assert sum(math.isfinite(i.memory.min()) and len(i.shared_bytes) > 0 for i in mine) >= 20
    assert sum(i.group.max() + 1 < i.n for i in mine) >= 50


@public
@pytest.mark.parametrize(("file", "objective"), reference())
def test_published_optima_are_reproduced(file, objective):
    path = PUBLIC / file
    imported = msr.read(path.read_bytes(), file, path.stem, contiguous=True)
    ran = run("dp", from_bundle(imported.bundle))
    assert ran.claim == "optimal"
    assert math.isclose(ran.objective, objective, rel_tol=1e-9)
    assert max(ran.bounds) <= objective * (1 + 1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_it_equals_the_prefix_milp(name):
    instance = Library().load(name)
    ran = run("dp", instance)
    assert ran.claim == "optimal"
    milp = run("prefix@highs", instance, start=ran.answer, seconds=8.0)
    assert milp.objective >= ran.objective * (1 - 1e-6)
    assert max(milp.bounds) <= ran.objective * (1 + 1e-6)
    if milp.claim == "optimal":
        assert math.isclose(milp.objective, ran.objective, rel_tol=1e-6)


def chains(count, length, devices, *, seconds=1.0, transfer=0.01):
    """Parallel chains of like nodes on like devices."""
    builder = Builder("chains", problem="throughput", rules={"contiguous": True})
    builder.add_link("port", points=[(0, 0.0), (1, transfer)])
    for k in range(devices):
        builder.add_device(f"d{k}", kind="chip", link="port")
    for i in range(count):
        for j in range(length):
            builder.add_node(f"v{i}.{j}", {"chip": seconds}, output_bytes=1)
            if j:
                builder.add_edge(f"v{i}.{j - 1}", f"v{i}.{j}")
    return from_bundle(builder.build())


def test_a_hundred_thousand_ideals_are_no_obstacle():
    """Three devices share 45 nodes in five chains of nine: two chains are cut, or work is uneven.

    The published program gives up above 60,000 ideals.
    """
    instance = chains(5, 9, 3)
    assert ideals(order_edges(instance), instance.group) == 10**5
    ran = run("dp", instance)
    assert ran.claim == "optimal"
    assert math.isclose(ran.objective, 15.02, rel_tol=1e-12)


def test_nodes_that_fit_one_memory_only_apart_are_not_merged():
    """The published program merges the pair, which then fits the host only: 100 s."""
    rules = {"contiguous": True, "memory": "weights"}
    builder = Builder("pair", problem="throughput", rules=rules)
    builder.add_link("port", points=[(0, 0.0), (1, 0.5)])
    for k in range(2):
        builder.add_device(f"fast{k}", kind="fast", memory_bytes=10, link="port")
    builder.add_device("slow", kind="slow", host=True)
    builder.add_node("a", {"fast": 1.0, "slow": 100.0}, output_bytes=1, weights=6)
    builder.add_node("b", {"fast": 0.0, "slow": 0.0}, weights=6)
    builder.add_edge("a", "b")
    instance = from_bundle(builder.build())
    ran = run("dp", instance)
    assert optimum(instance).objective == 1.5
    assert (ran.claim, ran.objective) == ("optimal", 1.5)


def test_what_does_not_fit_is_said_and_what_is_known_is_kept():
    instance = chains(5, 9, 3)
    ran = run("dp", instance, max_gib=0.001)
    assert ran.claim == "feasible"
    assert "GiB and more, for" in ran.claims[0][2]
    assert "limit is 0.001 GiB" in ran.claims[0][2]
    assert ran.objective >= 15.0
    assert 15.0 * (1 - 1e-9) <= max(ran.bounds) <= 15.02
    with pytest.raises(ValueError, match="max_gib=0"):
        load("dp").run(instance, Context(), max_gib=0.0)


def test_no_time_at_all_still_gives_an_answer():
    ran = run("dp", chains(5, 9, 3), seconds=0.0)
    assert ran.claim == "feasible"
    assert ran.answer is not None
    assert max(ran.bounds) <= 15.02


def test_a_start_is_improved_on():
    instance = chains(2, 4, 2)
    start = run("dpl", instance).answer
    ran = run("dp", instance, start=start)
    assert (ran.claim, ran.objective) == ("optimal", 4.0)


def test_what_other_devices_do_is_refused():
    given = {"n": 6, "devices": 3, "topology": "direct", "hosts": 0, "density": 1.0}
    like = from_bundle(random_bundle(1, **given, like=True, rules={"contiguous": True}))
    assert "sends once to every device" in load("dp").refusal(like)
    unlike = from_bundle(random_bundle(1, **given, rules={"contiguous": True}))
    assert "direct links that differ" in load("dp").refusal(unlike)
    free = from_bundle(random_bundle(1))
    assert "not contiguous" in load("dp").refusal(free)
    for entry in ("dp", "dpl"):
        with pytest.raises(Unsupported, match="not contiguous"):
            load(entry).run(free, Context())


def test_too_many_kinds_of_devices_are_refused():
    instance = from_bundle(random_bundle(1, n=4, devices=13, rules={"contiguous": True}))
    assert "8192 states an ideal" in load("dp").refusal(instance)


def test_over_direct_links_the_relaxation_bounds_and_its_proofs_hold():
    claims = []
    for seed in range(150):
        given = {**arguments("throughput", seed), "topology": "direct", "devices": 3, "hosts": 1}
        given["rules"]["contiguous"] = True
        try:
            instance = from_bundle(random_bundle(seed, **given, uneven=seed % 2 == 0))
        except FileError:  # some group runs on no device
            continue
        best = optimum(instance).objective
        ran = run("dp-relaxed", instance)
        claims.append(ran.claim)
        if best is None:
            assert ran.claim == "infeasible"
            continue
        assert all(bound <= best * (1 + 1e-9) for bound in ran.bounds), (seed, best, ran)
        if ran.claim == "optimal":
            assert math.isclose(ran.objective, best, rel_tol=1e-6), (seed, best, ran)
    assert claims.count("optimal") >= 60
    assert claims.count("feasible") + claims.count("bound") > 0
