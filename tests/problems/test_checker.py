import ast
import itertools
from pathlib import Path

import numpy as np
import pytest

from problems import checker, latency, throughput
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.tiny import instance

COMBINATIONS = [
    *(
        ("throughput", topology, {"contiguous": c, "overlap": o, "split_phases": s, "memory": m})
        for topology, c, o, s, m in itertools.product(
            ("staged", "direct"),
            (False, True),
            ("none", "half", "full"),
            (False, True),
            ("total", "weights", "ignored"),
        )
    ),
    *(
        ("latency", topology, {"memory": memory, "colocate_tied": tied})
        for topology, memory, tied in itertools.product(
            ("staged", "direct"), ("total", "weights", "ignored"), (False, True)
        )
    ),
]


def test_shares_no_code_with_the_evaluators():
    imported: set[str | None] = set()
    for file in Path(checker.__path__[0]).glob("*.py"):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                imported |= {f"{node.module}.{each.name}" for each in node.names}
            elif isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
    ours = {".".join(name.split(".")[:2]) for name in imported if name and name[:8] == "problems"}
    known = {"problems.answer", "problems.instance", "problems.rules", "problems.checker"}
    assert ours == known


def random_answers(case, rng):
    """Mappings by group and by node, with and without orders, many of them invalid."""
    for draw in range(12):
        device = rng.integers(0, case.K, int(case.group.max()) + 1)[case.group]
        if draw % 4 == 3:
            device = rng.integers(0, case.K, case.n)
        if case.problem == "throughput" or draw % 3 == 0:
            yield Answer.of(device)
            continue
        sequence = np.arange(case.n) if draw % 3 == 1 else rng.permutation(case.n)
        yield latency.answer_of(case, device, sequence)


@pytest.mark.parametrize("pack", range(8))
def test_agrees_with_the_evaluators(pack):
    valid = invalid = 0
    for seed, (problem, topology, rules) in enumerate(COMBINATIONS):
        if seed % 8 != pack:
            continue
        case = from_bundle(
            random_bundle(
                seed, n=4 + seed % 5, devices=2 + seed % 3, problem=problem, topology=topology,
                rules=rules, hosts=seed % 3, tight=(None, 1.5)[seed % 2], like=seed % 5 == 0,
                uneven=seed % 2 == 1,
                groups=seed % 3, tied=seed % 4, training=seed % 3 > 0,
                unsupported=0.1 * (seed % 2), ties=seed % 7 == 0,
                unlimited=problem == "latency" and seed % 4 == 0, density=0.1 + 0.15 * (seed % 4),
            )
        )  # fmt: skip
        for answer in random_answers(case, np.random.default_rng(seed)):
            verdict = check(case, answer)
            if problem == "throughput":
                fine = throughput.is_valid(case, answer.device)
                value = throughput.period(case, answer.device)
            else:
                fine = latency.is_valid(case, answer)
                value = latency.makespan(case, answer) if fine else np.inf
            assert verdict.valid == fine, (case.id, verdict)
            assert (verdict.objective is not None) == fine
            valid, invalid = valid + fine, invalid + (not fine)
            if fine:
                assert verdict.objective == pytest.approx(value, rel=1e-12)
    assert valid >= 20
    assert invalid >= 10


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (Answer(np.array([0, 1, 0])), "shape"),
        (Answer(np.zeros((2, 1), np.int64)), "shape"),
        (Answer(np.array(0)), "shape"),
        (Answer(np.array([0.0, 1.0])), "shape"),
        (Answer(np.array([np.nan, 1.0])), "shape"),
        (Answer(np.array([True, False])), "shape"),
        (Answer(np.array([0, 2**70], object)), "shape"),
        (Answer(np.array(["0", "1"])), "shape"),
        (Answer.of([0, 2]), "device"),
        (Answer.of([-1, 0]), "device"),
        (Answer.of([0, 2**62]), "device"),
        (Answer.of([0, 1], [[0], [1]]), "shape"),
        (Answer.of([0, 1], None, [0.0, 1.0]), "shape"),
    ],
)
def test_garbage_is_named(answer, rule):
    case = instance([[1, 2], [3, 4]], [(0, 1)], problem="throughput")
    verdict = check(case, answer)
    assert verdict.objective is None
    assert [name for name, _ in verdict.violations] == [rule]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (Answer.of([0, 1], [[0], [1], []]), "shape"),
        (Answer.of([0, 1], [[0]]), "shape"),
        (Answer.of([0, 1], [[0], [1]], [0.0]), "shape"),
        (Answer.of([0, 1], [[0], [1]], [0.0, np.nan]), "start"),
        (Answer.of([0, 1], [[0], [1]], [0.0, np.inf]), "start"),
        (Answer.of([0, 1], [[0], [2**40]]), "order"),
        (Answer.of([0, 1], [[0], [-1]]), "order"),
        (Answer.of([0, 1], [[0, 1], []]), "order"),
        (Answer.of([0, 0], [[1, 0], []]), "order"),
        (Answer(np.array([0, 1]), (np.array([0.5]), np.array([1]))), "shape"),
        (Answer(np.array([0, 1]), (np.array([np.nan]), np.array([1]))), "shape"),
        (Answer(np.array([0, 1]), (np.array([[0]]), np.array([1]))), "shape"),
        (Answer(np.array([0, 1]), None, np.array(["x", "y"])), "shape"),
        (Answer(np.array([0, 1]), ([0], [1])), "shape"),
        (Answer([0, 1]), "shape"),
        (Answer("01"), "shape"),
        (Answer([0, [1]]), "shape"),
        (Answer(None), "shape"),
    ],
)
def test_garbage_of_latency_is_named(answer, rule):
    case = instance([[1, 2], [3, 4]], [(0, 1)])
    verdict = check(case, answer)
    assert verdict.objective is None
    assert rule in [name for name, _ in verdict.violations]


