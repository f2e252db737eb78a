"""How values are written, and what the columns mean, in words: shared by every form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bench import metrics

if TYPE_CHECKING:  # what takes only a word from here needs no board, nor what that loads
    from bench.leaderboard.board import Board, Cell, Row, Standing

SHIFT = f"{100 * metrics.GAP_SHIFT:g}%"

OBJECTIVES = {
    "throughput": "seconds a sample, on the busiest device of a pipeline",
    "latency": "seconds from the input to the output of one sample",
    "calls": "seconds of one sample, accelerators running whole subgraphs as calls",
    "chips": "seconds a sample, on the busiest chip of a one-way chain",
}

# Column -> heading and explanation; in the order of the ranked table.
COLUMNS = {
    "rank": (
        "rank",
        "Place by mean rank over all instances, and the 95 % bootstrap interval of the place"
        " (instances drawn anew within each family), left out where it is that place alone. None"
        " under 6 instances: no verdict."
        " A dash: no valid answer at all.",
    ),
    "entry": ("entry", "Method with the options that were given."),
    "mean_rank": (
        "mean rank",
        "Entries are ranked on every instance by the primal gap, seeds averaged first; ties within"
        " 1e-6 share their places.",
    ),
    "gap_bound": (
        f"gap to bound (sgm, s={SHIFT})",
        "Shifted geometric mean of (z - b) / z: z the checked objective, b the best lower bound of"
        " the suite: recomputed, or (searched) found by a search whose result is on file. The true"
        " gap is at most this.",
    ),
    "gap_best": (
        f"gap to best (sgm, s={SHIFT})",
        "Shifted geometric mean of (z - z*) / z: z* the best checked objective known.",
    ),
    "integral": (
        "integral",
        "Mean primal integral over the time limit: 0 has the best known answer at once, 1 never"
        " finds any.",
    ),
    "answered": (
        "answered",
        "Instances with a valid answer under every seed, of all instances of the table. What an"
        " entry did not answer, or cannot take, counts as a gap of 100 % and the last place.",
    ),
    "wrong": ("invalid/failed", "Runs with an invalid answer / that crashed, raised or ran out."),
    "time": ("mean time", "Mean wall time; the time limit where there is no valid answer."),
}


def percent(value: float) -> str:
    """A gap: ``12.3%``, ``0``, ``<0.01%``, an infinite one as a dash."""
    if not math.isfinite(value):
        return "-"
    if abs(value) < 1e-9:
        return "0%"
    if abs(value) < 1e-4:
        return "<0.01%" if value > 0 else ">-0.01%"
    share = 100 * value
    return f"{share:.2f}%" if abs(share) < 10 else f"{share:.1f}%"


def seconds(value: float | None) -> str:
    """A time with three digits and a unit that fits."""
    if value is None:
        return "-"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {unit}" if value < 1000 else f"{value:.0f} s"
    return "0 s" if value == 0 else f"{value / 1e-9:.3g} ns"


def place(standing: Standing) -> str:
    """``2 (1-3)``; the interval is left out where it is the place; a dash without any answer."""
    if standing.place is None:
        return "-"
    if standing.interval is None:
        return str(standing.place)
    low, high = standing.interval
    alone = low == high == standing.place
    return str(standing.place) if alone else f"{standing.place} ({low}-{high})"


def mean_rank(standing: Standing) -> str:
    """``1.25``; a dash where there is no rank."""
    return "-" if standing.place is None else f"{standing.mean_rank:.2f}"


def answered(standing: Standing, total: int) -> str:
    """``7/8``, with what it was not run on: ``3/8, 4 not run``."""
    missing = total - standing.covered
    return f"{standing.answered}/{total}" + (f", {missing} not run" if missing else "")


def wrong(standing: Standing) -> str:
    """``0``, or invalid/failed runs; an asterisk where a claimed proof was wrong."""
    text = f"{standing.invalid}/{standing.failed}" if standing.invalid or standing.failed else "0"
    return text + ("*" if standing.conflict else "")


def ranked(standing: Standing, total: int) -> list[str]:
    """The line of an entry in the ranked table, in the order of :data:`COLUMNS`."""
    return [
        place(standing),
        standing.entry,
        mean_rank(standing),
        percent(standing.gap_bound),
        percent(standing.gap_best),
        f"{standing.integral:.3f}",
        answered(standing, total),
        wrong(standing),
        seconds(standing.time_s),
    ]


def status(row: Row) -> str:
    """Headline: ``optimal``, ``best, proved by prefix@highs``, ``best``, ``open``."""
    known = row.known
    if known.closed_by:
        return f"best, proved by {known.closed_by}"
    return known.status


def bound(row: Row) -> str:
    """The lower bound; one that only a search on file tells is marked."""
    mark = " (searched)" if row.known.bound_kind == "searched" else ""
    return seconds(row.known.bound) + mark


def cell(value: Cell | None) -> str:
    """What an entry reached: its gap to the best known, or why there is none."""
    if value is None:
        return "not run"
    if value.objective is None:
        return value.reason.split(":")[0] or "no answer"
    partly = f" [{value.answered}/{value.runs}]" if value.answered < value.runs else ""
    if partly:
        return seconds(value.objective) + partly
    return percent(value.gap_best)


def header(board: Board) -> str:
    """One line: conditions, seeds, runs, date."""
    seeds = f"{board.seeds} seed{'s' if board.seeds != 1 else ''}"
    runs = f"{board.runs} run{'s' if board.runs != 1 else ''}"
    return f"{board.conditions}, {seeds}, {runs}, {board.date[:10]}"


def machine(environment: Mapping[str, Any]) -> str:
    """One line: ``AMD EPYC, 2 cores, git 8af6643c4b86+dirty``."""
    parts = [str(environment.get("cpu", "unknown machine"))]
    cores = environment.get("cores") or environment.get("threads")
    if cores:
        parts.append(f"{cores} core{'s' if cores != 1 else ''}")
    commit = environment.get("git_commit")
    if commit:
        parts.append(f"git {commit[:12]}{'+dirty' if environment.get('git_dirty') else ''}")
    return ", ".join(parts)


def machines(board: Board) -> list[str]:
    """One line a machine, with how noisy it was and, of several, what ran there."""
    return [
        "; ".join(
            [
                machine(each),
                str(each.get("noise", "noise not measured")),
                *([f"runs of {', '.join(each['entries'])}"] if each.get("entries") else []),
            ]
        )
        for each in board.environments
    ]


def notes(board: Board) -> list[str]:
    """What a reader must know beside the table."""
    found = [f"In conflict, left out: {each}." for each in board.contradictions]
    found += [f"{each}." for each in board.remarks]
    found += [
        f"{n} runs under other conditions ({conditions}, suite {conditions.suite}) are left out."
        for conditions, n in board.others.items()
    ]
    for section in board.sections:
        if len(section.rows) < 6:
            found.append(f"{section.title}: no verdict under 6 instances, no intervals.")
        missing = len(section.rows) - section.bounded
        if missing:
            found.append(f"{section.title}: {missing} instances have no bound; their gap is 100 %.")
        for standing in section.standings:
            if standing.conflict:
                found.append(
                    f"* {standing.entry} claimed a proof that a checked answer contradicts."
                )
    return list(dict.fromkeys(found))
