"""One device file of a card; nothing is measured here."""

from __future__ import annotations

import pytest

from problems.capture.cuda_device import capture_cuda
from problems.graph import Signature
from tests.problems.capture.fake_cuda import SIGNATURES, SURVEY, Clock, Scripted

TABLE = {key: Signature(**each) for key, each in SIGNATURES.items()}


def test_a_card_becomes_a_device_file() -> None:
    launch = Scripted(Clock(), SURVEY)
    file = capture_cuda("cuda:32sm:bf16", TABLE, 20.0, launch=launch)
    assert file.name == "h200-32sm-bf16"
    assert (file.kind, file.provenance["precision"]) == ("measured", "bf16")
    assert set(file.times) == set(TABLE)
    assert [module for module, _, _ in launch.jobs] == ["cuda_survey", "cuda_replay"]
    assert launch.jobs[1][1]["spec"] == "cuda:32sm:bf16"


def test_what_cannot_be_measured() -> None:
    launch = Scripted(Clock(), SURVEY)
    with pytest.raises(ValueError, match="no device 'cuda:gpu1:fp32' here: torch sees 1 CUDA card"):
        capture_cuda("cuda:gpu1:fp32", TABLE, launch=launch)
    with pytest.raises(ValueError, match="the form is cuda:"):
        capture_cuda("cuda:fp64", TABLE, launch=launch)
    with pytest.raises(ValueError, match="no signatures"):
        capture_cuda("cuda:fp32", {}, launch=launch)
    with pytest.raises(ValueError, match="budget_s <= 0"):
        capture_cuda("cuda:fp32", TABLE, 0.0, launch=launch)
