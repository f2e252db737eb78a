"""The study of size: its instances, and what it makes of its runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench import size_study, study
from problems.catalogue import Library
from tests.bench.synthetic import record


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_study, "theoretical", lambda each: SimpleNamespace(value=1.0))
        return size_study.cases(Library(), [12, 24], [1])


def _found(made, proof=1.9):
    runs = []
    for digest, (_, label) in made.items():
        exact = size_study.KINDS[label["kind"]][2]
        small = label["nodes"] == 12
        runs += [
            record(digest=digest, entry=exact, objective=2.0, claimed_bound=2.0 if small else None,
                   trace=[(0.5, 3.0), (1.0, 2.0)]),
            record(digest=digest, entry="splitting", objective=4.0),
            record(digest=digest, entry="portfolio", check="ok" if small else "none",
                   objective=2.0 if small else None, claimed_bound=None if small else proof),
        ]  # fmt: skip
    return size_study.rows(
        study.outcomes(runs, {digest: label for digest, (_, label) in made.items()})
    )


def test_sizes_and_kinds(made):
    labels = [(label["kind"], label["nodes"]) for _, label in made.values()]
    assert labels == [(kind, n) for n in (12, 24) for kind in size_study.KINDS]
    assert [each.rules.contiguous for each, _ in made.values() if each.problem != "latency"] == [
        False, True, False, True,
    ]  # fmt: skip


def test_gaps_are_to_the_best_bound_that_any_run_proved(made):
    found = _found(made)
    small, large = (found[found["nodes"] == n].iloc[:3] for n in (12, 24))
    assert small["gap"].tolist() == pytest.approx([0.0, 0.5, 0.0], abs=1e-5)
    assert small["proved"].tolist() == [True, False, False]
    assert large["gap"].tolist()[:2] == pytest.approx([0.05, 0.525], abs=1e-5)
    assert large["way"].tolist() == ["exact", "splitting", "portfolio"]
    with pytest.raises(ValueError, match="a bound above an answer"):
        _found(made, proof=2.5)


def test_the_page_says_what_the_rows_say(made, tmp_path):
    page = size_study.markdown(_found(made), 5)
    assert "* latency: the exact entry proves all graphs up to 12 nodes; at 24 nodes" in page
    assert "exact 5.00 %, splitting 52.50 %, portfolio has no answer." in page
    assert "| contiguous | 12 | exact | 1 | 1 | 1 | 0.00 % | 1 s | 0.5 s |" in page
    size_study.draw(_found(made), tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
