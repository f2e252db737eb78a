"""Many runs: every instance with every entry under every seed, reusing what is there."""

from __future__ import annotations

import importlib.util
import math
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event as Flag
from threading import Lock

from msgspec import structs

from bench import environment
from bench.entries import Entry, load_method
from bench.job import Job, StoppedError, run_one
from bench.leftovers import remove_stale
from bench.plain import headline, one_line
from bench.records import Record, Store
from bench.verify import fault
from problems.instance import Instance
from solvers.method import Method


@dataclass(frozen=True)
class Run:
    """One cell of a suite: what a progress event is about.

    Attributes
    ----------
    index : int
        Place among all runs that are asked for, from 0, skipped ones included.
    instance, entry : str
        Id and label.
    seed : int
    """

    index: int
    instance: str
    entry: str
    seed: int


@dataclass(frozen=True)
class Planned:
    """First event: how many runs are to be made, reused and skipped, and the limit of each."""

    to_run: int
    reused: int
    skipped: int
    time_limit_s: float
    jobs: int


@dataclass(frozen=True)
class Skipped:
    """The method refuses the instance; there is no row."""

    run: Run
    reason: str


@dataclass(frozen=True)
class Reused:
    """A good record was in the store."""

    run: Run
    record: Record


@dataclass(frozen=True)
class Started:
    """A child is being started."""

    run: Run


@dataclass(frozen=True)
class Finished:
    """A run has ended, well or not, and its record is stored."""

    run: Run
    record: Record


Event = Planned | Skipped | Reused | Started | Finished
Progress = Callable[[Event], None]


def run_suite(
    instances: Sequence[Instance],
    entries: Sequence[Entry],
    *,
    store: Store,
    seeds: Sequence[int] = (0,),
    time_limit_s: float = 10.0,
    memory_limit_bytes: int | None = None,
    threads: int = 1,
    jobs: int = 1,
    rerun: bool = False,
    load_limit_s: float = 120.0,
    progress: Progress = lambda event: None,
) -> list[Record]:
    """Run every entry on every instance under every seed.

    Parameters
    ----------
    store : Store
        Where records go; good ones that are there and hold are reused, others run again.
    seeds : sequence of int
        Seeds of the methods' randomness.
    time_limit_s : float
        Limit of each run in seconds: building, solving and everything else in the method.
    memory_limit_bytes : int or None
        Address space of each process of a run.
    threads : int
        Threads that a method may use.
    jobs : int
        Runs at the same time.
    rerun : bool
        Run again what is there.
    load_limit_s : float
        Limit in seconds for loading the instance, imports and warm-up.
    progress : callable
        Called with each :data:`Event`, one at a time, from whatever thread.

    Returns
    -------
    list of Record
        One a run, in the order instance, entry, seed; runs that a method refuses are left out.

    Raises
    ------
    ValueError
        If a limit, `threads`, `jobs` or a seed is out of range.
    KeyboardInterrupt
        When interrupted, after the running children are ended; finished runs are stored.
    """
    _check_limits(seeds, time_limit_s, memory_limit_bytes, threads, jobs, load_limit_s)
    suite = environment.suite_version()
    report = _Reporter(progress)
    todo: list[tuple[Run, Job]] = []
    records: dict[int, Record] = {}
    events: list[Event] = []
    methods = [load_method(entry.method, entry.file, entry.source) for entry in entries]
    cells = [(i, e, method) for i in instances for e, method in zip(entries, methods, strict=True)]
    for instance, entry, method in cells:
        reason = refusal(method, instance)
        for seed in seeds:
            run = Run(len(todo) + len(events), instance.id, entry.label, seed)
            job = Job(
                instance, entry, seed, float(time_limit_s), memory_limit_bytes, threads, suite, "",
                load_limit_s,
            )  # fmt: skip
            if reason is not None:
                events.append(Skipped(run, reason))
                continue
            known = None if rerun else store.get(job.key)
            if known is not None and known.good and fault(known, store, instance) is None:
                records[run.index] = known
                events.append(Reused(run, known))
            else:
                todo.append((run, job))
    reused = len(records)
    report(Planned(len(todo), reused, len(events) - reused, float(time_limit_s), jobs))
    for event in events:
        report(event)
    if todo:
        records |= _run_all(todo, store, jobs, report)
    return [records[index] for index in sorted(records)]


class _Reporter:
    """Hands events to the caller, one at a time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._progress(event)


def _run_all(
    todo: Sequence[tuple[Run, Job]], store: Store, jobs: int, report: _Reporter
) -> dict[int, Record]:
    remove_stale()
    described = environment.describe()
    name = store.put_environment({**described, "calibration": environment.calibrate()})
    stop = Flag()
    records: dict[int, Record] = {}
    with ThreadPoolExecutor(jobs, thread_name_prefix="placebench") as pool:
        futures: list[Future[Record]] = []
        try:
            for run, job in todo:
                job = replace(job, environment=name)
                futures.append(pool.submit(_run_stored, run, job, store, report, stop))
            for (run, _), future in zip(todo, futures, strict=True):
                records[run.index] = future.result()
        except BaseException:  # KeyboardInterrupt above all
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    # What the machine did meanwhile cannot go into a file that is named by its content.
    store.put_environment(
        {
            "format": "placebench-environment-after/1",
            "environment": name,
            "calibration": environment.calibrate(),
        }
    )
    return records


def _run_stored(run: Run, job: Job, store: Store, report: _Reporter, stop: Flag) -> Record:
    """Run one job and store its record; a failure of the harness itself costs this row only."""
    if stop.is_set():
        raise StoppedError
    report(Started(run))
    try:
        record, answer = run_one(job, stop)
        if answer is not None:
            store.put_answer(answer)
    except StoppedError:
        raise
    except Exception as failure:
        error = f"the harness failed: {headline(failure)}\n{traceback.format_exc()}"
        record = job.record(termination="error", check="none", error=error)
    try:
        store.put(record)
    except OSError as failure:  # something lies in its place, or the disk is full
        error = f"the record could not be stored: {headline(failure)}"
        record = structs.replace(record, termination="error", error=error)
    report(Finished(run, record))
    return record


def refusal(method: Method, instance: Instance) -> str | None:
    """Why a method cannot run on an instance, or not here; None where it can."""
    for module in method.needs:
        if importlib.util.find_spec(module) is None:
            return f"{method.name} needs {module}, which is not installed"
    try:
        reason = method.refusal(instance)
        return None if reason is None else one_line(str(reason))
    except Exception as error:  # a stranger's function
        return f"`refuses` of {method.name} raised {headline(error)}"


def _check_limits(
    seeds: Sequence[int],
    time_limit_s: float,
    memory_limit_bytes: int | None,
    threads: int,
    jobs: int,
    load_limit_s: float,
) -> None:
    for what, value in (("time limit", time_limit_s), ("load limit", load_limit_s)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"the {what} is {value} s, not a positive number of seconds")
    if memory_limit_bytes is not None and memory_limit_bytes < 1:
        raise ValueError(f"the memory limit is {memory_limit_bytes} bytes, not at least 1")
    for what, count in (("threads", threads), ("jobs", jobs)):
        if count < 1:
            raise ValueError(f"{what} is {count}, not at least 1")
    for seed in seeds:
        if not 0 <= seed < 2**31:
            raise ValueError(f"seed {seed} is not in 0..2**31-1")
