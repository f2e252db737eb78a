"""The study of repair: its figures add up, and its page says what they say."""

import numpy as np
import pytest

from bench import repair_study
from bench.repair_study import most, network, rows
from solvers.repair.valid import is_valid


@pytest.fixture(scope="module")
def found():
    return rows([12, 20], limit=5.0, each=0.02, candidates=50, chips=4)


def test_every_size_has_every_figure(found):
    ours = found[found["by"].str.startswith("repair")]
    assert len(ours) == 2 * 2 * 2 * 2
    free = ours[ours["memory"] == "free"]  # where it is tight, such small ones may have none
    assert (free["found"] == free["count"]).all()
    assert (ours["tight"] <= ours["search"]).all()
    theirs = found[found["by"].str.startswith("CP-SAT")]
    assert len(theirs) == 2 * 2 * 2
    assert (theirs["found"] == 1).all(), "tiny models are solved"
    assert (found["median_s"] > 0).all()


def test_the_page_has_the_figures(found, tmp_path, monkeypatch):
    page = repair_study.markdown(found, 5.0, 4)
    random = found[found["by"] == "random candidate"]
    assert f"{random['found'].sum()} of 200 candidates" in page
    assert page.count("| repair SAMPLE |") == 8
    monkeypatch.setattr(repair_study, "rows", lambda limit: found)
    assert repair_study.main(["--save", "--output", str(tmp_path), "--time", "5s"]) == 0
    assert (tmp_path / "repair.md").read_text() == repair_study.markdown(found, 5.0)
    assert len((tmp_path / "repair.csv").read_text().splitlines()) == len(found) + 1


def test_the_upper_limit_is_the_one_of_the_binomial_distribution():
    assert most(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert most(7, 7) == 1.0
    assert 0.1 < most(10, 100) < 0.2


def test_networks_have_one_source():
    problem = network(300, 1.3)
    assert (np.diff(problem.pred_ptr)[1:] > 0).all()
    assert problem.limited
    assert is_valid(network(300, None), np.zeros(300, np.int64))
