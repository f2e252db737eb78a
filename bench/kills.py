"""SIGKILL for the harness at random moments of a suite, until the suite is done all the same.

After every kill: every finished record is there as it was, everything in the store can be read and
is what its name says, and no process of the harness is left. On every start: what is finished is
reused, never run again. At the end: the same records as without any kill. ``python -m bench.kills
--save`` writes the table.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from bench import environment, study, torture
from bench.markdown import seconds, table
from bench.records import Record, Store
from bench.suite import Event, Finished, Planned, Started, run_suite
from problems.files import FileError, encode

KILLS = 200
LIMIT_S = 1.0
METHODS = ("good-for-a-while", "answers-then-hangs", "leaves-a-fugitive")
SEEDS = 6
_JOBS = 2
_LONGEST_S = 3.0
"""A kill comes at most this long after the suite has begun."""
_PATIENCE_S = 60.0
_PR_SET_CHILD_SUBREAPER = 36
_ROOT = Path(__file__).resolve().parent.parent
_SAME = ("key", "entry", "seed", "termination", "check", "objective", "answer", "orphans")


def suite(store: Path, seeds: int) -> list[Record]:
    """The suite that is killed; says on standard output what happens, a JSON line an event."""
    environment.CALIBRATION_REPEATS = 1
    known = torture.entries()

    def tell(event: Event) -> None:
        if isinstance(event, Planned):
            print(json.dumps({"planned": event.to_run, "reused": event.reused}), flush=True)
        elif isinstance(event, Started):
            print(json.dumps({"started": [event.run.entry, event.run.seed]}), flush=True)
        elif isinstance(event, Finished):
            print(
                json.dumps({"finished": event.record.key, "is": _digest(event.record)}), flush=True
            )

    return run_suite(
        [torture.instance()], [known[name] for name in METHODS], store=Store(store),
        seeds=range(seeds), time_limit_s=LIMIT_S, jobs=_JOBS, progress=tell,
    )  # fmt: skip


class Series:
    """Kills of one suite on one store, until it is done."""

    def __init__(self, number: int, store: Path, seeds: int, rng: random.Random) -> None:
        self.number, self.store, self.seeds, self.rng = number, store, seeds, rng
        store.mkdir()
        self.finished: dict[str, str] = {}  # key -> digest of the record
        self.rows: list[dict[str, Any]] = []

    def run(self, kills: int) -> None:
        """Kill it until it is done, `kills` times at most; then let it finish."""
        while len(self.rows) < kills:
            if self._once(self.rng.uniform(0.0, _LONGEST_S)):
                return
        if not self._once(None):
            raise RuntimeError(f"the suite is not done after {_PATIENCE_S:g} s")

    def _once(self, moment_s: float | None) -> bool:
        """Start it, kill it at a moment; whether it was done by then."""
        before = self._whole()[0]
        output = self.store / "events.jsonl"
        arguments = ["--suite", str(self.store), "--seeds", str(self.seeds)]
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "bench.kills", *arguments],
                cwd=_ROOT,
                stdout=file,
            )
        _wait_for(output, process)
        done = False
        try:
            process.wait(_PATIENCE_S if moment_s is None else moment_s)
            if process.returncode != 0:
                raise RuntimeError(f"the suite failed by itself: status {process.returncode}")
            done = True
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        gone_s, left = _until_alone()
        said = [json.loads(line) for line in output.read_bytes().splitlines(keepends=True)
                if line.endswith(b"\n")]  # fmt: skip
        self.finished |= {each["finished"]: each["is"] for each in said if "finished" in each}
        found, corrupt = self._whole()
        started = [tuple(each["started"]) for each in said if "started" in each]
        again = {(record.entry, record.seed) for record in before.values()} & set(started)
        row = {
            "suite": self.number,
            "moment_s": float("nan") if done else moment_s,
            "records": len(found),
            "lost": sum(_digest(found[k]) != d if k in found else True
                        for k, d in self.finished.items()),
            "corrupt": corrupt,
            "again": len(again) + len(started) - len(set(started)),
            "not_reused": len(before) - said[0]["reused"],
            "left": left,
            "gone_s": gone_s,
        }  # fmt: skip
        self.finished |= {key: _digest(record) for key, record in found.items()}
        if not done:
            self.rows.append(row)
        elif any(row[name] for name in _FAULTS):
            raise RuntimeError(f"a suite that was not killed is not whole: {row}")
        return done

    def _whole(self) -> tuple[dict[str, Record], int]:
        """Records in the store by key, and how many files are not what their names say."""
        store, found, corrupt = Store(self.store), {}, 0
        for path in store.paths():
            try:
                record = store.record_at(path)
                if record.answer:
                    corrupt += store.get_answer(record.answer).instance != record.digest
                store.get_environment(record.environment)
                found[record.key] = record
            except (FileError, OSError):
                corrupt += 1
        return found, corrupt

    def final(self) -> list[tuple[Any, ...]]:
        """What of the records does not depend on the clock."""
        return sorted(_same(record) for record in self._whole()[0].values())


_FAULTS = ("lost", "corrupt", "again", "not_reused", "left")


def _same(record: Record) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _SAME)


def _digest(record: Record) -> str:
    return sha256(encode(record)).hexdigest()


def _wait_for(output: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the suite has begun."""
    end = time.monotonic() + _PATIENCE_S
    while b"\n" not in output.read_bytes():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the suite does not begin")
        time.sleep(0.01)


