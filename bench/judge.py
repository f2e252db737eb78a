"""From what a method reported to what counts: the checker's verdict and the anytime trace."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bench import frames
from problems import answer as answers
from problems import calls, chips, latency, mixture
from problems.answer import Answer, AnswerFile
from problems.checker import check
from problems.checker.shape import carried_by, mixture_violations
from problems.files import FileError
from problems.instance import Instance

TRACE_POINTS = 200


@dataclass(frozen=True)
class Judgement:
    """The verdict on the answer that counts; `file` and `digest` where it has a serial form."""

    check: Literal["ok", "invalid", "none"]
    objective: float | None = None
    violations: tuple[tuple[str, str], ...] = ()
    file: AnswerFile | None = None
    digest: str = ""
    completed_by_dispatch: bool = False


def judge(instance: Instance, last: tuple[float, bytes] | None) -> Judgement:
    """Check the last answer: (seconds, body of an answer frame), or None where none came."""
    if last is None:
        return Judgement("none")
    answer = _decode(last[1])
    if isinstance(answer, str):
        return Judgement("invalid", violations=(("shape", answer),))
    verdict = check(instance, answer)
    try:
        file = answers.to_file(answer, instance.digest)
        digest = answers.digest(file)
    except FileError:  # start times that are not finite; the verdict says so
        file, digest = None, ""
    return Judgement(
        "ok" if verdict.valid else "invalid",
        verdict.objective,
        verdict.violations,
        file,
        digest,
        verdict.valid and _completed(instance, answer),
    )


def trace(
    instance: Instance, reports: Iterable[tuple[float, bytes]], final: float | None
) -> list[tuple[float, float]]:
    """Valid answers that improved on all before them: (seconds on the clock, objective).

    Evaluated after the run, so as not to disturb it. At most :data:`TRACE_POINTS` points, first
    and best among them. Of a flood of reports only a sample was kept, so that a step in between
    may be missing.

    Parameters
    ----------
    final : float or None
        Checked objective of the last answer.
    """
    points: list[tuple[float, float]] = []
    for t, body in reports:
        value = objective(instance, _decode(body))
        if value is not None and (not points or value < points[-1][1]):
            points.append((t, value))
    # Both definitions of an objective agree up to rounding: show the one that counts.
    if final is not None and points and math.isclose(points[-1][1], final, rel_tol=1e-9):
        points[-1] = (points[-1][0], final)
    return _thin(points)


def objective(instance: Instance, answer: Answer | str) -> float | None:
    """Objective of an answer in seconds by the compiled evaluators; None where it is invalid."""
    if isinstance(answer, str) or answer.device.shape != (instance.n,):
        return None
    # The compiled evaluators trust their indices.
    if ((answer.device < 0) | (answer.device >= instance.K)).any():
        return None
    parts = ("order", "start", "slot", "send", "receive", "others", "rates")
    given = [name for name in parts if getattr(answer, name) is not None]
    if not set(given) <= set(carried_by(instance)) or mixture_violations(instance, answer):
        return None
    if answer.start is not None:
        return check(instance, answer).objective  # claimed times: only the checker judges those
    if instance.problem == "latency":
        if not latency.is_valid(instance, answer):
            return None
        return finite(latency.makespan(instance, answer))
    if instance.problem == "calls":
        return (
            finite(calls.makespan(instance, answer)) if calls.is_valid(instance, answer) else None
        )
    if instance.problem == "chips":
        if not chips.is_valid(instance, answer.device):
            return None
        return finite(chips.period(instance, answer.device))
    if not mixture.is_valid(instance, answer):
        return None
    return finite(mixture.period(instance, answer))


def _completed(instance: Instance, answer: Answer) -> bool:
    """Whether `dispatch` made a mapping a whole answer: of its orders, or of its calls."""
    parts = {"latency": answer.order, "calls": answer.slot}
    return instance.problem in parts and parts[instance.problem] is None


def finite(value: float | None) -> float | None:
    """The number, or None where it is none."""
    return value if value is not None and math.isfinite(value) else None


def _decode(body: bytes) -> Answer | str:
    """Answer in the body of a frame, or why there is none."""
    try:
        frame = frames.unpack(frames.ANSWER, body)
        assert isinstance(frame, frames.AnswerFrame)
        return frame.bad or frames.decode_answer(frame)
    except ValueError as error:
        return f"the report is malformed: {error}"


def _thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= TRACE_POINTS:
        return points
    index = np.unique(np.linspace(0, len(points) - 1, TRACE_POINTS).round().astype(int))
    return [points[i] for i in index]
