"""The master program: how many samples go by each of the known mappings.

maximise  sum_i r_i   subject to   sum_i r_i load_i(e) <= 1 for every engine e,  r >= 0
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def rates(loads: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Solve it by HiGHS.

    Parameters
    ----------
    loads : float64 array, shape (mappings, engines)
        In units in which they are about 1; no row is all zero.

    Returns
    -------
    rates : float64 array, shape (mappings,)
        A vertex: no more of them are positive than there are engines.
    weights : float64 array, shape (engines,)
        lambda, scaled to a sum of 1.
    None where the solver does not finish.
    """
    result = linprog(
        -np.ones(len(loads)),
        A_ub=loads.T,
        b_ub=np.ones(loads.shape[1]),
        bounds=(0, None),
        method="highs-ds",
    )
    if result.status != 0:
        return None
    dual = np.maximum(-np.asarray(result.ineqlin.marginals, float), 0.0)
    if not dual.sum() > 0:
        return None
    return np.maximum(np.asarray(result.x, float), 0.0), dual / dual.sum()
