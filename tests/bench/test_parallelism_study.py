"""The study of model and data parallelism: its instances, and what it makes of its runs."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from bench import parallelism_study, study
from problems.catalogue import Library
from tests.bench.synthetic import record


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallelism_study, "theoretical", lambda each: SimpleNamespace(value=1e-9))
        return parallelism_study.cases(Library(), ["alexnet"], ["quad-eth1g"])


def _records(made, latency, model, copies, mixture):
    (a, b, c), entries = made, parallelism_study.ENTRIES
    return [
        record(digest=a, entry=entries["model"], objective=latency),
        record(digest=b, entry=entries["model"], objective=model),
        record(digest=c, entry=entries["copies"], check="ok" if copies else "none",
               objective=copies),
        record(digest=c, entry=entries["mixture"], objective=mixture, claimed_bound=0.25),
    ]  # fmt: skip


def _rows(made, *values):
    labels = {digest: label | {"single": 1.0, "bound": 0.2} for digest, (_, label) in made.items()}
    return parallelism_study.rows(study.outcomes(_records(made, *values), labels))


def test_one_instance_a_way(made):
    kinds = [(label["problem"], label["kind"]) for _, label in made.values()]
    assert kinds == [("latency", "model"), ("throughput", "model"), ("throughput", "mixed")]
    single = [label["single"] for _, label in made.values()]
    assert single[1] == single[2]  # whatever the answer may be, the devices are the same
    assert [each.rules.replicate for each, _ in list(made.values())[1:]] == ["none", "mixture"]


def test_gains_are_over_the_best_single_device(made):
    (row,) = _rows(made, 0.8, 0.5, 0.4, 0.25).to_dict("records")
    assert (row["latency"], row["latency most"]) == (1.25, 5.0)
    assert (row["model"], row["copies"], row["both"], row["both most"]) == (2.0, 2.5, 4.0, 4.0)


def test_one_mapping_and_copies_are_mixtures_and_may_be_missing(made):
    (row,) = _rows(made, 0.8, 0.5, None, 1.0).to_dict("records")
    assert pd.isna(row["copies"])
    assert row["both"] == 2.0


def test_the_page_says_what_the_rows_say(made, tmp_path):
    found = _rows(made, 0.8, 0.5, 0.4, 0.25)
    page = parallelism_study.markdown(found, 10)
    assert "mixtures of mappings 4.00 times (4.00 at most), which is 60.0 % over" in page
    assert "1 of 1 mixtures are proved" in page
    assert "| alexnet | quad-eth1g | 32 | 4 | 1.250 | 5.000 | 2.000 | 2.500 | 4.000 |" in page
    parallelism_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
