"""Says what numba compiles or loads under the clock, after the warm-up, in a process of its own.

`python tests/bench/under_the_clock.py ENTRY KIND...` prints one JSON object, {kind: [places]}.
"""

import json
import os
import sys
import time
from types import SimpleNamespace

from numba.core import event

from bench import worker
from bench.entries import load_method
from bench.warm import tiny_like
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context

KINDS = {
    "contiguous": {"problem": "throughput", "rules": {"contiguous": True}},
    "free": {"problem": "throughput", "topology": "direct"},
    "free, tight": {"problem": "throughput", "tight": 1.4},
    "latency": {"problem": "latency"},
    "ports, tight": {"problem": "latency", "rules": {"contention": "ports"}, "tight": 1.4},
    "calls": {"problem": "calls"},
    "chips, tight": {"problem": "chips", "tight": 1.4},
}
NODES, SECONDS = 60, 0.5


class Places(event.Listener):
    """Where the suite's code was when something was compiled or loaded."""

    def __init__(self):
        self.found = set()

    def on_start(self, event):
        """Find the innermost frame of the suite."""
        frame = sys._getframe()
        while frame is not None:
            name = frame.f_code.co_filename
            here = os.path.relpath(name)
            if here.startswith(("problems", "solvers", "heuristics")):
                self.found.add(f"{here}:{frame.f_lineno}")
                return
            frame = frame.f_back
        self.found.add("?")

    def on_end(self, event):
        """Nothing is timed."""


def found(entry, kind):
    """Places, after a warm-up as the worker does it."""
    given = {"n": NODES, "devices": 4, "density": 4 / NODES} | KINDS[kind]
    instance, method = from_bundle(random_bundle(3, **given)), load_method(entry)
    if instance.problem not in method.problems:
        return []
    worker._warm_up(method, tiny_like(instance), SimpleNamespace(seed=0, threads=1, options={}))
    places = Places()
    event.register("numba:compiler_lock", places)
    method.run(instance, Context(deadline=time.monotonic() + SECONDS))
    return sorted(places.found)


def apart(entry, kind):
    """The same in a fork, as what is loaded stays loaded."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # solvers print there
        try:
            told = found(entry, kind)
        except BaseException as error:
            told = [repr(error)]
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = json.loads(pipe.read())
    os.wait()
    return told


if __name__ == "__main__":
    name, *kinds = sys.argv[1:]
    print(json.dumps({kind: apart(name, kind) for kind in kinds or KINDS}))
