"""Whether two sides of a comparison were run alike, and which of their runs are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.compare_sides import CompareError, Side
from bench.records import Record

GIB = 2**30
KINDS = ("time-limit", "threads", "memory-limit", "machine", "digests")
"""What has to be equal unless it is allowed to differ."""


@dataclass(frozen=True, order=True)
class Limits:
    """What a run was given; a memory limit of 0 is none."""

    time_limit_s: float
    threads: int
    memory_limit_bytes: int

    @staticmethod
    def of(record: Record) -> Limits:
        """The limits of a run."""
        return Limits(record.time_limit_s, record.threads, record.memory_limit_bytes or 0)

    def unlike(self, other: Limits) -> list[str]:
        """Kinds in which two differ."""
        pairs = zip(KINDS, self._values(), other._values(), strict=False)
        return [kind for kind, mine, theirs in pairs if mine != theirs]

    def say(self, kind: str) -> str:
        """One of them in words."""
        return {
            "time-limit": f"{self.time_limit_s:g} s",
            "threads": f"{self.threads}",
            "memory-limit": f"{self.memory_limit_bytes / 1e9:g} GB"
            if self.memory_limit_bytes
            else "none",
        }[kind]

    def __str__(self) -> str:
        memory = self.say("memory-limit")
        return f"{self.say('time-limit')}, threads {self.threads}, memory limit {memory}"

    def _values(self) -> tuple[float, int, int]:
        return self.time_limit_s, self.threads, self.memory_limit_bytes


@dataclass(frozen=True)
class Alike:
    """Runs of both sides that may be compared.

    Attributes
    ----------
    a, b : list of Record
    limits : str
        What they were run under.
    notes : list of str
        What else a reader must know: what was left out, what differs and was allowed to.
    """

    a: list[Record]
    b: list[Record]
    limits: str
    notes: list[str]


def alike(a: Side, b: Side, allow: Collection[str] = ()) -> Alike:
    """The runs of two sides under equal limits, on equal machines, of equal instances.

    Where a side was run under several limits, those under which both have the most runs count.

    Raises
    ------
    CompareError
        If the sides differ in something that `allow` does not name; it says what, and which.
    ValueError
        If `allow` names no kind.
    """
    if unknown := [kind for kind in allow if kind not in KINDS]:
        raise CompareError(f"cannot allow {unknown[0]!r} to differ; valid are {', '.join(KINDS)}")
    mine, theirs, differs = _limits(a, b, allow)
    first = [record for record in a.records if Limits.of(record) == mine]
    second = [record for record in b.records if Limits.of(record) == theirs]
    notes = []
    for side, kept in ((a, first), (b, second)):
        if len(kept) < len(side.records):
            notes.append(
                f"{len(side.records) - len(kept)} runs of {side.label} under other limits left out"
            )
    problems = [(kind, mine.say(kind), theirs.say(kind)) for kind in differs]
    here, there = _machines(first, a), _machines(second, b)
    if here != there:
        problems.append(("machine", "; ".join(sorted(here)), "; ".join(sorted(there))))
    if changed := _changed(first, second):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        name, one, two = changed[0]
        problems.append(("digests", f"{one[:12]} of {name}{more}", two[:12]))
    refused = [each for each in problems if each[0] not in allow]
    if refused:
        told = "; ".join(f"{kind}: {one} / {two}" for kind, one, two in refused)
        flags = ",".join(kind for kind, _, _ in refused)
        raise CompareError(
            f"{a.label} and {b.label} differ in {told}; --allow {flags} compares them all the same"
        )
    notes += [f"{kind} differs and was allowed to: {one} / {two}" for kind, one, two in problems]
    notes += _other(first, second, a, b)
    limits = str(mine) if mine == theirs else f"{mine} / {theirs}"
    return Alike(first, second, limits, notes)


def _limits(a: Side, b: Side, allow: Collection[str]) -> tuple[Limits, Limits, list[str]]:
    """Limits of either side, and in what they differ: the most runs, then the least difference."""
    mine, theirs = (Counter(map(Limits.of, side.records)) for side in (a, b))
    choices = [(one, two, one.unlike(two)) for one in mine for two in theirs]

    def worth(choice: tuple[Limits, Limits, list[str]]) -> tuple[bool, int, int, Limits]:
        one, two, differs = choice
        return set(differs) <= set(allow), -len(differs), min(mine[one], theirs[two]), one

    return max(choices, key=worth)


def _machines(records: Iterable[Record], side: Side) -> set[str]:
    return {_machine(digest, side.environments) for digest in {r.environment for r in records}}


def _machine(digest: str, environments: Mapping[str, Mapping[str, Any]]) -> str:
    """What of an environment is the machine, in words."""
    told = environments.get(digest)
    if told is None:
        return f"a machine that is not on file ({digest[:12] or 'none named'})"
    memory = told.get("memory_bytes")
    parts = [str(told.get("cpu", "unknown CPU")), f"{told.get('cores')} cores"]
    parts.append(f"{told.get('usable_threads', told.get('threads'))} usable threads")
    if isinstance(memory, int):
        parts.append(f"{round(memory / GIB)} GiB")
    return ", ".join(parts)


def _changed(a: Iterable[Record], b: Iterable[Record]) -> list[tuple[str, str, str]]:
    """Instances under one name whose content differs: (id, digest, digest)."""
    mine, theirs = ({r.instance: r.digest for r in records} for records in (a, b))
    return [
        (name, mine[name], theirs[name])
        for name in sorted(mine.keys() & theirs.keys())
        if mine[name] != theirs[name]
    ]


def _other(first: list[Record], second: list[Record], a: Side, b: Side) -> list[str]:
    """What may differ and is worth a word: suite, commit, Python, packages, seeds."""
    told: list[tuple[str, Callable[[Record, Side], Any]]] = [
        ("suite", lambda r, side: r.suite),
        ("seeds", lambda r, side: r.seed),
        ("commit", lambda r, side: str(_of(r, side, "git_commit"))[:12]),
        ("Python", lambda r, side: _of(r, side, "python")),
        ("OS", lambda r, side: _of(r, side, "os")),
    ]
    notes = []
    for what, get in told:
        mine, theirs = {get(r, a) for r in first}, {get(r, b) for r in second}
        if mine != theirs:
            both = [", ".join(map(str, sorted(each, key=str))) for each in (mine, theirs)]
            notes.append(f"{what}: {' / '.join(both)}")
    mine, theirs = ({p for r in records for p in _packages(r, side)}
                    for records, side in ((first, a), (second, b)))  # fmt: skip
    if mine != theirs:
        notes.append(
            f"packages: {', '.join(sorted(mine - theirs))} / {', '.join(sorted(theirs - mine))}"
        )
    return notes


def _of(record: Record, side: Side, key: str) -> Any:
    return side.environments.get(record.environment, {}).get(key)


def _packages(record: Record, side: Side) -> list[str]:
    found = _of(record, side, "packages")
    return [f"{name} {version}" for name, version in found.items()] if found else []