def test_violations_name_the_culprits():
    case = instance(
        [[1, None], [3, 4], [1, 1]],
        payload=[5, 6, 7],
        memory=[20, 10],
        colocate={1: "g", 2: "g"},
    )
    found = dict(check(case, Answer.of([1, 1, 0])).violations)
    assert set(found) == {"support", "colocate", "memory"}
    assert "'a'" in found["support"]
    assert "'d1'" in found["support"]
    assert "'b' and 'c'" in found["colocate"]
    assert found["memory"] == "device 'd1' holds 11 of 10 bytes"


def test_contiguity_names_the_devices():
    case = instance(
        [[1, 1]] * 3, [(0, 1), (1, 2)], problem="throughput", rules={"contiguous": True}
    )
    ((rule, what),) = check(case, Answer.of([0, 1, 0])).violations
    assert rule == "contiguous"
    assert "'d0', 'd1'" in what
    assert check(case, Answer.of([0, 0, 1])).valid


def claim(*start, device=(0, 0, 1), order=((0, 1), (2,))):
    """a -> c; a and b on d0 one after the other, c on d1 after a delay of 3."""
    case = instance([[1, 1], [2, 2], [4, 4]], [(0, 2)], payload=[1, 0, 0], delay=[0, 1])
    return check(case, Answer.of(device, order, start))


def test_claimed_starts_are_checked_and_never_believed():
    assert claim(0, 1, 4).objective == 8
    assert claim(0, 1, 6).objective == 8  # later than needed is allowed; the orders decide
    assert claim(0, 1 - 1e-12, 4 - 1e-12).objective == 8  # rounding gains nothing
    for start, why in (
        ((-0.1, 1, 4), "time begins at 0"),
        ((0, 1, 3.9), "data of node 0 arrive"),
        ((0, 0.9, 4), "device 0 runs node 0 until then"),
    ):
        verdict = claim(*start)
        assert verdict.objective is None
        assert verdict.violations[0][0] == "start"
        assert why in verdict.violations[0][1]


def test_one_late_claim_does_not_loosen_the_others():
    verdict = claim(0, 0, 1e12)  # the second node of device 0 before the first has ended
    assert verdict.violations[0][0] == "start"
