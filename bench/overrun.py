"""How far runs go over their limit: every exact entry on 5,000 nodes and four devices.

Each backend and each native method builds and solves a model that it cannot finish, at a short
limit; what counts is the time from the limit to the end of the last process of the run. ``python
-m bench.overrun --save`` makes the runs that are missing, 200 in all, and writes the table.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from bench import api, environment, study
from bench.entries import Entry, parse_entry
from bench.job import Job
from bench.markdown import seconds, table
from bench.records import Record, Store
from bench.suite import refusal
from bench.supervise import GRACE_S
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from solvers import catalogue

RUNS, NODES, DEVICES = 200, 5_000, 4
MEMORY_BYTES = 4 << 30
_EDGES_PER_NODE = 2
_KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("throughput", {}), ("throughput", {"contiguous": True}), ("latency", {}), ("calls", {}),
    ("chips", {}),
)  # fmt: skip


def instances(nodes: int = NODES) -> list[Instance]:
    """One instance a kind of problem: random, the same graph."""
    density = min(1.0, 2 * _EDGES_PER_NODE / nodes)
    return [
        from_bundle(
            random_bundle(
                0, n=nodes, devices=DEVICES, problem=problem, rules=rules, density=density
            )
        )
        for problem, rules in _KINDS
    ]


def cells(targets: Sequence[Instance], names: Iterable[str]) -> dict[str, Instance]:
    """For each exact entry the first instance that it takes; entries that take none are left out.

    One that is not installed here is left out, too.
    """
    found = {}
    for name in names:
        method = catalogue.load(name)
        takes = [target for target in targets if refusal(method, target) is None]
        if takes:
            found[name] = takes[0]
    return found


def records(
    wanted: Mapping[str, Instance], *, runs: int, time_limit_s: float, jobs: int, store: Store
) -> list[Record]:
    """The runs, `runs` or a few more in all; however one ended, it is not made again."""
    seeds = range(math.ceil(runs / len(wanted)))
    made = []
    for name, target in wanted.items():
        (entry,) = parse_entry(name)
        known = {seed: _known(store, target, entry, seed, time_limit_s) for seed in seeds}
        missing = [seed for seed, record in known.items() if record is None]
        made += [record for record in known.values() if record is not None]
        if missing:
            with study.progress() as shown:
                made += api.run(
                    target, entry, store=store.root, seeds=missing, time_limit_s=time_limit_s,
                    memory_limit_bytes=MEMORY_BYTES, jobs=jobs, progress=shown,
                )  # fmt: skip
    return made


def _known(
    store: Store, target: Instance, entry: Entry, seed: int, time_limit_s: float
) -> Record | None:
    suite = environment.suite_version()
    job = Job(target, entry, seed, time_limit_s, MEMORY_BYTES, 1, suite, "")
    return store.get(job.key)


def backend_of(entry: str) -> str:
    """What solves: the part after ``@``; `native` for a method on its own."""
    return entry.partition("[")[0].partition("@")[2] or "native"


def rows(made: Iterable[Record]) -> pd.DataFrame:
    """One row a run, sorted.

    Returns
    -------
    DataFrame
        Columns `backend`, `entry`, `seed`, `termination`, `check`, `signal`, `overrun_s`,
        `wall_s`, `load_s`, `orphans`.
    """
    names = ["seed", "termination", "check", "signal", "overrun_s", "wall_s", "load_s", "orphans"]
    found = [
        {"backend": backend_of(record.entry), "entry": record.entry}
        | {name: getattr(record, name) for name in names}
        for record in made
    ]
    return pd.DataFrame(found).sort_values(["backend", "entry", "seed"], ignore_index=True)


def summary(found: pd.DataFrame, by: str) -> pd.DataFrame:
    """Overruns of the runs that reached the limit, by `by`, and of `all`."""
    groups = [*found.groupby(by, sort=True), ("all", found)]
    lines = []
    for name, part in groups:
        reached = part.loc[part["termination"] == "time-limit", "overrun_s"]
        lines.append(
            {
                by: name,
                "runs": len(part),
                "at the limit": len(reached),
                "killed": int((part["signal"] == "SIGKILL").sum()),
                "median": reached.median(),
                "largest": part["overrun_s"].max(),
                "orphans": int(part["orphans"].sum()),
            }
        )
    return pd.DataFrame(lines)


def markdown(found: pd.DataFrame, time_limit_s: float, nodes: int) -> str:
    """The study as a page."""
    overall = summary(found, "backend").iloc[-1]
    other = found[found["termination"] != "time-limit"]["termination"].value_counts()
    ended = ", ".join(f"{count} {name}" for name, count in other.items()) or "none"
    columns: dict[str, Any] = {
        "runs": str, "at the limit": str, "killed": str, "median": seconds, "largest": seconds,
        "orphans": str,
    }  # fmt: skip
    lines = [
        "# How far runs go over their limit",
        "",
        f"Exact entries on random graphs of {nodes:,} nodes and {DEVICES} devices; limit"
        f" {time_limit_s:g} s, one thread, {MEMORY_BYTES >> 30} GiB. Overrun: from the limit to the"
        f" end of the run's last process. At the limit a run gets SIGTERM, {GRACE_S:g} s later"
        " SIGKILL. `median` is over the runs at the limit, `largest` over all. Runs that ended"
        f" otherwise: {ended}.",
        "",
        f"Over {overall['runs']} runs: median {seconds(overall['median'])}, largest"
        f" {seconds(overall['largest'])}.",
        "",
        *table(summary(found, "backend"), {"backend": str, **columns}),
        "",
        *table(summary(found, "entry"), {"entry": str, **columns}),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing and print the table; with ``--save`` write it."""
    parser = study.parser("bench.overrun", __doc__, "1s")
    text = f"runs in all, spread evenly (default {RUNS})"
    parser.add_argument("--runs", type=study.positive, default=RUNS, metavar="N", help=text)
    text = f"nodes of the graph (default {NODES})"
    parser.add_argument("--nodes", type=study.positive, default=NODES, metavar="N", help=text)
    text = "exact entries (default: all)"
    parser.add_argument("--only", nargs="+", choices=catalogue.names(), metavar="ENTRY", help=text)
    given = parser.parse_args(arguments)
    wanted = cells(instances(given.nodes), given.only or catalogue.names())
    if not wanted:
        raise ValueError("none of the entries takes an instance here")
    made = records(
        wanted, runs=given.runs, time_limit_s=given.time, jobs=given.jobs, store=Store(given.store)
    )
    found = rows(made)
    csv = str(found.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    study.publish(given, "overrun", {"md": markdown(found, given.time, given.nodes), "csv": csv})
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
