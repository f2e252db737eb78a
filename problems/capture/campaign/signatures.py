"""The signatures to measure, read from graph files with the standard library alone.

Any JSON file with a table ``signatures`` will do: a graph file, or a job made of several of them.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRAPHS = Path(__file__).parents[2] / "library" / "graphs"


@dataclass(frozen=True)
class Work:
    """One signature and what is known of its cost.

    Attributes
    ----------
    replay : dict
        ``op``, ``args``, ``kwargs``.
    flops, traffic : float
        Floating-point operations, and bytes read and written.
    held : int
        Bytes of its arguments.
    """

    replay: dict[str, Any]
    flops: float
    traffic: float
    held: int

    def core_s(self) -> float:
        """Rough seconds on one CPU core: 30 Gflop/s, 5 GB/s and 20 us a call."""
        return self.flops / 30e9 + self.traffic / 5e9 + 20e-6


def read(paths: Iterable[str | Path]) -> dict[str, Work]:
    """Unite the signature tables of files, cheap graphs first, so that those reached are whole.

    Raises
    ------
    ValueError
        If there is no file, or one is no JSON file with signatures.
    """
    tables: list[dict[str, Work]] = []
    for path in map(Path, paths):
        try:
            data = path.read_bytes()
            whole = json.loads(gzip.decompress(data) if path.name.endswith(".gz") else data)
            tables.append({key: work(each) for key, each in whole["signatures"].items()})
        except (OSError, EOFError, zlib.error, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"{path}: cannot be read: {why}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: no signatures to measure: {error!r}") from None
    if not any(tables):
        raise ValueError("no signatures to measure: name graph files, or a job made of them")
    merged: dict[str, Work] = {}
    for table in sorted(tables, key=lambda table: sum(each.core_s() for each in table.values())):
        for key, each in sorted(table.items(), key=lambda item: (item[1].core_s(), item[0])):
            merged.setdefault(key, each)
    return merged


def dump(works: Mapping[str, Work]) -> bytes:
    """Pack signatures into a job, gzipped JSON that :func:`read` takes."""
    table = {
        key: each.replay | {"flops": each.flops, "bytes_read": each.traffic, "bytes_written": 0}
        for key, each in works.items()
    }
    text = json.dumps({"format": "placebench-job/1", "signatures": table}, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def work(each: dict[str, Any]) -> Work:
    """Take one signature of a table: `op`, and where they are not empty `args`, `kwargs` and costs.

    Raises
    ------
    KeyError
        If it names no operator.
    """
    args, kwargs = each.get("args", []), each.get("kwargs", {})
    return Work(
        replay={"op": str(each["op"]), "args": args, "kwargs": kwargs},
        flops=float(each.get("flops", 0.0)),
        traffic=float(each.get("bytes_read", 0)) + float(each.get("bytes_written", 0)),
        held=_held(args) + _held(list(kwargs.values())),
    )


def _held(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_held, value))
    if isinstance(value, dict) and "tensor" in value:
        elements: int = math.prod(value["tensor"][0])
        return 4 * elements  # float32, which nearly all of them are
    return 0
