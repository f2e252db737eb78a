from itertools import product

import pytest

from problems.formats.aiconfigurator.grid import Grid

POWER = {(m, n): m**0.5 * n**2.0 for m, n in product((1, 4, 16), (2, 8))}


def test_a_point_of_the_table_is_exact():
    assert Grid({**POWER, (4, 8): 7.0}).at((4, 8)) == (7.0, True)


@pytest.mark.parametrize("point", [(2, 2), (9, 5), (4, 3), (1.5, 8)])
def test_power_laws_are_interpolated_without_error(point):
    time, exact = Grid(POWER).at(point)
    assert not exact
    assert time == pytest.approx(point[0] ** 0.5 * point[1] ** 2.0)


@pytest.mark.parametrize("point", [(0.5, 2), (17, 2), (4, 1), (4, 9)])
def test_nothing_outside(point):
    assert Grid(POWER).at(point) is None


def test_nothing_beside_a_hole():
    holed = {key: time for key, time in POWER.items() if key != (16, 8)}
    assert Grid(holed).at((9, 5)) is None
    assert Grid(holed).at((9, 2)) is not None
    assert Grid({}).at((1, 2)) is None


def test_the_least_time():
    assert Grid(POWER).least == 4.0
    assert Grid({}).least == 0.0
