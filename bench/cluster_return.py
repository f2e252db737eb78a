"""What came back from a worker, read with its types and judged once more, on the client."""

from __future__ import annotations

import math

from bench.cluster_worker import Returned
from bench.job import Job
from bench.records import Record
from bench.verify import OBJECTIVE_TOLERANCE
from problems import answer as answers
from problems import checker
from problems.answer import AnswerFile
from problems.files import FileError, decode


def received(told: Returned, job: Job) -> tuple[Record, AnswerFile | None]:
    """Record and answer of a run; a record of the error where they do not hold.

    Parameters
    ----------
    job : Job
        As the client has it, with the environment of the worker.
    """
    try:
        record = decode(told.record, Record, "the worker's record")
        file = None if told.answer is None else decode(told.answer, AnswerFile, "its answer")
        why = _fault(record, file, job)
    except FileError as error:
        why = str(error)
    if why is None:
        return record, file
    told_wrong = f"what came back from the worker does not hold: {why}"
    return job.record(termination="error", check="none", error=told_wrong), None


def _fault(record: Record, file: AnswerFile | None, job: Job) -> str | None:
    """Why a record is not that of the job and of its answer; None where it is."""
    expected = job.record(termination=record.termination, check=record.check)
    for name in ("key", "instance", "digest", "problem", "family", "entry", "environment"):
        if getattr(record, name) != getattr(expected, name):
            return f"its {name} is {getattr(record, name)!r}, not {getattr(expected, name)!r}"
    if file is None:
        return "an answer is missing" if record.check == "ok" or record.answer else None
    if file.instance != record.digest or answers.digest(file) != record.answer:
        return "its answer is another one"
    verdict = checker.check(job.instance, answers.from_file(file))
    if verdict.valid != (record.check == "ok"):
        return f"it says {record.check!r} of an answer that is {'' if verdict.valid else 'in'}valid"
    if verdict.objective is None:
        return None if record.objective is None else "an invalid answer has an objective"
    if record.objective is None or not math.isclose(
        record.objective, verdict.objective, rel_tol=OBJECTIVE_TOLERANCE
    ):
        return f"its objective is {record.objective}, its answer has {verdict.objective!r}"
    return None
