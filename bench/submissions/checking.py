"""The checks of a submission: each a named function, all are made, errors are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from bench import bks, bounds
from bench.bks import Headline
from bench.entries import load_method, names
from bench.records import Record
from bench.submissions import folder as folders
from bench.submissions.folder import Folder
from bench.submissions.layout import ClaimedRun, Submission
from bench.wanted import Wanted
from problems import checker
from problems.answer import from_file
from problems.catalogue import CatalogueEntry, Library
from problems.files import FileError
from problems.instance import Instance
from solvers.method import Method

State = Literal["ok", "warning", "error", "not made"]
Need = Literal["submission", "runs"]


class Shared:
    """What the checks of several submissions have in common, computed once.

    Attributes
    ----------
    root : Path
        Folder of the submissions that a name has to be unique among.
    """

    def __init__(self, library: Library | None = None, root: Path | None = None) -> None:
        self.library = library or Library()
        self.root = folders.root() if root is None else root
        self._wanted = Wanted(self.library)
        self._instances: dict[str, Instance | None] = {}
        self._verdicts: dict[tuple[str, str], float | str] = {}
        self._siblings: dict[str, Submission | str] | None = None

    def beside(self, root: Path) -> Shared:
        """The same for submissions in another folder."""
        other = Shared(self.library, root)
        other._wanted, other._instances = self._wanted, self._instances
        other._verdicts = self._verdicts
        return other

    @property
    def entries(self) -> Mapping[str, CatalogueEntry]:
        """The library by digest."""
        return self._wanted.entries

    @cached_property
    def by_id(self) -> dict[str, CatalogueEntry]:
        """The library by id."""
        return {entry.id: entry for entry in self.entries.values()}

    def find(self, digest: str) -> Instance | None:
        """The instance of a digest; None where the library has none."""
        if digest not in self._instances:
            self._instances[digest] = self._wanted.find(digest)
        return self._instances[digest]

    def verdict(self, store: Folder, digest: str, answer: str) -> float | str:
        """Objective in seconds that the checker computes, or what is wrong with the answer."""
        place = digest, answer
        if place not in self._verdicts:
            self._verdicts[place] = self._judge(store, digest, answer)
        return self._verdicts[place]

    def _judge(self, store: Folder, digest: str, answer: str) -> float | str:
        instance = self.find(digest)
        if instance is None:
            return "its instance is not in the library"
        try:
            file = store.get_answer(answer)
            if file.instance != digest:
                return "it is of another instance"
            verdict = checker.check(instance, from_file(file))
        except FileError as error:
            return str(error)
        if verdict.objective is None:
            rule, what = verdict.violations[0]
            return f"invalid ({rule}): {what}"
        return verdict.objective

    @cached_property
    def headlines(self) -> dict[str, Headline]:
        """What is best known, and the bounds, by digest."""
        entries = list(self.entries.values())
        cheap, searched = bounds.recomputed(entries), bounds.load().searched(entries)
        known = {d: each for d, each in bks.load().items() if d in self.entries}
        empty = {
            d: bks.Claims("placebench-claims/1", d, e.id, [])
            for d, e in self.entries.items()
            if d not in known
        }
        claims = bks.gather([], cheap, {**known, **empty}, searched)
        return {digest: bks.headline(each.claims) for digest, each in claims.items()}

    def siblings(self) -> dict[str, Submission | str]:
        """All submissions in :attr:`root` by folder; the reason where one cannot be read."""
        if self._siblings is None:
            self._siblings = {path.name: Folder(path).submission for path in there(self.root)}
        return self._siblings

    @cached_property
    def own(self) -> set[str]:
        """Names of the suite's own methods."""
        return set(names())

    def method(self, name: str) -> Method | None:
        """One of the suite's own methods; None for any other."""
        return load_method(name) if name in self.own else None


def there(root: Path) -> list[Path]:
    """The folders of submissions in a folder, by name."""
    if not root.is_dir():
        return []
    # Hidden ones are being written, or were when the power went.
    return sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))


@dataclass
class Found:
    """What one check has seen: how much it looked at, and what is wrong."""

    looked: int = 0
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def error(self, text: str) -> None:
        """Note what must not be."""
        self.errors.append(text)

    def warn(self, text: str) -> None:
        """Note what a reader should know."""
        self.warnings.append(text)


class Case:
    """A folder under check."""

    def __init__(self, folder: Folder, shared: Shared) -> None:
        self.folder, self.shared = folder, shared

    @property
    def about(self) -> Submission:
        """What ``submission.json`` says; only for checks that need it."""
        assert isinstance(self.folder.submission, Submission)
        return self.folder.submission

    @cached_property
    def records(self) -> list[Record]:
        """The records; none where there are claims."""
        return [run for run in self.folder.runs if isinstance(run, Record)]

    @cached_property
    def claims(self) -> list[ClaimedRun]:
        """The claims; none where there are records."""
        return [run for run in self.folder.runs if isinstance(run, ClaimedRun)]

    @property
    def answered(self) -> list[Record | ClaimedRun]:
        """The runs that have an answer which is said to be valid."""
        return [r for r in self.folder.runs if isinstance(r, ClaimedRun) or r.check == "ok"]

    def lacks(self, need: Need) -> bool:
        """Whether something is not there that a check needs."""
        if need == "submission":
            return not isinstance(self.folder.submission, Submission)
        return not self.folder.runs


@dataclass(frozen=True)
class Check:
    """A check: what it is called, what it says, what it needs, and the function."""

    name: str
    says: str
    needs: tuple[Need, ...]
    function: Callable[[Case, Found], None]


@dataclass(frozen=True)
class Result:
    """What became of one check of one submission."""

    submission: str
    check: str
    state: State
    looked: int
    errors: Sequence[str]
    warnings: Sequence[str]


CHECKS: list[Check] = []


def check(
    says: str, *needs: Need
) -> Callable[[Callable[[Case, Found], None]], Callable[[Case, Found], None]]:
    """Register a function as a check, named like it; they are made in the order of registration."""

    def register(function: Callable[[Case, Found], None]) -> Callable[[Case, Found], None]:
        name = function.__name__.replace("_", " ")
        CHECKS.append(Check(name, says, needs, function))
        return function

    return register


def all_checks() -> list[Check]:
    """All checks in the order in which they are made."""
    # They register themselves, and need this module for it.
    from bench.submissions import check_answers, check_form, check_records, check_runs

    modules = (check_form, check_records, check_answers, check_runs)
    order = {module.__name__: i for i, module in enumerate(modules)}
    return sorted(CHECKS, key=lambda each: order[each.function.__module__])


def examine(folder: Folder, shared: Shared) -> list[Result]:
    """Make every check on a submission.

    One that needs what is not there is told as ``not made``: another check has the error.
    """
    case = Case(folder, shared)
    results = []
    for each in all_checks():
        found = Found()
        if any(map(case.lacks, each.needs)):
            results.append(Result(folder.name, each.name, "not made", 0, [], []))
            continue
        each.function(case, found)
        state: State = "error" if found.errors else "warning" if found.warnings else "ok"
        results.append(
            Result(folder.name, each.name, state, found.looked, found.errors, found.warnings)
        )
    return results


def day(text: str) -> date | None:
    """The day of an ISO 8601 date, with or without a time; None where it is none."""
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
