"""Checks of the answers: they are there, valid, worth what is said, and refute no claim."""

from __future__ import annotations

import math

from bench import bks, metrics
from bench.bks import contradicted
from bench.records import Record
from bench.submissions.check_records import told
from bench.submissions.checking import Case, Found, check
from bench.submissions.layout import ANSWER
from bench.verify import OBJECTIVE_TOLERANCE
from problems.files import FileError


@check("every answer is there and is what its name says", "runs")
def answers(case: Case, found: Found) -> None:
    """Read every answer that a run names, and see that there is no other."""
    named = {run.answer for run in case.folder.runs if run.answer}
    for run in case.answered:
        if not run.answer:
            found.error(f"{told(run)}: it names no answer")
    for name in sorted(named):
        found.looked += 1
        try:
            case.folder.get_answer(name)
        except FileError as error:
            found.error(str(error))
    for inside in case.folder.sizes:
        match = ANSWER.fullmatch(inside)
        if match and match[2] not in named:
            found.error(f"{inside}: no run names it")


@check("the independent checker accepts every answer", "runs")
def judged(case: Case, found: Found) -> None:
    """Judge every answer again."""
    for run in case.answered:
        if not run.answer or not case.folder.has_answer(run.answer):
            continue
        found.looked += 1
        verdict = case.shared.verdict(case.folder, run.digest, run.answer)
        if isinstance(verdict, str):
            found.error(f"{told(run)}: {verdict}")


@check("objectives are what the checker computes", "runs")
def objectives(case: Case, found: Found) -> None:
    """Hold the objective in every record against that of its answer."""
    for record in case.records:
        found.looked += 1
        z = record.objective
        if record.check != "ok":
            if z is not None:
                found.error(f"{told(record)}: an objective, but no valid answer")
            continue
        if z is None or not (math.isfinite(z) and z >= 0):
            found.error(f"{told(record)}: its objective is {z}, which no answer has")
            continue
        verdict = case.shared.verdict(case.folder, record.digest, record.answer)
        if isinstance(verdict, float) and not math.isclose(verdict, z, rel_tol=OBJECTIVE_TOLERANCE):
            found.error(f"{told(record)}: its objective is {z!r}, its answer has {verdict!r}")


@check("no answer lies below a bound of the suite", "runs")
def bounds(case: Case, found: Found) -> None:
    """Hold every answer against the largest bound; one below refutes the bound, and is no fault."""
    for run in case.answered:
        head = case.shared.headlines.get(run.digest)
        z = case.shared.verdict(case.folder, run.digest, run.answer)
        if head is None or isinstance(z, str):
            continue
        found.looked += 1
        if not metrics.compatible(z, head.bound):
            found.warn(f"{told(run)}: {z!r} s refutes the bound {head.bound!r} of {head.bound_by}")


@check("no claim is contradicted by an answer", "submission", "runs")
def claims(case: Case, found: Found) -> None:
    """Hold what was claimed as proved against the best answers known, its own among them."""
    best: dict[str, float] = {}
    for run in case.answered:
        z = case.shared.verdict(case.folder, run.digest, run.answer)
        if not isinstance(z, str):
            best[run.digest] = min(z, best.get(run.digest, z))
    for run in case.folder.runs:
        head = case.shared.headlines.get(run.digest)
        known = [best[run.digest]] if run.digest in best else []
        known += [head.objective] if head is not None and head.objective is not None else []
        if not known or not (run.claim or isinstance(run, Record)):
            continue
        found.looked += 1
        z = min(known)
        if isinstance(run, Record):
            wrong = contradicted(run, z)
        else:
            own = case.shared.verdict(case.folder, run.digest, run.answer)
            wrong = run.claim == "infeasible" or (
                run.claim == "optimal" and not isinstance(own, str) and bks.contradicts(own, z)
            )
        if wrong:
            found.error(f"{told(run)}: claimed {run.claim or 'a bound'}; an answer has {z!r} s")
