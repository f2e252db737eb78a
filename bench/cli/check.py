"""``placebench check``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.cli import DONE, FAILED, UsageError, output
from bench.leaderboard.words import seconds
from bench.selection import Selected, load, select
from problems import answer as answers
from problems import mixture
from problems.answer import Answer
from problems.catalogue import Library
from problems.checker import check
from problems.files import FileError, read, require_file
from problems.instance import Instance

ROOM = 40  # letters that the names of devices may take of a line of 80


def run(file: Path, instance_text: str | None, json: bool) -> int:
    """Judge the answer in `file`.

    Raises
    ------
    UsageError
        If its instance cannot be found, or is another one than the answer says.
    """
    require_file(file, "an answer file")
    try:
        content = read(file, answers.AnswerFile)
        answer = answers.from_file(content)
    except FileError as error:  # the answer itself is broken: that is a verdict
        return _tell(json, None, None, [("file", str(error))])
    library = Library()
    if instance_text is not None:
        chosen = select([instance_text], library)
    else:
        chosen = [Selected(e) for e in library.entries() if e.digest == content.instance]
    if not chosen:
        raise UsageError(
            f"no instance of the library has the digest {content.instance[:16]}... of {file};"
            " name its instance with --instance"
        )
    instance = load(chosen[0], library)
    if instance.digest != content.instance:
        raise UsageError(
            f"{file} answers the instance {content.instance[:16]}..., but {instance.id} is"
            f" {instance.digest[:16]}..."
        )
    verdict = check(instance, answer)
    code = _tell(json, instance.id, verdict.objective, list(verdict.violations))
    if verdict.valid and answer.rates is not None and not json:
        for line in _mixture(instance, answer):
            print(line)
    return code


def _mixture(instance: Instance, answer: Answer) -> list[str]:
    """What goes by each mapping, and how busy that keeps the devices."""
    assert answer.rates is not None
    every, total = mixture.mappings(answer), float(answer.rates.sum())
    lines = [
        f"{100 * abs(rate) / total:.2f} % of the samples by mapping {i}, on"
        f" {_devices(instance, sorted(set(device.tolist())))}"
        for i, (device, rate) in enumerate(zip(every, answer.rates.tolist(), strict=True))
    ]
    loads = sum(
        rate * mixture.engine_loads(instance, device)
        for device, rate in zip(every, answer.rates.tolist(), strict=True)
    )
    for name, use in zip(instance.device_names, np.max(loads, axis=0).tolist(), strict=True):
        lines.append(f"{name} is in use {100 * use:.2f} % of the time")
    return lines


def _devices(instance: Instance, used: list[int]) -> str:
    """Their names, or how many where a line would not hold them."""
    names = ", ".join(instance.device_names[k] for k in used)
    return names if len(names) <= ROOM else f"{len(used)} of {instance.K} devices"


def _tell(
    json: bool, instance: str | None, objective: float | None, violations: list[tuple[str, str]]
) -> int:
    if json:
        output.as_json(
            {
                "valid": not violations,
                "instance": instance,
                "objective_s": objective,
                "violations": [{"rule": rule, "what": what} for rule, what in violations],
            }
        )
    elif violations:
        for rule, what in violations:
            print(f"invalid ({rule}): {what}")
    else:
        print(f"valid: {seconds(objective)} ({objective!r} s) on {instance}")
    return FAILED if violations else DONE
