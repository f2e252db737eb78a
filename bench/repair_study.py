"""Repairs a second by size, rule and mode, against completion by CP-SAT: a study of `chips`.

``python -m bench.repair_study --save`` makes networks of 500, 2,000 and 5,000 nodes for 36 chips
and counts what `solvers.repair` samples and fixes in a second; how many random candidates are valid
as they are; and what CP-SAT takes for one partition, with the exact rules (on the smallest network
only) and with steps of one chip along every edge. One thread.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bench import study
from bench.markdown import percent, table
from solvers.repair.modes import LADDER, Repair, Repaired, Rule
from solvers.repair.problem import Problem, build
from solvers.repair.reference import complete, complete_steps
from solvers.repair.valid import is_valid
from solvers.rng import seeded

NODES = (500, 2_000, 5_000)
CHIPS = 36
MEMORY = {"free": None, "tight": 1.3}
"""Capacity of a chip over an even share of all bytes."""
RULES: tuple[Rule, ...] = ("difference", "exact")
EACH = 2.0
"""Seconds that one figure is measured for, after a first call that compiles."""
CANDIDATES = 10_000
EXACT_NODES = 500
"""Largest network that CP-SAT gets with the exact rules: rows grow with edges x chips squared."""
SURE = 0.95


def network(nodes: int, tight: float | None, chips: int = CHIPS) -> Problem:
    """Branches that part and join from one source, about 1.5 edges a node, 1 to 99 bytes a node."""
    rng = np.random.default_rng(0)
    edges = [(max(0, v - int(rng.integers(1, 5))), v) for v in range(1, nodes)]
    edges += [(max(0, v - int(rng.integers(1, 13))), v) for v in range(2, nodes, 2)]
    held = rng.integers(1, 100, nodes)
    room = None if tight is None else np.full(chips, tight * held.sum() / chips)
    return build(nodes, [e for e in edges if e[0] != e[1]], chips, held, room)


def rate(problem: Problem, rule: Rule, mode: str, limit: float) -> dict[str, Any]:
    """Repairs in random order, of equal probabilities or of random candidates, for `limit` s."""
    rng = np.random.default_rng(1)
    n, C = len(problem.bytes), problem.chips
    repair, stream, likely = Repair(problem, rule), seeded(rng), np.ones((n, C))
    taken: list[float] = []
    found: list[Repaired | None] = []
    for warm in (True, False):
        end = time.perf_counter() + limit
        while not taken or time.perf_counter() < end:
            order, wish = rng.permutation(n), rng.integers(0, C, n)
            begin = time.perf_counter()
            if mode == "SAMPLE":
                got = repair.sample(likely, order, stream)
            else:
                got = repair.fix(wish, order, stream)
            taken.append(time.perf_counter() - begin)
            found.append(got)
            if warm:
                break
        if warm:
            taken, found = [], []
    some = [each for each in found if each is not None]
    assert all(is_valid(problem, each.chip) for each in some), "a repair is valid"
    searched = [each for each in some if each.by == "search"]
    # Which of the attempts had nothing but tight edges; where memory is short only those are made.
    strict = [each for each in searched if rule == "difference" or problem.limited or
              LADDER[rule][each.attempt] == 1.0]  # fmt: skip
    return {
        "by": f"repair {mode}", "rule": rule, "count": len(found), "found": len(some),
        "median_s": float(np.median(taken)), "per_s": len(some) / sum(taken),
        "search": len(searched) / len(found), "tight": len(strict) / len(found),
    }  # fmt: skip


def by_cp_sat(problem: Problem, rule: Rule, mode: str, limit: float) -> dict[str, Any]:
    """One partition by CP-SAT within `limit` s after the model is built; the time of both."""
    rng = np.random.default_rng(2)
    n, C = len(problem.bytes), problem.chips
    wish = rng.integers(0, C, n)
    begin = time.perf_counter()
    if rule == "difference":
        got = complete_steps(problem, wish, limit, first=mode == "SAMPLE")
    else:
        got = complete(problem, np.eye(C)[wish], limit, first=mode == "SAMPLE")
    taken = time.perf_counter() - begin
    assert got is None or is_valid(problem, got), "what CP-SAT finds is valid"
    found = 0 if got is None else 1
    return {
        "by": f"CP-SAT {mode}", "rule": rule, "count": 1, "found": found, "median_s": taken,
        "per_s": found / taken, "search": float("nan"), "tight": float("nan"),
    }  # fmt: skip


def unrepaired(problem: Problem, count: int) -> dict[str, Any]:
    """How many of `count` candidates are valid: chips drawn evenly, node by node."""
    rng = np.random.default_rng(3)
    n, C = len(problem.bytes), problem.chips
    begin = time.perf_counter()
    valid = sum(is_valid(problem, rng.integers(0, C, n)) for _ in range(count))
    taken = time.perf_counter() - begin
    return {
        "by": "random candidate", "rule": "exact", "count": count, "found": valid,
        "median_s": taken / count, "per_s": valid / taken,
        "search": float("nan"), "tight": float("nan"),
    }  # fmt: skip


def most(valid: int, count: int, sure: float = SURE) -> float:
    """Upper limit of a share of which `valid` of `count` were seen (Clopper and Pearson 1934)."""
    return 1.0 if valid == count else float(stats.beta.ppf(sure, valid + 1, count - valid))


def rows(
    nodes: Sequence[int] = NODES,
    limit: float = 30.0,
    each: float = EACH,
    candidates: int = CANDIDATES,
    chips: int = CHIPS,
) -> pd.DataFrame:
    """All figures, one row each: `by`, `rule`, `nodes`, `edges`, `memory`, counts and times."""
    found = []
    for n, (memory, tight) in itertools.product(nodes, MEMORY.items()):
        problem = network(n, tight, chips)
        measured = [
            rate(problem, rule, mode, each) for rule in RULES for mode in ("SAMPLE", "FIX")
        ] + [unrepaired(problem, candidates)]
        if tight is None:
            rules = RULES if n <= EXACT_NODES else RULES[:1]
            modes = ("SAMPLE", "FIX")
            measured += [by_cp_sat(problem, r, m, limit) for r in rules for m in modes]
        where = {"nodes": n, "edges": len(problem.succ), "memory": memory}
        found += [where | row for row in measured]
        print(f"{n} nodes, memory {memory}: measured", file=sys.stderr)
    return pd.DataFrame(found)


def markdown(found: pd.DataFrame, limit: float, chips: int = CHIPS) -> str:
    """The study as a Markdown page."""
    random = found[found["by"] == "random candidate"]
    valid, count = int(random["found"].sum()), int(random["count"].sum())
    lines = [
        "# Repair of partitions for a chain of chips",
        "",
        f"Networks that part and join, for {chips} chips; memory is free, or"
        f" {MEMORY['tight']:g} times an even share a chip. One thread; order and candidate are new"
        " every time. `search`: share that the search found, the others are cuts of an order that"
        " sweeps pulled towards what was asked for. `steps only`: share found by an attempt in"
        " which every edge had to stay on its chip or go to the next one; under the exact rules"
        " these come after looser ones, which any valid partition can come out of.",
        "",
        f"Without repair {valid} of {count:,} candidates drawn evenly are valid: with"
        f" {100 * SURE:g} % confidence fewer than {most(valid, count):.2g} of all.",
        "",
        f"CP-SAT makes one partition a row, within {limit:g} s after its model is built; the time"
        " has both, and `found` 0 means none. SAMPLE takes the first one under a random seed; FIX"
        " keeps as many nodes as it can (exact) or changes chips by the least sum (difference),"
        f" and may end with what it has. The exact model is made up to {EXACT_NODES:,} nodes, for"
        f" {chips}² / 2 rows and more an edge are too many beyond.",
        "",
    ]
    columns: dict[str, Any] = {
        "nodes": lambda v: f"{v:,}", "memory": str, "rule": str, "by": str,
        "count": lambda v: f"{v:,}", "found": lambda v: f"{v:,}",
        "median_s": lambda v: f"{1000 * v:,.3g} ms" if v < 1 else f"{v:.3g} s",
        "per_s": lambda v: f"{v:,.3g}", "search": percent, "tight": percent,
    }  # fmt: skip
    titles = {"median_s": "median", "per_s": "valid a second", "tight": "steps only"}
    return "\n".join(lines + table(found, columns, titles)) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table; with ``--save`` write it."""
    parser = argparse.ArgumentParser(prog="python -m bench.repair_study", description=__doc__)
    text = "limit of one CP-SAT search (default 30s)"
    parser.add_argument("--time", type=study.duration, default=30.0, metavar="T", help=text)
    text = f"write the study to {study.STUDIES}"
    parser.add_argument("--save", action="store_true", help=text)
    study.output(parser)
    given = parser.parse_args(arguments)
    found = rows(limit=given.time)
    csv = str(found.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    study.publish(given, "repair", {"md": markdown(found, given.time), "csv": csv})
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
