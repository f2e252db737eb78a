"""Piper's JSON."""

from __future__ import annotations

import json

import pytest

from problems.files import FileError
from problems.formats import piper
from problems.resolve import from_bundle


def variant(time=2.0, **fields):
    return {"timePerSample": time, **fields}


def file(nodes=None, edges=None, **fields):
    if nodes is None:
        nodes = [
            {"id": 4, "TMPCs": {"1": [variant(memoryUsageA=10, memoryUsageB=5.0)]}},
            {"id": 2, "TMPCs": {"1": [variant(parameterSize=7)]}},
        ]
    if edges is None:
        edges = [{"sourceId": 4, "destId": 2, "communicationCost": 20}]
    plain = {"maxDevices": 3, "bandwidth": 10.0, "maxMemoryPerDevice": 100.5}
    return json.dumps({**plain, "nodes": nodes, "edges": edges, **fields}).encode()


def read(data, **options):
    return piper.read(data, "p.json", "p", **options)


def test_what_the_file_means():
    imported = read(file())
    got = from_bundle(imported.bundle)
    assert imported.notes == []
    assert got.K == 3
    assert not got.staged
    assert got.time[:, 0].tolist() == [2.0, 2.0]
    assert got.memory[0] == 100
    assert got.node_bytes.tolist() == [15, 7]
    assert got.link_time[got.wire[0, 1]].tolist() == [2.0, 0.0]
    assert from_bundle(read(file(), time_unit="ms", devices=1).bundle).time.tolist() == [
        [0.002], [0.002]
    ]  # fmt: skip


def test_what_is_dropped_or_doubtful_is_said():
    parallel = {"1": [variant(syncTimeFw={"4": 1}), variant()], "2": [variant()]}
    nodes = [{"id": k, "TMPCs": parallel, "size": 1} for k in range(3)]
    edges = [{"sourceId": 0, "destId": k, "communicationCost": 1e-4 * k} for k in (1, 2)]
    edges[1]["communicationCost"] = 3
    assert read(file(nodes, edges, mbsInBatch=4, bandwidth=1e9)).notes == [
        "not used in `nodes[].`: size",
        "6 variants of layers are left out (tensor parallelism, recomputation)",
        "syncTimeFw and syncTimeBw are left out",
        "mbsInBatch is left out: memory counts one sample in flight (A + B)",
        "1 nodes have out-edges of unlike cost: the largest is taken",
        "all transfers together take 5e-10 of the compute time: are the times in another unit?"
        " (--time-unit ms)",
    ]
    free = [{"sourceId": 4, "destId": 2, "communicationCost": 0}]
    assert "left at zero" in read(file(edges=free)).notes[0]


@pytest.mark.parametrize("level", [('{"a": ', "}"), ("[", "]")])
def test_sync_times_may_be_nested_deeply(level):
    sync = f'"syncTimeFw": {level[0] * 480}1{level[1] * 480}, "timePerSample"'
    data = file().replace(b'"timePerSample"', sync.encode(), 1)
    assert read(data).notes == ["syncTimeFw and syncTimeBw are left out"]
    assert read(data.replace(b"1" + level[1].encode(), b"0" + level[1].encode())).notes == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file([], []), "a graph needs at least one node"),
        (file(edges=[{"sourceId": 4, "destId": 4, "communicationCost": 1}]), "cannot read itself"),
        (file(maxDevices=10**9), "1000000000 devices, not in 1..1000; --devices takes fewer"),
        (file(bandwidth=0), "a bandwidth of 0 bytes/s"),
        (file(bandwidth="NaN"), "p.json: NaN is not a number - at `$.bandwidth`"),
        (file([{"id": 1, "TMPCs": {}}], []), "no variant without tensor parallelism"),
        (file([{"id": 1, "TMPCs": {"1": [variant()]}}] * 2, []), "id 1 is used twice"),
        (file(edges=[{"sourceId": 4, "destId": 3, "communicationCost": 1}]), "has the id 3"),
        (file(edges=[{"sourceId": 4, "destId": 2, "communicationCost": -1}]), "-1 bytes"),
        (file(edges=[{"sourceId": 4, "destId": 2}]), "`communicationCost` - at `$.edges[0]`"),
    ],
)
def test_each_mistake_is_one_error_with_its_place(data, message):
    with pytest.raises(FileError) as caught:
        read(data)
    assert str(caught.value).startswith("p.json: ")
    assert message in str(caught.value)