def _until_alone() -> tuple[float, int]:
    """Seconds until no process below this one is left, and how many there are after 10 s."""
    began = time.monotonic()
    while True:
        left = []
        for each in psutil.Process().children(recursive=True):
            try:
                if each.status() != psutil.STATUS_ZOMBIE:
                    left.append(each)
                elif each.ppid() == os.getpid():  # fell to us
                    os.waitpid(each.pid, os.WNOHANG)
            except psutil.NoSuchProcess:
                continue
        waited = time.monotonic() - began
        if not left or waited > 10.0:
            return waited, len(left)
        time.sleep(0.005)


def markdown(found: pd.DataFrame, runs: int, suites: int, equal: int, seed: int) -> str:
    """The study as a page."""
    faults = found[list(_FAULTS)].sum()
    columns: dict[str, Any] = {
        "suite": str, "moment_s": seconds, "records": str, **dict.fromkeys(_FAULTS, str),
        "gone_s": seconds,
    }  # fmt: skip
    titles = {"moment_s": "moment", "not_reused": "not reused", "gone_s": "all gone after"}
    lines = [
        "# SIGKILL for the harness",
        "",
        f"{len(found)} kills at random moments (seed {seed}) of suites of {runs} short runs,"
        f" {_JOBS} at a time, of `{'`, `'.join(METHODS)}`; each suite is started again until it is"
        " done."
        " `records`: in the store after the kill; `lost`: finished ones that are not there as they"
        " were; `corrupt`: files that cannot be read or are not what their name says; `again`: runs"
        " made again though they were finished; `not reused`: finished ones that the start before"
        " the kill did not take over; `left`: processes alive 10 s later.",
        "",
        f"Lost {faults['lost']}, corrupt {faults['corrupt']}, again {faults['again']}, not reused"
        f" {faults['not_reused']}, left {faults['left']}; all processes were gone"
        f" {seconds(found['gone_s'].max())} after a kill at the latest. {equal} of {suites} suites"
        " ended with the same records as one that was never killed.",
        "",
        *table(found, columns, titles),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, resume, compare; 1 where anything was lost, corrupt, repeated or left."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    text = f"kills in all (default {KILLS})"
    parser.add_argument("--kills", type=study.positive, default=KILLS, metavar="N", help=text)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the moments")
    text = f"seeds a method, of {len(METHODS)} methods (default {SEEDS})"
    parser.add_argument("--seeds", type=study.positive, default=SEEDS, metavar="N", help=text)
    parser.add_argument("--save", action="store_true", help=f"write it to {study.STUDIES}")
    study.output(parser)
    parser.add_argument("--suite", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.suite:
        suite(given.suite, given.seeds)
        return 0
    # Whatever should outlive a harness falls to us, and is seen.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rng, suites, equal = random.Random(given.seed), 0, 0
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="placebench-kills-") as folder:
        reference = Series(0, Path(folder, "0"), given.seeds, rng)
        reference.run(0)
        while len(rows) < given.kills:
            suites += 1
            series = Series(suites, Path(folder, str(suites)), given.seeds, rng)
            series.run(given.kills - len(rows))
            rows += series.rows
            differ = set(series.final()) ^ set(reference.final())
            equal += not differ
            for each in sorted(differ):
                print("differs:", *each, file=sys.stderr)
            print(f"{len(rows)} of {given.kills} kills", file=sys.stderr, flush=True)
    found = pd.DataFrame(rows)
    csv = str(found.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    page = markdown(found, len(METHODS) * given.seeds, suites, equal, given.seed)
    study.publish(given, "kills", {"md": page, "csv": csv})
    return int(bool(found[list(_FAULTS)].to_numpy().any()) or equal < suites)


if __name__ == "__main__":
    sys.exit(study.guarded(main))
