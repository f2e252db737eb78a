"""Loads and memory of a pipeline in CP-SAT, over the device literals of its groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems import throughput
from solvers.cpsat._program import Program, real
from solvers.formulations._contract import Contracted


def add_memory(program: Program, c: Contracted) -> None:
    """Bytes of every device; a weight that several groups read counts once."""
    for k, limit in enumerate(program.instance.memory.tolist()):
        if limit >= c.bytes.sum() + c.shared_bytes.sum():
            continue
        terms = [int(size) * row[k] for size, row in zip(c.bytes, program.x, strict=True)
                 if size and row[k] is not None]  # fmt: skip
        for i, size in enumerate(c.shared_bytes.tolist()):
            readers = c.reader_group[c.reader_weight == i].tolist()
            held = program.implied([[on] for on in real([program.x[g][k] for g in readers])])
            if held is not None:
                terms.append(int(size) * held)
        program.model.add(sum(terms) <= math.floor(limit))


Charges = list[list[list[Any]]]
"""Terms by phase and device."""


def _charges(phases: int, devices: int) -> Charges:
    return [[[] for _ in range(devices)] for _ in range(phases)]


def add_loads(program: Program, c: Contracted) -> None:
    """Compute, receive and send of every device against the largest load of the phase."""
    model, instance = program.model, program.instance
    phases, _, K = c.work.shape
    program.top = [model.new_int_var(0, program.end, f"top{p}") for p in range(phases)]
    work = program.units(c.work)
    compute, receive, send = (_charges(phases, K) for _ in range(3))
    for p, g, k in np.argwhere(work).tolist():
        if program.x[g][k] is not None:
            compute[p][k].append(int(work[p, g, k]) * program.x[g][k])
    charge = _staged if instance.staged else _direct
    charge(program, c, receive, send)
    overlap = throughput.rules_of(instance).overlap
    for p, top in enumerate(program.top):
        for k in range(K):
            own, into, out = compute[p][k], receive[p][k], send[p][k]
            for terms in {
                "none": [own + into + out],
                "half": [own, into + out],
                "full": [own, into, out],
            }[overlap]:
                if terms:
                    model.add(sum(terms) <= top)


def _pins(c: Contracted) -> list[list[int]]:
    """Consumer groups of each net."""
    return [each.tolist() for each in np.split(c.pin_group, np.flatnonzero(np.diff(c.pin_net)) + 1)]


def _staged(program: Program, c: Contracted, receive: Charges, send: Charges) -> None:
    instance, x = program.instance, program.x
    for e, pins in enumerate(_pins(c) if len(c.net_group) else []):
        g, p = int(c.net_group[e]), int(c.net_phase[e])
        for k in np.flatnonzero(~instance.host).tolist():
            cost = int(program.units(c.net_time[instance.port[k], e]))
            if not cost:
                continue
            source = x[g][k]
            targets = [x[h][k] for h in pins]
            away = [] if source is None else [source.negated()]
            into = program.implied([[on, *away] for on in real(targets)])
            if into is not None:
                receive[p][k].append(cost * into)
            if source is not None:
                bodies = [[source] if on is None else [source, on.negated()] for on in targets]
                send[p][k].append(cost * program.implied(bodies))


def _direct(program: Program, c: Contracted, receive: Charges, send: Charges) -> None:
    instance, x, model = program.instance, program.x, program.model
    cost = program.units(c.net_time)
    for e, pins in enumerate(_pins(c) if len(c.net_group) else []):
        g, p = int(c.net_group[e]), int(c.net_phase[e])
        for to in range(instance.K):
            reached = program.implied([[on] for on in real([x[h][to] for h in pins])])
            if reached is None:
                continue
            ways = [reached.negated(), *real([x[g][to]])]
            for k in range(instance.K):
                if k == to or x[g][k] is None:
                    continue
                flow = program.implied([[x[g][k], reached]])
                ways.append(flow)
                seconds = int(cost[instance.wire[k, to], e])
                if seconds and not instance.host[to]:
                    receive[p][to].append(seconds * flow)
                if seconds and not instance.host[k]:
                    send[p][k].append(seconds * flow)
            # Follows from the clauses, not from their linear relaxation.
            model.add_bool_or(ways)
