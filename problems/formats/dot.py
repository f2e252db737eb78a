"""The part of the DOT language that graphs of operators need, read and written.

Read are directed graphs: node statements, edge statements (chains ``a -> b -> c`` too), attribute
lists, comments, quoted and plain ids. Attributes of edges and of the graph, and ``node [...]`` and
``edge [...]`` defaults, are dropped; a note says so. Subgraphs, ports and HTML labels are refused.
(The pydot package takes 36 s for 10,000 lines.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from problems.files import FileError
from problems.formats.reading import error, short, text
from problems.instance import Instance

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<id>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
      | (?P<arrow>->|--)
      | (?P<mark>[][{};,=:+<])""",
    re.VERBOSE | re.DOTALL,
)
_COLOURS = (
    "#8ecae6", "#ffb703", "#90be6d", "#e5989b", "#b8a9d9", "#f4a261",
    "#a3b18a", "#ced4da", "#64b5c6", "#dda15e", "#c9e265", "#e0aaff",
)  # fmt: skip


class Token(NamedTuple):
    """A word or mark of the language, and its line."""

    kind: str
    text: str
    line: int


Attributes = dict[str, str]


class Graph(NamedTuple):
    """What a file says: nodes with their attributes, edges, and notes on what is dropped."""

    nodes: dict[str, Attributes]
    edges: list[tuple[str, str]]
    notes: list[str]


def read(data: bytes, where: str) -> Graph:
    """Nodes with their attributes, and edges, in the order of the file.

    Raises
    ------
    FileError
        On what is not in the language, or not in this part of it, with its line.
    """
    return _Reader(text(data, where), where).graph()


class _Reader:
    def __init__(self, content: str, where: str) -> None:
        self.where = where
        self.tokens = _tokens(content, where)
        self.next: Token | None = next(self.tokens)
        self.nodes: dict[str, Attributes] = {}
        self.edges: list[tuple[str, str]] = []
        self.dropped: dict[str, dict[str, None]] = {}  # what they belong to -> attributes

    def graph(self) -> Graph:
        if self._peek("strict"):
            self._take()
        if not self._peek("digraph"):
            raise self._wrong("a directed graph starts with `digraph`")
        self._take()
        if not self._peek("{"):
            self._id()
        self._mark("{")
        while not self._peek("}"):
            self._statement()
            if self._peek(";"):
                self._take()
        self._take()
        if self.next is not None and self.next.kind != "end":
            raise self._wrong("one graph a file")
        notes = [
            f"{what} are not used: {', '.join(map(short, list(keys)[:6]))}"
            for what, keys in self.dropped.items()
        ]
        return Graph(self.nodes, self.edges, notes)

    def _statement(self) -> None:
        if self._peek("subgraph") or self._peek("{"):
            raise self._wrong("subgraphs are not read")
        default = any(self._peek(word) for word in ("graph", "node", "edge"))
        chain = [self._id()]
        if self._peek("="):
            self._take()
            self._id()
            self._drop("attributes of the graph", chain[0])
            return
        if default:
            word = chain[0].lower()
            what = "attributes of the graph" if word == "graph" else f"`{word} [...]` defaults"
            self._drop(what, *self._attributes())
            return
        while self.next is not None and self.next.kind == "arrow":
            arrow = self._take()
            if arrow.text != "->":
                raise self._wrong("edges of a directed graph are `->`", arrow)
            chain.append(self._id())
        attributes = self._attributes()
        for name in chain:
            self.nodes.setdefault(name, {})
        if len(chain) == 1:
            self.nodes[chain[0]].update(attributes)
        else:
            self._drop("attributes of edges", *attributes)
        self.edges += pairwise(chain)

    def _drop(self, what: str, *keys: str) -> None:
        if keys:
            self.dropped.setdefault(what, {}).update(dict.fromkeys(keys))

    def _attributes(self) -> Attributes:
        result: Attributes = {}
        while self._peek("["):
            self._take()
            while not self._peek("]"):
                key = self._id()
                self._mark("=")
                result[key] = self._id()
                if self._peek(",") or self._peek(";"):
                    self._take()
            self._take()
        return result

    def _id(self) -> str:
        token = self._take()
        if token.kind == "string":
            return re.sub(r'\\(["\\])', r"\1", token.text[1:-1].replace("\\\n", ""))
        if token.kind != "id":
            what = "HTML labels are not read" if token.text == "<" else "expected a name"
            raise self._wrong(what, token)
        return token.text

    def _peek(self, word: str) -> bool:
        token = self.next
        assert token is not None
        return token.kind in ("id", "mark") and token.text.lower() == word

    def _mark(self, mark: str) -> None:
        if not self._peek(mark):
            raise self._wrong(f"expected {mark!r}")
        self._take()

    def _take(self) -> Token:
        token = self.next
        assert token is not None
        if token.kind == "end":
            raise self._wrong("the graph is not closed")
        self.next = next(self.tokens)
        return token

    def _wrong(self, what: str, token: Token | None = None) -> FileError:
        token = token or self.next
        assert token is not None
        found = f", not {short(token.text)!r}" if token.kind != "end" else ""
        return error(self.where, what + found, f"line {token.line}")


def _tokens(content: str, where: str) -> Iterator[Token]:
    position, line = 0, 1
    while position < len(content):
        match = _TOKEN.match(content, position)
        if match is None:
            what = f"not DOT: {short(content[position : position + 20])!r}"
            raise error(where, what, f"line {line}")
        kind = match.lastgroup or ""
        if kind != "space":
            yield Token(kind, match.group(), line)
        line += match.group().count("\n")
        position = match.end()
    while True:
        yield Token("end", "", line)


def write(instance: Instance, device: np.ndarray | None = None) -> str:
    """DOT text of an instance; with a mapping of shape (n,), a colour for every device.

    A node shows its name and its time: on the device of the mapping, else on the fastest.
    """
    lines = ["digraph instance {", '  node [shape=box, style=filled, fillcolor="white"];']
    if device is not None:
        lines.append(f"  label={_quoted(_legend(instance))};")
    for v, name in enumerate(instance.names):
        time = instance.time[v].min() if device is None else instance.time[v, device[v]]
        attributes = {"label": f"{name}\n{time * 1e3:.4g} ms"}
        if device is not None:
            k = int(device[v])
            attributes |= {"device": instance.device_names[k], "fillcolor": _colour(k)}
        if instance.phase[v]:
            attributes["phase"] = "backward"
        listed = ", ".join(f"{key}={_quoted(value)}" for key, value in attributes.items())
        lines.append(f"  {_quoted(name)} [{listed}];")
    for u, v in instance.edges.tolist():
        lines.append(f"  {_quoted(instance.names[u])} -> {_quoted(instance.names[v])};")
    return "\n".join([*lines, "}", ""])


def _legend(instance: Instance) -> str:
    return f"{instance.id}, devices {', '.join(instance.device_names)}"


def _colour(k: int) -> str:
    return _COLOURS[k % len(_COLOURS)]


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
