"""Misbehaving methods, one row each: how it ended, what was left, and whether others noticed.

Every case runs with good runs beside and after it on the same store. ``python -m bench.torture
--save`` writes the table; the same cases are tests of the suite.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from bench import study
from bench.cases import CASES, LIMIT_S, MEMORY_BYTES, Case
from bench.entries import Entry, label_of, parse_entry
from bench.markdown import seconds, table
from bench.records import Record, Store
from bench.suite import run_suite
from bench.supervise import GRACE_S
from bench.verify import fault
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

_TESTS = Path(__file__).resolve().parent.parent / "tests" / "bench"
METHODS = (_TESTS / "misbehaving.py", _TESTS / "unimportable.py")
_BESIDE = 3
_PR_SET_CHILD_SUBREAPER = 36
_PID = re.compile(r"^pid (\d+)$", re.MULTILINE)


def instance() -> Instance:
    """The instance of the table: eight nodes, throughput."""
    return from_bundle(random_bundle(1, n=8, problem="throughput"))


def entries() -> dict[str, Entry]:
    """The misbehaving methods, by name."""
    return {each.method: each for path in METHODS for each in parse_entry(str(path))}


def row(name: str, case: Case, store: Path) -> dict[str, Any]:
    """Run one case with good runs beside and after it.

    Returns
    -------
    dict
        `method`, `does`, `termination`, `check`, `signal`, `rule`, `overrun_s`, `ended` (processes
        that were left behind and ended), `left` (still alive), `others` (good runs unharmed, of
        three), `expected` (whether all is as the case says).
    """
    os.environ["PLACEBENCH_TEST_STORE"] = str(store)
    target, shown = instance(), entries()
    try:
        records = run_suite(
            [target],
            [shown[name], *_good(shown["good-for-a-while"])],
            store=Store(store),
            time_limit_s=case.limit_s,
            memory_limit_bytes=MEMORY_BYTES,
            jobs=2,
        )
    finally:
        del os.environ["PLACEBENCH_TEST_STORE"]
    bad, *others = records
    unharmed = sum(_unharmed(each, Store(store), target) for each in others)
    rule = bad.violations[0][0] if bad.violations else ""
    left = len(alive(bad))
    found = (bad.termination, bad.check, bad.signal, rule, bad.orphans)
    return {
        "method": name,
        "does": case.does,
        "termination": bad.termination,
        "check": bad.check,
        "signal": bad.signal,
        "rule": rule,
        "overrun_s": bad.overrun_s,
        "ended": bad.orphans,
        "left": left,
        "others": unharmed,
        "expected": found == case.row and not left and unharmed == _BESIDE,
    }


def alive(record: Record) -> set[int]:
    """Processes that a run named, or that fell to this process, and that live still."""
    named = {int(pid) for pid in _PID.findall(record.log)}
    below = {each.pid for each in psutil.Process().children(recursive=True)}
    found = set()
    for pid in named | below:
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.add(pid)
    return found


def _good(entry: Entry) -> list[Entry]:
    """Good runs that are not the same run: the entry with an option that does nothing."""
    result = []
    for k in range(1, _BESIDE + 1):
        options = {**entry.options, "count": k}
        label = label_of(entry.method, options, ["count"])
        result.append(replace(entry, options=options, label=label))
    return result


def _unharmed(record: Record, store: Store, target: Instance) -> bool:
    """Whether a good run is as it should be, and still stored so."""
    return (
        (record.termination, record.check, record.orphans) == ("completed", "ok", 0)
        and store.get(record.key) == record
        and fault(record, store, target) is None
    )


def markdown(found: pd.DataFrame) -> str:
    """The table as a page."""
    as_expected = int(found["expected"].sum())
    lines = [
        "# The torture table",
        "",
        f"{len(found)} methods that do what methods should not, each run by the harness for"
        f" {LIMIT_S:g} s (some longer) under a memory limit of {MEMORY_BYTES >> 30} GiB, two runs"
        f" at a time, with {_BESIDE} good runs beside and after it on the same store."
        f" {as_expected} of {len(found)} ended as they should. `overrun`: from the limit to the end"
        " of the last process; `ended`: processes left behind that the harness ended; `left`: those"
        " alive afterwards; `others`: good runs that completed, were stored and hold.",
        "",
        f"Largest overrun {found['overrun_s'].max():.2f} s (the grace between SIGTERM and SIGKILL"
        f" is {GRACE_S:g} s); left alive in all: {found['left'].sum()}.",
        "",
    ]
    columns: dict[str, Any] = {
        "method": lambda v: f"`{v}`", "does": str, "termination": str, "check": str,
        "signal": str, "rule": str, "overrun_s": seconds, "ended": str, "left": str,
        "others": lambda v: f"{v} of {_BESIDE}", "expected": lambda v: "yes" if v else "NO",
    }  # fmt: skip
    titles = {"overrun_s": "overrun", "expected": "as it should"}
    return "\n".join(lines + table(found, columns, titles)) + "\n"


def rows(names: Iterable[str], cases: Mapping[str, Case] = CASES) -> pd.DataFrame:
    """One row a case, each on a store of its own that is gone afterwards."""
    made = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="placebench-torture-") as folder:
            made.append(row(name, cases[name], Path(folder)))
        print(name, "ok" if made[-1]["expected"] else made[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the table; 1 where something did not end as it should."""
    parser = argparse.ArgumentParser(prog="python -m bench.torture", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="METHOD", default=CASES)
    parser.add_argument("--save", action="store_true", help=f"write it to {study.STUDIES}")
    study.output(parser)
    given = parser.parse_args(arguments)
    # Whatever should get away from a run falls to us, and is seen.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    found = rows(given.only)
    csv = str(found.to_csv(index=False, float_format="%.3g", lineterminator="\n"))
    study.publish(given, "torture", {"md": markdown(found), "csv": csv})
    return int(not found["expected"].all())


if __name__ == "__main__":
    sys.exit(study.guarded(main))
