"""Checkpoints come back as they were, and what is not one is refused."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the policy needs torch, of the extra rl")
pytest.importorskip("safetensors", reason="the policy needs safetensors, of the extra rl")

from safetensors.torch import load_file, save_file  # noqa: E402

from heuristics.rl import checkpoint, ppo  # noqa: E402
from heuristics.rl.checkpoint import CheckpointError  # noqa: E402
from heuristics.rl.policy import Config, fresh  # noqa: E402

CPU = torch.device("cpu")
SMALL = Config(hidden=8, layers=1, match=2)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policy.safetensors"
    policy = fresh(SMALL, 3, CPU)
    optimizer = ppo.optimizer_of(policy)
    sum(each.sum() for each in policy.parameters()).backward()
    optimizer.step()
    digest = checkpoint.write(path, policy, {"steps": 7}, optimizer)
    return path, policy, optimizer, digest


def test_all_of_it_comes_back(file):
    path, policy, optimizer, digest = file
    found = checkpoint.read(path)
    assert (found.config, found.notes, found.digest) == (SMALL, {"steps": 7}, digest)
    again = checkpoint.policy_of(found, path, CPU)
    for a, b in zip(policy.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    other = ppo.optimizer_of(again)
    checkpoint.restore(found, other)
    for index, entry in optimizer.state_dict()["state"].items():
        for name, value in entry.items():
            assert torch.equal(value, other.state_dict()["state"][index][name])


def test_the_same_content_has_the_same_bytes(file, tmp_path):
    path, policy, optimizer, digest = file
    again = tmp_path / "again.safetensors"
    assert checkpoint.write(again, policy, {"steps": 7}, optimizer) == digest
    assert again.read_bytes() == path.read_bytes()


def test_weights_that_are_no_numbers_are_neither_read_nor_written(file, monkeypatch):
    path, policy, optimizer, _ = file
    with torch.no_grad():
        policy.head.moves.fill_(float("nan"))
    with pytest.raises(CheckpointError, match=r"not written, as .*head\.moves has values"):
        checkpoint.write(path, policy, {}, optimizer)
    assert checkpoint.read(path).notes == {"steps": 7}  # the last good one stays
    monkeypatch.setattr(checkpoint, "_not_finite", lambda tensors: "")
    checkpoint.write(path, policy, {}, optimizer)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"head\.moves has values that are no numbers"):
        checkpoint.read(path)


def test_changed_weights_are_refused(file):
    path = file[0]
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(CheckpointError, match=r"digest .*changed after it was written"):
        checkpoint.read(path)


def test_other_shapes_are_refused(file):
    path, policy, *_ = file
    policy.head.key = torch.nn.Linear(8, 3)
    checkpoint.write(path, policy, {})
    with pytest.raises(CheckpointError, match=r"head.key.bias has shape \(3,\), expected \(2,\)"):
        checkpoint.policy_of(checkpoint.read(path), path, CPU)


def test_other_columns_are_refused(tmp_path):
    path = tmp_path / "policy.safetensors"
    config = Config(hidden=8, layers=1, match=2, inputs=(7, 9, 4, 9))
    checkpoint.write(path, fresh(config, 0, CPU), {})
    with pytest.raises(CheckpointError, match=r"made for \(7, 9, 4, 9\) columns"):
        checkpoint.policy_of(checkpoint.read(path), path, CPU)


def test_what_is_no_checkpoint_is_refused(file, tmp_path):
    with pytest.raises(CheckpointError, match="no such file"):
        checkpoint.read(tmp_path / "missing.safetensors")
    with pytest.raises(CheckpointError, match=r"no such file in .*: better give an absolute path"):
        checkpoint.read(Path("missing.safetensors"))
    with pytest.raises(CheckpointError, match="is not a file"):
        checkpoint.read(tmp_path)
    text = tmp_path / "text.safetensors"
    text.write_text("weights")
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        checkpoint.read(text)
    plain = tmp_path / "plain.safetensors"
    save_file(load_file(file[0]), plain)
    with pytest.raises(CheckpointError, match="format None"):
        checkpoint.read(plain)


def test_the_suites_own_is_whole_and_small():
    path = checkpoint.PRETRAINED
    checkpoint.policy_of(checkpoint.read(path), path, CPU)
    assert path.stat().st_size <= 2_000_000
    text = path.with_suffix(".md").read_text()
    assert checkpoint.read(path).digest in text


SIZES = {"hidden": 8, "layers": 1, "match": 2, "inputs": [8, 9, 4, 9]}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ([1], "format None"),
        (None, "format None"),
        ({"format": "other/3"}, "format 'other/3'"),
        ({"format": checkpoint.FORMAT}, "broken header .*`content`"),
        ({"content": [SIZES, {}]}, "broken header .*`digest`"),
        ({"content": [SIZES, {}], "digest": 5}, r"broken header .*\$.digest"),
        ({"content": [SIZES, 7], "digest": ""}, r"broken header .*\$.content\[1\]"),
        ({"content": [SIZES | {"hidden": -3}, {}], "digest": ""}, "broken header .*hidden"),
        ({"content": [SIZES | {"hidden": 10**7}, {}], "digest": ""}, "broken header .*hidden"),
        ({"content": [SIZES | {"match": "a"}, {}], "digest": ""}, "broken header .*match"),
        ({"content": [SIZES | {"depth": 1}, {}], "digest": ""}, "broken header .*depth"),
    ],
)
def test_a_header_that_says_nonsense_is_refused(header, message, tmp_path):
    if isinstance(header, dict):
        header = {"format": checkpoint.FORMAT} | header
    path = tmp_path / "odd.safetensors"
    save_file({"a": torch.zeros(2)}, path, metadata={checkpoint.HEADER: json.dumps(header)})
    with pytest.raises(CheckpointError, match=message):
        checkpoint.read(path)


def test_weights_of_another_type_are_refused(tmp_path):
    path = tmp_path / "half.safetensors"
    header = {"format": checkpoint.FORMAT, "content": [SIZES, {}], "digest": ""}
    half = {"a": torch.zeros(2, dtype=torch.bfloat16)}
    save_file(half, path, metadata={checkpoint.HEADER: json.dumps(header)})
    with pytest.raises(CheckpointError, match=r"a is of torch\.bfloat16, not torch\.float32"):
        checkpoint.read(path)
