"""Says what numba compiles or loads under the clock, after the warm-up, in a process of its own.

`python tests/bench/under_the_clock.py ENTRY KIND...` prints one JSON object, {kind: [places]}. The
champion is run a second time, on parts of the plans that it has for some seconds and for a minute.
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
from heuristics import portfolio
from heuristics.champion.plan import plan
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context

MIXTURE = {"replicate": "mixture"}
KINDS = {
    "contiguous": {"problem": "throughput", "rules": {"contiguous": True}},
    "free": {"problem": "throughput", "topology": "direct"},
    "free, tight": {"problem": "throughput", "tight": 1.4},
    "latency": {"problem": "latency"},
    "ports, tight": {"problem": "latency", "rules": {"contention": "ports"}, "tight": 1.4},
    "calls": {"problem": "calls"},
    "chips, tight": {"problem": "chips", "tight": 1.4},
    "mixture": {"problem": "throughput", "rules": MIXTURE},
    "mixture, direct, tight": {
        "problem": "throughput", "rules": MIXTURE, "topology": "direct", "tight": 1.4
    },
    "mixture, contiguous, tight": {
        "problem": "throughput", "rules": MIXTURE | {"contiguous": True}, "tight": 1.4
    },
    "mixture, contiguous, direct": {
        "problem": "throughput", "rules": MIXTURE | {"contiguous": True}, "topology": "direct"
    },
}  # fmt: skip
NODES, SECONDS = 60, 0.5
LIMITS = {"": None, "10 s": 10.0, "60 s": 60.0}
"""Those whose plan is run, within so many seconds; elsewhere all limits have the same parts."""
PLANNED, PLANNED_S = ("throughput", "latency"), 1.0


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


def found(entry, kind, limit):
    """Places, after a warm-up as the worker does it."""
    given = {"n": NODES, "devices": 4, "density": 4 / NODES} | KINDS[kind]
    instance, method = from_bundle(random_bundle(3, **given)), load_method(entry)
    if method.refusal(instance) is not None:
        return []
    worker._warm_up(method, tiny_like(instance), SimpleNamespace(seed=0, threads=1, options={}))
    places = Places()
    event.register("numba:compiler_lock", places)
    if limit is not None:
        # As on the larger instances that the plans tell apart.
        larger = SimpleNamespace(problem=instance.problem, rules=instance.rules, n=2_000, K=1)
        portfolio.plan = lambda instance, _, parts: plan(larger, limit, parts)
    seconds, imported = SECONDS if limit is None else PLANNED_S, set(sys.modules)
    method.run(instance, Context(deadline=time.monotonic() + seconds))
    return sorted([*places.found, *(f"import {each}" for each in set(sys.modules) - imported)])


def apart(entry, kind, limit):
    """The same in a fork, as what is loaded stays loaded."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # solvers print there
        try:
            told = found(entry, kind, limit)
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
    limits = LIMITS if name == "portfolio" else [""]
    told = {
        f"{kind} {limit}".strip(): apart(name, kind, LIMITS[limit])
        for kind in kinds or KINDS
        for limit in limits
        if not limit or (KINDS[kind]["problem"] in PLANNED and "mixture" not in kind)
    }
    print(json.dumps(told))
