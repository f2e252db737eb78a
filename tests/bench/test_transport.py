"""Instances on their way to the process of a run."""

from __future__ import annotations

import fcntl
import mmap
import os
from dataclasses import fields

import numpy as np
import pytest

from bench import transport
from bench.transport import handed_over, read_instance
from bench.warm import tiny_like
from heuristics.champion.plan import TINY
from tests.bench import harness


@pytest.mark.parametrize("rules", [{}, {"contiguous": True, "overlap": "full"}])
def test_instances_travel(rules):
    instance = harness.instance(rules=rules, topology="direct")
    with handed_over(instance) as descriptor:
        got = read_instance(os.dup(descriptor), instance.digest)
        again = read_instance(os.dup(descriptor), instance.digest)
    assert again.digest == got.digest
    for each in fields(instance):
        a, b = getattr(instance, each.name), getattr(got, each.name)
        assert np.array_equal(a, b), each.name
        if isinstance(a, np.ndarray):
            assert not b.flags.writeable
            assert (a.dtype, a.flags.c_contiguous) == (b.dtype, b.flags.c_contiguous)


def test_another_instance_is_not_taken():
    with (
        handed_over(harness.instance()) as descriptor,
        pytest.raises(ValueError, match="does not have the digest"),
    ):
        read_instance(os.dup(descriptor), harness.instance("latency").digest)


def test_nobody_can_write_what_is_handed_over():
    instance = harness.instance()
    with handed_over(instance) as descriptor:
        path = f"/proc/self/fd/{descriptor}"
        size = os.fstat(descriptor).st_size
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 0)
        with pytest.raises(PermissionError):
            os.truncate(path, 0)
        with pytest.raises(PermissionError):
            os.truncate(path, size + 1)
        with pytest.raises(PermissionError):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, 0)
        with pytest.raises(OSError, match="not permitted"):
            mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_WRITE)
        assert read_instance(os.dup(descriptor), instance.digest).digest == instance.digest


def test_the_descriptor_is_closed():
    before = os.listdir("/proc/self/fd")
    with handed_over(harness.instance()) as descriptor:
        assert not os.get_inheritable(descriptor)
    assert os.listdir("/proc/self/fd") == before


def test_tiny_twin():
    instance = harness.instance(rules={"contiguous": True}, topology="direct")
    tiny = tiny_like(instance)
    assert (tiny.problem, tiny.rules, tiny.staged) == ("throughput", instance.rules, False)
    assert tiny.n * tiny.K <= TINY  # so that the champion runs all its parts on it
    assert tiny_like(instance) is tiny


def test_what_was_written_to_before_it_was_sealed_is_not_handed_over(monkeypatch):
    instance, real, seen = harness.instance(), fcntl.fcntl, []

    def spoiled_first(descriptor, *arguments):
        seen.append(descriptor)
        if len(seen) <= 2:
            os.pwrite(descriptor, b"spoiled", 0)
        return real(descriptor, *arguments)

    monkeypatch.setattr(transport.fcntl, "fcntl", spoiled_first)
    with handed_over(instance) as descriptor:
        assert len(seen) == 3
        assert read_instance(os.dup(descriptor), instance.digest).digest == instance.digest
    seen.clear()
    monkeypatch.setattr(transport, "_TRIES", 2)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="another process"), handed_over(instance):
        pass
    assert os.listdir("/proc/self/fd") == before
