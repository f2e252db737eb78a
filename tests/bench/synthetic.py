"""Made-up records for tests of tables and pages."""

from __future__ import annotations

import random
from typing import Any

from bench.records import Record, key_of


def record(**changes: Any) -> Record:
    """A good record; `changes` overrides fields."""
    fields: dict[str, Any] = {
        "format": "placebench-record/1",
        "key": "",
        "instance": "net:block/two-gpus/throughput",
        "digest": "d" * 64,
        "problem": "throughput",
        "family": "net",
        "entry": "greedy",
        "method": "",
        "options": {},
        "seed": 0,
        "time_limit_s": 10.0,
        "memory_limit_bytes": None,
        "threads": 1,
        "suite": "0.1.0",
        "termination": "completed",
        "check": "ok",
        "environment": "e" * 64,
        "date": "2026-01-02T03:04:05+00:00",
        "objective": 2.0,
        "answer": "a" * 64,
        "wall_s": 0.5,
    }
    fields |= changes
    if fields["check"] != "ok":
        fields |= {"objective": None}
    fields["method"] = fields["method"] or fields["entry"].split("[")[0]
    if not fields["key"]:
        parts = ("digest", "method", "options", "seed", "time_limit_s", "memory_limit_bytes",
                 "threads", "suite")  # fmt: skip
        key_parts = {name: fields[name] for name in parts}
        key_parts["method"] = fields["entry"]
        fields["key"] = key_of(source="", **key_parts)
    return Record(**fields)


def comparison(instances: int = 8, seeds: int = 2) -> list[Record]:
    """Three entries over both problems: one the best, one failing at times, one always worst."""
    found = []
    for problem in ("throughput", "latency"):
        for i in range(instances):
            family = f"family{i % 2}"
            where = {
                "instance": f"{family}-net{i}:block/cpu-2gpus-gbit/{problem}",
                "digest": f"{problem[0]}{i}".ljust(64, "0"),
                "problem": problem,
                "family": family,
            }
            for seed in range(seeds):
                base = {**where, "seed": seed}
                z = 0.01 * (i + 1)
                found.append(record(**base, entry="annealing[restarts=4]", objective=z))
                found.append(record(**base, entry="single", objective=3 * z, wall_s=0.01))
                if i in (2, 3, 7):
                    broken = [("memory", "device 1 holds too much")]
                    found.append(record(**base, entry="greedy", check="invalid", violations=broken))
                else:
                    found.append(record(**base, entry="greedy", objective=1.5 * z))
    return found


def bounds(instances: int = 8) -> dict[str, float]:
    """Lower bounds of :func:`comparison`, by digest."""
    return {
        f"{problem}{i}".ljust(64, "0"): 0.01 * (i + 1) * (1.0 if i == 0 else 0.8)
        for problem in "tl"
        for i in range(instances)
    }


def many(instances: int, entries: int, seeds: int) -> list[Record]:
    """Good records with traces, every entry on every instance under every seed."""
    draw = random.Random(1)
    found = []
    for i in range(instances):
        problem = ("throughput", "latency")[i % 2]
        where = {
            "instance": f"family{i % 40}-net{i}:block/cpu-2gpus-gbit/{problem}",
            "digest": f"{i:x}".rjust(64, "0"),
            "problem": problem,
            "family": f"family{i % 40}",
        }
        for entry in range(entries):
            for seed in range(seeds):
                z = 1 + draw.random()
                trace = [(0.1 * k, z + 1 - 0.1 * k) for k in range(10)] + [(1.0, z)]
                found.append(
                    record(**where, entry=f"entry{entry}", seed=seed, objective=z, trace=trace)
                )
    return found
