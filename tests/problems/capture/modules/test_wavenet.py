"""WaveNet: no sample sees a later one, and each sees the whole receptive field."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.wavenet import WaveNet  # noqa: E402


def test_it_is_causal_with_the_receptive_field_of_its_dilations() -> None:
    torch.manual_seed(0)
    model = WaveNet(cycles=1, layers=3, width=4, skip=4, levels=8).eval()
    samples = torch.randint(8, (1, 12))
    changed = samples.clone()
    changed[0, 2] = (changed[0, 2] + 1) % 8
    with torch.inference_mode():
        same = (model(samples) == model(changed)).all(1)[0]
    # a change at 2 reaches 2 .. 2 + 1 + 2 + 4 and nothing else
    assert [t for t in range(12) if not same[t]] == list(range(2, 10))
