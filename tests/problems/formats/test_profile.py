"""A graph in DOT or GraphML with tables in CSV."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np
import pytest

from problems.files import FileError
from problems.formats import profile
from problems.formats.graphml import read as read_graphml
from problems.resolve import from_bundle

GRAPH = "digraph { a [output_bytes=6, weight_bytes=5]; b [colocate=g]; a -> b }"
TIMES = "node,device,seconds\na,cpu,4\na,gpu,0.5\n\nb,cpu,3\nb,gpu,\n"
DEVICES = "name,kind,memory_bytes,host\ncpu,,,true\ngpu0,gpu,100,\ngpu1,gpu,100,no\n"
PORTS = "device,latency_s,bandwidth_Bps\ngpu0,1,2\ngpu1,1,2\n"
WIRES = "source,target,latency_s,bandwidth_Bps\ncpu,gpu0,1,2\n*,*,0,6\n"


def read(graph=GRAPH, times=TIMES, devices=DEVICES, links=PORTS, name="g.dot", **options):
    data = graph if isinstance(graph, bytes) else graph.encode()
    parts = [(text.encode(), f"{what}.csv") for text, what in ((times, "t"), (devices, "d"))]
    last = None if links is None else (links.encode(), "l.csv")
    return profile.read((data, name), *parts, last, "g", **options)


def test_ports_make_a_staged_platform():
    got = from_bundle(read(rules={"contiguous": True}).bundle)
    assert got.staged
    assert got.device_names == ("cpu", "gpu0", "gpu1")
    assert got.host.tolist() == [True, False, False]
    assert got.time[:, :2].tolist() == [[4, 0.5], [3, np.inf]]
    assert got.link_time[got.port[2]].tolist() == [4, 1]
    assert got.node_bytes.tolist() == [11, 0]
    assert got.memory.tolist() == [np.inf, 100, 100]


def test_wires_make_a_direct_one_and_line_ends_do_not_matter():
    got = from_bundle(read(links=WIRES.replace("\n", "\r\n"), problem="latency").bundle)
    assert not got.staged
    assert got.link_time[got.wire[1, 0]].tolist() == [4, 1]
    assert got.link_time[got.wire[1, 2]].tolist() == [1, 0]


def test_graphml_is_the_same_graph():
    graph = nx.DiGraph()
    graph.add_node("a", output_bytes=6, weight_bytes=5, seen=True)
    graph.add_node("b", colocate="g")
    graph.add_edge("a", "b")
    data = io.BytesIO()
    nx.write_graphml(graph, data)
    imported = read(data.getvalue(), name="g.graphml")
    assert from_bundle(imported.bundle).digest == from_bundle(read().bundle).digest
    assert imported.notes == ["attributes not used: seen"]


def graphml(**changes):
    text = '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>{}</graph></graphml>'
    edge = '<edge source="a" target="b"/>'
    return text.format(edge * changes.get("edges", 1)).replace(*changes.get("swap", ("", "")))


KEYS = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="output_bytes" attr.type="int"><default>8</default></key>
<key id="d1" for="edge" attr.name="weight"><default>1</default></key>
<key id="d2" for="all" attr.name="op"/><!-- a comment -->
<graph edgedefault="directed"><desc>text</desc><data key="d2">whole</data>
<node id="a"><data key="d0">6</data></node><node id="b"><data key="d2">conv</data></node>
<edge source="a" target="b"><data key="d1">2</data><data key="d2">x</data></edge>
</graph></graphml>"""


