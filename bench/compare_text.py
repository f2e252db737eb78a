"""A comparison on a terminal of 80 columns, and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench import stats
from bench.compare_report import Conflict, Line, Pair, Pairing, Report
from bench.leaderboard.words import seconds

LISTED = 10  # names, where a list could be long


def show(report: Report, console: Console, most: int) -> None:
    """Print every pairing, with at most `most` of the largest changes either way."""
    for each in report.pairings:
        console.print(f"{each.a} -> {each.b}", style="bold", markup=False)
        console.print(each.limits, style="dim", markup=False)
        _plain(console, [f"note: {note}" for note in each.notes])
        if not each.pairs:
            console.print("no instance has runs of both")
        else:
            console.print(_table(each.lines))
            _plain(console, _unrated(each.lines))
            _changes(each, console, most)
        _names(console, f"missing: not run by {each.a}", each.missing_a)
        _names(console, f"missing: not run by {each.b}", each.missing_b)
        console.print()
    if report.conflicts:
        console.print("in conflict: a checked answer contradicts the claim", style="bold")
        _plain(console, [_conflict(each) for each in report.conflicts])
        console.print()
    console.print(_legend(report), style="dim", markup=False)


def plain(report: Report) -> dict[str, Any]:
    """As JSON has it: the report, with ratios and verdicts spelled out."""
    told: dict[str, Any] = msgspec.to_builtins(report)
    for each, pairing in zip(told["pairings"], report.pairings, strict=True):
        for line, of in zip(each["lines"], pairing.lines, strict=True):
            line["verdict"] = of.verdict
        for pair, one in zip(each["pairs"], pairing.pairs, strict=True):
            pair["ratio"] = one.ratio
    return told


def largest(pairing: Pairing, most: int) -> list[Pair]:
    """The largest changes: the best first, then the worst; new and lost answers before all."""
    changed = sorted(
        (pair for pair in pairing.pairs if pair.state != "tied"),
        key=lambda pair: (stats.relative(pair.b, pair.a), pair.instance),
    )
    better = [pair for pair in changed if pair.state == "improved"]
    worse = [pair for pair in reversed(changed) if pair.state == "worse"]
    return better[:most] + worse[:most]


def _legend(report: Report) -> str:
    return (
        "improved, worse: the second against the first, checked objectives, seeds averaged"
        f" (harmonic mean), tied within {stats.TIE:g}. ratio: geometric mean of second / first over"
        " the instances that both answered, with its bootstrap 95 % interval, stratified by"
        f" family. p: Wilcoxon signed-rank over all instances, zero rule {report.zero_rule} (ties"
        f" are dropped), Holm over {report.tests} test{'s' if report.tests != 1 else ''}."
        f" No verdict under {stats.MINIMUM} instances."
    )


def _table(lines: Sequence[Line]) -> Table:
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("", overflow="fold")
    for heading in ("improved", "tied", "worse", "ratio", "95% interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for line in lines:
        interval = "-" if line.interval is None else "-".join(f"{v:.3f}" for v in line.interval)
        indent = "  " if line.kind == "family" else ""
        table.add_row(
            Text(indent + line.title, style="" if indent else "bold"),
            str(line.improved), str(line.tied), str(line.worse),
            "-" if line.ratio is None else f"{line.ratio:.3f}",
            "" if indent else interval,
            "" if indent else _p(line.adjusted),
            line.verdict,
        )  # fmt: skip
    return table


def _unrated(lines: Sequence[Line]) -> list[str]:
    """Where a ratio leaves instances out: of no answer there is none."""
    return [
        f"ratio of {line.title}: over the {line.rated} of {line.instances} instances that both"
        " answered"
        for line in lines
        if line.kind != "family" and line.rated < line.instances
    ]


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _changes(each: Pairing, console: Console, most: int) -> None:
    found = largest(each, most)
    if not found:
        return
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("largest changes", overflow="fold")
    for heading in ("first", "second", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in found:
        ratio = "-" if pair.ratio is None else f"{pair.ratio:.3f}"
        table.add_row(Text(pair.instance), _time(pair.a), _time(pair.b), ratio)
    console.print(table)


def _time(value: float) -> str:
    return seconds(value) if math.isfinite(value) else "no answer"


def _names(console: Console, what: str, names: Sequence[str]) -> None:
    if names:
        more = f", and {len(names) - LISTED} more" if len(names) > LISTED else ""
        _plain(console, [f"{what} ({len(names)}): {', '.join(names[:LISTED])}{more}"])


def _conflict(each: Conflict) -> str:
    claimed = "that there is no answer"
    if each.claimed is not None:
        claimed = f"that nothing lies below {each.claimed!r} s"
    return (
        f"{each.instance}: {each.by} claims {claimed}, but {each.answered_by} has"
        f" {each.objective!r} s"
    )


def _plain(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(line, markup=False)
