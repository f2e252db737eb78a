"""Records and answers of an instance in one file that a page opened from a disk can read.

A page of ``file://`` may run a script that lies beside it, but not fetch a file: so the file is a
script that hands over gzip in base64, which the browser inflates when a record is asked for.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence

from bench.leaderboard.gather import brief
from bench.records import Record, Store
from problems.files import FileError, encode


def pack(runs: Sequence[Record], store: Store) -> bytes:
    """The file: ``placebenchRuns("...")`` of ``{"records": {key: ...}, "answers": {digest: ...}}``.

    An answer that the store lacks (then its record was set aside, or never had one) is left out.
    """
    records = b",".join(encode(r.key) + b":" + encode(brief(r)) for r in runs)
    answers = []
    for name in dict.fromkeys(r.answer for r in runs if r.answer):
        try:
            answers.append(encode(name) + b":" + store.answer_bytes(name))
        except FileError:
            continue
    content = b'{"records":{' + records + b'},"answers":{' + b",".join(answers) + b"}}"
    packed = base64.b64encode(gzip.compress(content, 6, mtime=0))
    return b'placebenchRuns("' + packed + b'");\n'
