"""The builder: what it makes, and that mistakes are refused where they are made."""

from __future__ import annotations

import numpy as np
import pytest

from problems.builder import Builder
from problems.files import FileError
from problems.resolve import from_bundle


def staged(**options):
    builder = Builder("mine", **{"problem": "throughput", **options})
    builder.add_device("cpu", host=True)
    for k in range(2):
        builder.add_device(f"gpu{k}", kind="gpu", memory_bytes=100, link="pcie")
    builder.add_link("pcie", latency_s=1.0, bandwidth_Bps=2.0)
    builder.add_node("a", {"cpu": 4.0, "gpu": 0.5}, output_bytes=6, weights={"w": 7})
    builder.add_node("b", {"cpu": 3, "gpu": None}, weights={"w": 7, "v": 1}, colocate="g")
    builder.add_edge("a", "b")
    return builder


def test_a_staged_instance():
    got = from_bundle(staged(rules={"contiguous": True}).build())
    assert got.device_names == ("cpu", "gpu0", "gpu1")
    assert got.time.tolist() == [[4, 0.5, 0.5], [3, np.inf, np.inf]]
    assert got.link_time[got.port[1]].tolist() == [4.0, 1.0]
    assert got.shared_bytes.tolist() == [7]
    assert got.device_class.tolist() == [0, 1, 1]
    assert got.rules.contiguous


def test_a_direct_instance_with_measured_points():
    builder = Builder("mine", problem="latency", kind="measured")
    for name in "xyz":
        builder.add_device(name)
    builder.add_link("slow", points=[(0, 1.0), (10, 3.0)])
    builder.add_link("fast", latency_s=0.0, bandwidth_Bps=10.0)
    builder.add_wire("x", "y", "slow")
    builder.set_default_link("fast")
    builder.add_node("a", dict.fromkeys("xyz", 1.0), output_bytes=5)
    got = from_bundle(builder.build())
    assert got.link_time[got.wire[0, 1], 0] == 2.0
    assert got.link_time[got.wire[0, 2], 0] == 0.5
    assert got.provenance["graph"]["kind"] == "measured"


