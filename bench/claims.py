"""The claims of the modularity-splitting paper, tested again on our own instances.

Ghannane and Abdelfattah (DiviML, 2023) say in their abstract that splitting by modularity reaches
the quality of an exact model up to 395 times faster, is 30 to 60 % better than other heuristics,
and that the best mapping beats the fastest device alone by more than 3 times in latency and up to
2.9 times in throughput. ``python -m bench.claims --jobs 2 --save`` makes the runs that are missing
on the default selection and writes what came out. The third claim needs no runs: it is read off
the best known answers of the whole library.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from bench import api, bks, claims_text, study
from bench.claims_duels import EXACT, PLAIN, alone, duels, objective, undecided
from bench.leaderboard import gather
from bench.proofs import section_of
from bench.records import Record
from bench.selection import select
from problems.catalogue import CatalogueEntry, Library

SELECTION = "default"
SPLITTING = "splitting"
EXACTS = tuple(dict.fromkeys(EXACT.values()))
OTHERS = ("greedy", "annealing", "random")
AIMS = {"latency": 3.0, "throughput": 2.9}
"""How many times the best mapping is to beat the best single device."""


def improvements(records: Iterable[Record], entries: Iterable[CatalogueEntry]) -> pd.DataFrame:
    """How much better splitting is than each other heuristic at equal time.

    Returns
    -------
    DataFrame
        Columns `section`, `other`, `instances`, `better` (1 - geometric mean of z of splitting / z
        of the other), `room` (the same of the cheap lower bound: no answer is better by more),
        `wins`, `ties`, `losses` (within 1e-6).
    """
    by = {(each.digest, each.entry): objective(each) for each in records}
    rows = []
    for entry in entries:
        mine = by.get((entry.digest, SPLITTING))
        for other in OTHERS:
            z = by.get((entry.digest, other))
            if mine is not None and z is not None and 0 < mine < math.inf and 0 < z < math.inf:
                section = section_of(entry.problem, entry.rules)
                rows.append((section, other, mine / z, max(entry.lower_bound_s, 1e-300) / z))
    frame = pd.DataFrame(rows, columns=["section", "other", "ratio", "least"])
    return (
        frame.groupby(["section", "other"])
        .agg(
            instances=("ratio", "size"),
            better=("ratio", lambda each: 1 - geometric(each)),
            room=("least", lambda each: 1 - geometric(each)),
            wins=("ratio", lambda each: (each < 1 - 1e-6).sum()),
            ties=("ratio", lambda each: ((each >= 1 - 1e-6) & (each <= 1 + 1e-6)).sum()),
            losses=("ratio", lambda each: (each > 1 + 1e-6).sum()),
        )
        .reset_index()
    )


def gains(entries: Iterable[CatalogueEntry], best: Mapping[str, float]) -> pd.DataFrame:
    """The best known mapping beside the best single device, by problem and kind of platform.

    Returns
    -------
    DataFrame
        Columns `problem`, `platform`, `instances`, `gain` (geometric mean of single / best),
        `most`, `allowed` (geometric mean of single / lower bound: what the hardware allows at
        most), `able` (instances whose bound allows the aim), `reached` (of those, how many do).
    """
    rows = []
    for entry in entries:
        z, single = best.get(entry.digest), entry.best_single_s
        if entry.problem in AIMS and z and single and entry.lower_bound_s > 0:
            allowed = single / entry.lower_bound_s
            platform = entry.id.split("/")[1]
            rows.append((entry.problem, platform, single / z, allowed, AIMS[entry.problem]))
    frame = pd.DataFrame(rows, columns=["problem", "platform", "gain", "allowed", "aim"])
    frame["able"] = frame["allowed"] >= frame["aim"]
    frame["reached"] = frame["able"] & (frame["gain"] >= frame["aim"])
    grouped = frame.groupby(["problem", "platform"])
    return grouped.agg(
        instances=("gain", "size"),
        gain=("gain", geometric),
        most=("gain", "max"),
        allowed=("allowed", geometric),
        able=("able", "sum"),
        reached=("reached", "sum"),
    ).reset_index()


def geometric(ratios: Iterable[float]) -> float:
    """Geometric mean; NaN of nothing."""
    values = np.array(list(ratios), float)
    return float(np.exp(np.log(values).mean())) if len(values) else math.nan


def published(
    records: Sequence[Record], given: argparse.Namespace
) -> tuple[list[Record], list[Record]]:
    """Runs at equal time, and those beside the exact model with longer ones behind; seed 0."""
    first = [each for each in records if each.seed == 0]
    equal = [each for each in first if each.time_limit_s == given.time]
    longer = [each for each in first if each.time_limit_s in (given.exact_time, given.longer)]
    return equal, sorted(longer, key=lambda each: each.time_limit_s)


def _runs(
    entries: Sequence[CatalogueEntry], best: Mapping[str, float], given: argparse.Namespace
) -> tuple[list[Record], list[Record]]:
    """The same from the store; what is missing is run."""
    with study.progress() as shown:

        def run(names: list[str], methods: Iterable[str], limit: float) -> list[Record]:
            return api.run(
                names, list(methods), store=given.store, time_limit_s=limit, jobs=given.jobs,
                progress=shown,
            )  # fmt: skip

        names = [each.id for each in entries]
        equal = run(names, [SPLITTING, *OTHERS], given.time)
        # Each formulation refuses the instances of the other sections.
        timed = run(names, [PLAIN, *EXACTS], given.exact_time)
        if given.longer > given.exact_time:
            again = undecided(duels(timed, entries, best), given.longer)
            models = sorted({EXACT[each.section] for each in again})
            if again:
                timed += run([each.instance for each in again], models, given.longer)
    return equal, timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it."""
    parser = study.parser("bench.claims", __doc__, "10s")
    longer = "limit of the exact model and of splitting beside it (default 60s)"
    parser.add_argument("--exact-time", type=study.duration, default=60, metavar="T", help=longer)
    longest = (
        "limit with which it runs again where it was stopped and the claim could still be seen"
    )
    parser.add_argument(
        "--longer", type=study.duration, default=300, metavar="T", help=f"{longest} (default 300s)"
    )
    text = "make the page from these published records, without any run"
    parser.add_argument("--records", type=Path, action="append", metavar="FILE", help=text)
    which = f"ids, filters or a selection (default {SELECTION}); `calls` is left out"
    parser.add_argument("-i", dest="selection", action="append", help=which)
    given = parser.parse_args(arguments)
    library = Library()
    every = library.entries()
    chosen = {each.name for each in select(given.selection or [SELECTION], library)}
    entries = [each for each in every if each.id in chosen and each.problem in AIMS]
    if not entries:
        raise ValueError(f"{given.selection}: no instance of {' or '.join(AIMS)} of the library")
    best = {
        digest: z
        for digest, known in bks.load().items()
        if (z := bks.headline(known.claims).objective) is not None
    }
    if given.records:
        made = [each for path in given.records for each in gather.from_file(path).records]
        equal, timed = published(made, given)
    else:
        equal, timed = _runs(entries, best, given)
    page = claims_text.markdown(
        duels(timed, entries, best), alone(timed, entries, best), improvements(equal, entries),
        gains(every, best), given.time, given.exact_time,
    )  # fmt: skip
    study.publish(given, "claims", {"md": page})
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
