"""The study of servers: its instances, and what it makes of its runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench import servers_study, study
from problems.catalogue import Library
from tests.bench.synthetic import record


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(servers_study, "theoretical", lambda each: SimpleNamespace(value=1.0))
        patch.setattr(servers_study, "best_single", lambda each: None)
        return servers_study.cases(Library(), ["llama2-70b"], [1, 2, 4], ["throughput"])


def _found(made):
    runs = [
        record(digest=digest, entry=entry, check="none" if z is None else "ok", objective=z)
        for digest, values in zip(made, [(None, None), (8.0, 6.0), (2.0, 3.0)], strict=True)
        for entry, z in zip(("splitting", "portfolio"), values, strict=True)
    ]
    labels = {digest: label for digest, (_, label) in made.items()}
    return servers_study.rows(study.outcomes(runs, labels))


def test_servers_are_added_and_the_model_does_not_fit_on_one(made):
    labels = [label for _, label in made.values()]
    assert [(label["servers"], label["devices"]) for label in labels] == [(1, 4), (2, 8), (4, 16)]
    assert labels[0]["memory"] < 1 < labels[2]["memory"]
    assert all(each.rules.contiguous for each, _ in made.values())


def test_gains_are_over_the_fewest_servers_with_an_answer(made):
    found = _found(made)
    assert found["over"].isna().tolist() == [True, True, False, False, False, False]
    assert found["over"].tolist()[2:] == [0.75, 1.0, 3.0, 2.0]
    assert found["gap"].tolist()[4] == 0.5


def test_the_page_says_what_the_rows_say(made, tmp_path):
    found = _found(made)
    page = servers_study.markdown(found, 10)
    assert "(80 layers), throughput: answers from 2 server(s) on; 4 are 3.00 times as" in page
    assert "50.00 % from the bound; no single device holds it." in page
    servers_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
    nothing = found.assign(objective=float("nan"))
    assert "no answer was found" in servers_study.markdown(nothing, 10)