TIMES = {"cpu": 1.0, "gpu": 1.0}
MISTAKES = {
    "node 'a' is added twice": lambda b: b.add_node("a", TIMES),
    "node 'c' on 'cpu': a time of 1e+10 s; say None": lambda b: b.add_node("c", {"cpu": 1e10}),
    "node 'c' on 'cpu': a time of nan s": lambda b: b.add_node("c", {"cpu": float("nan")}),
    "node 'c' on 'cpu': a time of -1.0 s": lambda b: b.add_node("c", {"cpu": -1}),
    "a time is a number of seconds, not '1 ms'": lambda b: b.add_node("c", {"cpu": "1 ms"}),
    "output_bytes: a whole number": lambda b: b.add_node("c", TIMES, output_bytes=1.5),
    "weight 'w': -1 bytes": lambda b: b.add_node("c", TIMES, weights={"w": -1}),
    "phase is forward or backward, not 'bw'": lambda b: b.add_node("c", TIMES, phase="bw"),
    "a node needs a name on one line, not 0": lambda b: b.add_node(0, TIMES),
    "not 'c\\n'": lambda b: b.add_node("c\n", TIMES),
    "edge 'a' -> 'c': no node 'c'; there are a, b": lambda b: b.add_edge("a", "c"),
    "edge 'a' -> 'b' is added twice": lambda b: b.add_edge("a", "b"),
    "edge 'a' -> 'a': a node cannot read itself": lambda b: b.add_edge("a", "a"),
    "device 'cpu' is added twice": lambda b: b.add_device("cpu"),
    "link 'pcie' is added twice": lambda b: b.add_link("pcie", latency_s=0, bandwidth_Bps=1),
    "link 'l' needs latency_s and bandwidth_Bps, or points": lambda b: b.add_link("l", latency_s=0),
    "link 'l': the points of a link must ascend": lambda b: b.add_link(
        "l", points=[(1, 1.0), (1, 2.0)]
    ),
    "link 'l': bandwidth_Bps is 0": lambda b: b.add_link("l", latency_s=0, bandwidth_Bps=0),
    "no device 'tpu'; there are cpu, gpu0, gpu1": lambda b: b.add_wire("cpu", "tpu", "pcie"),
    "node 'c' has no time on 'gpu'; None says": lambda b: b.add_node("c", {"cpu": 1.0}),
    "no kind of device 'gpu0'; there are cpu, gpu": lambda b: b.add_node("c", {"gpu0": 1.0}),
    "no link 'nvlink'; there are pcie": lambda b: b.add_device("gpu2", kind="gpu", link="nvlink"),
    "the edges close a cycle": lambda b: b.add_edge("b", "a"),
    "node 'c': colocate is `str | null`, not 3": lambda b: b.add_node("c", TIMES, colocate=3),
    "node 'c': op is": lambda b: b.add_node("c", TIMES, op=None),
    "node 'c': signature is": lambda b: b.add_node("c", TIMES, signature=7),
    "node 'c': times map kinds of device to seconds, not [1, 2]": lambda b: b.add_node("c", [1, 2]),
    "node 'c': a kind of device needs a name": lambda b: b.add_node("c", {0: 1.0}),
    "node 'c' on 'cpu': a time is a number of seconds, not '1'": lambda b: b.add_node(
        "c", {"cpu": "1"}
    ),
    "node 'c' on 'cpu': a time is a number of seconds, not True": lambda b: b.add_node(
        "c", {"cpu": True}
    ),
    "node 'c': a weight needs a name": lambda b: b.add_node("c", TIMES, weights={1: 2}),
    "edge ['a'] -> 'b': a node needs a name": lambda b: b.add_edge(["a"], "b"),
    "device 'x': host is": lambda b: b.add_device("x", host="yes"),
    "device 'x': unlimited is": lambda b: b.add_device("x", unlimited=1),
    "device 'x': a link needs a name on one line, not 5": lambda b: b.add_device("x", link=5),
    "device 'x': a kind of device needs a name": lambda b: b.add_device("x", kind=5),
    "link 'l': bandwidth_Bps is a number, not '1e9'": lambda b: b.add_link(
        "l", latency_s=0, bandwidth_Bps="1e9"
    ),
    "link 'l': kind is measured or imported or modelled, not 'x'": lambda b: b.add_link(
        "l", latency_s=0, bandwidth_Bps=1, kind="x"
    ),
    "link 'l': points are pairs": lambda b: b.add_link("l", points=[(1, 1.0, 1.0)]),
    "link 'l': points are pairs of bytes and seconds, not 5": lambda b: b.add_link("l", points=5),
    "link 'l': provenance": lambda b: b.add_link(
        "l", latency_s=0, bandwidth_Bps=1, provenance={"x": float("nan")}
    ),
    "wire 'cpu' - 'gpu0': a link needs": lambda b: b.add_wire("cpu", "gpu0", None),
    "wire ['cpu'] - 'gpu0': a device needs": lambda b: b.add_wire(["cpu"], "gpu0", "pcie"),
    "wire 'cpu' - 'cpu' joins a device to itself": lambda b: b.add_wire("cpu", "cpu", "pcie"),
    "wire 'gpu1' - 'cpu' is added twice": lambda b: [
        b.add_wire(*pair, "pcie") for pair in (("cpu", "gpu1"), ("gpu1", "cpu"))
    ],
    "a default link needs a name on one line, not 5": lambda b: b.set_default_link(5),
    "mine: kind is measured or imported or modelled, not 'm'": lambda b: staged(kind="m"),
    "mine: family is": lambda b: staged(family=None),
    "a platform needs a name on one line, not 5": lambda b: staged(platform=5),
    "mine: unknown problem 'speed'; the problems are": lambda b: staged(problem="speed"),
    "mine: problem is": lambda b: staged(problem=None),
    "mine: rules: names and what they stand for": lambda b: staged(rules=[1]),
    "throughput has the rules contiguous": lambda b: staged(rules={"contigous": True}),
    "mine: provenance: no content for a JSON file": lambda b: staged(
        provenance={"x": [float("nan")]}
    ),
    "mine: provenance: no content": lambda b: staged(provenance={"x": object()}),
    "weight 'w' has 9 bytes here and 7": lambda b: b.add_node("c", TIMES, weights={"w": 9}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_each_mistake_is_one_error_that_names_the_part(message):
    def attempt():
        builder = staged()
        MISTAKES[message](builder)
        builder.build()

    with pytest.raises(FileError) as caught:
        attempt()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


LATE = ("no time on", "no kind of device", "no link", "close a cycle", "9 bytes here")


@pytest.mark.parametrize("message", [m for m in MISTAKES if not any(late in m for late in LATE)])
def test_a_mistake_is_refused_by_the_call_that_makes_it(message):
    builder = staged()
    with pytest.raises(FileError):
        MISTAKES[message](builder)
    if "'c'" in message and "edge" not in message:  # and nothing is kept of it
        builder.add_node("c", TIMES)
    if "twice" not in message:
        builder.build()


def test_backward_nodes_feed_no_forward_nodes():
    builder = staged()
    builder.add_node("c", TIMES, phase="backward")
    with pytest.raises(FileError, match="from a backward node to a forward one"):
        builder.add_edge("c", "b")
