"""Copies of a card, with a fake of the CUDA calls on CPU tensors."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.cuda_links import HOW, measure
from problems.capture.cuda_survey import survey
from tests.problems.capture.fake_cuda import FakeCuda


@pytest.mark.parametrize("link", HOW)
def test_every_size_is_copied_both_ways(link: str) -> None:
    cuda, said = FakeCuda(cards=2), list[dict[str, Any]]()
    job = {"link": link, "card": 0, "other": 1, "sizes": [256, 4096, 2**21], "budget_s": 0.0}
    result = measure(job, said.append, cuda=cuda, devices=("cpu", "cpu"))
    assert result["rounds"] == len(said) == 1
    for way in ("forward", "backward"):
        assert [point[0] for point in result[way]] == job["sizes"]
        for _, low, middle, events in result[way]:
            assert 0 < events <= low <= middle  # the fake's events stand inside the host's clock
    assert ("peer_access" in result) == (link == "peer")


def test_the_survey_names_cards_and_what_they_can() -> None:
    found = survey(FakeCuda(cards=2, major=7, green=False))
    assert [card["multiprocessors"] for card in found["cards"]] == [132, 132]
    assert not found["green_contexts"]
    assert not found["cards"][0]["bf16"]
    assert survey(FakeCuda(cards=0))["cards"] == []
