"""What every heuristic promises, on tiny instances of every kind.

The checks of `bench.conformance` are not used here, although they make the same promises: they read
records of runs in processes of their own, about a second each, and what is below runs thousands in
this process, holds them against brute force, and looks at every reported answer. Nor may a test of
heuristics need the harness: imports run the other way.
"""

import math
import os
import subprocess
import sys
import time
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.shared.best import objective
from problems import files
from problems.answer import Answer, to_file
from problems.checker import check
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import KINDS, of_every_kind, sample, samples

# Tiny instances of each kind of samples.KINDS; calls are the slowest to solve by brute force.
COUNT = 50
# As many moves as a test can afford.
FEW = {
    "annealing": {"rounds": 2},
    "splitting": {"effort": 0.3},
    "kahip": {"tries": 8},
    "local-search": {"restarts": 4},
    "lns": {"start": "single", "rounds": 3},
    "max-load": {"by": "dpl"},
    "metis": {"tries": 8},
    "multilevel": {"coarsest": 2, "rounds": 2},
    "policy": {"samples": 64},
    "portfolio": {"parts": "exact"},
    "random": {"restarts": 30},
    "scotch": {"tries": 8},
    "slicegraph": {"population": 8, "generations": 2},
}
# Those that are slow on each take every so many of the instances: every kind, fewer of a kind.
STRIDES = {
    "kahip": 2, "lns": 5, "metis": 2, "multilevel": 5, "policy": 5, "portfolio": 5, "random": 2,
    "scotch": 2, "splitting": 5,
}  # fmt: skip
# Share of the tiny instances of each kind on which an entry finds the optimum at least; 0.65 unless
# stated.
LEAST = {
    "annealing": 0.92,
    "expert": 0.6,
    "greedy": 0.7,
    "kahip": 0.75,
    "lns": 0.92,
    "local-search": 0.9,
    "max-load": 0.85,
    "metis": 0.75,
    "pipedream": 0.9,
    "portfolio": 0.98,
    "random": 0.9,
    "scotch": 0.75,
    "single": 0.6,
    "slicegraph": 0.95,
    "splitting": 0.95,
}


def _named():
    """Every entry of the catalogue; those that lack a package say which."""
    for name in catalogue.names():
        missing = [each for each in catalogue.load(name).needs if find_spec(each) is None]
        reason = f"{name} needs {', '.join(missing)}"
        yield pytest.param(name, marks=pytest.mark.skipif(bool(missing), reason=reason))


NAMES = tuple(_named())


def run(name, instance, seed=0, **options):
    reports = []
    context = Context(seed=seed, on_answer=reports.append)
    answer = catalogue.load(name).run(instance, context, **FEW.get(name, {}) | options)
    return answer, reports


def digest(instance, answer):
    """Everything that an answer says, in short; None for none."""
    if answer is None:
        return None
    return sha256(files.encode(to_file(answer, instance.digest))).hexdigest()[:16]


@pytest.fixture(scope="module")
def solved():
    """Instances with their optimum, an answer that has it, and the value of `single`."""
    result = []
    for instance in of_every_kind(COUNT):
        answer, _ = run("single", instance)
        value = None if answer is None else check(instance, answer).objective
        result.append((instance, *optimum(instance), value))
    return result


@cache
def large(problem, **rules):
    """An instance of some size, and a small one alike for which the same is compiled."""
    given = {"problem": problem, "rules": rules, "devices": 4, "tight": None}
    return sample(4, n=400, density=0.02, **given), sample(4, **given)


