"""The same two modes as a CP-SAT model: what `repair` is held against on small cases.

The rules are written down as they are, with a literal for every edge and every path between chips,
so that the model grows with edges x chips squared.
"""

from __future__ import annotations

import math

import numpy as np

from problems.cp_sat import keep_sound
from solvers.repair.problem import Problem

SCALE = 1_000


def complete(
    problem: Problem,
    worth: np.ndarray,
    seconds: float = math.inf,
    seed: int = 0,
    first: bool = False,
) -> np.ndarray | None:
    """A valid partition of the largest total worth, int64 array of shape (n,).

    Parameters
    ----------
    worth : float array, shape (n, C)
        What a node is worth on a chip. FIX that keeps as much as possible is 1 where the candidate
        is, 0 elsewhere; a sample is the largest sum of log-probabilities with Gumbel noise.
    first : bool
        Take the first partition that is found, with no worth; the search is random by `seed`.

    Returns
    -------
    int64 array or None
        None where there is none, or none was found in time.
    """
    from ortools.sat.python import cp_model  # heavy: for tests and measurements only

    n, C = len(problem.bytes), problem.chips
    model = cp_model.CpModel()
    x = [[model.new_bool_var("") for _ in range(C)] for _ in range(n)]
    used = [model.new_bool_var("") for _ in range(C)]
    direct = {(a, b): model.new_bool_var("") for a in range(C) for b in range(a + 1, C)}
    beyond = {pair: model.new_bool_var("") for pair in direct}
    for v in range(n):
        model.add_exactly_one(x[v])
        for c in range(C):
            model.add_implication(x[v][c], used[c])
    for c in range(C):
        model.add_bool_or([x[v][c] for v in range(n)] + [used[c].negated()])
        if c:
            model.add_implication(used[c], used[c - 1])
        held = [x[v][c] * int(problem.bytes[v]) for v in range(n)]
        for w, size in enumerate(problem.shared_bytes.tolist()):
            holds = model.new_bool_var("")
            for v in range(n):
                if w in problem.weight[problem.weight_ptr[v] : problem.weight_ptr[v + 1]]:
                    model.add_implication(x[v][c], holds)
            held.append(holds * int(size))
        if problem.limited:
            model.add(sum(held) <= int(problem.capacity[c]))
    for u in range(n):
        for v in problem.succ[problem.succ_ptr[u] : problem.succ_ptr[u + 1]].tolist():
            for a in range(C):
                for b in range(C):
                    if b < a:
                        model.add_bool_or([x[u][a].negated(), x[v][b].negated()])
                    elif b > a:
                        model.add_bool_or([x[u][a].negated(), x[v][b].negated(), direct[a, b]])
    for (a, b), edge in direct.items():
        model.add_bool_or([edge.negated(), beyond[a, b].negated()])
        for c in range(b + 1, C):
            for rest in (direct[b, c], beyond[b, c]):
                model.add_bool_or([edge.negated(), rest.negated(), beyond[a, c]])
    if not first:
        whole = np.rint(np.asarray(worth) * SCALE).astype(np.int64)
        model.maximize(sum(x[v][c] * int(whole[v, c]) for v in range(n) for c in range(C)))
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.randomize_search = first
    solver.parameters.max_time_in_seconds = min(seconds, 1e6)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    chosen = np.array([[solver.value(each) for each in row] for row in x])
    result: np.ndarray = chosen.argmax(axis=1)
    return result


def complete_steps(
    problem: Problem,
    wish: np.ndarray,
    seconds: float = math.inf,
    seed: int = 0,
    first: bool = False,
) -> np.ndarray | None:
    """A partition with steps of one chip at most along every edge, int64 array of shape (n,).

    The difference system, of one integer a node: its rows grow with the edges only. It is made for
    graphs whose nodes all follow, over any number of edges, from node 0, and without limits on
    memory: there C2 holds once node 0 is on chip 0.

    Parameters
    ----------
    wish : int array, shape (n,)
        Chips that the nodes should have: the sum of distances to them is the least, or near it
        where time was up.
    first : bool
        Take the first partition that is found.

    Returns
    -------
    int64 array or None
        None where none was found in time.

    Raises
    ------
    ValueError
        If some other node reads nothing, or memory is limited.
    """
    from ortools.sat.python import cp_model  # heavy: for tests and measurements only

    n, C = len(problem.bytes), problem.chips
    if problem.limited or (np.diff(problem.pred_ptr)[1:] == 0).any():
        raise ValueError("the difference system takes one source, node 0, and no limit on memory")
    model = cp_model.CpModel()
    chip = [model.new_int_var(0, C - 1 if v else 0, "") for v in range(n)]
    for u in range(n):
        for v in problem.succ[problem.succ_ptr[u] : problem.succ_ptr[u + 1]].tolist():
            model.add_linear_constraint(chip[v] - chip[u], 0, 1)
    if not first:
        away = [model.new_int_var(0, C, "") for _ in range(n)]
        for v in range(n):
            model.add(away[v] >= chip[v] - int(wish[v]))
            model.add(away[v] >= int(wish[v]) - chip[v])
        model.minimize(sum(away))
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.randomize_search = first
    solver.parameters.max_time_in_seconds = min(seconds, 1e6)
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return np.array([solver.value(each) for each in chip], np.int64)
