"""Mixtures: the meaning by hand, the evaluator against the checker, what rules and files say."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import frames, judge
from problems import answer as answers
from problems import mixture, throughput
from problems.answer import Answer
from problems.checker import check
from problems.files import FileError
from problems.generate.samples import sample
from problems.rules import ThroughputRules, parse
from tests import tiny

MIXTURE = {"replicate": "mixture"}


def _instance(seed: int):
    """A random instance of the rule, or None."""
    rules = {**MIXTURE, "split_phases": False}
    return sample(seed, problem="throughput", rules=rules)


def test_whole_copies_add_up_their_speeds():
    instance = tiny.instance([[2.0, 3.0]], problem="throughput", rules=MIXTURE)
    alone = check(instance, Answer.of([0])).objective
    both = check(instance, Answer.of([0], others=[[1]], rates=[1 / 2, 1 / 3])).objective
    assert alone == 2.0
    assert math.isclose(both, 1 / (1 / 2 + 1 / 3), rel_tol=1e-12)
    late = check(instance, Answer.of([0], others=[[1]], rates=[1 / 4, 1 / 6])).objective
    assert math.isclose(late, 2 * both, rel_tol=1e-12)  # rates are taken as they are


def test_nobody_gains_by_using_a_device_for_more_than_all_of_the_time():
    instance = tiny.instance([[2.0, 3.0]], problem="throughput", rules=MIXTURE)
    assert check(instance, Answer.of([0], rates=[0.51])).violations[0][0] == "rates"
    a_hair = Answer.of([0], rates=[0.5 * (1 + 5e-10)])
    assert math.isclose(check(instance, a_hair).objective, 2.0, rel_tol=1e-14)


@pytest.mark.parametrize(
    ("overlap", "expected"),
    # b reads a's 2 bytes: compute 4 and 1, the port of d1 (one more second) 3 when it receives.
    [("none", [[4.0, 4.0]]), ("half", [[4.0, 1.0], [0.0, 3.0]]),
     ("full", [[4.0, 1.0], [0.0, 3.0], [0.0, 0.0]])],
)  # fmt: skip
def test_engines_are_used_each_on_its_own(overlap, expected):
    instance = tiny.instance(
        [[4.0, 9.0], [9.0, 1.0]], [(0, 1)], problem="throughput", payload=[2, 0], hosts=[0],
        delay=[0.0, 1.0], rules=MIXTURE | {"overlap": overlap},
    )  # fmt: skip
    assert mixture.engine_loads(instance, np.array([0, 1])).tolist() == expected


def test_a_device_holds_what_any_mapping_in_use_puts_there():
    instance = tiny.instance(
        [[1.0, 1.0], [1.0, 1.0]], problem="throughput", memory=[8, 8],
        weights=[{"p": 5}, {"q": 5}], rules=MIXTURE,
    )  # fmt: skip
    assert check(instance, Answer.of([0, 1])).valid
    both = Answer.of([0, 1], others=[[1, 0]], rates=[0.5, 0.5])
    assert check(instance, both).violations[0][0] == "memory"
    assert not mixture.is_valid(instance, both)
    unused = Answer.of([0, 1], others=[[1, 0]], rates=[1.0, 0.0])
    assert check(instance, unused).objective == 1.0
    assert mixture.is_valid(instance, unused)


def test_a_shared_weight_is_held_once_for_all_mappings():
    instance = tiny.instance(
        [[1.0, 1.0], [1.0, 1.0]], problem="throughput", memory=[8, 8],
        weights=[{"tied": 5}, {"tied": 5}], rules=MIXTURE,
    )  # fmt: skip
    both = Answer.of([0, 1], others=[[1, 0]], rates=[0.5, 0.5])
    assert check(instance, both).objective == 1.0
    assert mixture.is_valid(instance, both)


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (Answer.of([0, 0], others=[[1, 1]]), "rates"),
        (Answer.of([0, 0], others=[[1, 1]], rates=[1.0]), "shape"),
        (Answer.of([0, 0], others=[[1]], rates=[1.0, 1.0]), "shape"),
        (Answer.of([0, 0], others=[[1, 7]], rates=[1.0, 1.0]), "device"),
        (Answer.of([0, 0], rates=[-1.0]), "rates"),
        (Answer.of([0, 0], rates=[math.nan]), "rates"),
        (Answer.of([0, 0], rates=[0.0]), "rates"),
        (Answer.of([0, 0], rates=[5e-324]), "rates"),
        (Answer.of([0, 0], others=[[1, 1]], rates=[1e308, 1e308]), "rates"),
        (Answer.of([0, 0], others=[[0, 1]], rates=[0.1, 0.0]), "contiguous"),
        (Answer.of([0, 0], slot=[0, 0]), "shape"),
    ],
)
def test_what_is_no_mixture_is_refused(answer, rule):
    instance = tiny.instance(
        [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [(0, 1), (1, 2)], problem="throughput",
        rules=MIXTURE | {"contiguous": True},
    )  # fmt: skip
    wide = replace(
        answer, device=np.append(answer.device, 0),
        others=None if answer.others is None else
        tuple(np.append(each, 0) if len(each) == 2 else each for each in answer.others),
    )  # fmt: skip
    verdict = check(instance, wide)
    assert [each for each, _ in verdict.violations] == [rule]
    assert judge.objective(instance, wide) is None


def test_only_the_rule_allows_mixtures():
    instance = tiny.instance([[2.0, 3.0]], problem="throughput")
    answer = Answer.of([0], others=[[1]], rates=[0.5, 0.3])
    assert check(instance, answer).violations[0][0] == "shape"
    assert not mixture.is_valid(instance, answer)
    assert judge.objective(instance, answer) is None


def test_the_rule_has_a_name_and_its_limits():
    assert parse("throughput", MIXTURE) == ThroughputRules(replicate="mixture")
    with pytest.raises(FileError, match=r"one of none, mixture.*at `\$\.instance\.rules\.repl"):
        parse("throughput", {"replicate": "copies"})
    with pytest.raises(FileError, match=r"no meaning with `split_phases`"):
        parse("throughput", MIXTURE | {"split_phases": True})
    for problem in ("latency", "calls", "chips"):
        with pytest.raises(FileError, match="replicate"):
            parse(problem, MIXTURE)
    bundle = tiny.bundle([[1.0]], problem="throughput", rules=MIXTURE)
    assert bundle.instance.id == "tiny:operator/tiny/throughput[replicate=mixture]"


def test_the_rule_changes_the_digest_and_its_absence_does_not():
    plain = tiny.instance([[2.0, 3.0]], problem="throughput")
    none = tiny.instance([[2.0, 3.0]], problem="throughput", rules={"replicate": "none"})
    mixed = tiny.instance([[2.0, 3.0]], problem="throughput", rules=MIXTURE)
    assert plain.digest == none.digest != mixed.digest


@given(st.integers(0, 10**6), st.integers(1, 5), st.data())
@settings(max_examples=150, deadline=None)
def test_the_evaluator_agrees_with_the_checker(seed, count, data):
    instance = _instance(seed)
    if instance is None:
        return
    group = instance.group
    size = int(group.max()) + 1
    places = st.lists(st.integers(0, instance.K - 1), min_size=size, max_size=size)
    devices = [np.array(data.draw(places))[group] for _ in range(count)]
    shares = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=count,
                                         max_size=count)))  # fmt: skip
    if not shares.any():
        shares[0] = 1.0
    if not all(np.isfinite(instance.time[np.arange(instance.n), each]).all() for each in devices):
        return
    # Made as fast as can be, and with all of its mappings, also those without a share.
    scaled = mixture.answer_of(instance, devices, shares)
    slower = Answer.of(devices[0], others=devices[1:], rates=1e-3 * shares)
    for answer in (scaled, slower, Answer(devices[0])):
        verdict = check(instance, answer)
        assert mixture.is_valid(instance, answer) == verdict.valid
        if verdict.valid:
            assert math.isclose(
                mixture.period(instance, answer), verdict.objective, rel_tol=1e-12, abs_tol=1e-15
            )
            assert judge.objective(instance, answer) == mixture.period(instance, answer)


def test_one_mapping_is_what_it_is_without_the_rule():
    for seed in range(40):
        instance = _instance(seed)
        if instance is None:
            continue
        rules = msgspec.structs.replace(instance.rules, replicate="none")
        plain = replace(instance, rules=rules)
        device = np.zeros(instance.n, np.int64)
        assert mixture.period(instance, Answer(device)) == throughput.period(plain, device)
        assert check(instance, Answer(device)) == check(plain, Answer(device))


def test_files_and_frames_carry_mixtures():
    answer = Answer.of([0, 1], others=[[1, 1], [300, -1]], rates=[0.5, 0.25, 0.0])
    file = answers.to_file(answer, "d" * 64)
    back = answers.from_file(msgspec.json.decode(msgspec.json.encode(file), type=type(file)))
    sent = frames.decode_answer(frames.encode_answer(answer, 1 << 16))
    for each in (back, sent):
        assert each.device.tolist() == [0, 1]
        assert [other.tolist() for other in each.others] == [[1, 1], [300, -1]]
        assert each.rates.tolist() == [0.5, 0.25, 0.0]
    plain = answers.to_file(Answer.of([0, 1]), "d" * 64)
    assert set(msgspec.to_builtins(plain)) == {"format", "instance", "device"}
    with pytest.raises(ValueError, match="no known width"):
        frames.decode_answer(frames.AnswerFrame(b"\0" * 8, others=[b"\x05abc"]))
