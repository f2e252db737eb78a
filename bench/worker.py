"""The process of one run, forked off by :mod:`bench.keeper`.

It loads the instance and the one method, warms up, says that it is ready, waits for the clock, and
hands on what the method reports. It decides nothing: what counts is the supervisor's to say.
"""

from __future__ import annotations

import errno
import faulthandler
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import NoReturn, get_args

import numpy as np

from bench.entries import load_method
from bench.frames import (
    TEXT_LIMIT,
    BoundFrame,
    Built,
    ClaimFrame,
    Done,
    Failed,
    Frame,
    Go,
    Parser,
    Ready,
    Task,
    clean,
    encode_answer,
    pack,
    size_limit,
    unpack,
)
from bench.outcome import OUT_OF_MEMORY
from bench.parent import die_with
from bench.plain import LINE, headline
from bench.transport import read_instance
from problems import compiled
from problems.instance import Instance
from solvers.method import Claim, Context, Method

CLAIMS: tuple[Claim, ...] = get_args(Claim)
WARM_UP_S, WARM_UP_MOST_S = 0.3, 3.0
"""Seconds that a method is given on the tiny instance, and on a busy machine at most."""
ENOUGH = 0.8
"""Share of :data:`WARM_UP_S` that a method must have had of the processor, if it took its time."""
LEFT = 0.25
"""Share of the time that one may leave that takes all it gets: its parts keep clear of the end."""
WARM_UP_PATIENCE_S = 100.0
_OUT_OF_MEMORY = Failed("MemoryError", memory=True)


class Wire:
    """The worker's ends of both pipes."""

    def __init__(self, control: int, report: int) -> None:
        self.control = control
        self.report = report
        self._lock = RLock()
        self._parser = Parser(1 << 24)
        self._waiting: list[Frame] = []

    def receive(self) -> Frame:
        """Next frame from the supervisor."""
        while not self._waiting:
            data = os.read(self.control, 1 << 16)
            if not data:
                os._exit(1)  # the supervisor is gone
            self._waiting += [unpack(kind, body) for kind, body in self._parser.feed(data)]
        return self._waiting.pop(0)

    def send(self, frame: Frame) -> None:
        """Write one frame whole; solvers report from threads of their own."""
        view = memoryview(pack(frame))
        with self._lock:
            while view:
                view = view[os.write(self.report, view) :]


def main(report: int, parent: int) -> NoReturn:
    """Run one task; `report` is the descriptor of reports, `parent` the keeper's number."""
    die_with(parent)
    # It may be ignored where the harness was started, and is what ends a method at its limit.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.enable()
    # The method's standard input is empty; the control pipe is not for it to read.
    control = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.set_inheritable(report, False)
    wire, me = Wire(control, report), os.getpid()
    try:
        end: Frame = _work(wire)
    except BaseException as error:  # SystemExit too: the row says what happened
        end = _failed(error)
    if os.getpid() == me:  # not a child that the method forked and did not end
        wire.send(end)
    # Threads, exit handlers and finalizers of the method are not waited for.
    with suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def _work(wire: Wire) -> Done:
    task = wire.receive()
    assert isinstance(task, Task)
    if task.memory_limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (task.memory_limit_bytes,) * 2)
    # Both before anything of the method's is run: nothing is left open for it.
    instance = read_instance(task.instance, task.digest)
    tiny = read_instance(task.tiny, task.tiny_digest)
    method = load_method(task.method, task.file, task.source)
    loaded = time.monotonic()
    if prepare := getattr(method.run, "prepare", None):  # a program, that reads a file
        prepare(instance)
    if method.warm:
        _warm_up(method, tiny, task)
    warm = time.monotonic()
    random.seed(task.seed)
    np.random.seed(task.seed % 2**32)  # for methods that do not use the context's
    wire.send(Ready(warm - loaded, time.process_time()))
    go = wire.receive()
    assert isinstance(go, Go)
    limit = size_limit(instance.n)
    context = Context(
        seed=task.seed,
        deadline=go.deadline,
        threads=task.threads,
        on_answer=lambda answer: wire.send(encode_answer(answer, limit)),
        on_bound=lambda bound: wire.send(BoundFrame(float(bound))),
        on_claim=lambda claim, objective, note: wire.send(_claim(claim, objective, note)),
        on_built=lambda: wire.send(Built()),
    )
    answer = method.run(instance, context, **task.options)
    if answer is not None:
        wire.send(encode_answer(answer, limit))
    if task.verify and replace(instance).digest != task.digest:  # a copy has no digest kept
        raise RuntimeError("the method changed the instance")
    return Done(_peak_bytes())


def _claim(claim: Claim, objective: float | None, note: str) -> ClaimFrame:
    if claim not in CLAIMS:
        raise ValueError(f"claim {claim!r} is not one of {', '.join(CLAIMS)}")
    return ClaimFrame(claim, None if objective is None else float(objective), clean(str(note), 500))


def _failed(error: BaseException) -> Failed:
    """What to report: one line that says it, then the traceback."""
    if _is_out_of_memory(error):
        # The traceback holds the frames that hold the memory.
        traceback.clear_frames(error.__traceback__)
        return _OUT_OF_MEMORY
    told = "".join(traceback.format_exception(error))
    return Failed(clean(headline(error), LINE * 2) + "\n" + clean(told, TEXT_LIMIT - LINE * 2 - 1))


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an exception or what it was raised from says so, in whichever way."""
    for _ in range(20):  # a chain may close a circle
        if error is None:
            return False
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        # A library that cannot be mapped.
        if isinstance(error, ImportError | OSError) and OUT_OF_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _warm_up(method: Method, tiny: Instance, task: Task) -> None:
    """Run the method on the tiny instance until it compiles, loads and imports nothing new.

    A first compilation (or loading what an earlier process compiled, or a solver's import) outlasts
    the deadline, and the method then stops before it reaches its other parts: it is run again. What
    fails here fails again, and is reported, in the run itself. A method that does not heed its
    deadline is interrupted, late: it may be compiling.
    """
    if method.refusal(tiny) is not None:
        return
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, WARM_UP_PATIENCE_S)
    with suppress(Exception):
        loaded, known, patience = _loaded(), (-1, 0), WARM_UP_S
        while (loaded(), len(sys.modules)) != known:
            known, began = (loaded(), len(sys.modules)), time.process_time()
            deadline = time.monotonic() + patience
            context = Context(seed=task.seed, deadline=deadline, threads=task.threads)
            method.run(tiny, context, **task.options)
            cut, had_s = context.time_left() < LEFT * patience, time.process_time() - began
            if cut and had_s < ENOUGH * WARM_UP_S and patience < WARM_UP_MOST_S:
                # Others had the processor: once more, and with as much of it as was meant.
                patience = min(max(2.0, WARM_UP_S / max(had_s, 1e-9)) * patience, WARM_UP_MOST_S)
                known = (-1, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _loaded() -> Callable[[], int]:
    """Count what numba compiles, or loads compiled, from now on."""
    if "numba" not in sys.modules:
        return lambda: 0
    from numba.core import event  # not above: most workers do without numba

    compiled.take_turns()
    recorder = event.RecordingListener()
    event.register("numba:compiler_lock", recorder)
    return lambda: len(recorder.buffer)


def _interrupt(number: int, frame: object) -> None:
    raise TimeoutError("the warm-up does not end")


def _peak_bytes() -> int:
    """Largest resident memory of this process (not of its parent, as getrusage has it)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
