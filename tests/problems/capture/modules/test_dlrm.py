"""DLRM: products of all pairs of vectors."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.dlrm import ROWS, Dlrm  # noqa: E402


def test_the_top_reads_all_products_of_two_vectors() -> None:
    torch.manual_seed(0)
    model = Dlrm(rows=(3, 5, 4), width=6, bottom=(8,), top=(7,), dense=2).eval()
    dense, ids = torch.rand(2, 2), [torch.tensor([1, 2]) for _ in range(3)]
    seen: list[torch.Tensor] = []
    model.top.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    with torch.inference_mode():
        assert model(dense, *ids).shape == (2, 1)
        x = model.bottom(dense)
        vectors = [x, *(t(i) for t, i in zip(model.tables, ids, strict=True))]
        products = {round(float(a[0] @ b[0]), 4) for a, b in itertools.combinations(vectors, 2)}
    assert torch.equal(seen[0][:, :6], x)
    assert {round(float(p), 4) for p in seen[0][0, 6:]} == products


def test_there_are_26_tables_of_at_most_a_million_rows() -> None:
    assert len(ROWS) == 26
    assert max(ROWS) == 10**6
