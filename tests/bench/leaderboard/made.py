"""Runs with real answers on small random instances of every problem, without running anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.leaderboard import gather
from bench.leaderboard.board import Board
from bench.leaderboard.evidence import Evidence, runs_of
from bench.records import Record, Store
from problems import checker
from problems.answer import Answer, to_file
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from problems.single import best_single
from solvers import objective
from tests.bench.synthetic import record

PROBLEMS = ("throughput", "latency", "calls", "chips")
ENTRIES = ("annealing[restarts=4]", "greedy", "single", "mine</script>")


def instances(each: int = 2) -> list[Instance]:
    """Some of every problem; one latency instance is too large to be drawn node by node."""
    found = [
        from_bundle(random_bundle(seed, n=9, devices=3, problem=problem), "made")
        for problem in PROBLEMS
        for seed in range(each)
    ]
    return [*found, from_bundle(random_bundle(7, n=420, devices=2, problem="latency"), "made")]


def answers(instance: Instance, seed: int) -> Iterator[tuple[Answer, float]]:
    """Valid answers and their objectives: a start first, then what random mappings happen to be."""
    single = best_single(instance)  # cheap, where memory lets it
    start = objective.starting(instance) if single is None else single[0]
    assert start is not None
    yield start, float(checker.check(instance, start).objective)
    draw = np.random.default_rng(seed)
    for _ in range(40):
        device = np.array(start.device)
        device[instance.group == draw.integers(instance.n)] = draw.integers(instance.K)
        answer = Answer(device)
        verdict = checker.check(instance, answer)
        if verdict.objective is not None:
            yield answer, float(verdict.objective)


def records(store: Store, chosen: list[Instance], seeds: int = 2) -> list[Record]:
    """Every entry on every instance under every seed; ``greedy`` breaks a rule now and then."""
    environment = store.put_environment(
        {"cpu": "A CPU", "cores": 4, "git_commit": "c" * 40, "calibration": {"median_s": 0.03}}
    )
    found = []
    for i, instance in enumerate(chosen):
        pool = sorted(answers(instance, i), key=lambda pair: pair[1])
        for j, entry in enumerate(ENTRIES):
            for seed in range(seeds):
                answer, z = pool[min(len(pool) - 1, j + seed)]
                base = {
                    "instance": instance.id, "digest": instance.digest, "seed": seed,
                    "problem": instance.problem, "family": f"family{i % 3}", "entry": entry,
                    "options": {"restarts": 4} if j == 0 else {}, "environment": environment,
                    "source": "f" * 64 if "<" in entry else "",
                }  # fmt: skip
                if entry == "greedy" and i % 3 == 2:
                    broken = [("memory", "device 1 holds <too> much")]
                    found.append(record(**base, check="invalid", violations=broken))
                    continue
                trace = [(0.01 * (seed + 1), 2 * z), (0.4, z)]
                digest = store.put_answer(to_file(answer, instance.digest))
                found.append(record(**base, objective=z, answer=digest, trace=trace))
    return found


def site(root: Path, each: int = 2) -> tuple[Board, Evidence]:
    """A board and what lies behind it."""
    store, chosen = Store(root), instances(each)
    made = records(store, chosen)
    by_digest = {instance.digest: instance for instance in chosen}
    known = gather.Known(
        dict.fromkeys(by_digest, 1e-09),
        {digest: (instance.n, instance.K) for digest, instance in by_digest.items()},
    )
    board = gather.board(gather.Source(store, made, "made"), known)
    return board, Evidence(runs_of(board, made), store, {}, None, by_digest.get)
