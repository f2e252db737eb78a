"""What is scheduled and a module of `latency`: answers to both, and what they are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from heuristics.modules.timed import Partial, Timed, induced
from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._orders import by_start


class Local:
    """What is scheduled and a module, as an instance of their own: answers and their values."""

    def __init__(
        self, instance: Instance, part: Partial, module: np.ndarray, tail: np.ndarray
    ) -> None:
        self.instance, self.part = instance, part
        now = part.placed.copy()
        now[module] = True
        self.nodes = np.flatnonzero(now)
        self.small = induced(instance, self.nodes)
        self.tail = tail[self.nodes]
        self.module = np.searchsorted(self.nodes, module)

    def answer(
        self, device: np.ndarray, start: np.ndarray, sent: dict[tuple[int, int], Any]
    ) -> Answer:
        """Everything in the order of its starts.

        Parameters
        ----------
        device, start : arrays of the nodes here
        sent : dict
            Starts of both legs of the transfers (producer, destination) of the whole instance that
            the module adds.
        """
        if not ports.has_ports(self.instance):
            return by_start(self.small, device, start)
        each = ports.transfers(self.small, device)
        u, to = np.divmod(each.id, self.instance.K)
        first = start[u] + self.small.time[u, device[u]]
        second = first + (each.send if self.instance.staged else 0.0)
        known = self.part.sent | sent
        for j, key in enumerate(zip(self.nodes[u].tolist(), to.tolist(), strict=True)):
            if key in known:
                first[j], second[j] = known[key]
        if not self.instance.staged:
            second = first
        return by_start(self.small, device, start, first, second)

    def module_answer(
        self, model: Timed, device: np.ndarray, start: np.ndarray, sent: dict[tuple[int, int], Any]
    ) -> Answer:
        """The answer of a solution of the module's model, all by its nodes."""
        m = len(self.module)
        of, at = np.empty(len(self.nodes), np.int64), self.part.start[self.nodes]
        of[:] = self.part.place[self.instance.group[self.nodes]]
        of[self.module], at[self.module] = device[-m:], start[-m:]
        whole = {
            (int(model.node[u]), to): times for (u, to), times in sent.items() if model.node[u] >= 0
        }
        return self.answer(of, at, whole)

    def value(self, answer: Answer) -> float | None:
        """Largest finish plus time to the end, seconds."""
        start = latency.starts(self.small, answer)
        if (
            start is None
            or not np.isfinite(self.small.time[np.arange(len(start)), answer.device]).all()
        ):
            return None
        each = np.arange(len(start)), answer.device
        return float((start + self.small.time[each] + self.tail[each]).max())

    def extended(self, answer: Answer) -> Partial:
        """The schedule with the module."""
        instance, part = self.instance, self.part
        answer = latency.complete(self.small, answer)
        begin = latency.starts(self.small, answer)
        assert begin is not None
        placed, start, place = part.placed.copy(), part.start.copy(), part.place.copy()
        placed[self.nodes], start[self.nodes] = True, begin
        place[instance.group[self.nodes]] = answer.device
        sent: dict[tuple[int, int], tuple[float, float]] = {}
        if ports.has_ports(instance):
            after = latency.successors(self.small, answer)
            assert after is not None
            assert answer.send is not None
            assert answer.receive is not None
            times = ports.in_order(self.small, answer.device, after, answer.send, answer.receive)
            assert times is not None
            u, to = np.divmod(ports.transfers(self.small, answer.device).id, instance.K)
            n, T = self.small.n, len(u)
            first = times[n : n + T]
            second = times[n + T : n + 2 * T] if instance.staged else first
            keys = zip(self.nodes[u].tolist(), to.tolist(), strict=True)
            legs = zip(first.tolist(), second.tolist(), strict=True)
            sent = dict(zip(keys, legs, strict=True))
        return replace(part, placed=placed, start=start, place=place, sent=sent)
