"""The study of noise: what is drawn, and what it says of objectives and ranks."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bench import robustness_study
from problems.answer import Answer
from problems.catalogue import Library
from problems.single import best_single
from tests.bench.synthetic import record

LIBRARY = Library()
BY_ID = {entry.id: entry for entry in LIBRARY.entries()}
MEASURED = BY_ID["dlrm:operator/duo-shm/throughput"]


@pytest.fixture(scope="module")
def instance():
    return LIBRARY.load(MEASURED.id)


def test_the_medians_are_the_profile(instance):
    times = robustness_study.spread(LIBRARY, MEASURED)
    assert np.allclose((times.counts @ times.quantiles[1])[:, times.file], instance.time)
    modelled = next(each for each in BY_ID.values() if each.platform == "chain-4")
    assert robustness_study.spread(LIBRARY, modelled) is None


def test_draws_stay_within_the_spread_and_meet_the_median():
    times = robustness_study.spread(LIBRARY, MEASURED)
    rng = np.random.default_rng(1)
    every = np.array([times.draw(rng) for _ in range(400)])
    least, median, most = ((times.counts @ each)[:, times.file] for each in times.quantiles)
    assert (every >= least - 1e-15).all()
    assert (every <= most + 1e-15).all()
    alone = np.asarray(times.counts.sum(axis=1)).ravel() == 1
    below = (every[:, alone] <= median[alone] * (1 + 1e-12)).mean()
    assert 0.48 < below < 0.55  # what takes no time or does not vary meets it, too


def test_objectives_of_the_profile_come_first(instance):
    times = robustness_study.spread(LIBRARY, MEASURED)
    answer, value = best_single(instance)
    found = robustness_study.drawn(instance, {"single": answer, "again": answer}, times, 2)
    assert found.shape == (3, 2)
    assert found[0].tolist() == [value, value]
    assert (found[:, 0] == found[:, 1]).all()
    assert len(set(found[:, 0])) == 3


def test_what_a_table_of_draws_says():
    same = robustness_study.standing(np.array([[1.0, 2, 3], [2.0, 4, 6], [1.5, 3, 4.5]]))
    assert (same["tau"], same["holds"], same["regret"]) == (1.0, 1.0, 0.0)
    assert same["shift"] == pytest.approx(0.75)
    turned = robustness_study.standing(np.array([[1.0, 2, 3], [3.0, 2, 1]]))
    assert (turned["tau"], turned["holds"]) == (-1.0, 0.0)
    assert turned["regret"] == pytest.approx(2.0)
    ties = robustness_study.standing(np.array([[1.0, 1, 1 + 1e-13], [1.0, 2, 3]]))
    assert math.isnan(ties["tau"])
    assert ties["holds"] == 1.0


def test_three_methods_of_one_seed_are_needed():
    def source(*entries, **changes):
        records = [record(digest=MEASURED.digest, entry=each, **changes) for each in entries]
        file = SimpleNamespace(device=[0], order=None, slot=None)
        return SimpleNamespace(records=records, store=SimpleNamespace(get_answer=lambda _: file))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robustness_study, "from_file", lambda file: Answer(np.zeros(1, int)))
        known = {MEASURED.digest: MEASURED}
        two = [source("a", "b"), source("c", seed=1), source("d", check="none")]
        assert robustness_study.answers_of(two, known) == {}
        found = robustness_study.answers_of([*two, source("b", "e")], known)
        assert list(found[MEASURED.digest]) == ["a", "b", "e"]
        assert robustness_study.answers_of([*two, source("b", "e")], {}) == {}


def test_the_page_says_what_the_rows_say(tmp_path):
    label = {"problem": "latency", "instance": "x", "methods": 3}
    line = robustness_study.standing(np.array([[1.0, 2, 3], [2.0, 4, 6]]))
    found = pd.DataFrame([label | line, label | line | {"tau": 0.5, "holds": 0.5}])
    page = robustness_study.markdown(found, 1)
    assert "latency, 2 instances: objectives are 100.00 % above" in page
    assert "tau is 0.75, and the best method under the profile stays the best in 75 %" in page
    robustness_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
