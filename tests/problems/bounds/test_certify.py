import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from problems.bounds.certify import LinearProgram, multipliers, proved


def program(seed):
    rng = np.random.default_rng(seed)
    rows, columns = 6, 8
    matrix = rng.integers(-3, 4, (rows, columns)).astype(float)
    inside = rng.random(columns)
    equal = rng.random(rows) < 0.3
    right = matrix @ inside - np.where(equal, 0.0, rng.random(rows))
    lower, upper = np.zeros(columns), 1 + rng.random(columns)
    cost = rng.normal(size=columns)
    return LinearProgram(cost, lower, upper, sparse.csr_array(matrix), right, equal)


def optimum(case):
    found = linprog(
        case.cost,
        A_ub=-case.matrix[~case.equal],
        b_ub=-case.right[~case.equal],
        A_eq=case.matrix[case.equal],
        b_eq=case.right[case.equal],
        bounds=np.column_stack([case.lower, case.upper]),
    )
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("seed", range(30))
def test_the_solver_s_multipliers_prove_the_optimum(seed):
    case = program(seed)
    primal, dual = multipliers(case, 10.0)
    best = optimum(case)
    assert case.cost @ primal == pytest.approx(best, abs=1e-7)
    assert best - 1e-6 < proved(case, dual) <= best + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_no_multipliers_prove_more(seed):
    case = program(seed)
    best = optimum(case)
    rng = np.random.default_rng(seed)
    for scale in (0.01, 0.3, 1.0, 10.0):
        assert proved(case, scale * rng.normal(size=len(case.right))) <= best + 1e-9


def test_rounding_is_downwards():
    case = LinearProgram(
        np.array([1.0]), np.zeros(1), np.ones(1), sparse.csr_array([[1.0]]), np.array([0.1]),
        np.array([False]),
    )  # fmt: skip
    assert 0.1 - 1e-13 < proved(case, np.array([1.0])) < 0.1


def test_a_solver_without_time_proves_nothing():
    primal, dual = multipliers(program(0), 0.0)
    assert primal is None or np.isfinite(primal).all()
    assert np.isfinite(dual).all()
