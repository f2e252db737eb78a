import pytest

from problems.bounds.critical_path import critical_path
from tests.tiny import instance


def test_takes_the_fastest_device_of_every_node():
    case = instance([[1, 5], [7, 2], [9, 4]], [(0, 1), (0, 2)])
    found = critical_path(case)
    assert found.value == pytest.approx(1 + 4, rel=1e-13)
    assert found.value < 5
    assert "'c'" in found.note


def test_a_device_without_room_does_not_count():
    assert critical_path(instance([[1, 5]], payload=[9], memory=[8, 9])).value == pytest.approx(5)


def test_no_edges():
    assert critical_path(instance([[1, 5], [3, 4]])).value == pytest.approx(3)
