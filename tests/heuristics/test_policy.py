"""The entry `policy`: variants, checkpoints, limits; without its packages it is refused."""

import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.shared.best import objective
from problems.catalogue import Library
from problems.checker import check
from solvers.method import Context
from tests.heuristics.rl.tiny import tiny

ENTRY = catalogue.load("policy")
needs = pytest.mark.skipif(
    any(find_spec(each) is None for each in ENTRY.needs),
    reason=f"policy needs {', '.join(ENTRY.needs)}, of the extra rl",
)
VARIANTS = ("zero-shot", "fine-tuned", "scratch")
INSTANCES = [
    tiny(3, n=30, devices=5, density=0.1),
    tiny(4, n=20, tight=1.4),
    tiny(5, problem="throughput", n=25, unsupported=0.2),
    tiny(6, problem="throughput", n=25, rules={"contiguous": True}),
]


def run(instance, seed=0, **options):
    reports, claims = [], []
    context = Context(
        seed=seed, on_answer=reports.append, on_claim=lambda *claim: claims.append(claim)
    )
    return ENTRY.run(instance, context, **{"samples": 64} | options), reports, claims


@needs
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("at", range(len(INSTANCES)))
def test_valid_repeatable_and_no_worse_than_greedy(variant, at):
    instance = INSTANCES[at]
    greedy = objective(instance, catalogue.load("greedy").run(instance, Context()))
    answer, reports, claims = run(instance, variant=variant)
    values = [check(instance, each).objective for each in [*reports, answer]]
    assert None not in values
    assert values == sorted(values, reverse=True)
    assert values[-1] <= greedy * (1 + 1e-12)
    again, *_ = run(instance, variant=variant)
    assert np.array_equal(answer.device, again.device)
    claim, value, note = claims[-1]
    assert (claim, value) == ("feasible", pytest.approx(values[-1]))
    assert "64 proposals, network on c" in note


@needs
def test_it_finds_more_than_greedy():
    instance = Library().load("swin-tiny:operator/mcm-8-36m/chips")
    greedy = objective(instance, catalogue.load("greedy").run(instance, Context()))
    answer, *_ = run(instance, variant="scratch", samples=1_000)
    assert check(instance, answer).valid
    assert objective(instance, answer) < 0.99 * greedy


@needs
def test_learning_changes_the_course():
    instance = INSTANCES[0]
    found = [run(instance, variant=each, samples=300)[1] for each in VARIANTS]
    courses = {tuple(objective(instance, each) for each in reports) for reports in found}
    assert len(courses) >= 2


@needs
def test_the_clock_is_kept_and_used():
    instance = INSTANCES[0]
    run(instance)
    begin = time.monotonic()
    ENTRY.run(instance, Context(deadline=begin + 0.5))
    assert 0.3 < time.monotonic() - begin < 2.5


@needs
def test_a_met_bound_ends_it():
    instance = INSTANCES[0]
    answer, *_ = run(instance)
    value = objective(instance, answer)
    begin = time.monotonic()
    context = Context(start=answer, bound=value, deadline=begin + 30)
    assert objective(instance, ENTRY.run(instance, context)) == value
    assert time.monotonic() - begin < 10


@needs
def test_threads_of_torch_are_as_before():
    import torch

    before = torch.get_num_threads()
    run(INSTANCES[0])
    assert torch.get_num_threads() == before


@needs
def test_a_checkpoint_that_cannot_be_used_is_refused(tmp_path):
    missing = tmp_path / "missing.safetensors"
    reported = []
    with pytest.raises(ValueError, match="there is no such file"):
        ENTRY.run(INSTANCES[0], Context(on_answer=reported.append), checkpoint=str(missing))
    assert reported == []
    run(INSTANCES[0], checkpoint=str(missing), variant="scratch", samples=1)  # reads none


def test_without_its_packages_it_is_listed_and_imports_nothing():
    code = (
        "import sys; from heuristics import catalogue; entry = catalogue.load('policy');"
        " print(entry.needs, 'torch' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.strip() == "('torch', 'safetensors') False"


@needs
@pytest.mark.parametrize("problem", ["throughput", "chips"])
def test_a_graph_of_one_unit_is_tried_everywhere_and_done(problem):
    instance = tiny(7, problem=problem, n=1, devices=3)
    answer, reports, _ = run(instance, samples=0)
    assert check(instance, answer).valid
    assert objective(instance, answer) == min(
        objective(instance, type(answer)(np.full(1, k))) for k in range(3)
    )
    assert len(reports) <= 3
