"""Records and answers of an instance in one file that a page opened from a disk can read.

A page of ``file://`` may run a script that lies beside it, but not fetch a file: so the file is a
script that hands over gzip in base64, which the browser inflates when a record is asked for.

What all records of the instance share is told once, and the rest by column: like values lie side
by side, and the name of a field is no part of every record.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import NODEFAULT

from bench.leaderboard.gather import brief
from bench.records import Record, Store
from problems.files import FileError, encode

_DIGITS = 9  # of a time: clocks count nanoseconds, what differences of floats add is no content
_SECONDS = ("load_s", "warm_s", "build_s", "solve_s", "wall_s", "cpu_s", "check_s", "overrun_s")


def pack(runs: Sequence[Record], store: Store) -> bytes:
    """The file: ``placebenchRuns("...")`` of ``{"shared", "columns", "answers"}``.

    A record has the fields of `shared`, which are those of all of them, and its place in each of
    `columns`; fields that no record has are left out. `answers` are in the order in which the
    records name them first; one that the store lacks (then its record was set aside, or never had
    one) is null.
    """
    records = [_fields(brief(run)) for run in runs]
    shared: dict[str, Any] = {}
    columns: dict[str, list[Any]] = {"key": []}
    for name, default in _DEFAULTS.items():
        values = [record[name] for record in records]
        if name == "key" or any(each != values[0] for each in values):
            columns[name] = values
        elif values and values[0] != default:
            shared[name] = values[0]
    answers = []
    for digest in dict.fromkeys(r.answer for r in runs if r.answer):
        try:
            answers.append(store.answer_bytes(digest))
        except FileError:
            answers.append(b"null")
    told = encode({"shared": shared, "columns": columns})
    content = told[:-1] + b',"answers":[' + b",".join(answers) + b"]}"
    packed = base64.b64encode(gzip.compress(content, 6, mtime=0))
    return b'placebenchRuns("' + packed + b'");\n'


# Field -> its default; of one that has none a mark that no value is equal to.
_DEFAULTS = {
    field.name: field.default if field.default_factory is NODEFAULT else field.default_factory()
    for field in msgspec.structs.fields(Record)
}


def _fields(record: Record) -> dict[str, Any]:
    """All fields of a record, times to the nanosecond."""
    told = {name: getattr(record, name) for name in _DEFAULTS}
    for name in _SECONDS:
        told[name] = told[name] if told[name] is None else round(told[name], _DIGITS)
    for name in ("trace", "bounds"):
        told[name] = [(round(t, _DIGITS), value) for t, value in told[name]]
    return told
