"""The study of what a run costs beside the method."""

import pytest

from bench import overhead
from tests.bench.synthetic import record


def test_the_page_says_what_the_records_say():
    made = [
        record(key=str(at), load_s=load, warm_s=0.25, wall_s=0.001, check_s=0.0004)
        for at, load in enumerate((0.5, 0.25, 1.0))
    ]
    found = overhead.rows({"single": overhead.Batch(made, 1.5, 4.5)})
    row = found.iloc[0]
    assert (row["runs"], row["ok"], row["load"], row["warm-up"]) == (3, 3, 0.5, 0.25)
    assert row["a second"] == pytest.approx(2.0)
    assert row["CPU a run"] == pytest.approx(1.5)
    text = overhead.markdown(found, 2)
    assert "2 runs at a time" in text
    assert "| single | 3 | 3 | 0.5 s | 0.25 s | 0.001 s | 0.0004 s | 1.5 s | 2.00 | 1.5 s |" in text


def test_every_instance_is_run_as_often(tmp_path, monkeypatch):
    asked = []

    def run(selection, entry, *, store, seeds=(0,), **conditions):
        asked.append((store.name, list(seeds)))
        return [record(key=f"{at}{seed}") for at in range(7) for seed in seeds]

    monkeypatch.setattr(overhead.api, "run", run)
    batch = overhead.measure("single", 20, 2, tmp_path)
    assert len(batch.records) == 21
    assert asked == [("first", [0]), ("first", [0]), ("runs", [0, 1, 2])]
