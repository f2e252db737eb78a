"""Many runs on the workers of a Dask scheduler, one at a time in each slot of a worker.

The client decides: it hands a run to one worker that it has looked at, and the next when that one
is back. So it knows who ran what, in which environment, and hands a lost worker's run to another.
Answers are judged again here, and only this side writes to the store.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import cluster_worker
from bench.cluster_pool import Pool, connect, give_up
from bench.cluster_return import received
from bench.cluster_slots import Worker
from bench.external import is_program
from bench.job import Job
from bench.plain import headline
from bench.records import Record, Store
from bench.transport import packed
from problems.answer import AnswerFile

if TYPE_CHECKING:
    from distributed import Future

__all__ = ["LOSSES", "connect", "run_all"]

LOSSES = 3
"""Workers that one run may lose before it counts as a failure: two more tries."""

Done = Callable[[int, Record, AnswerFile | None], None]


@dataclass(eq=False)
class _Flight:
    """A run on a worker."""

    number: int
    worker: Worker
    future: Future[Any]


def run_all(
    jobs: Sequence[Job],
    pool: Pool,
    store: Store,
    started: Callable[[int], None],
    done: Done,
    claim: Callable[[int], bool | None],
) -> None:
    """Run every job on some worker.

    Parameters
    ----------
    started, done : callable
        Called with the job's place in `jobs`; `done` also with its record and its answer.
    claim : callable
        Asked for a place before it starts: True to run it, False if there is nothing to do, None
        to ask again later.

    Raises
    ------
    ClusterError
        If the scheduler is lost.
    """
    try:
        _Dispatch(jobs, pool, store, started, done, claim).run()
    except BaseException:  # KeyboardInterrupt above all
        pool.settle()
        raise
    pool.calibrate_again(store)


@dataclass(eq=False)
class _Dispatch:
    """What :func:`run_all` is given, and where its jobs are."""

    jobs: Sequence[Job]
    pool: Pool
    store: Store
    started: Callable[[int], None]
    done: Done
    claim: Callable[[int], bool | None]
    claimed: set[int] = field(default_factory=set)
    flights: list[_Flight] = field(default_factory=list)
    losses: dict[int, list[str]] = field(default_factory=dict)
    packed: tuple[str, bytes] = ("", b"")

    def __post_init__(self) -> None:
        self.waiting = deque(range(len(self.jobs)))
        self.landed: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            while self.waiting or self.flights:
                if self.pool.due():
                    self._forget(self.pool.look(self.store))
                self._start()
                with suppress(queue.Empty):
                    self._land(self.landed.get(timeout=0.2))
        finally:
            for flight in self.flights:
                give_up(flight.future)

    def _start(self) -> None:
        """Fill the free slots."""
        free = self._free()
        for _ in range(len(self.waiting)):
            if not free:
                return
            number = self.waiting.popleft()
            mine = True if number in self.claimed else self.claim(number)
            if mine is None:
                self.waiting.append(number)
            elif mine:
                try:
                    self._send(number, free.pop())
                except OSError as error:  # the file of the method cannot be read any more
                    self._fail(number, headline(error))
                    continue
                if number not in self.claimed:
                    self.claimed.add(number)
                    self.started(number)

    def _free(self) -> list[Worker]:
        """Free slots, the fullest workers' last ones first."""
        busy: dict[str, int] = {}
        for flight in self.flights:
            busy[flight.worker.address] = busy.get(flight.worker.address, 0) + 1
        return [
            worker
            for worker in self.pool.workers.values()
            for _ in range(worker.slots - busy.get(worker.address, 0))
        ]

    def _send(self, number: int, worker: Worker) -> None:
        job = self.jobs[number]
        digest = job.instance.digest
        data = None
        if digest not in worker.has:
            if self.packed[0] != digest:
                self.packed = digest, packed(job.instance)
            data = self.packed[1]
            worker.has.add(digest)
        entry = asdict(job.entry)
        content = None
        # A program is not one file: it has to be on the worker, with the same digest.
        if job.entry.file is not None and not is_program(job.entry.file):
            content = Path(job.entry.file).read_bytes()
            entry["file"] = Path(job.entry.file).name
        rest = {each.name: getattr(job, each.name) for each in fields(job)}
        del rest["instance"], rest["entry"]
        rest["environment"] = worker.environment
        parcel = cluster_worker.Parcel(digest, data, entry, content, rest)
        future = self.pool.submit(worker, f"run-{number}", cluster_worker.run, parcel)
        self.flights.append(_Flight(number, worker, future))
        future.add_done_callback(self.landed.put)  # type: ignore[no-untyped-call]

    def _land(self, future: Future[Any]) -> None:
        """Take what has come back."""
        flight = next((each for each in self.flights if each.future is future), None)
        if flight is None:
            return  # it was given up
        told = Pool.result(future, 10.0)
        self.flights.remove(flight)
        job = replace(self.jobs[flight.number], environment=flight.worker.environment)
        if isinstance(told, cluster_worker.Returned) and told.lacks:
            flight.worker.has.discard(job.instance.digest)
            self.waiting.appendleft(flight.number)
        elif isinstance(told, cluster_worker.Returned) and told.record:
            self._start()  # before the judge takes its time
            self.done(flight.number, *received(told, job))
        elif isinstance(told, Exception) and not _is_loss(told):
            self._fail(flight.number, f"{flight.worker.address}: {headline(told)}")
        else:
            self._lost(flight)

    def _forget(self, gone: list[Worker]) -> None:
        """Hand the runs of lost workers to others."""
        for flight in [each for each in self.flights if each.worker in gone]:
            self.flights.remove(flight)
            give_up(flight.future)
            self._lost(flight)

    def _lost(self, flight: _Flight) -> None:
        lost = self.losses.setdefault(flight.number, [])
        lost.append(flight.worker.address)
        flight.worker.has.clear()
        job = self.jobs[flight.number]
        what = f"{job.entry.label} on {job.instance.id}, seed {job.seed}"
        if len(lost) < LOSSES:
            self.pool.notify(f"worker {lost[-1]} was lost; {what} is run again")
            self.waiting.appendleft(flight.number)
        else:
            self._fail(
                flight.number,
                f"{len(lost)} workers were lost while they ran this: {', '.join(lost)}",
            )

    def _fail(self, number: int, error: str) -> None:
        record = self.jobs[number].record(termination="error", check="none", error=error)
        self.done(number, record, None)


def _is_loss(error: Exception) -> bool:
    """Whether an exception says that the worker went away, not that something is wrong."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker  # loaded: there is a client

    return isinstance(error, KilledWorker | CancelledError | TimeoutError | OSError)