def test_defaults_of_graphml_keys_hold_and_what_is_not_read_is_noted():
    nodes, edges, notes = read_graphml(KEYS.encode(), "g.xml")
    assert nodes == {"a": {"output_bytes": "6"}, "b": {"output_bytes": "8", "op": "conv"}}
    assert edges == [("a", "b")]
    assert notes == [
        "attributes of edges are not used: weight, op",
        "attributes of the graph are not used",
    ]
    assert set(notes) <= set(read(KEYS, name="g.xml").notes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '<node id="b"/>',
            '<node id="b"/><node id="a"/>',
            "the id of an earlier node, too - at `node 'a'`",
        ),
        ("</graph>", '</graph><graph edgedefault="directed"/>', "2 graphs, not one"),
        (
            '<node id="b"/>',
            '<node id="b"><graph edgedefault="directed"/></node>',
            "<graph> is not read - at `node",
        ),
        ('target="b"', 'target="c"', "no node 'c' - at `edge 'a' -> 'c'`"),
        ('target="b"', 'target="b" directed="false"', "without a direction - at `edge 'a' -> 'b'`"),
        ('target="b"', 'target="b" sourceport="p"', "ports are not read"),
        (' target="b"', "", "an edge without source or target"),
        ('<node id="b"/>', "<node/>", "a node without an id"),
        (
            '<node id="b"/>',
            '<node id="b"><port name="p"/></node>',
            "<port> is not read - at `node 'b'`",
        ),
        ('<node id="b"/>', '<node id="b"/><hyperedge/>', "<hyperedge> in a graph is not read"),
        (
            '<node id="b"/>',
            '<node id="b"><data key="d"/></node>',
            "no <key> has the id 'd' - at `node 'b'`",
        ),
        ("<graphml>", '<graphml><key id="d"/><key id="d"/>', "a <key> without an id of its own: d"),
        (
            '<node id="b"/>',
            '<node id="b"><data key="d"/><data key="d"/></node>',
            "op is given twice - at `node 'b'`",
        ),
        ("graphml>", "svg>", "not GraphML: the root is <svg>"),
    ],
)
def test_what_graphml_has_no_place_for_is_refused(old, new, message):
    text = graphml().replace(old, new)
    if "twice" in message:
        text = text.replace("<graphml>", '<graphml><key id="d" attr.name="op"/>')
    with pytest.raises(FileError) as caught:
        read(text, name="g.xml")
    assert str(caught.value).startswith("g.xml: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"times": "node,seconds\n"}, "t.csv: the first line must be 'node,device,seconds', not"),
        ({"times": TIMES + "c,cpu,1\n"}, "t.csv: the graph has no node 'c' - at `line 7`"),
        ({"times": TIMES + "a,gpu0,1\n"}, "no kind of device 'gpu0'; there are cpu, gpu - at"),
        ({"times": TIMES + "a,cpu,1\n"}, "node 'a' on 'cpu' is listed twice - at `line 7`"),
        ({"times": TIMES + "a,cpu\n"}, "2 cells, not 3 - at `line 7`"),
        ({"times": TIMES.replace("b,gpu,\n", "")}, "node 'b' has no time on 'gpu'; None says"),
        ({"times": TIMES.replace("0.5", "9999999999")}, "leave it empty where the node cannot run"),
        ({"times": TIMES.replace("0.5", "0,5")}, "4 cells, not 3 - at `line 3`"),
        ({"times": TIMES.replace("0.5", "inf")}, "'inf' is not a number - at `line 3`"),
        ({"times": TIMES + '"'}, "t.csv: unexpected end of data - at `line 7`"),
        ({"devices": DEVICES + "cpu,,,\n"}, "d.csv: line 5: device 'cpu' is added twice"),
        ({"devices": DEVICES.replace("no", "maybe")}, "host is true or false, not 'maybe'"),
        ({"devices": "name,kind,memory_bytes,host\n"}, "d.csv: no devices"),
        ({"links": PORTS + "gpu0,1,2\n"}, "device 'gpu0' is listed twice - at `line 4`"),
        ({"links": PORTS + "tpu,1,2\n"}, "d.csv: no device 'tpu', which a link is given for"),
        ({"links": PORTS.replace("1,2", "1,0")}, "l.csv: line 2: link 'gpu0-port': bandwidth_Bps"),
        ({"links": WIRES + "cpu,tpu,1,1\n"}, "l.csv: line 4: wire 'cpu' - 'tpu': no device 'tpu'"),
        ({"links": None}, "a device is a host or has a `link`"),
        ({"graph": GRAPH.replace("=6", "=x")}, "'x' is not a number - at `node 'a', output_bytes`"),
        ({"graph": GRAPH.replace("a -> b", "a -> b; a -> b")}, "edge 'a' -> 'b' is added twice"),
        ({"graph": GRAPH.replace("colocate=g", "phase=x")}, "phase is forward or backward"),
        ({"graph": "<graphml", "name": "g.graphml"}, "g.graphml: not GraphML: ParseError"),
        ({"graph": graphml(swap=("directed", "undirected")), "name": "x.xml"}, "no direction"),
        ({"graph": graphml(edges=2), "name": "x.xml"}, "two edges join the same nodes"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_error_with_its_file_and_line(parts, message):
    with pytest.raises(FileError) as caught:
        read(**parts)
    assert message in str(caught.value)
    files = (parts.get("name", "g.dot"), "t.csv", "d.csv", "l.csv")
    assert str(caught.value).startswith(tuple(f"{name}: " for name in files))
    assert "\n" not in str(caught.value)
