"""The study of the learned policy: which instances, what is compared, what the page says."""

import numpy as np
import pandas as pd
import pytest

from bench import policy_study
from problems.catalogue import Library
from tests.bench.synthetic import record


def test_instances_are_held_out_or_of_bert():
    ids = policy_study.instances(Library())
    assert len(ids) >= 6
    assert all("/chips" in each for each in ids)
    assert any(each.startswith("bert-base:") for each in ids)
    assert not any(each.startswith("resnet50:") for each in ids)


@pytest.fixture
def found():
    """Two instances; annealing best, the policies in order, all start at 4."""
    last = {"scratch": 3.0, "zero-shot": 2.5, "fine-tuned": 2.0, "greedy": 4.0, "random": 4.0,
            "annealing": 1.9, "portfolio": 1.9}  # fmt: skip
    parts = []
    for samples, names in (
        (0, policy_study.entries()), *((n, policy_study.entries(n)) for n in policy_study.SAMPLES),
    ):  # fmt: skip
        runs = []
        for name, entry in names.items():
            method, _, given = entry.rstrip("]").partition("[")
            options = dict(each.split("=") for each in given.split(",")) if given else {}
            for at in range(2):
                trace = [(0.1, 4.0), (0.5, 3.0), (2.0, last[name])]
                if name == "scratch":
                    trace = [(0.1, 4.0), (2.0, 3.0)]
                runs.append(
                    record(
                        entry=entry,
                        method=method,
                        options=options,
                        problem="chips",
                        instance=f"net{at}:operator/mcm-4/chips",
                        objective=last[name],
                        trace=trace,
                        key=f"{entry}{at}",
                    )
                )
        parts.append(policy_study.rows(runs, samples, names))
    return pd.concat(parts, ignore_index=True)


def test_every_run_has_one_row(found):
    assert found.groupby(["samples", "entry"]).size().eq(2).all()
    assert found.groupby("samples")["entry"].nunique().tolist() == [7, 4, 4, 5]


def test_improvement_is_a_geometric_mean(found):
    timed = found[found["samples"] == 0]
    gain, count = policy_study.improvement(timed, "fine-tuned", "random")
    assert (gain, count) == (pytest.approx(1.0), 2)
    assert policy_study.improvement(timed, "scratch", "missing")[1] == 0


def test_share_of_training(found):
    shares = policy_study.share_of_training(found[found["samples"] == 0])
    assert shares["share"].tolist() == pytest.approx([0.25, 0.25])


def test_the_page_says_what_the_numbers_say(found, tmp_path):
    text = policy_study.markdown(found, 10)
    assert "Over `random` at equal time: scratch +33.33 %" in text
    assert "does not hold here at equal time: the best variant is at +100.00 % over random" in text
    assert "the median share of the time is 25 %" in text
    assert "Pre-training helps here: at equal time zero-shot is at +20.00 % and" in text
    better = found.assign(
        objective=np.where(found["entry"] == "annealing", 3.0, found["objective"])
    )
    assert "about 6 % above" in policy_study.markdown(better, 10)
    assert "holds here" in policy_study.markdown(better, 10)
    worse = found.assign(
        objective=np.where(found["entry"] == "fine-tuned", 3.5, found["objective"])
    )
    assert "Pre-training does not help here" in policy_study.markdown(worse, 10)
    policy_study.draw(found, tmp_path / "policy.svg", 10)
    assert "<svg" in (tmp_path / "policy.svg").read_text()


def test_the_page_and_the_figure_show_every_number_of_samples(found, tmp_path):
    text = policy_study.markdown(found, 10)
    for samples in policy_study.SAMPLES:
        assert f"| all | {samples:,} |" in text
    policy_study.draw(found, tmp_path / "policy.svg", 10)
    assert (tmp_path / "policy.svg").stat().st_size > 1000


def test_without_torch_nothing_is_begun(monkeypatch):
    monkeypatch.setattr(policy_study, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs torch, safetensors; pip install"):
        policy_study.main([])
