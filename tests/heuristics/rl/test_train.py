"""Training: the same under a seed, whole or in parts; what it is trained on."""

import json

import pytest

torch = pytest.importorskip("torch", reason="the policy needs torch, of the extra rl")
pytest.importorskip("safetensors", reason="the policy needs safetensors, of the extra rl")

from heuristics.rl import checkpoint, corpus, train  # noqa: E402
from tests.heuristics.rl.tiny import tiny  # noqa: E402


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(corpus, "case", lambda number, seed, library: tiny(seed + number))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def _train(folder, *more):
    given = [str(folder), "--graphs", "2", "--seed", "5", "--every", "2", *map(str, more)]
    return train.train(train.parser().parse_args(given))


def test_in_parts_is_the_same_as_whole(tmp_path):
    whole = _train(tmp_path / "whole", "--steps", 5)
    _train(tmp_path / "parts", "--steps", 2)
    _train(tmp_path / "parts", "--steps", 3)
    assert _train(tmp_path / "parts", "--steps", 5) == whole
    for name in ("latest", "policy"):
        file = f"{name}.safetensors"
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()
    lines = (tmp_path / "whole" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(5))
    assert (tmp_path / "parts" / "log.jsonl").read_text().splitlines() == lines
    assert _train(tmp_path / "other", "--steps", 4) != whole


def test_what_does_not_fit_the_folder_is_refused(tmp_path, capsys):
    _train(tmp_path, "--steps", 1)
    assert train.main([str(tmp_path), "--graphs", "2", "--steps", "2", "--seed", "6"]) == 2
    assert "trained with seed=5, now seed=6: take another folder" in capsys.readouterr().err
    assert train.main([str(tmp_path), "--steps", "0"]) == 2
    assert "--steps is 0, not at least 1" in capsys.readouterr().err


def test_begins_with_a_checkpoint_and_trains_on_one_instance(tmp_path):
    _train(tmp_path / "first", "--steps", 1)
    first = tmp_path / "first" / "policy.safetensors"
    more = ("--init", first, "--instance", "alexnet:operator/mcm-4/chips", "--steps", 1)
    _train(tmp_path / "second", *more)
    found = checkpoint.read(tmp_path / "second" / "latest.safetensors")
    assert found.notes["init"] == checkpoint.read(first).digest
    assert found.notes["instance"] == "alexnet:operator/mcm-4/chips"
