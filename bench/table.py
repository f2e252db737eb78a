"""Records as a table, for pandas, Parquet and spreadsheets: one row a run."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from bench import results
from bench.bks import Headline
from bench.records import Record
from problems.files import encode, write_atomically

_LISTS = ("violations", "trace", "bounds")
_TIMES = {"objective": "objective_s", "claimed_objective": "claimed_objective_s",
          "claimed_bound": "claimed_bound_s"}  # fmt: skip
_METRICS = ("gap_bound", "gap_best", "primal_gap", "integral")
_TYPES = {
    "memory_limit_bytes": "Int64", "objective": "float64", "claimed_objective": "float64",
    "claimed_bound": "float64",
}  # fmt: skip


def frame(records: Iterable[Record], known: Mapping[str, Headline] | None = None) -> pd.DataFrame:
    """One row a run, in the order given.

    Parameters
    ----------
    known : mapping of str to Headline, optional
        Digest of the instance -> best known answer and bound; adds the metrics.

    Returns
    -------
    DataFrame
        The fields of :class:`bench.records.Record` under their names; times in seconds, and
        ``_s`` is appended where the name does not say so (`objective_s`, `claimed_objective_s`,
        `claimed_bound_s`). `options` is JSON; `violations`, `trace` and `bounds` are lists of
        pairs. Besides `section` (what is ranked together) and `reason` (why there is no valid
        answer). With `known`: `bound_s`, `bound_kind`, `best_known_s`, `gap_bound`, `gap_best`
        (inf without a valid answer), `primal_gap`, `integral` (primal integral / limit).

    Raises
    ------
    KeyError
        If `known` lacks an instance.
    ValueError
        If a bound there lies above a checked objective.
    """
    records = list(records)
    names = [name for name in Record.__struct_fields__ if name != "format"]
    columns: dict[str, Any] = {}
    for name in names:
        values: list[Any] = [getattr(record, name) for record in records]
        if name == "options":
            values = [encode(value).decode() for value in values]
        elif name in _LISTS:
            values = [list(map(list, value)) for value in values]
        columns[_TIMES.get(name, name)] = pd.Series(values, dtype=_TYPES.get(name))
    columns["section"] = [results.section_of(record) for record in records]
    columns["reason"] = [results.reason(record) for record in records]
    if known is not None:
        heads = [known[record.digest] for record in records]
        columns["bound_s"] = [head.bound for head in heads]
        columns["bound_kind"] = [head.bound_kind for head in heads]
        columns["best_known_s"] = pd.Series([head.objective for head in heads], dtype="float64")
        rows = [results.measured(r, head) for r, head in zip(records, heads, strict=True)]
        for name in _METRICS:
            columns[name] = [row[name] for row in rows]
    return pd.DataFrame(columns)


def write(
    path: Path, records: Iterable[Record], known: Mapping[str, Headline] | None = None
) -> None:
    """Write records whole or not at all; the end of the name says in which form.

    ``.parquet`` and ``.csv`` hold :func:`frame`, lists as JSON in the latter; ``.jsonl`` the
    records themselves, as ``--records`` reads them.

    Raises
    ------
    ValueError
        If the name has another end.
    """
    if path.suffix not in WRITERS:
        raise ValueError(f"{path}: the name must end in {', '.join(WRITERS)}")
    write_atomically(path, WRITERS[path.suffix](list(records), known))


def _parquet(records: list[Record], known: Mapping[str, Headline] | None) -> bytes:
    buffer = io.BytesIO()
    frame(records, known).to_parquet(buffer, index=False)
    return buffer.getvalue()


def _csv(records: list[Record], known: Mapping[str, Headline] | None) -> bytes:
    table = frame(records, known)
    for name in _LISTS:
        table[name] = [msgspec.json.encode(value).decode() for value in table[name]]
    return table.to_csv(index=False, lineterminator="\n").encode()


def _json_lines(records: list[Record], known: Mapping[str, Headline] | None) -> bytes:
    return b"".join(encode(record) + b"\n" for record in records)


WRITERS: dict[str, Callable[[list[Record], Mapping[str, Headline] | None], bytes]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".jsonl": _json_lines,
}
