"""The part of GraphML that graphs of operators need: one directed graph, attributes of its nodes.

Nested graphs, ports, hyperedges and what repeats are refused. What is not read is noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from problems.files import FileError
from problems.formats.dot import Attributes, Graph
from problems.formats.reading import error, short

Key = tuple[str, str, str | None]  # what it belongs to, its name, its default


def read(data: bytes, where: str) -> Graph:
    """Nodes with their attributes (defaults of keys too) and edges, in the order of the file.

    Raises
    ------
    FileError
        If it is not one directed graph with a meaning, with the node or edge.
    """
    try:
        root = ElementTree.fromstring(data)
    except Exception as wrong:  # whatever the parser makes of any bytes
        what = short(f"{type(wrong).__name__}: {wrong}", 200)
        raise FileError(f"{where}: not GraphML: {what}") from None
    if _tag(root) != "graphml":
        raise FileError(f"{where}: not GraphML: the root is <{short(_tag(root))}>")
    graphs = [part for part in root if _tag(part) == "graph"]
    if len(graphs) != 1:
        raise FileError(f"{where}: {len(graphs)} graphs, not one")
    if graphs[0].get("edgedefault") != "directed":
        raise FileError(f"{where}: the edges have no direction (edgedefault)")
    return _Reader(where, _keys(root, where)).graph(graphs[0])


class _Reader:
    def __init__(self, where: str, keys: dict[str, Key]) -> None:
        self.where, self.keys = where, keys
        self.dropped: dict[str, None] = {}  # names of data of the edges and of the graph

    def graph(self, graph: ElementTree.Element) -> Graph:
        nodes: dict[str, Attributes] = {}
        edges: dict[tuple[str, str], None] = {}
        for part in graph:
            if _tag(part) == "node":
                key, attributes = self._node(part)
                if key in nodes:
                    raise error(self.where, "the id of an earlier node, too", _named("node", key))
                nodes[key] = attributes
            elif _tag(part) not in ("edge", "data", "desc"):
                raise FileError(f"{self.where}: <{short(_tag(part))}> in a graph is not read")
        for part in graph:
            if _tag(part) == "edge":
                pair = self._edge(part, nodes)
                if pair in edges:
                    raise error(self.where, "two edges join the same nodes", _edge_name(*pair))
                edges[pair] = None
        notes = []
        self.dropped |= {n: None for owner, n, default in self.keys.values()
                         if owner == "edge" and default is not None}  # fmt: skip
        if self.dropped:
            shown = ", ".join(map(short, list(self.dropped)[:6]))
            notes.append(f"attributes of edges are not used: {shown}")
        if any(_tag(part) == "data" for part in graph):
            notes.append("attributes of the graph are not used")
        return Graph(nodes, list(edges), notes)

    def _node(self, node: ElementTree.Element) -> tuple[str, Attributes]:
        key = node.get("id")
        if key is None:
            raise FileError(f"{self.where}: a node without an id")
        at = _named("node", key)
        attributes = dict(self._data(node, at))
        for owner, name, default in self.keys.values():
            if owner in ("node", "all") and default is not None:
                attributes.setdefault(name, default)
        return key, attributes

    def _edge(self, edge: ElementTree.Element, nodes: dict[str, Attributes]) -> tuple[str, str]:
        source, target = edge.get("source"), edge.get("target")
        if source is None or target is None:
            raise FileError(f"{self.where}: an edge without source or target")
        at = _edge_name(source, target)
        for end in (source, target):
            if end not in nodes:
                raise error(self.where, f"no node {short(end)!r}", at)
        if edge.get("directed", "true") not in ("true", "1"):
            raise error(self.where, "an edge without a direction", at)
        if "sourceport" in edge.keys() or "targetport" in edge.keys():  # noqa: SIM118
            raise error(self.where, "ports are not read", at)
        self.dropped |= {name: None for name, _ in self._data(edge, at)}
        return source, target

    def _data(self, parent: ElementTree.Element, at: str) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        for part in parent:
            if _tag(part) == "desc":
                continue
            if _tag(part) != "data":
                raise error(self.where, f"<{short(_tag(part))}> is not read", at)
            key = part.get("key", "")
            if key not in self.keys:
                raise error(self.where, f"no <key> has the id {short(key)!r}", at)
            name = self.keys[key][1]
            if name in seen:
                raise error(self.where, f"{short(name)} is given twice", at)
            seen.add(name)
            yield name, part.text or ""


def _keys(root: ElementTree.Element, where: str) -> dict[str, Key]:
    keys: dict[str, Key] = {}
    for part in root:
        if _tag(part) != "key":
            continue
        key = part.get("id")
        if key is None or key in keys:
            raise FileError(f"{where}: a <key> without an id of its own: {short(key)}")
        default = next((each.text or "" for each in part if _tag(each) == "default"), None)
        keys[key] = (part.get("for", "all"), part.get("attr.name", key), default)
    return keys


def _tag(part: ElementTree.Element) -> str:
    """The name of an element without its namespace; that of a comment is none."""
    return part.tag.rpartition("}")[2] if isinstance(part.tag, str) else ""


def _named(what: str, key: str) -> str:
    return f"{what} {short(key)!r}"


def _edge_name(source: str, target: str) -> str:
    return f"edge {short(source)!r} -> {short(target)!r}"
