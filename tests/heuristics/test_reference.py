"""Our heuristics against the published ones of the NeurIPS 2020 code, on its public test inputs."""

from functools import cache
from pathlib import Path

import pytest

from bench import reference
from heuristics import catalogue
from problems import throughput
from problems.checker import check
from solvers.method import Context

PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "msr"
pytestmark = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no public MSR inputs in ../shared/msr")
ROWS = reference.rows(PUBLIC) if PUBLIC.is_dir() else []
# Runs stop as soon as the published value is reached, which takes a fraction of this.
SECONDS = 20.0
# Pipelines of equal load that differ in latency: ours takes another one than the published program.
TIES = {("latency/operator-bert_l-3_inference.json", "latency_of_maxload_dp"): 1.005}


def enough(row):
    return row.value * TIES.get((row.file, row.heuristic), 1 + reference.PRINTED)


@cache
def best_of(kind, file):
    """One run for all rows that the same entry answers."""
    rows = [row for row in ROWS if row.file == file and reference.KINDS[row.heuristic][0] == kind]
    row = min(rows, key=enough)
    return reference.ours(reference.KINDS[row.heuristic], PUBLIC, row, SECONDS, enough(row))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{Path(r.file).stem}-{r.heuristic}")
def test_the_same_kind_is_no_worse_than_published(row):
    found = best_of(reference.KINDS[row.heuristic][0], row.file)
    if found is None:
        pytest.skip(f"none of {', '.join(reference.KINDS[row.heuristic])} can be run here")
    assert found[1] <= enough(row), found


@pytest.mark.parametrize("file", sorted({row.file for row in ROWS}))
def test_the_strongest_is_no_worse_than_any_published_heuristic(file):
    for contiguous in (False, True):
        mine = [
            row
            for row in ROWS
            if row.file == file and reference.is_contiguous(row.heuristic) is contiguous
        ]
        if mine:
            row = min(mine, key=lambda row: row.value)
            least = row.value * (1 + 1e-9)
            name, value = reference.ours(("annealing",), PUBLIC, row, SECONDS, least)
            assert value <= least, (row, name, value)


# Of the published program with correct ids; see the notes of the reference values.
PIPEDREAM = {
    "layer-bert24_inference": 17.78990625,
    "layer-gnmt_inference": 33.031146484375,
    "operator-bert_l-3_inference": 37.45572978205479,
    "layer-bert24_training": 41.7458125,
    "operator-bert_l-3_training": 122.98719710771456,
}


@pytest.mark.parametrize("name", PIPEDREAM)
def test_published_pipedream_values_are_reproduced(name):
    instance = reference.instance(PUBLIC / "throughput" / f"{name}.json", True)
    answer = catalogue.load("pipedream").run(instance, Context())
    verdict = check(instance, answer)
    assert verdict.valid
    # The last one is a single device, whose nodes may be added up in another order.
    assert verdict.objective * 1e3 == pytest.approx(PIPEDREAM[name], rel=1e-6)
    assert throughput.is_contiguous(instance, answer.device)


def test_the_published_pipedream_value_that_is_known_to_three_digits():
    instance = reference.instance(PUBLIC / "throughput" / "layer-gnmt_training.json", True)
    answer = catalogue.load("pipedream").run(instance, Context())
    assert f"{check(instance, answer).objective * 1e3:.3f}" == "107.350"
