"""Bundles by reference: one array on both sides of the compiler, and classes that stay apart."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from solvers.by_reference import by_reference


@by_reference
class Inner(NamedTuple):
    values: np.ndarray
    scale: float


@by_reference
class Outer(NamedTuple):
    inner: Inner
    count: int


@njit
def raise_all(outer, amount):
    values = outer.inner.values
    for i in range(len(values)):
        values[i] += outer.inner.scale * amount
    return outer.count


def test_compiled_code_writes_to_the_arrays_that_were_given():
    values = np.arange(3.0)
    outer = Outer(Inner(values, scale=2.0), 7)
    assert raise_all(outer, 1) == 7
    assert values.tolist() == [2.0, 3.0, 4.0]
    assert outer.inner.values is values
    assert raise_all(outer._replace(inner=Inner(values, 0.0), count=8), 1) == 8
    assert values.tolist() == [2.0, 3.0, 4.0]


def test_it_has_the_fields_of_the_tuple_and_no_others():
    inner = Inner(values=np.zeros(1), scale=0.5)
    assert [type(each) for each in inner] == [np.ndarray, float]
    with pytest.raises(TypeError):
        Inner(np.zeros(1))
    with pytest.raises(TypeError):
        Inner(np.zeros(1), 1.0, size=2)
    with pytest.raises(TypeError):
        inner._replace(size=2)


def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    script = (
        "import numpy as np\n"
        "from solvers.moves_throughput import State\n"
        "State(*[np.zeros(1)] * 10)\n"
    )
    counts = []
    for _ in range(2):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", script], env=environment, check=True)
        counts.append(len(list(tmp_path.rglob("*.nbc"))))
    assert counts == [1, 1]
