"""Child process that replays signatures on a card and times them.

Reads a job as JSON from standard input and writes JSON lines as it goes, so that nothing is lost
when it ends early: what is begun, what failed, the times of each round, and the result at the end.
Needs torch and the standard library only.
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

from problems.capture.cuda import CudaSpec, parse, recast
from problems.capture.cuda_arguments import Blocks
from problems.capture.cuda_timing import Stopwatch, share
from problems.capture.signature import resolve

PREPARING = 0.6
"""Most of the budget that the first calls may take: kernels are loaded and plans are made then."""
ROOM = 0.6
"""Part of the card's free memory for arguments; results and workspaces have the rest."""
CANNOT = (RuntimeError, TypeError, ValueError, LookupError, NotImplementedError)

Say = Callable[[dict[str, Any]], None]
Call = Callable[[], Any]


class PoisonedError(RuntimeError):
    """The card's context can no longer be used; the argument is the signature that did it."""


def replay(
    job: dict[str, Any],
    say: Say,
    *,
    cuda: Any = torch.cuda,
    device: str | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Time every signature of a job on a card, in rounds over all of them.

    Parameters
    ----------
    job : dict
        ``signatures``: id -> {op, args, kwargs}, most important first; ``spec``; ``budget_s``: of
        everything; ``seed``; ``limit`` (optional): most rounds.
    say : callable
        Told {info}, {begin: id}, {failed: {id: why}}, {times: {id: [card_s, host_s]}} a round.
    cuda, device : module, str
        ``torch.cuda`` and the place of the tensors; tests put a stand-in here.
    clock : callable
        Seconds.

    Raises
    ------
    PoisonedError
        If the context is lost.
    """
    until = clock() + job["budget_s"]
    spec = parse(job["spec"])
    device = device or f"cuda:{spec.card}"
    _precision(spec)
    if spec.card:
        cuda.set_device(spec.card)
    cuda.init()
    signatures = {
        key: {
            "op": each["op"],
            "args": recast(each.get("args", []), spec.precision),
            "kwargs": recast(each.get("kwargs", {}), spec.precision),
        }
        for key, each in job["signatures"].items()
    }
    room = int(ROOM * cuda.mem_get_info(spec.card)[0])
    with torch.inference_mode(), share(spec.multiprocessors, spec.card, cuda):
        watch = Stopwatch(device, cuda)
        say({"info": {"flush_s": watch.flush_s, "empty_s": watch.empty_s}})
        blocks = Blocks(device, job["seed"], signatures, room)
        start = clock()
        calls = _prepare(signatures, blocks, watch, say, clock, start + PREPARING * (until - start))
        _rounds(calls, watch, say, clock, until, job)


def _precision(spec: CudaSpec) -> None:
    allowed = spec.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def _prepare(
    signatures: dict[str, dict[str, Any]],
    blocks: Blocks,
    watch: Stopwatch,
    say: Say,
    clock: Callable[[], float],
    until: float,
) -> dict[str, tuple[Call, float]]:
    """Call each signature twice: the call, and how long the host takes to dispatch it."""
    calls: dict[str, tuple[Call, float]] = {}
    for key, each in signatures.items():
        if clock() > until:
            break
        say({"begin": key})
        try:
            call = _call(each, blocks)
            watch.time(call)
            calls[key] = (call, watch.time(call)[1])
        except torch.OutOfMemoryError as error:
            say({"failed": {key: _line(error)}})
            watch.cuda.empty_cache()
        except CANNOT as error:
            _survive(key, error, watch)
            say({"failed": {key: _line(error)}})
    return calls


def _rounds(
    calls: dict[str, tuple[Call, float]],
    watch: Stopwatch,
    say: Say,
    clock: Callable[[], float],
    until: float,
    job: dict[str, Any],
) -> None:
    order = list(calls)
    shuffle = random.Random(job["seed"])
    gc.collect()
    gc.disable()  # a collection would be taken for dispatch
    for _ in range(job.get("limit", sys.maxsize)):
        shuffle.shuffle(order)
        times: dict[str, tuple[float, float]] = {}
        for key in order:
            if clock() > until:
                break
            call, dispatch_s = calls[key]
            try:
                times[key] = watch.time(call, dispatch_s)
            except torch.OutOfMemoryError:  # the same call went through: others' memory
                watch.cuda.empty_cache()
            except CANNOT as error:
                say({"times": times})
                raise PoisonedError(key, _line(error)) from error
        say({"times": times})
        if clock() > until or not calls:
            return


def _call(signature: dict[str, Any], blocks: Blocks) -> Call:
    function = resolve(signature["op"])
    args, kwargs = blocks.build(signature["op"], signature["args"], signature["kwargs"])
    return lambda: function(*args, **kwargs)


def _survive(key: str, error: Exception, watch: Stopwatch) -> None:
    """Raise if the context is gone: after a failed assertion on the card every call fails."""
    try:
        watch.cuda.synchronize()
        watch.junk[:1].zero_()
        watch.cuda.synchronize()
    except RuntimeError:
        raise PoisonedError(key, _line(error)) from error


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    try:
        replay(job, _say)
    except PoisonedError as error:
        key, why = error.args
        _say({"poisoned": key, "why": why})
        return
    _say({"result": True})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
