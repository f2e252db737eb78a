"""The unrolled LSTM against PyTorch's own."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.lstm import LstmLanguageModel  # noqa: E402


def test_it_agrees_with_the_built_in_lstm() -> None:
    torch.manual_seed(0)
    model = LstmLanguageModel(layers=1, width=6, vocabulary=9).eval()
    whole = torch.nn.LSTM(6, 6, batch_first=True)
    for name, value in model.layers[0].cell.named_parameters():
        getattr(whole, f"{name}_l0").data.copy_(value)
    tokens = torch.randint(9, (2, 5))
    with torch.inference_mode():
        expected = model.classifier(whole(model.embedding(tokens))[0])
        torch.testing.assert_close(model(tokens), expected)
