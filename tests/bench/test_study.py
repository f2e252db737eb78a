"""What studies share: arguments, runs here or on a cluster, pages with rows and a figure."""

from __future__ import annotations

import pandas as pd
import pytest

from bench import api, study
from bench.cluster_slots import ClusterError


def given(*arguments):
    return study.parser("bench.some_study", "Some study.", "3s").parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--time", "0"], "time '0' must be above 0"),
        (["--time", "soon"], "is not like 500ms, 10s, 2m or 1h"),
        (["--jobs", "0"], "0 is not at least 1"),
        (["--store", ""], "'' is not a folder"),
        (["--store", "/dev/null"], "'/dev/null' is not a folder"),
        (["--output", "/dev/null"], "'/dev/null' is not a folder"),
    ],
)
def test_wrong_arguments_are_told_with_what_would_do(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        given(*arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_arguments_reach_the_runs_unless_the_study_has_its_own(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(api, "run", lambda *places, **named: asked.append((places, named)))
    told = given("--jobs", "2", "--cluster", "tcp://here:1", "--store", str(tmp_path))
    study.runs(told, "smoke", ["greedy"], time_limit_s=9.0, seeds=3)
    [(places, named)] = asked
    assert places == ("smoke", ["greedy"])
    assert (named["jobs"], named["cluster"], named["store"]) == (2, "tcp://here:1", tmp_path)
    assert (named["time_limit_s"], named["seeds"]) == (9.0, 3)


def test_a_cluster_that_does_not_answer_is_one_line(monkeypatch, capsys):
    def run(*_, **__):
        raise ClusterError("no Dask scheduler answers")

    monkeypatch.setattr(api, "run", run)
    assert study.guarded(lambda: study.runs(given(), "smoke", ["greedy"])) == 1
    assert capsys.readouterr().err == "placebench: no Dask scheduler answers\n"


@pytest.mark.parametrize("saved", [True, False])
def test_a_report_is_printed_and_where_asked_written_with_rows_and_figure(tmp_path, capsys, saved):
    told = given("--output", str(tmp_path), *(["--save"] if saved else []))
    found = pd.DataFrame({"entry": ["greedy"], "gap": [0.25]})
    study.report(told, "some", found, "# Some\n", lambda _, path: path.write_text("<svg/>"))
    assert capsys.readouterr().out == "# Some\n"
    written = {each.name: each.read_text() for each in tmp_path.iterdir()}
    expected = {"some.md": "# Some\n", "some.csv": "entry,gap\ngreedy,0.25\n", "some.svg": "<svg/>"}
    assert written == (expected if saved else {})
