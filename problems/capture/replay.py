"""Child process that replays signatures and times them; see :mod:`problems.capture.device`.

Reads a job as JSON from standard input, writes JSON lines to standard output: one a round, then
the result. Needs torch and the standard library only.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from problems.capture.arguments import Arguments
from problems.capture.signature import resolve

Call = tuple[Callable[..., Any], list[Any], dict[str, Any]]


def replay(job: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Time every signature of a job in rounds over all of them.

    Parameters
    ----------
    job : dict
        ``signatures``: id -> {op, args, kwargs}; ``budget_s``: start no round after so many
        seconds (at least 3 are run); ``seed``: of values and order; ``limit`` (optional): most
        rounds.
    report : callable
        Told {round, elapsed_s} after each round.

    Returns
    -------
    dict
        ``samples``: id -> seconds of each round; ``failed``: id -> why it cannot run; ``torch``.
    """
    arguments = Arguments("cpu", job["seed"])
    calls: dict[str, Call] = {}
    failed: dict[str, str] = {}
    for name, each in job["signatures"].items():
        try:
            function = resolve(each["op"])
            args, kwargs = arguments.build(each["op"], each["args"], each["kwargs"])
            function(*args, **kwargs)  # the first call also compiles and fills caches
            calls[name] = (function, args, kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    samples: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    shuffle = random.Random(job["seed"])
    # Collections in the middle of an operator would be taken for its time.
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    rounds = 0
    while rounds < job.get("limit", sys.maxsize):
        elapsed = time.perf_counter() - start
        if rounds >= 3 and elapsed + elapsed / rounds > job["budget_s"]:
            break
        shuffle.shuffle(order)
        for name in order:
            samples[name].append(_time(calls[name]))
        rounds += 1
        report({"round": rounds, "elapsed_s": time.perf_counter() - start})
    return {"samples": samples, "failed": failed, "torch": torch.__version__}


def _time(call: Call) -> float:
    function, args, kwargs = call
    begin = time.perf_counter_ns()
    result = function(*args, **kwargs)
    end = time.perf_counter_ns()
    del result  # after the clock: a model frees its tensors later, too
    return (end - begin) * 1e-9


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    torch.set_num_threads(job["threads"])
    torch.set_flush_denormal(True)  # repeated in-place products must not become slow
    with torch.inference_mode():
        _say({"result": replay(job, _say)})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
