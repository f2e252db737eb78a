"""Where the content of a leaderboard comes from: a store, or a published file of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import bks
from bench.leaderboard.board import Board, build
from bench.records import Record, Store
from problems.catalogue import CatalogueEntry
from problems.files import FileError, decode, encode, write_atomically


@dataclass(frozen=True)
class Source:
    """Records with the store of their answers and environments."""

    store: Store
    records: Sequence[Record]
    name: str


@dataclass(frozen=True)
class Known:
    """What is known of instances beside the records.

    Attributes
    ----------
    bounds : mapping of str to float
        Digest -> theoretical lower bound in seconds.
    sizes : mapping of str to (int, int)
        Digest -> nodes, devices.
    claims : mapping of str to Claims
        Earlier claims by digest.
    """

    bounds: Mapping[str, float] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    claims: Mapping[str, bks.Claims] = field(default_factory=dict)

    @staticmethod
    def of(entries: Sequence[CatalogueEntry], claims: Mapping[str, bks.Claims]) -> Known:
        """From the catalogue and the claims on file."""
        return Known(
            {entry.digest: entry.lower_bound_s for entry in entries},
            {entry.digest: (entry.n, entry.devices) for entry in entries},
            claims,
        )

    def with_(self, digest: str, bound: float, n: int, devices: int) -> Known:
        """Add an instance that is not in the catalogue."""
        return Known(
            {**self.bounds, digest: bound}, {**self.sizes, digest: (n, devices)}, self.claims
        )


def from_store(folder: Path) -> Source:
    """All records in a store.

    Raises
    ------
    FileError
        If there are none, or one is broken.
    """
    store = Store(folder)
    return Source(store, _some(list(store.records()), folder), str(folder))


def from_file(path: Path) -> Source:
    """A published file: JSON lines, with answers and environments in the folders beside its own.

    Raises
    ------
    FileError
        If it is missing, empty, or a line is no record.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    records = [decode(line, Record, f"{path}:{i + 1}") for i, line in enumerate(lines) if line]
    return Source(Store(path.parent.parent), _some(records, path), str(path))


def publish(source: Source, name: str, root: Path) -> Path:
    """Merge records into ``records/NAME.jsonl`` under `root`, with their answers and environments.

    Returns
    -------
    Path
        Of the file.
    """
    target = Store(root)
    for record in source.records:
        if record.answer:
            target.put_answer(source.store.get_answer(record.answer))
    for environment in _environment_files(source):
        target.put_environment(environment)
    path = root / "records" / f"{name}.jsonl"
    ordered = sorted(source.records, key=lambda record: record.key)
    write_atomically(path, b"".join(encode(record) + b"\n" for record in ordered))
    return path


def board(source: Source, known: Known) -> Board:
    """Rank the records of a source."""
    digests = {record.digest for record in source.records}
    earlier = {digest: each for digest, each in known.claims.items() if digest in digests}
    claims = bks.gather(source.records, known.bounds, earlier)
    headlines = {digest: bks.headline(each.claims) for digest, each in claims.items()}
    return build(source.records, headlines, known.sizes, _environments(source))


def _some(records: list[Record], place: Path) -> list[Record]:
    if not records:
        raise FileError(f"{place}: no records there; `placebench run` makes some")
    return records


def _environment_files(source: Source) -> list[dict[str, Any]]:
    """The environments of the records, and what was noted after their batches."""
    names = {record.environment for record in source.records}
    found = []
    for path in sorted(source.store.root.glob("environments/*.json")):
        content = source.store.get_environment(path.stem)
        if path.stem in names or content.get("environment") in names:
            found.append({**content})
    return found


def _environments(source: Source) -> list[dict[str, Any]]:
    """One description a machine, with the calibrations before and after each of its batches."""
    names = {record.environment for record in source.records}
    files = source.store.root.glob("environments/*.json")
    contents = {path.stem: source.store.get_environment(path.stem) for path in sorted(files)}
    merged: dict[bytes, tuple[dict[str, Any], list[float]]] = {}
    for name in sorted(names & set(contents)):
        told = dict(contents[name])
        medians = [told.pop("calibration", {}).get("median_s")]
        after = [c for c in contents.values() if c.get("environment") == name]
        medians += [c.get("calibration", {}).get("median_s") for c in after]
        told.pop("format", None)
        _, values = merged.setdefault(encode(told), (told, []))
        values += [value for value in medians if value is not None]
    found = []
    for told, values in merged.values():
        if values:
            spread = 100 * (max(values) / min(values) - 1)
            told["noise"] = (
                f"a fixed computation took {1e3 * min(values):.1f} to {1e3 * max(values):.1f} ms"
                f" before and after the batches ({spread:.1f}% apart)"
            )
        found.append(told)
    return found
