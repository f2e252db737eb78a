"""The runs of a suite that are still to be made, on this machine or on a cluster's."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event as Flag

from msgspec import structs

from bench import environment
from bench.cells import IN_PLACE, NO_ROOM, Claim, check_room
from bench.events import Finished, Notice, Reporter, Reused, Run, Started
from bench.job import Job, StoppedError, run_one
from bench.leftovers import remove_stale
from bench.mending import Stored
from bench.plain import headline
from bench.records import Record, Store
from bench.verify import fault
from problems.answer import AnswerFile
from problems.files import FileError, plainly

_HELD_S = 0.05


class Batch:
    """Cells that are to be run, and what became of them.

    Parameters
    ----------
    todo : sequence of (Run, Job)
    rerun : bool
        Run again what another harness has finished meanwhile.

    Attributes
    ----------
    records : dict of int to Record
        By the index of the run.
    """

    def __init__(
        self, todo: Sequence[tuple[Run, Job]], store: Store, report: Reporter, rerun: bool
    ) -> None:
        self.todo, self.store, self.report, self.rerun = todo, store, report, rerun
        self.records: dict[int, Record] = {}
        self._claims: dict[int, Claim] = {}
        self._broken: OSError | None = None
        self._stored = Stored()

    def claim(self, number: int) -> bool | None:
        """Whether to run the cell now; False where it is done, None while another has it.

        Raises
        ------
        OSError
            If its record could not be stored: no run is made that would be lost.
        """
        if self._broken is not None:
            raise self._broken
        check_room(self.store.root)
        run, job = self.todo[number]
        claim = Claim.on(self.store.root, job.key)
        if claim is None:
            return None
        record = None if self.rerun else reusable(self.store, job)
        if record is None:
            self._claims[number] = claim
            return True
        claim.release()
        self.records[run.index] = record
        self.report(Reused(run, record))
        return False

    def started(self, number: int) -> None:
        """Say that the cell is being run."""
        self.report(Started(self.todo[number][0]))

    def done(self, number: int, record: Record, answer: AnswerFile | None) -> None:
        """Store what a run left behind."""
        run = self.todo[number][0]
        try:
            if answer is not None:
                self.store.put_answer(answer)
            self.store.put(record)
            self._stored.add(record, answer)
        except OSError as failure:  # something lies in its place, or the disk is full
            hint = "remove what lies in its place: " if failure.errno in IN_PLACE else ""
            place = failure.filename2 or failure.filename
            where = f"{place}: " if place else ""
            error = f"the record could not be stored: {hint}{where}{plainly(failure)}"
            record = structs.replace(record, termination="error", error=error)
            if failure.errno in NO_ROOM:
                self._broken = failure
        finally:
            self._claims.pop(number).release()
        self.records[run.index] = record
        self.report(Finished(run, record))

    def mend(self) -> None:
        """Put back what a run has deleted or spoiled in the store since it was finished."""
        for record in self._stored.mend(self.store):
            what = f"{record.entry} on {record.instance}, seed {record.seed}"
            self.report(Notice(f"the record of {what} was changed in the store: put back"))

    def release(self) -> None:
        """Give back what is claimed still."""
        while self._claims:
            self._claims.popitem()[1].release()


def reusable(store: Store, job: Job) -> Record | None:
    """The good record of a job that is in the store, if it holds and its machine is told."""
    known = store.get(job.key)
    if known is None or not known.good or fault(known, store, job.instance) is not None:
        return None
    try:
        store.get_environment(known.environment)
    except FileError:
        return None
    return known


def run_here(batch: Batch, jobs: int) -> None:
    """Run the cells in processes of this machine, `jobs` at a time.

    Raises
    ------
    OSError
        If records cannot be stored any more.
    """
    remove_stale()
    described = {**environment.describe(), "calibration": environment.calibrate()}
    name = batch.store.put_environment(described)
    stop = Flag()
    waiting = deque(range(len(batch.todo)))
    workers = min(jobs, len(batch.todo))
    with ThreadPoolExecutor(workers, thread_name_prefix="placebench") as pool:
        # From both ends: on a fresh machine they compile code of unlike problems, none waits.
        futures = [
            pool.submit(_work, batch, waiting, i % 2 == 0, name, stop) for i in range(workers)
        ]
        try:
            for future in futures:
                future.result()
        except BaseException:  # KeyboardInterrupt above all
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            batch.release()
            raise
    # What the machine did meanwhile cannot go into a file that is named by its content.
    batch.store.put_environment(environment.after(name, environment.calibrate()))


def _work(batch: Batch, waiting: deque[int], first: bool, name: str, stop: Flag) -> None:
    """Run cells until none is left; the cells that other harnesses are running come last.

    Parameters
    ----------
    first : bool
        Take the first of those that wait; else the last.
    """
    take, put_back = (
        (waiting.popleft, waiting.append) if first else (waiting.pop, waiting.appendleft)
    )
    held = 0
    while not stop.is_set():
        try:
            number = take()
        except IndexError:
            return
        try:
            mine = batch.claim(number)
        except OSError:
            stop.set()
            raise
        if mine is None:
            put_back(number)
            held += 1
            if held >= len(waiting):
                time.sleep(_HELD_S)
        elif mine:
            held = 0
            batch.started(number)
            with_environment = replace(batch.todo[number][1], environment=name)
            try:
                record, answer = _attempt(with_environment, stop)
            except StoppedError:
                return
            batch.done(number, record, answer)


def _attempt(job: Job, stop: Flag) -> tuple[Record, AnswerFile | None]:
    """Run a job; a failure of the harness itself costs this row only."""
    try:
        return run_one(job, stop)
    except StoppedError:
        raise
    except Exception as failure:
        error = f"the harness failed: {headline(failure)}\n{traceback.format_exc()}"
        return job.record(termination="error", check="none", error=error), None
