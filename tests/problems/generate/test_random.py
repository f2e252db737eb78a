import numpy as np
import pytest

from problems.generate.random import random_bundle
from problems.resolve import from_bundle


def of(**traits):
    return from_bundle(random_bundle(7, **traits))


def test_the_seed_decides():
    assert of().digest == of().digest
    assert from_bundle(random_bundle(8)).digest != of().digest


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("hosts", [0, 1, 2])
def test_shape_and_traits(topology, hosts):
    case = of(
        n=12, devices=3, topology=topology, hosts=hosts, density=0.5, tight=1.2, groups=2, tied=2,
        training=True, unsupported=0.5, problem="latency", unlimited=True,
    )  # fmt: skip
    assert (case.n, case.K, case.staged) == (12, 3, topology == "staged")
    assert case.host.tolist() == [k < hosts for k in range(3)]
    assert case.unlimited.tolist() == [True, False, False]
    assert np.isfinite(case.memory).all()
    assert case.memory.sum() >= case.node_bytes.sum() + case.shared_bytes.sum()
    assert case.phase.tolist() == [0] * 6 + [1] * 6
    assert case.group.max() < 11
    assert len(case.shared_bytes) > 0
    assert not np.isfinite(case.time).all()
    assert np.isfinite(case.time[:, 2]).all()


def test_like_devices_and_ties():
    assert of(devices=3, like=True, hosts=0).device_class.tolist() == [0, 0, 0]
    case = of(n=20, ties=True)
    assert (case.time == case.time.astype(int)).all()
    assert (case.time == 0).any()


def test_uneven_links_have_two_ways():
    case = of(devices=2, hosts=0, topology="direct", uneven=True)
    there, back = case.link_time[case.wire[0, 1]], case.link_time[case.wire[1, 0]]
    assert (back > 1.4 * there).all()
