"""The signatures of many graphs in one table: what a device file has to answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from problems import files
from problems.graph import GraphFile, Signature


def collect_signatures(paths: Iterable[str | Path]) -> dict[str, Signature]:
    """Unite the signature tables of graph files, sorted by id.

    Raises
    ------
    FileError
        If a file cannot be read, has a node whose signature it does not describe, or describes a
        signature otherwise than another file does.
    """
    table: dict[str, Signature] = {}
    for path in sorted(map(Path, paths)):
        graph = files.read(path, GraphFile)
        for v, node in enumerate(graph.nodes):
            if node.signature is not None and node.signature not in graph.signatures:
                raise files.FileError(
                    f"{path}: signature {node.signature!r} is not described"
                    f" - at `$.nodes[{v}].signature`"
                )
        for key, signature in graph.signatures.items():
            if table.setdefault(key, signature) != signature:
                raise files.FileError(
                    f"{path}: signature {key!r} differs from that of another graph"
                    f" - at `$.signatures`"
                )
    return dict(sorted(table.items()))
