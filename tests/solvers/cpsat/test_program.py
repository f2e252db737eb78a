"""What the CP-SAT models of a pipeline are made of."""

import warnings

import numpy as np

from solvers.cpsat._program import BEYOND, Program
from tests.tiny import instance


def test_units_of_times_that_no_integer_holds():
    program = Program(instance([[1.0, np.inf]]), None, 0.5, True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        units = program.units(np.array([1.75, np.inf, 1e300]))
    assert units.tolist() == [3, 0, int(BEYOND)]
