"""One run: a job in, a checked record out (`bench.run` is the Python call for many)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event
from typing import Any

from bench import frames, judge
from bench.entries import Entry
from bench.outcome import Outcome, classify
from bench.records import Record, key_of
from bench.supervise import GRACE_S, supervise
from bench.transport import handed_over
from bench.warm import tiny_like
from problems.answer import AnswerFile
from problems.instance import Instance

LOG_KEPT = 4 * 1024


class StoppedError(Exception):
    """The run was ended because it was asked for; there is no record."""


@dataclass(frozen=True)
class Job:
    """Everything that makes one run.

    Attributes
    ----------
    suite : str
        Version of the suite.
    environment : str
        Digest of the stored description of the environment.
    load_limit_s, grace_s : float
        Seconds for loading and warm-up, and between SIGTERM and SIGKILL.
    hash_seed, verify
        For conformance only: ``PYTHONHASHSEED``, and whether a changed instance is an error.
    """

    instance: Instance
    entry: Entry
    seed: int
    time_limit_s: float
    memory_limit_bytes: int | None
    threads: int
    suite: str
    environment: str
    load_limit_s: float = 120.0
    grace_s: float = GRACE_S
    hash_seed: int = 0
    verify: bool = False

    @property
    def key(self) -> str:
        """Key of the record; the environment is no part of it."""
        return key_of(
            digest=self.instance.digest,
            method=self.entry.method,
            options=dict(self.entry.options),
            source=self.entry.source,
            seed=self.seed,
            time_limit_s=self.time_limit_s,
            memory_limit_bytes=self.memory_limit_bytes,
            threads=self.threads,
            suite=self.suite,
        )

    def record(self, **outcome: Any) -> Record:
        """The record of this job; `outcome` are the fields that the run determines."""
        return Record(
            format="placebench-record/1",
            key=self.key,
            instance=self.instance.id,
            digest=self.instance.digest,
            problem=self.instance.problem,
            family=self.instance.family,
            entry=self.entry.label,
            method=self.entry.method,
            options=dict(self.entry.options),
            source=self.entry.source,
            seed=self.seed,
            time_limit_s=float(self.time_limit_s),
            memory_limit_bytes=self.memory_limit_bytes,
            threads=self.threads,
            suite=self.suite,
            environment=self.environment,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            **outcome,
        )


def run_one(job: Job, stop: Event | None = None) -> tuple[Record, AnswerFile | None]:
    """Run a job in a process of its own and judge what it reported.

    Parameters
    ----------
    stop : threading.Event, optional
        Ends the run early when set.

    Returns
    -------
    (Record, AnswerFile or None)
        The answer is for the caller to store; None where there is none or it has no serial form.

    Raises
    ------
    StoppedError
        If `stop` was set.
    """
    tiny = tiny_like(job.instance)
    with handed_over(job.instance) as instance_fd, handed_over(tiny) as tiny_fd:
        task = frames.Task(
            instance=instance_fd,
            tiny=tiny_fd,
            tiny_digest=tiny.digest,
            digest=job.instance.digest,
            method=job.entry.method,
            options=dict(job.entry.options),
            file=job.entry.file,
            source=job.entry.source,
            seed=job.seed,
            threads=job.threads,
            memory_limit_bytes=job.memory_limit_bytes,
            hash_seed=job.hash_seed,
            verify=job.verify,
        )
        outcome = supervise(
            task,
            nodes=job.instance.n,
            time_limit_s=job.time_limit_s,
            load_limit_s=job.load_limit_s,
            grace_s=job.grace_s,
            stop=stop,
        )
    if outcome.struck == "stop":
        raise StoppedError
    return _record(job, outcome)


def _record(job: Job, outcome: Outcome) -> tuple[Record, AnswerFile | None]:
    termination, signal_name, error = classify(outcome)
    began = time.monotonic()
    judgement = judge.judge(job.instance, outcome.answers.last)
    check_s = time.monotonic() - began
    trace = judge.trace(job.instance, outcome.answers, judgement.objective)
    claim = outcome.claim
    notes = "".join(f"[harness] {note}\n" for note in outcome.all_notes())
    record = job.record(
        termination=termination,
        signal=signal_name,
        error=error,
        check=judgement.check,
        violations=list(judgement.violations),
        objective=judgement.objective,
        answer=judgement.digest,
        completed_by_dispatch=judgement.completed_by_dispatch,
        claim="" if claim is None else claim.claim,
        claimed_objective=None if claim is None else judge.finite(claim.objective),
        claimed_bound=outcome.best_bound,
        claim_note="" if claim is None else claim.note,
        load_s=outcome.load_s,
        warm_s=outcome.warm_s,
        build_s=outcome.build_s,
        solve_s=None if outcome.build_s is None else max(0.0, outcome.wall_s - outcome.build_s),
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        check_s=check_s,
        overrun_s=outcome.overrun_s,
        peak_bytes=outcome.peak_bytes,
        orphans=outcome.orphans,
        trace=trace,
        bounds=list(outcome.bounds),
        log=outcome.log[-LOG_KEPT:] + notes,
    )
    return record, judgement.file
