"""The statistics of small instances, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from problems.generate.random import random_bundle
from problems.latency import delays
from problems.resolve import from_bundle
from problems.statistics.measure import measure
from tests import tiny


def test_a_fork_on_two_devices_with_a_wire() -> None:
    # a -> b, a -> c; b takes as long on either device, c prefers the other one.
    features = measure(
        from_bundle(
            tiny.bundle(
                [[1.0, 3.0], [2.0, 2.0], [4.0, 2.0]],
                [(0, 1), (0, 2)],
                payload=[5, 0, 0],
                delay={(0, 1): 1.0},
            )
        )
    )
    assert (features.depth, features.width, features.ideals) == (2, 2, 5)
    assert features.width_exact
    # Fastest: 1, 2, 2; both paths take 3.
    assert features.parallelism == pytest.approx(5 / 3, rel=1e-5)
    # Every edge carries a's payload: 6 s between the two devices; mean compute (2 + 2 + 3) / 3.
    assert features.ccr == pytest.approx(6 / (7 / 3), rel=1e-5)
    # Deviations 1, 0 and 1 over means 2, 2 and 3.
    assert features.heterogeneity == pytest.approx((1 / 2 + 0 + 1 / 3) / 3, rel=1e-5)
    # One node of the two that tell the devices apart prefers the other one.
    assert features.inconsistency == 0.5
    assert (features.symmetry_classes, features.supported_share) == (2, 1.0)
    assert features.memory_pressure is None
    assert features.group_pressure is None


def test_ports_count_out_and_in() -> None:
    bundle = tiny.bundle(
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [(0, 1)], payload=[3, 0], hosts=[0], delay=[0, 1, 5]
    )
    # Ports 4 s and 8 s: pairs host-1: 4, host-2: 8, 1-2: 12, both ways alike.
    assert measure(from_bundle(bundle)).ccr == pytest.approx(8.0, rel=1e-5)


def test_ratio_is_the_mean_over_pairs_of_devices() -> None:
    for topology in ("staged", "direct"):
        instance = from_bundle(
            random_bundle(3, n=8, devices=4, problem="latency", topology=topology, hosts=2)
        )
        pairs = ~np.eye(instance.K, dtype=bool)
        carried = [delays(instance, int(u))[pairs].mean() for u in instance.edges[:, 0]]
        expected = np.mean(carried) / instance.time.mean()
        assert measure(instance).ccr == pytest.approx(expected, rel=1e-5)


def test_memory_counts_shared_weights_once() -> None:
    bundle = tiny.bundle(
        [[1.0, 1.0]] * 3,
        [(0, 1), (1, 2)],
        payload=[10, 0, 0],
        weights=[{"w": 30}, {"w": 30}, {"x": 20}],
        memory=[40, 80],
    )
    features = measure(from_bundle(bundle))
    assert features.memory_pressure == pytest.approx(60 / 120, rel=1e-5)
    assert features.group_pressure == pytest.approx(40 / 80)  # a: its output and w


def test_devices_without_a_limit_do_not_hide_the_others() -> None:
    bundle = tiny.bundle([[1.0, 1.0]] * 2, [(0, 1)], payload=[30, 30], memory=[None, 20])
    features = measure(from_bundle(bundle))
    assert features.memory_pressure == pytest.approx(3.0, rel=1e-5)
    assert features.group_pressure == pytest.approx(1.5, rel=1e-5)


def test_unsupported_nodes_are_left_out() -> None:
    bundle = tiny.bundle([[1.0, None, 3.0], [None, 2.0, 2.0]], [(0, 1)])
    features = measure(from_bundle(bundle))
    assert features.supported_share == pytest.approx(4 / 6, rel=1e-5)
    assert features.heterogeneity == pytest.approx((1 / 2 + 0) / 2, rel=1e-5)
    assert features.parallelism == pytest.approx(1.0, rel=1e-5)


def test_like_devices_are_one_class_without_heterogeneity() -> None:
    features = measure(from_bundle(random_bundle(1, n=8, devices=4, like=True, hosts=0)))
    assert (features.symmetry_classes, features.heterogeneity, features.inconsistency) == (1, 0, 0)


def test_training_counts_the_ideals_of_the_forward_part() -> None:
    # a -> b, backward b' -> a', each with its partner: a chain of two groups.
    bundle = tiny.bundle(
        [[1.0, 2.0]] * 4,
        [(0, 1), (1, 2), (2, 3)],
        problem="throughput",
        backward=[2, 3],
        colocate={0: "a", 3: "a", 1: "b", 2: "b"},
    )
    features = measure(from_bundle(bundle))
    assert (features.depth, features.ideals) == (4, 3)


def test_nothing_to_measure_is_none_and_no_error() -> None:
    features = measure(from_bundle(tiny.bundle([[0.0]])))
    assert features.parallelism is None
    assert features.ccr is None
    assert (features.depth, features.width, features.ideals) == (1, 1, 2)


def test_structure_is_told_apart_by_content_not_by_name() -> None:
    instance = from_bundle(tiny.bundle([[1.0]] * 3, [(0, 1), (0, 2)]))
    other = from_bundle(tiny.bundle([[1.0]] * 3, [(0, 1), (1, 2)]))
    assert measure(instance).width == 2
    assert measure(other).width == 1
    assert measure(dataclasses.replace(instance, id="again")).width == 2
