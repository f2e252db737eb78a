"""The rounded model loses nothing true, and its bounds are bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.backends._integers import UnboundedError, rounded
from solvers.model import Builder


def random_model(rng):
    """A model of mixed sizes around a random point, which is a solution of it."""
    n, rows = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    integer = rng.random(n) < 0.5
    size = 10.0 ** rng.integers(-3, 4, n)
    x = np.where(integer, rng.integers(0, 4, n), rng.random(n) * size)
    builder = Builder()
    columns = np.array(
        [
            builder.variables(
                f"x{j}", (), upper=4.0 if integer[j] else size[j], integer=bool(integer[j]),
                cost=float(rng.normal()),
            )
            for j in range(n)
        ]
    )  # fmt: skip
    for i in range(rows):
        scale = 10.0 ** rng.integers(-4, 6)
        a = np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n) * scale)
        if rng.random() < 0.3:
            a = np.round(rng.normal(size=n) * 2)
        activity = float(a @ x)
        room = abs(activity) * rng.choice([0.0, 1e-12, 0.1])
        low = activity - room if rng.random() < 0.7 else -np.inf
        high = activity + room if rng.random() < 0.7 else np.inf
        row = builder.rows(f"r{i}", (), lower=low, upper=high)
        builder.add(row, columns, a)
    return builder.build(1.0, lambda x: x, lambda x: x), x


def test_solutions_stay_solutions_and_cost_no_less_than_is_said():
    rng = np.random.default_rng(0)
    close = 0
    for _ in range(600):
        model, x = random_model(rng)
        whole = rounded(model)
        # What may be lowered to an integer is taken as one: that moves it within the model.
        free = np.abs(x - whole.step * np.round(x / whole.step)) <= 0.51 * whole.step
        moved = free & (whole.step == 1.0) & ~model.integer
        if moved.any():
            continue
        X = whole.units(x)
        activity = whole.matrix @ X
        assert (activity >= whole.row_lower).all()
        assert (activity <= whole.row_upper).all()
        bound = whole.bound(float(whole.cost @ X))
        assert bound <= model.cost @ x + 1e-12 * np.abs(model.cost) @ np.abs(x)
        close += bound >= model.cost @ x - 1e-5 * (np.abs(model.cost) @ np.abs(model.upper))
    assert close > 300  # and not by saying nothing


def variables(**more):
    builder = Builder()
    y = builder.variables("y", (2,), integer=True)
    x = builder.variables("x", (), upper=np.inf, **more)
    row = builder.rows("r", (), lower=1.0)
    builder.add(row, x, 1.0)
    builder.add(row, y, [-1.0, 1.0])
    return builder, x, y


def built(builder):
    return builder.build(1.0, lambda x: x, lambda x: x)


def test_what_may_be_lowered_is_bounded_and_whole():
    builder, x, _ = variables(cost=1.0)
    whole = rounded(built(builder))
    assert whole.step[x] == 1.0
    assert whole.upper[x] == 2  # 1 + y0 - y1 is at most 2


def test_what_pays_to_be_raised_needs_a_bound():
    builder, _, _ = variables(cost=-1.0)
    with pytest.raises(UnboundedError, match="x has no bound"):
        rounded(built(builder))


def test_a_fraction_in_a_row_keeps_a_variable_continuous():
    builder, x, y = variables(cost=1.0)
    row = builder.rows("fraction", (), lower=0.0)
    builder.add(row, x, 1.0)
    builder.add(row, y[:1], -0.5)
    assert rounded(built(builder)).step[x] < 1e-6


def test_an_equation_makes_its_last_variable_whole():
    builder, x, y = variables(cost=-1.0)
    row = builder.rows("equation", (), lower=0.0, upper=0.0)
    builder.add(row, x, -1.0)
    builder.add(row, y, 1.0)
    whole = rounded(built(builder))
    assert whole.step[x] == 1.0
    assert whole.upper[x] == 2


def test_what_no_row_has_room_for_is_fixed():
    builder, x, y = variables(cost=1.0)
    row = builder.rows("load", (), upper=1.0)
    builder.add(row, y[:1], 1e6)
    builder.add(row, x, 1.0)
    assert rounded(built(builder)).upper[y[0]] == 0
