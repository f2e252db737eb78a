"""Whatever the bytes: an importer returns, or raises one FileError of one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems.files import FileError
from problems.formats import dot, graphml, msr, msr_split, pipedream, piper
from problems.resolve import from_bundle
from tests.problems.formats import test_msr, test_pipedream, test_piper, test_profile

COLOURED = [test_msr.node(k, colorClass=k % 2, size=3, isBackwardNode=k // 2) for k in range(4)]
MSR = test_msr.file(COLOURED, [test_msr.edge(0, 1, size=4), test_msr.edge(2, 3)])
SPLIT = b'{"fpgas": [{"nodes": [0, 1], "load": 1.5}], "cpus": [{"nodes": [2, 3]}], "maxLoad": 2}'
INSTANCE = from_bundle(test_msr.read(MSR).bundle)
IDS = {name: int(name) for name in INSTANCE.names}
READERS = {
    "msr": (lambda data: msr.read(data, "f", "f", contiguous=True), MSR),
    "msr-split": (lambda data: msr_split.read(data, "f", INSTANCE, IDS), SPLIT),
    "piper": (lambda data: piper.read(data, "f", "f"), test_piper.file()),
    "pipedream": (
        lambda data: pipedream.read(data, "f", "f", devices=2, bandwidth_Bps=1e9),
        test_pipedream.GRAPH.encode(),
    ),
    "dot": (lambda data: dot.read(data, "f"), test_profile.GRAPH.encode()),
    "graphml": (lambda data: graphml.read(data, "f"), test_profile.graphml().encode()),
    "times": (
        lambda data: test_profile.read(times=data.decode("latin-1")),
        test_profile.TIMES.encode(),
    ),
    "devices": (
        lambda data: test_profile.read(devices=data.decode("latin-1")),
        test_profile.DEVICES.encode(),
    ),
    "links": (
        lambda data: test_profile.read(links=data.decode("latin-1")),
        test_profile.WIRES.encode(),
    ),
}
# What breaks readers of numbers, text and structure.
PIECES = st.sampled_from(
    [b"1e400", b"-0.0", b"NaN", b"null", b"true", b'"', b"9" * 400, b"1e-999999999", b"0e999999999",
     b"-1", b"2.5", b"\0", b"\xef\xbb\xbf", b"\xff", b"\r\n", b"\t", b"{", b"[", b"]", b",", b"--",
     b"9007199254740993", b"\xe2\x80\xa8", b"sNaN", b"Infinity", b"\xd9\xa1", b"1_0"]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["NaN", "sNaN", "1e999999999", "-1", "x\ny", ""]),
)
MILD = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def tried(name, data):
    try:
        READERS[name][0](data)
    except FileError as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert len(message) < 1000


@pytest.mark.parametrize("name", READERS)
@MILD
@given(data=st.binary(max_size=200))
def test_random_bytes(name, data):
    tried(name, data)


@pytest.mark.parametrize("name", READERS)
@MILD
@given(cuts=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 8), PIECES), max_size=4))
def test_valid_files_with_pieces_replaced(name, cuts):
    data = READERS[name][1]
    for at, length, piece in cuts:
        at %= len(data) + 1
        data = data[:at] + piece + data[at + length :]
    tried(name, data)


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@pytest.mark.parametrize("name", ["msr", "msr-split", "piper"])
@MILD
@given(data=st.data())
def test_valid_json_with_values_replaced(name, data):
    plain = json.loads(READERS[name][1])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(plain))[1:]))
        inside = plain
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = data.draw(
            LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.text(max_size=3), LEAVES)
        )
    tried(name, json.dumps(plain).encode())


@pytest.mark.parametrize("name", READERS)
def test_no_input_of_a_few_hundred_kilobytes_takes_long(name):
    """Quadratic time would show as a test that takes minutes; the suite's limit ends it."""
    valid = READERS[name][1]
    for data in (b"[" * 200_000, b'{"a":' * 50_000, b"\n" * 300_000, b'"' * 200_001, b"/*" * 99_999,
                 b"a -- b\n" * 40_000, b"\ta -- b\n" * 40_000, b"x," * 100_000, b"<a>" * 60_000,
                 valid + b" " * 300_000, valid * 500):  # fmt: skip
        tried(name, data)
