"""Where the content of a leaderboard comes from: a store, or a published file of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench import bks, bounds, verify
from bench.leaderboard.board import Board, build
from bench.records import Record, Store
from problems.catalogue import CatalogueEntry
from problems.files import FileError, contents, decode, encode, write_atomically
from problems.instance import Instance

NOISY = 0.1  # calibrations further apart than this are flagged


class _Told(msgspec.Struct):
    """What is used of an environment file, and must have the right type."""

    calibration: dict[str, float] = {}
    environment: str = ""
    git_commit: str | None = None


@dataclass(frozen=True)
class Source:
    """Records with the store of their answers and environments.

    Attributes
    ----------
    faults : sequence of str
        What was set aside because it is broken or not what the checker says, one line each.
    remarks : sequence of str
        What a reader of the tables must know.
    """

    store: Store
    records: Sequence[Record]
    name: str
    faults: Sequence[str] = ()
    remarks: Sequence[str] = ()

    @property
    def environments(self) -> dict[str, dict[str, Any]]:
        """Descriptions of the machines on file, by digest."""
        return _environments_on_file(self.store)[0]


@dataclass(frozen=True)
class Known:
    """What is known of instances beside the records.

    Attributes
    ----------
    bounds : mapping of str to float
        Digest -> lower bound in seconds that was recomputed.
    sizes : mapping of str to (int, int)
        Digest -> nodes, devices.
    claims : mapping of str to Claims
        Earlier claims by digest.
    searched : mapping of str to Claim
        Digest -> largest bound on file that took a search.
    """

    bounds: Mapping[str, float] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    claims: Mapping[str, bks.Claims] = field(default_factory=dict)
    searched: Mapping[str, bks.Claim] = field(default_factory=dict)

    @staticmethod
    def of(entries: Sequence[CatalogueEntry], claims: Mapping[str, bks.Claims]) -> Known:
        """From the catalogue, the bounds on file and the claims on file."""
        return Known(
            bounds.recomputed(entries),
            {entry.digest: (entry.n, entry.devices) for entry in entries},
            claims,
            bounds.load().searched(entries),
        )

    def with_instance(self, instance: Instance) -> Known:
        """Add an instance that is not in the catalogue."""
        cheap, searched = bounds.load().of_instance(instance)
        digest = instance.digest
        return Known(
            {**self.bounds, digest: cheap},
            {**self.sizes, digest: (instance.n, instance.K)},
            self.claims,
            self.searched if searched is None else {**self.searched, digest: searched},
        )

    def headlines(self, records: Sequence[Record]) -> dict[str, bks.Headline]:
        """What is known of the instances of `records`, these included, by digest."""
        digests = {record.digest for record in records}
        earlier = {digest: self.claims[digest] for digest in digests & self.claims.keys()}
        claims = bks.gather(records, self.bounds, earlier, self.searched)
        return {digest: bks.headline(each.claims) for digest, each in claims.items()}


def from_store(folder: Path) -> Source:
    """All records in a store; what is no record is set aside.

    Raises
    ------
    FileError
        If there are none.
    """
    store = Store(folder)
    found = [partial(store.record_at, path) for path in store.paths()]
    source = _source(store, found, folder)
    return replace(source, faults=[*source.faults, *store.strangers()])


def from_file(path: Path) -> Source:
    """A published file: JSON lines, with answers and environments in the folders beside its own.

    Raises
    ------
    FileError
        If it is missing, or no line is a record.
    """
    try:
        lines = contents(path).splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    found = [
        partial(decode, line, Record, f"{path}:{i + 1}") for i, line in enumerate(lines) if line
    ]
    return _source(Store(path.parent.parent), found, path)


def _source(store: Store, found: Sequence[Callable[[], Record]], place: Path) -> Source:
    records, faults = [], []
    for get in found:
        try:
            records.append(get())
        except FileError as error:
            faults.append(str(error))
    if not records:
        why = f"; {faults[0]}" if faults else "; `placebench run` makes some"
        raise FileError(f"{place}: no records there{why}")
    broken, remarks = _machines_lost(store, records)
    return Source(store, records, str(place), [*faults, *broken], remarks)


def rechecked(source: Source, load: Callable[[str], Instance | None]) -> Source:
    """Set aside the records whose stored answer is not what they say: anyone can edit a file.

    Parameters
    ----------
    load : callable
        Digest -> instance; None where it is unknown.
    """
    unknown = set()

    def noted(digest: str) -> Instance | None:
        instance = load(digest)
        if instance is None:
            unknown.add(digest)
        return instance

    good, bad = verify.verified(source.records, source.store, noted)
    faults = [f"{r.entry} on {r.instance}, seed {r.seed}: {why}" for r, why in bad]
    count = sum(record.digest in unknown for record in good)
    remarks = [
        f"{count} record{'s' if count != 1 else ''} could not be re-checked: their instance is not"
        " in the library"
    ]
    return replace(
        source,
        records=good,
        faults=[*source.faults, *faults],
        remarks=[*source.remarks, *(remarks if count else [])],
    )


def publish(source: Source, name: str, root: Path) -> Path:
    """Merge records into ``records/NAME.jsonl`` under `root`, with their answers and environments.

    The solver's log of a run that ended well stays behind in the store: it would be most of the
    file.

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
    ordered = sorted((brief(each) for each in source.records), key=lambda record: record.key)
    write_atomically(path, b"".join(encode(record) + b"\n" for record in ordered))
    return path