def test_the_sample_has_what_it_should(solved):
    assert sum(best is None for _, best, _, _ in solved) >= 5
    assert sum(i.n == 1 for i, *_ in solved) >= 5
    assert sum(i.K == 1 for i, *_ in solved) >= 5
    assert sum(i.m == 0 for i, *_ in solved) >= 5
    assert sum(bool(i.host.all()) for i, *_ in solved) >= 5
    assert sum(not np.isfinite(i.time).all() for i, *_ in solved) >= 5
    no_single = [
        best is not None and not (np.isfinite(i.time).all(axis=0) & (i.memory == math.inf)).any()
        for i, best, *_ in solved
    ]
    assert sum(no_single) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_valid_between_the_optimum_and_single(solved, name):
    entry, reached, feasible = catalogue.load(name), [0] * len(KINDS), [0] * len(KINDS)
    for i in range(0, len(solved), STRIDES.get(name, 1)):
        instance, best, _, single = solved[i]
        if entry.refusal(instance):
            continue
        answer, reports = run(name, instance, seed=1)
        # On tiny instances the search for a first fit is complete.
        assert (answer is None) == (best is None), (instance.id, instance.rules)
        if answer is None:
            continue
        values = []
        for each in [*reports, answer]:
            verdict = check(instance, each)
            assert verdict.valid, (instance.id, instance.rules, verdict)
            assert verdict.objective >= best * (1 - 1e-12)
            values.append(verdict.objective)
        assert all(b <= a * (1 + 1e-12) for a, b in pairwise(values))
        assert values[-1] <= single * (1 + 1e-12)
        feasible[i // COUNT] += 1
        reached[i // COUNT] += values[-1] <= best * (1 + 1e-9)
    print(f"{name}: optimal on {reached} of {feasible}, by kind")
    least = [LEAST.get(name, 0.65)] * len(KINDS)
    if name == "single":  # what it cannot help: on how many samples of chips one chip is best
        least[KINDS.index({"problem": "chips"})] = 0.55
    assert all(r >= x * f for r, f, x in zip(reached, feasible, least, strict=True)), (
        reached,
        feasible,
    )


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_answer(name):
    for instance in of_every_kind(1 if name in STRIDES else 3, n=30, density=0.2):
        if catalogue.load(name).refusal(instance):
            continue
        first, second = (run(name, instance, seed=5)[0] for _ in range(2))
        assert digest(instance, first) == digest(instance, second)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def test_time_limit(name, kind):
    instance, tiny = large(kind["problem"], **kind.get("rules", {}))
    entry = catalogue.load(name)
    if entry.refusal(instance):
        return
    run(name, tiny)  # compiled before the clock starts
    begin = time.monotonic()
    answer = entry.run(instance, Context(deadline=begin + 0.1))
    assert answer is not None
    assert check(instance, answer).valid
    # Loose, since other processes share the machine: a method that ignores the clock never ends.
    assert time.monotonic() - begin < 2.0


@pytest.mark.parametrize("name", ["random", "annealing"])
@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_time_is_used(name, problem):
    instance, _ = large(problem)
    begin = time.monotonic()
    catalogue.load(name).run(instance, Context(deadline=begin + 0.3))
    assert time.monotonic() - begin > 0.2


@pytest.mark.parametrize("name", NAMES)
def test_a_start_is_never_lost(solved, name):
    for seed, (instance, best, start, _) in enumerate(solved[::8]):
        if catalogue.load(name).refusal(instance) or start is None:
            continue
        context = Context(seed=seed, start=start)
        answer = catalogue.load(name).run(instance, context, **FEW.get(name, {}))
        assert check(instance, answer).objective <= best * (1 + 1e-12)


def test_stops_when_the_bound_is_met():
    instance = sample(3, problem="throughput", n=6, tight=None)
    best = optimum(instance)
    begin = time.monotonic()
    context = Context(start=best.answer, bound=best.objective, deadline=begin + 30)
    catalogue.load("annealing").run(instance, context)
    assert time.monotonic() - begin < 10


def test_annealing_checks_its_options():
    instance = sample(3, problem="throughput")
    for options in ({"cooling": 1.0}, {"hot": 0.0}, {"hot": 1e-9}):
        with pytest.raises(ValueError, match="annealing"):
            catalogue.load("annealing").run(instance, Context(), **options)


def test_objective_of_a_broken_answer_is_infinite():
    for _, instance in samples(30):
        for k in range(instance.K):
            answer = Answer.of([k] * instance.n)
            verdict = check(instance, answer)
            expected = math.inf if verdict.objective is None else verdict.objective
            assert objective(instance, answer) == pytest.approx(expected, rel=1e-12)


def print_digests():
    """All answers of all entries on a few instances, one line an entry."""
    instances = list(of_every_kind(2, n=20, devices=4, density=0.2))[1:7]
    for each in NAMES:
        (name,) = each.values
        entry = catalogue.load(name)
        if any(find_spec(package) is None for package in entry.needs):
            continue
        some = instances[::2] if name in STRIDES else instances
        able = [instance for instance in some if not entry.refusal(instance)]
        print(name, *(digest(instance, run(name, instance)[0]) for instance in able), flush=True)


# Last in this file: by now everything is compiled and on file.
def test_same_answer_under_three_hash_seeds():
    code = "from tests.heuristics import test_methods; test_methods.print_digests()"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in "012"
    ]
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(said[0].splitlines()) >= 5
    assert said[0] == said[1] == said[2]
