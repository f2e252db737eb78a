"""Many runs: every instance with every entry under every seed, reusing what is there."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence

from bench import environment
from bench.batch import Batch, reusable, run_here
from bench.cells import check_store, tidy
from bench.entries import Entry, load_method
from bench.events import (
    Event,
    Finished,
    Notice,
    Planned,
    Progress,
    Reporter,
    Reused,
    Run,
    Skipped,
    Started,
)
from bench.job import Job
from bench.plain import headline, one_line
from bench.records import Record, Store
from problems.instance import Instance
from solvers.method import Method

__all__ = [
    "Event", "Finished", "Notice", "Planned", "Progress", "Reused", "Run", "Skipped", "Started",
    "refusal", "run_suite",
]  # fmt: skip


MOST_JOBS = 1024
"""Runs at the same time on one machine: each is three processes and a thread."""


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
    cluster: str | None = None,
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
        Runs at the same time, on this machine; at most :data:`MOST_JOBS`.
    cluster : str, optional
        Address of a Dask scheduler, on whose workers the runs are made instead.
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
        If a limit, `threads`, `jobs` or a seed is out of range, or the cluster cannot be used
        (:class:`bench.cluster_slots.ClusterError`).
    OSError
        If records cannot be put into the store (any more); it names the place.
    KeyboardInterrupt
        When interrupted, after the running children are ended; finished runs are stored.
    """
    _check_limits(seeds, time_limit_s, memory_limit_bytes, threads, jobs, load_limit_s)
    if cluster is not None and jobs != 1:
        raise ValueError("jobs is for this machine; on a cluster the workers' slots count")
    suite = environment.suite_version()
    report = Reporter(progress)
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
            known = None if rerun else reusable(store, job)
            if known is not None:
                records[run.index] = known
                tidy(store.root, job.key)
                events.append(Reused(run, known))
            else:
                todo.append((run, job))
    reused = len(records)

    def plan(at_a_time: int) -> None:
        skipped = len(events) - reused
        report(Planned(len(todo), reused, skipped, float(time_limit_s), at_a_time))
        for event in events:
            report(event)

    if not todo:
        plan(jobs)
        return [records[index] for index in sorted(records)]
    check_store(store.root, (job.key for _, job in todo))
    batch = Batch(todo, store, report, rerun)
    try:
        if cluster is None:
            plan(min(jobs, len(todo)))
            run_here(batch, jobs)
        else:
            _run_on_cluster(batch, cluster, threads, plan)
    finally:
        batch.mend()
    records |= batch.records
    return [records[index] for index in sorted(records)]


def _run_on_cluster(batch: Batch, address: str, threads: int, plan: Callable[[int], None]) -> None:
    """Run the cells on the workers of a Dask scheduler; `plan` is told how many at a time."""
    from bench import cluster  # only where it is asked for: it is an extra, and slow to load

    def notify(text: str) -> None:
        batch.report(Notice(text))

    jobs = [job for _, job in batch.todo]
    with cluster.connect(address, batch.store, threads, notify) as pool:
        plan(pool.slots)
        try:
            cluster.run_all(jobs, pool, batch.store, batch.started, batch.done, batch.claim)
        finally:
            batch.release()


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
    if jobs > MOST_JOBS:
        raise ValueError(f"jobs is {jobs}, not at most {MOST_JOBS}")
    for seed in seeds:
        if not 0 <= seed < 2**31:
            raise ValueError(f"seed {seed} is not in 0..2**31-1")