def brief(record: Record) -> Record:
    """A record as it is published: without the log of a run that ended well."""
    ended_well = record.check == "ok" and record.termination in ("completed", "time-limit")
    return msgspec.structs.replace(record, log="") if ended_well else record


def board(source: Source, known: Known, unlike: bool = False) -> Board:
    """Rank the records of a source; `unlike` as in :func:`bench.leaderboard.board.build`.

    A bound that a checked answer refutes is left out and named: the answer is the evidence.
    """
    headlines = known.headlines(source.records)
    names = {record.digest: record.instance for record in source.records}
    contradictions = [
        bks.refutation(names[digest], claim, head.objective, head.by)
        for digest, head in sorted(headlines.items(), key=lambda item: names[item[0]])
        for claim in head.refuted
        if claim.own and head.objective is not None
    ]
    ranked = build(source.records, headlines, known.sizes, environments(source), unlike)
    return replace(ranked, contradictions=contradictions, remarks=source.remarks)


def _environments_on_file(store: Store) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """All environments in a store by digest, and what is wrong with the files that are none."""
    found, faults = {}, []
    for path in store.environment_paths():
        try:
            told = Store.environment_at(path)
            msgspec.convert(told, _Told)
        except FileError as error:
            faults.append(str(error))
        except msgspec.ValidationError as error:
            faults.append(f"{path}: {error}")
        else:
            found[path.stem] = told
    return found, faults


def _machines_lost(store: Store, records: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Descriptions of machines that are broken, with what can be done, and that are missing."""
    found, faults = _environments_on_file(store)
    named = {record.environment for record in records} - {""}
    again = "the same `placebench run` makes its runs again"
    broken = []
    for fault in faults:
        mine = any(name in fault for name in named)
        broken.append(f"{fault}; " + (again if mine else "remove it: no run needs it"))
    there = found.keys() | {path.stem for path in store.environment_paths()}
    lost = sum(bool(r.environment) and r.environment not in there for r in records)
    told = f"The machine of {lost} run{'s' if lost != 1 else ''} is not on file; {again}"
    return broken, [told] if lost else []


def _environment_files(source: Source) -> list[dict[str, Any]]:
    """The environments of the records, and what was noted after their batches."""
    names = {record.environment for record in source.records}
    found, _ = _environments_on_file(source.store)
    return [e for name, e in found.items() if name in names or e.get("environment") in names]


def environments(source: Source) -> list[dict[str, Any]]:
    """One description a machine and state of the code.

    With the calibrations before and after each of its batches, and, where there is more than one,
    the `entries` whose runs it holds.
    """
    names = {record.environment for record in source.records}
    contents, _ = _environments_on_file(source.store)
    merged: dict[bytes, tuple[dict[str, Any], list[float], set[str]]] = {}
    for name in sorted(names & set(contents)):
        told = dict(contents[name])
        medians = [told.pop("calibration", {}).get("median_s")]
        after = [c for c in contents.values() if c.get("environment") == name]
        medians += [c.get("calibration", {}).get("median_s") for c in after]
        told.pop("format", None)
        _, values, entries = merged.setdefault(encode(told), (told, [], set()))
        values += [value for value in medians if value]
        entries |= {record.entry for record in source.records if record.environment == name}
    found = []
    for told, values, entries in merged.values():
        if len(merged) > 1:
            told["entries"] = sorted(entries)
        if len(values) == 1:
            told["noise"] = f"a fixed computation took {1e3 * values[0]:.1f} ms, measured once"
        elif values:
            apart = max(values) / min(values) - 1
            told["noise"] = (
                f"a fixed computation took {1e3 * min(values):.1f} to {1e3 * max(values):.1f} ms"
                f" before and after the batches ({100 * apart:.1f}% apart)"
            )
            if apart > NOISY:
                told["noise"] += f"; noisy: above {100 * NOISY:g}%, compare times with care"
        found.append(told)
    return found
