"""What a batch has stored, kept until its end: a run may have deleted or spoiled it meanwhile.

A method is a process of the same user, and can write to any store. What a harness finished while
it lived is put back when the batch ends.
"""

from __future__ import annotations

import gzip
from threading import Lock

from bench.records import Record, Store
from problems.answer import AnswerFile
from problems.files import FileError, decode, encode


class Stored:
    """Records of a batch with their answers, as they were stored."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, tuple[Record, bytes]] = {}

    def add(self, record: Record, answer: AnswerFile | None) -> None:
        """Remember what was stored."""
        packed = b"" if answer is None else gzip.compress(encode(answer), 6)
        with self._lock:
            self._kept[record.key] = record, packed

    def mend(self, store: Store) -> list[Record]:
        """Store anew what is not there as it was; returns the records that were concerned.

        Raises
        ------
        OSError
            If something cannot be written.
        """
        mended = []
        for record, packed in self._kept.values():
            whole = not packed or _holds(store, record.answer)
            if not whole:
                store.put_answer(decode(gzip.decompress(packed), AnswerFile, record.answer))
            if store.get(record.key) != record:
                store.put(record)
                whole = False
            if not whole:
                mended.append(record)
        return mended


def _holds(store: Store, answer: str) -> bool:
    try:
        store.get_answer(answer)
    except FileError:
        return False
    return True
