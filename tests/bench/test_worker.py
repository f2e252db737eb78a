"""The warm-up in the process of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.entries import parse_entry
from bench.records import Store
from bench.suite import run_suite
from bench.warm import tiny_like
from heuristics.catalogue import load
from problems.checker import check
from problems.single import best_single
from solvers.method import Context
from tests.bench import harness

# Compiling the first part takes the time of the whole warm-up; the second is not reached then.
SLOW_TO_COMPILE = """
import time
import numpy as np
from numba import njit
from problems.answer import Answer
from solvers.method import method

@njit
def first(x):
    return x + 1

@njit
def second(x):
    return x + 2

@method(problems=["throughput"], source="a test", warm=True)
def slow_to_compile(instance, context):
    cold = not first.signatures
    first(1)
    if cold:
        time.sleep(max(0.0, context.time_left()) + 0.05)
    print("second is compiled:", len(second.signatures), flush=True)
    if context.time_left() > 0:
        second(1)
    return Answer(np.zeros(instance.n, int))
"""


def test_warm_up_goes_on_until_nothing_is_compiled(tmp_path):
    path = tmp_path / "slow_to_compile.py"
    path.write_text(SLOW_TO_COMPILE)
    (record,) = run_suite(
        [harness.instance()], parse_entry(str(path)), store=Store(tmp_path / "runs"),
        time_limit_s=5,
    )  # fmt: skip
    assert (record.termination, record.check) == ("completed", "ok")
    printed = [line for line in record.log.splitlines() if line.startswith("second")]
    # Two warm-ups until it was compiled, one to see that nothing is left, and the run.
    assert [int(line[-1]) for line in printed] == [0, 0, 1, 1]


def test_the_tiny_instance_is_tight_where_the_large_one_is():
    ample = harness.instance()
    assert best_single(tiny_like(ample)) is not None
    tight = harness.instance(tight=1.4)
    assert best_single(tight) is None
    tiny = tiny_like(tight)
    assert best_single(tiny) is None
    answer = load("single").run(tiny, Context())
    assert check(tiny, answer).valid


@pytest.mark.parametrize("entry", ["annealing", "greedy", "lns", "mixture", "portfolio"])
def test_nothing_is_compiled_or_loaded_under_the_clock(entry):
    """Code that the warm-up does not come to costs its seconds to the run, unseen."""
    script = Path(__file__).with_name("under_the_clock.py")
    # What is compiled the first time can be loaded the second; on a busy machine a warm-up may be
    # cut short once, but not each time.
    for _ in range(4):
        told = subprocess.run(
            [sys.executable, script, entry],
            capture_output=True,
            text=True,
            check=True,
            cwd=script.parents[2],
            env=os.environ | {"PYTHONPATH": str(script.parents[2])},
        ).stdout
        late = {kind: places for kind, places in json.loads(told).items() if places}
        if not late:
            break
    assert late == {}
