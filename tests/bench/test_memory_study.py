"""The study of memory: its instances, and what it makes of its runs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bench import memory_study, study
from problems.catalogue import Library
from tests.bench.synthetic import record


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_study, "theoretical", lambda each: SimpleNamespace(value=1e-9))
        return memory_study.cases(Library(), ["alexnet"], [4.0, 1.0, 0.99], ["throughput"])


@pytest.fixture(scope="module")
def found(made):
    runs = []
    for digest, values in zip(made, [(2.0, 1.0), (3.0, None), (None, None)], strict=True):
        for entry, z in zip(("greedy", "stages"), values, strict=True):
            check = "none" if z is None else "ok"
            claim = "infeasible" if z is None and entry == "stages" else ""
            runs.append(
                record(digest=digest, entry=entry, check=check, objective=z, claim=claim)
            )  # fmt: skip
    labels = {digest: label for digest, (_, label) in made.items()}
    return memory_study.rows(study.outcomes(runs, labels))


def test_memory_goes_from_ample_to_too_little_in_sum(made):
    sizes = [each.memory / (each.node_bytes.sum() + each.shared_bytes.sum()) for each, _ in
             made.values()]  # fmt: skip
    assert np.allclose(sizes[0], 1.0)  # each holds everything
    assert sizes[1].sum() >= 1.0
    assert sizes[2].sum() < 1.0


def test_costs_are_over_the_best_with_ample_memory(found):
    assert found["cost"].tolist()[:3] == [2.0, 1.0, 3.0]
    assert found["cost"].isna().tolist()[3:] == [True, True, True]
    table = memory_study.summary(found)
    assert table["answered"].tolist() == [1, 1, 1, 0, 0, 0]
    assert table["refuted"].tolist() == [0, 0, 0, 1, 0, 1]


def test_the_page_says_what_the_rows_say(found, tmp_path):
    page = memory_study.markdown(found, 3)
    assert "with 1 times an even share the best answer found costs 3.000 times as much" in page
    assert "found by `greedy` 2 of 2, `stages` 1 of 2" in page
    assert "said so by `greedy` 0 of 1, `stages` 1 of 1" in page
    assert "| throughput | 1 | greedy | 1 | 1 | 0 | 3.000 |" in page
    memory_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
    nothing = found.assign(objective=float("nan"), cost=float("nan"))
    assert "1 times an even share no answer was found." in memory_study.markdown(nothing, 3)
    assert pd.isna(memory_study.summary(nothing)["cost"]).all()
