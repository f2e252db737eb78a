"""The CP-SAT model of a window of a `throughput` mapping, for `throughput_window`."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.moves_throughput import State
from solvers.units_throughput import Problem

# Whole units of load that the period is made of.
PRECISION = 2_000_000
# Parts of a load (compute, receive, send) that add up, by overlap.
GROUPS = (((0, 1, 2),), ((0,), (1, 2)), ((0,), (1,), (2,)))


class Window:
    """The model. `x` holds for every free unit a literal by device."""

    def __init__(
        self,
        model: Any,
        q: Problem,
        s: State,
        free: np.ndarray,
        devices: np.ndarray,
        other: np.ndarray | None = None,
    ) -> None:
        self.model, self.q, self.s = model, q, s
        self.devices, self.other = devices.tolist(), other
        self.row = {g: i for i, g in enumerate(free.tolist())}
        self.x: list[dict[int, Any]] = []
        self.true = model.new_constant(1)
        P, K = s.parts.shape[:2]
        self.terms: list[list[tuple[list[Any], list[Any], list[Any]]]] = [
            [([], [], []) for _ in range(K)] for _ in range(P)
        ]
        self.parts = s.parts.copy()
        self.period = float(_loads(q, s.parts).max(axis=1).sum())
        self.unit = self.period / PRECISION
        self._place(free)
        self._compute(free)
        self._memory(free)
        nets = np.unique(
            np.concatenate(
                [q.source_net[q.source_ptr[g] : q.source_ptr[g + 1]] for g in free]
                + [q.pin_net[q.pin_ptr[g] : q.pin_ptr[g + 1]] for g in free]
            )
        )
        for e in nets.tolist():
            self._net(e)
        self._top()

    def _place(self, free: np.ndarray) -> None:
        """A device each, and the order along the chain."""
        q, s, model = self.q, self.s, self.model
        ranked = sorted(self.devices, key=lambda k: int(s.rank[k]))
        upto: list[dict[int, Any]] = []
        for g in free.tolist():
            allowed = [k for k in ranked if not q.barred[g, k]]
            if self.other is not None:
                allowed = [k for k in allowed if k in (s.device[g], self.other[g])]
            if q.chain:
                before = q.pred[q.pred_ptr[g] : q.pred_ptr[g + 1]].tolist()
                after = q.succ[q.succ_ptr[g] : q.succ_ptr[g + 1]].tolist()
                low = max((s.rank[s.device[h]] for h in before if h not in self.row), default=0)
                high = min(
                    (s.rank[s.device[h]] for h in after if h not in self.row), default=len(s.rank)
                )
                allowed = [k for k in allowed if low <= s.rank[k] <= high]
            if len(allowed) == 1:
                row = {allowed[0]: self.true}
            elif len(allowed) == 2:
                on = model.new_bool_var("")
                row = {allowed[0]: on.negated(), allowed[1]: on}
            else:
                row = {k: model.new_bool_var("") for k in allowed}
                model.add_exactly_one(row.values())
            # Two literals are one variable; with one device there is none.
            for k in allowed if len(allowed) > 2 else allowed[1:]:
                model.add_hint(row[k], int(s.device[g] == k))
            self.x.append(row)
            if q.chain:
                upto.append(self._upto(row, ranked))
        if not q.chain:
            return
        for g in free.tolist():
            mine = upto[self.row[g]]
            for h in q.succ[q.succ_ptr[g] : q.succ_ptr[g + 1]].tolist():
                if h in self.row:
                    for k, on in upto[self.row[h]].items():
                        model.add_implication(on, mine[k])

    def _upto(self, row: dict[int, Any], ranked: list[int]) -> dict[int, Any]:
        """Literals: on this device or on one before it."""
        result: dict[int, Any] = {}
        before: Any = None
        last = [k for k in ranked if k in row][-1]
        for k in ranked:
            on = row.get(k)
            if k == last or before is self.true:
                now = self.true
            elif before is None:
                now = on if on is not None else self.true.negated()
            elif on is None:
                now = before
            else:
                now = self.model.new_bool_var("")
                self.model.add_implication(on, now)
                self.model.add_implication(before, now)
                self.model.add_bool_or([now.negated(), on, before])
            result[k] = now
            before = now if on is not None or before is not None else None
        return result

    def _compute(self, free: np.ndarray) -> None:
        for g, row in zip(free.tolist(), self.x, strict=True):
            for p in range(len(self.terms)):
                self.parts[p, self.s.device[g], 0] -= self.q.work[p, g, self.s.device[g]]
                for k, on in row.items():
                    self._charge(p, k, 0, float(self.q.work[p, g, k]), on)

    def _charge(self, p: int, k: int, part: int, seconds: float, on: Any) -> None:
        if on is self.true:
            self.parts[p, k, part] += seconds
            return
        amount = round(seconds / self.unit)
        if amount:
            self.terms[p][k][part].append(amount * on)

    def _memory(self, free: np.ndarray) -> None:
        q, s = self.q, self.s
        readers: dict[int, set[int]] = {}
        for g in free.tolist():
            for w in q.share[q.share_ptr[g] : q.share_ptr[g + 1]].tolist():
                readers.setdefault(w, set()).add(g)
        total = q.bytes.sum() + q.shared_bytes.sum()
        for k in self.devices:
            if q.memory[k] >= total:
                continue
            held = s.held[k]
            terms = []
            for g in free.tolist():
                if s.device[g] == k:
                    held -= q.bytes[g]
                on = self.x[self.row[g]].get(k)
                if on is not None and q.bytes[g]:
                    terms.append(int(q.bytes[g]) * on)
            for w, mine in readers.items():
                here = sum(s.device[g] == k for g in mine)
                if s.readers[w, k] > here:
                    continue  # a reader outside of the window keeps it there
                if here:
                    held -= q.shared_bytes[w]
                some = [self.x[self.row[g]][k] for g in sorted(mine) if k in self.x[self.row[g]]]
                if some and q.shared_bytes[w]:
                    terms.append(int(q.shared_bytes[w]) * self._any(some))
            if terms:
                self.model.add(sum(terms) <= int(np.floor(q.memory[k] - held)))

    def _any(self, literals: list[Any]) -> Any:
        """A literal that holds where one of some does."""
        if any(each is self.true for each in literals):
            return self.true
        if len(literals) == 1:
            return literals[0]
        head = self.model.new_bool_var("")
        for each in literals:
            self.model.add_implication(each, head)
        return head

    def _both(self, a: Any, b: Any) -> Any:
        """A literal that holds where both do."""
        if a is self.true:
            return b
        if b is self.true:
            return a
        head = self.model.new_bool_var("")
        self.model.add_bool_or([head, a.negated(), b.negated()])
        return head

    def _net(self, e: int) -> None:
        """Charge a net anew: it leaves `parts`, and returns as terms."""
        q, s = self.q, self.s
        p, home, source = int(q.net_phase[e]), int(s.home[e]), int(q.net_source[e])
        for k in np.flatnonzero(s.pins[e]).tolist():
            if k != home:
                link = q.port[k] if q.staged else q.wire[home, k]
                if not q.host[k]:
                    self.parts[p, k, 1] -= q.net_time[e, link]
                if not q.host[home] and not q.staged:
                    self.parts[p, home, 2] -= q.net_time[e, link]
        if q.staged and s.away[e] > 0 and not q.host[home]:
            self.parts[p, home, 2] -= q.net_time[e, q.port[home]]
        sources = self.x[self.row[source]] if source in self.row else {home: self.true}
        fixed: dict[int, Any] = {}
        some: dict[int, list[Any]] = {}
        for h in q.net_pin[q.net_ptr[e] : q.net_ptr[e + 1]].tolist():
            if h in self.row:
                for k, on in self.x[self.row[h]].items():
                    some.setdefault(k, []).append(on)
            else:
                fixed[int(s.device[h])] = self.true
        reached = {
            k: self.true if k in fixed else self._any(some[k])
            for k in sorted(fixed.keys() | some.keys())
        }
        for k, there in reached.items():
            away = [a for a in sources if a != k]
            if not away:
                continue
            if q.staged:
                if not q.host[k]:
                    on = self._both(there, sources[k].negated()) if k in sources else there
                    self._charge(p, k, 1, float(q.net_time[e, q.port[k]]), on)
                continue
            for a in away:
                seconds = float(q.net_time[e, q.wire[a, k]])
                if seconds and not (q.host[a] and q.host[k]):
                    on = self._both(sources[a], there)
                    if not q.host[k]:
                        self._charge(p, k, 1, seconds, on)
                    if not q.host[a]:
                        self._charge(p, a, 2, seconds, on)
        if not q.staged:
            return
        for a, here in sources.items():
            if q.host[a]:
                continue
            others = [there for k, there in reached.items() if k != a]
            if others:
                seconds = float(q.net_time[e, q.port[a]])
                self._charge(p, a, 2, seconds, self._both(here, self._any(others)))

    def _top(self) -> None:
        """The largest load of the window's devices, below what it is; no other joins the fullest.

        With two phases the sum of their largest loads shall fall.
        """
        q, model = self.q, self.model
        loads = _loads(q, self.s.parts)
        inside = np.zeros(loads.shape[1], bool)
        inside[self.devices] = True
        before = round(loads[:, inside].max(axis=1).sum() / self.unit)
        less = max(1, before // 100_000)
        tops = []
        for p in range(len(loads)):
            most = int(loads[p].max() / self.unit) - less
            top = model.new_int_var(0, 2 * PRECISION, "")
            tops.append(top)
            for k in range(loads.shape[1]):
                sums = []
                for part in range(3):
                    constant = round(max(self.parts[p, k, part], 0.0) / self.unit)
                    sums.append((constant, self.terms[p][k][part]))
                for group in GROUPS[q.overlap]:
                    terms = [term for part in group for term in sums[part][1]]
                    constant = sum(sums[part][0] for part in group)
                    if inside[k]:
                        model.add(sum(terms) + constant <= top)
                    elif terms:
                        limit = max(most, round(loads[p, k] / self.unit))
                        model.add(sum(terms) + constant <= limit)
        model.add(sum(tops) <= before - less)
        model.minimize(sum(tops))


def _loads(q: Problem, parts: np.ndarray) -> np.ndarray:
    """Load of every device, shape (P, K), in seconds."""
    comp, into, out = parts[..., 0], parts[..., 1], parts[..., 2]
    if q.overlap == 0:
        return np.asarray(comp + into + out)
    if q.overlap == 1:
        return np.asarray(np.maximum(comp, into + out))
    return np.asarray(np.maximum(comp, np.maximum(into, out)))
