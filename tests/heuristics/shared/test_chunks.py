"""Orders of unlike devices, against all permutations."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heuristics.shared.chunks import device_orders


def _orders(classes: list[int], limit: int = 10_000) -> list[tuple[int, ...]]:
    instance: Any = SimpleNamespace(K=len(classes), device_class=np.array(classes))
    return [tuple(order.tolist()) for order in device_orders(instance, limit)]


@pytest.mark.parametrize(
    "classes", [[0], [0, 0, 0], [0, 1, 2], [1, 0, 1, 0], [0, 0, 1, 2, 0], [2, 2, 1, 0, 1, 0]]
)
def test_each_unlike_order_once(classes):
    first: dict[tuple[int, ...], tuple[int, ...]] = {}
    for order in permutations(range(len(classes))):
        first.setdefault(tuple(classes[k] for k in order), order)
    assert _orders(classes) == list(first.values())
    assert _orders(classes, 2) == list(first.values())[:2]


def test_many_alike_have_one_order():
    # All permutations of so many devices could not be looked through.
    assert _orders([3] * 40) == [tuple(range(40))]


def test_of_many_devices_the_last_eight_change_places():
    orders = _orders([0] + [1] * 10 + [2])
    assert len(orders) == 8
    assert {order[:4] for order in orders} == {(0, 1, 2, 3)}
