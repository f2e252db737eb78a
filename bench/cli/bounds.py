"""``placebench bounds``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from bench import bounds
from bench.cli import DONE, Interrupted, output
from bench.cli.aside import Aside, Died
from bench.leaderboard.words import seconds as in_words
from bench.selection import load, select
from problems.bounds.registry import REGISTRY, Bound, Bounder
from problems.catalogue import Library
from problems.instance import Instance

# A search that took less of its limit than this came to its own end: more time changes nothing.
EXHAUSTED = 0.9
COLUMNS = {
    "bound": "left", "value": "right", "of best": "right", "took": "right",
    "effort": "left", "why": "fold",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    search : bool
        Also run the bounds that search, `seconds` each.
    save, fresh : bool
        Keep the values on file; compute what is on file again.
    """

    search: bool = False
    seconds: float = 60.0
    save: bool = False
    fresh: bool = False


def run(text: str, options: Options, json: bool) -> int:
    """Compute and print every bound of every selected instance."""
    library = Library()
    selected = select([text], library)
    if options.save:
        output.writable(bounds.path().parent)
    output.faults(bounds.load().faults)
    found: list[_Instance] = []
    progress = _Progress(len(selected), options.search)
    try:
        with Aside() as aside:
            for each in selected:
                found.append(_Instance(load(each, library)))
                found[-1].compute(options, progress, aside)
    except KeyboardInterrupt:
        kept = f"kept in {bounds.path()}" if options.save else "shown"
        progress.clear()
        _show([row for each in found for row in each.told()], json)
        output.warn(f"placebench: interrupted; the bounds that were finished are {kept}")
        raise Interrupted from None
    progress.clear()
    _show([row for each in found for row in each.told()], json)
    return DONE


def _show(told: list[dict[str, Any]], json: bool) -> None:
    if json:
        output.as_json(told)
    elif told:
        _table(told)


def _table(told: list[dict[str, Any]]) -> None:
    """One table an instance where a line is short, else one for all: a row says everything."""
    console = output.console()
    if not console.is_terminal:
        output.rows({"instance": "fold", **COLUMNS}, [[e["instance"], *_row(e)] for e in told])
        return
    for instance in dict.fromkeys(each["instance"] for each in told):
        rows = [_row(each) for each in told if each["instance"] == instance]
        output.rows(COLUMNS, rows, title=instance)


class _Instance:
    """The bounds of one instance, as far as they are known."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.valid: list[tuple[bounds.Stored, bool]] = []  # and whether it was on file
        self.others: dict[str, str] = {}  # name -> why there is none

    def compute(self, options: Options, progress: _Progress, aside: Aside) -> None:
        """Take from the file or compute every bound of the instance's problem."""
        instance = self.instance
        progress.begin(instance.id)
        known = bounds.load().of(instance.digest)
        mine = [each for each in REGISTRY.values() if instance.problem in each.problems]
        self.others = {each.name: "interrupted" for each in mine}
        for entry in mine:
            reason = entry.valid_for(instance)
            stored = None if options.fresh else known.get(entry.name)
            if reason is not None:
                self.others[entry.name] = reason
            elif stored is not None and not (
                options.search and _cut_short(stored, options.seconds)
            ):
                self._take(stored, True)
            elif entry.effort == "search" and not options.search:
                self.others[entry.name] = "not run: --search"
            else:
                progress.working(entry.name)
                self._search(entry, stored, options, aside)
        best = max((each for each, _ in self.valid), key=lambda each: each.value, default=None)
        said = "no valid bound" if best is None else f"{in_words(best.value)} {best.name}"
        progress.end(instance.id, said)

    def _search(
        self, entry: Bounder, stored: bounds.Stored | None, options: Options, aside: Aside
    ) -> None:
        limit = options.seconds if entry.effort == "search" else 0.0
        try:
            found = (aside.search if limit else _here)(entry.name, self.instance, limit)
        except Died:
            self.others[entry.name] = "its process was ended, perhaps for want of memory"
            return
        new = bounds.Stored(
            entry.name, entry.version, found.value, found.seconds, limit, found.note
        )
        # At once: a search of many minutes is not lost to a later one that is interrupted.
        if options.save:
            bounds.save(self.instance, [new])
        better = new if stored is None or new.value >= stored.value else stored
        self._take(better, better is stored)

    def _take(self, found: bounds.Stored, on_file: bool) -> None:
        self.valid.append((found, on_file))
        del self.others[found.name]

    def told(self) -> list[dict[str, Any]]:
        """Every bound as plain values, largest first, those without one last."""
        head = {"instance": self.instance.id, "digest": self.instance.digest}
        valid = sorted(self.valid, key=lambda each: -each[0].value)
        best = valid[0][0].value if valid else 0.0
        rows: list[dict[str, Any]] = [
            {
                **head,
                "bound": each.name,
                "effort": REGISTRY[each.name].effort,
                "value_s": each.value,
                "of_best": each.value / best if best > 0 else 1.0,
                "theoretical": each.value == best,
                "seconds": each.seconds,
                "on_file": on_file,
                "note": each.note,
            }
            for each, on_file in valid
        ]
        empty = {"value_s": None, "of_best": None, "theoretical": False, "seconds": None}
        return rows + [
            {
                **head, "bound": name, "effort": REGISTRY[name].effort, **empty, "on_file": False,
                "note": reason,
            }
            for name, reason in self.others.items()
        ]  # fmt: skip


def _here(name: str, instance: Instance, limit: float) -> Bound:
    return REGISTRY[name](instance)


def _cut_short(stored: bounds.Stored, seconds: float) -> bool:
    """Whether a search on file would have gone on, and may now for longer."""
    return stored.limit_s < seconds and stored.seconds >= EXHAUSTED * stored.limit_s > 0


def _row(each: dict[str, Any]) -> list[str]:
    if each["value_s"] is None:
        return [each["bound"], "-", "-", "-", each["effort"], each["note"]]
    return [
        each["bound"],
        in_words(each["value_s"]) + ("*" if each["theoretical"] else ""),
        f"{each['of_best']:.4f}",
        "on file" if each["on_file"] else in_words(each["seconds"]),
        each["effort"],
        each["note"],
    ]


class _Progress:
    """On stderr: one line that changes on a terminal, one line an instance elsewhere."""

    def __init__(self, total: int, search: bool) -> None:
        self._total, self._done, self._id = total, 0, ""
        self._lively = sys.stderr.isatty()
        self._told = total > 1 or search

    def begin(self, name: str) -> None:
        """Start with an instance."""
        self._id = name
        self._show(name)

    def working(self, bound: str) -> None:
        """Start with a bound of it."""
        self._show(f"{bound} of {self._id}")

    def end(self, name: str, what: str) -> None:
        """Say what came of an instance."""
        self._done += 1
        if self._told and not self._lively:
            output.warn(f"[{self._done}/{self._total}] {name}: {what}")

    def clear(self) -> None:
        """Leave the terminal as it was."""
        if self._told and self._lively:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _show(self, text: str) -> None:
        if self._told and self._lively:
            line = f"[{self._done + 1}/{self._total}] {text}"
            print(f"\r\033[K{line[:78]}", end="", file=sys.stderr, flush=True)
