"""Links measured over a few small sizes; no real measurement."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

from problems.capture import ends, machine, pings
from problems.capture.ends import HEADER, SharedEnd, SharedMemory
from problems.capture.links import capture_links, summary
from problems.capture.pings import HOW
from problems.platform import LinkPoint

two_cores = pytest.mark.skipif(
    machine.available_cores() < 2, reason="a link needs two cores, one for each end"
)


@two_cores
@pytest.mark.parametrize("kind", HOW)
def test_a_link_file_has_every_size_both_ways(kind: str) -> None:
    sizes = (256, 4096, 2**18)
    file = capture_links(kind, 0.01, sizes=sizes, name="x", force=True)
    assert (file.name, file.kind) == ("x", "measured")
    for way in (file.forward, file.backward):
        assert [point.bytes for point in way] == list(sizes)
        assert all(0 < point.min_s <= point.median_s < 1 for point in way)
    assert file.provenance["rounds"] >= 3
    assert not multiprocessing.active_children()


def test_shared_ends_carry_the_bytes() -> None:
    memory = SharedMemory(create=True, size=HEADER + 100)
    try:
        near, far = SharedEnd(memory.name, 0, 100), SharedEnd(memory.name, 1, 100)
        for source, target in ((near, far), (far, near), (near, far)):
            source.buffer[:] = np.random.default_rng(0).integers(0, 256, 100)
            target.buffer[:] = 0
            start = source.send(60)
            assert target.receive(60) > start
            assert (target.buffer[:60] == source.buffer[:60]).all()
            assert not target.buffer[60:].any()
        near.close()
        far.close()
    finally:
        memory.close()
        memory.unlink()


def test_a_receiver_does_not_wait_for_who_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "SPINS", 10)
    memory = SharedMemory(create=True, size=HEADER + 100)
    try:
        end = SharedEnd(memory.name, 0, 100, lambda: False)
        with pytest.raises(ConnectionError, match="the other end is gone"):
            end.receive(60)
        end.close()
    finally:
        memory.close()
        memory.unlink()


@two_cores
def test_too_little_shared_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        f_bavail, f_frsize = 16, 4096

    monkeypatch.setattr(pings.os, "statvfs", lambda path: Small)
    monkeypatch.setattr(pings, "SHARED", pings.Path("/"))
    with pytest.raises(RuntimeError, match=r"has 65536 bytes left, .* needs 65664"):
        capture_links("shm", 0.01, sizes=(256, 2**16), force=True)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="no link 'ib'; the links are shm, tcp-loopback"):
        capture_links("ib")
    for sizes in ((), (0, 4), (8, 8), (8, 4)):
        with pytest.raises(ValueError, match="positive and ascend"):
            capture_links("shm", sizes=sizes)
    with pytest.raises(ValueError, match="budget_s <= 0"):
        capture_links("shm", 0.0)


def test_summary_of_a_straight_line() -> None:
    model = summary([LinkPoint(1000, 2e-6, 2e-6), LinkPoint(2000, 3e-6, 3e-6)])
    assert model.latency_s == pytest.approx(2e-6)
    assert model.bandwidth_Bps == pytest.approx(1e9)
