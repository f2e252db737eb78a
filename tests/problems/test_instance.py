import dataclasses

import msgspec
import numpy as np
import pytest

from problems.generate.random import random_bundle
from problems.instance import check_problem
from problems.platform import AlphaBeta
from problems.resolve import from_bundle
from problems.rules import LatencyRules
from tests.tiny import bundle, instance

# The digest is what results are filed under: it may never change for the same content.
GOLDEN = "22f0fba41421a686b448ce6bab2321db1419aaf924fdc500e61e007ac9008670"


def golden():
    return instance(
        [[1.5, 0.25], [2.0, None], [0.1, 3.0]],
        [(0, 1), (0, 2), (1, 2)],
        problem="throughput",
        rules={"overlap": "half"},
        payload=[3, 1, 0],
        weights=[{"s": 7}, {"s": 7, "own": 2}, {}],
        memory=[100, None],
        backward=[2],
        colocate={0: "g", 2: "g"},
        hosts=[0],
        delay=[0.0, 0.5],
    )


def test_golden_digest():
    assert golden().digest == GOLDEN


def test_names_are_no_part_of_the_identity():
    parts = bundle([[1, 2], [3, 4]], [(0, 1)], delay=[1, 2])
    text = msgspec.json.encode(parts).decode()
    for old, new in (('"a"', '"first"'), ('"d0"', '"gpu"'), ("tiny", "other"), ("port0", "pcie")):
        assert old in text
        text = text.replace(old, new)
    renamed = from_bundle(msgspec.json.decode(text, type=type(parts)))
    assert renamed.names != from_bundle(parts).names
    assert renamed.digest == from_bundle(parts).digest


@pytest.mark.parametrize(
    "name",
    [
        "time", "edges", "phase", "group", "node_bytes", "shared_ptr", "shared_node",
        "shared_bytes", "memory", "host", "unlimited", "link_time", "port", "wire",
    ],
)  # fmt: skip
def test_every_array_is_part_of_the_identity(name):
    case = golden()
    array = np.array(getattr(case, name))
    array.flat[-1] = not array.flat[-1] if array.dtype == bool else 1 - array.flat[-1]
    if np.array_equal(array, getattr(case, name)):
        array.flat[-1] = 5
    assert dataclasses.replace(case, **{name: array}).digest != case.digest


def test_rules_problem_and_topology_are_part_of_the_identity():
    case = golden()
    changed = [
        dataclasses.replace(case, problem="latency"),
        dataclasses.replace(case, rules=LatencyRules()),
        dataclasses.replace(case, rules=msgspec.structs.replace(case.rules, contiguous=True)),
        dataclasses.replace(case, staged=False),
    ]
    assert len({case.digest, *(each.digest for each in changed)}) == 5


def test_byte_order_does_not_matter():
    case = golden()
    other = dataclasses.replace(case, time=case.time.astype(">f8"), edges=case.edges.astype(">i8"))
    assert other.digest == case.digest


def test_arrays_are_read_only():
    case = golden()
    for field in dataclasses.fields(case):
        value = getattr(case, field.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, field.name


def test_sizes_and_adjacency():
    case = golden()
    assert (case.n, case.K, case.m) == (3, 2, 3)
    for v in range(3):
        consumers = case.succ[case.succ_ptr[v] : case.succ_ptr[v + 1]].tolist()
        producers = case.pred[case.pred_ptr[v] : case.pred_ptr[v + 1]].tolist()
        assert consumers == sorted(b for a, b in case.edges.tolist() if a == v)
        assert producers == sorted(a for a, b in case.edges.tolist() if b == v)


def test_classes_of_like_devices():
    like = from_bundle(random_bundle(1, devices=4, hosts=1, like=True))
    assert like.device_class.tolist() == [0, 1, 1, 1]
    assert from_bundle(random_bundle(1, devices=3)).device_class.tolist() == [0, 1, 2]
    one = {"problem": "throughput", "hosts": [0]}
    assert instance([[1, 2, 2]], memory=[5, 6, 6], **one).device_class.tolist() == [0, 1, 1]
    assert instance([[1, 2, 2]], memory=[5, 6, 7], **one).device_class.tolist() == [0, 1, 2]
    assert instance([[1, 2, 2]], delay=[0, 1, 1], **one).device_class.tolist() == [0, 1, 1]
    assert instance([[1, 2, 2]], delay=[0, 1, 3], **one).device_class.tolist() == [0, 1, 2]


def test_direct_classes_look_at_every_wire():
    files = random_bundle(3, devices=3, hosts=0, like=True, topology="direct")
    assert from_bundle(files).device_class.tolist() == [0, 0, 0]
    wires = [msgspec.structs.replace(w, link="odd" if i else w.link) for i, w in
             enumerate(files.platform.wires)]  # fmt: skip
    links = {
        **files.links,
        "odd": msgspec.structs.replace(files.links["wire"], name="odd", model=AlphaBeta(99.0, 1.0)),
    }
    odd = msgspec.structs.replace(
        files, platform=msgspec.structs.replace(files.platform, wires=wires), links=links
    )
    # 0-1 by `wire`, 0-2 and 1-2 by `odd`: only 0 and 1 can change places.
    assert from_bundle(odd).device_class.tolist() == [0, 0, 1]


def test_the_problem_is_checked():
    check_problem(golden(), ["throughput"], "dp")
    with pytest.raises(ValueError, match=r"heft is for latency; .* is a throughput instance"):
        check_problem(golden(), ["latency"], "heft")
