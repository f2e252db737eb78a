"""What HiGHS reads from the files is the model, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from solvers.exchange import model_file
from solvers.exchange.build import neutral
from solvers.exchange.stamp import Stamp, parse
from solvers.method import Unsupported
from solvers.model import Builder
from tests.solvers.tiny import instances

STAMP = Stamp("an id", "0123456789abcdef" * 4, "none", True, 1e-3)


def awkward(seed):
    """A model with all that a file has trouble with."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    a = builder.variables(
        "one class", (3, 2), integer=True, upper=np.array([1.0, 3.0]),
        cost=rng.normal(size=(3, 2)),
    )  # fmt: skip
    b = builder.variables(
        "edge", (4,), lower=[-np.inf, -1 / 3, 0.1, 2.5], upper=[np.inf, np.inf, 0.3, 2.5]
    )
    builder.variables("unused", (), lower=-1e-7, upper=1e12, integer=True)
    low = np.array([-np.inf, 0.1, -1 / 3, 0.7, -2.0])
    high = np.array([1 / 7, np.inf, 2 / 3, 0.7, 1e9])
    rows = builder.rows("row", (5,), lower=low, upper=high)
    value = rng.normal(size=(5, 6)) * 10.0 ** rng.integers(-9, 9, (5, 6))
    builder.add(rows[:, None], a.ravel()[None], np.where(rng.random((5, 6)) < 0.7, value, 0))
    builder.add(rows[:, None], b[None], np.nextafter(1.0, 2.0))
    return builder.build(1.0, lambda x: x, lambda x: x)


def read_by_highs(path):
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("small_matrix_value", 1e-12)  # it drops what is smaller
    assert highs.readModel(str(path)) != highspy.HighsStatus.kError
    return highs.getLp()


def assert_same(model, path):
    lp = read_by_highs(path)
    assert sorted(lp.col_names_) == sorted(model.column_names())
    # An LP file has columns in the order in which they come up.
    at = np.array([lp.col_names_.index(name) for name in model.column_names()])
    assert np.array_equal(np.array(lp.col_cost_)[at], model.cost)
    assert np.array_equal(np.array(lp.col_lower_)[at], model.lower)
    assert np.array_equal(np.array(lp.col_upper_)[at], model.upper)
    kinds = [str(kind).endswith("kInteger") for kind in lp.integrality_] or [False] * lp.num_col_
    assert [kinds[j] for j in at] == model.integer.tolist()
    parts = (np.array(p) for p in (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_))
    matrix = sparse.csc_matrix(tuple(parts), (lp.num_row_, lp.num_col_)).tocsr()[:, at]
    sides = dict(zip(lp.row_names_, zip(lp.row_lower_, lp.row_upper_, strict=True), strict=True))
    place = {name: i for i, name in enumerate(lp.row_names_)}
    for i, name in enumerate(model.row_names()):
        low, high = model.row_lower[i], model.row_upper[i]
        ranged = np.isfinite(low) and np.isfinite(high) and low != high
        found = sides[name] if not ranged else (sides[f"{name}_low"][0], sides[name][1])
        assert found == (low, high)
        for each in [name, *([f"{name}_low"] if ranged else [])]:
            row = matrix[place[each]].toarray()
            assert np.array_equal(row, model.matrix[i].toarray()), name


@pytest.mark.parametrize("kind", ["mps", "lp"])
def test_awkward_models_are_read_bit_by_bit(kind, tmp_path):
    for seed in range(20):
        model, path = awkward(seed), tmp_path / f"model.{kind}"
        path.write_text(getattr(model_file, kind)(model, STAMP))
        assert_same(model, path)


@pytest.mark.parametrize("kind", ["mps", "lp"])
def test_models_of_instances_are_read_bit_by_bit(kind, tmp_path):
    compared = 0
    for _, instance in instances("throughput", range(500, 530)):
        try:
            model, stamp = neutral(instance)
        except Unsupported:  # an answer that takes no time
            continue
        path = tmp_path / f"model.{kind}"
        path.write_text(getattr(model_file, kind)(model, stamp))
        assert_same(model, path)
        assert parse(path.read_text(), "file") == stamp
        compared += 1
    assert compared > 20


def test_names_are_one_word_and_no_number():
    names = awkward(0).column_names()
    assert names[:2] == ["one_class_0_0", "one_class_0_1"]
    assert names[6] == "v_edge_0"  # e1 would be read as an exponent
    assert all(len(name.split()) == 1 for name in names)


def test_blocks_whose_names_meet_are_refused():
    builder = Builder()
    builder.variables("x", (1, 2))
    builder.variables("x 0", (2,))
    with pytest.raises(ValueError, match="same name twice"):
        builder.build(1.0, lambda x: x, lambda x: x).column_names()
    with pytest.raises(ValueError, match="'x' already"):
        builder.variables("x", ())
