"""Training: the same under a seed, whole or in parts; what it is trained on."""

import json
import os
import subprocess
import sys

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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--steps", "0"], "--steps is 0, not in 1 to"),
        (["--seed", "-1"], "--seed is -1, not in 0 to"),
        (["--seed", str(2**70)], f"--seed is {2**70}, not in 0 to"),
        (["--threads", "1025"], "--threads is 1025, not in 1 to 1024"),
        (["--init", "missing"], "checkpoint missing: there is no such file"),
    ],
)
def test_a_wrong_argument_is_one_line(given, message, tmp_path, capsys):
    assert train.main([str(tmp_path), *given]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert train.main([str(tmp_path / "file"), "--graphs", "1", "--steps", "1"]) == 2
    said = capsys.readouterr().err
    assert str(tmp_path / "file") in said
    assert said.count("\n") == 1


def test_without_torch_the_command_says_what_to_install(tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")")
    done = subprocess.run(
        [sys.executable, "-m", "heuristics.rl.train", str(tmp_path / "out")],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == ("heuristics.rl.train: No module named 'torch'; pip install -e '.[rl]'\n")


def test_begins_with_a_checkpoint_and_trains_on_one_instance(tmp_path):
    _train(tmp_path / "first", "--steps", 1)
    first = tmp_path / "first" / "policy.safetensors"
    more = ("--init", first, "--instance", "alexnet:operator/mcm-4/chips", "--steps", 1)
    _train(tmp_path / "second", *more)
    found = checkpoint.read(tmp_path / "second" / "latest.safetensors")
    assert found.notes["init"] == checkpoint.read(first).digest
    assert found.notes["instance"] == "alexnet:operator/mcm-4/chips"
