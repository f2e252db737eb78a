"""Mixture of experts against the sum over the chosen ones."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.experts import Mixture  # noqa: E402


def test_a_mixture_uses_only_the_chosen_experts() -> None:
    torch.manual_seed(0)
    mixture = Mixture(width=8, experts=4, hidden=6, chosen=2).eval()
    x = torch.rand(1, 5, 8)
    with torch.inference_mode():
        scores = torch.softmax(mixture.gate(x), -1)
        expected = torch.zeros_like(x)
        for t in range(5):
            for e in scores[0, t].topk(2).indices.tolist():
                expected[0, t] += scores[0, t, e] * mixture.experts[e](x[0, t])
        torch.testing.assert_close(mixture(x), expected)
