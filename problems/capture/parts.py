"""Parts of a program: one function a device.

The operators are called as they stand in the exported graph, with nothing between them: the source
of each part is written out and compiled, as ``torch.fx`` does for a whole graph. Views are taken on
the device that reads them; a payload is the memory behind them, as in the graph file.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.fx import Node as FxNode

from problems.capture import trace as trace_
from problems.capture.program import Program


@dataclass(frozen=True)
class Payload:
    """One transfer a sample: the result of an operator to one other device."""

    name: str
    source: int
    target: int
    like: Any
    """The tensor, or list of tensors, as fake values."""


@dataclass
class _Writer:
    """Writes the source of one part."""

    program: Program
    device: dict[FxNode, int]
    own: int
    lines: list[tuple[str, list[str], str]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    # Variable that holds the memory of a provider's result here.
    memory: dict[FxNode, str] = field(default_factory=dict)
    views: dict[tuple[FxNode, str], str] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)

    def operator(self, node: FxNode) -> None:
        trace = self.program.trace
        mutated = trace_._mutated(node, node.target)
        uses: list[str] = []

        def argument(a: FxNode) -> str:
            name = self._value(a, trace.provider(node, a))
            uses.append(name)
            return name

        text = self._call(node, argument)
        own = f"v{trace.index[node]}"
        self.lines.append((f"{own} = {text}", uses, own))
        self.labels.append(trace.nodes[trace.index[node]].name)
        # What writes in place leaves its result in the memory that it was given.
        self.memory[node] = self.memory[trace.provider(node, mutated[0])] if mutated else own

    def send(self, node: FxNode, payload: int) -> None:
        value = self.memory[node]
        self.lines.append((f"send({payload}, {value}, i)", [value], ""))
        self.labels.append("send")

    def output(self, position: int, node: FxNode) -> None:
        value = self._value(node, self.program.trace.owner(node))
        self.lines.append((f"out({position}, {value})", [value], ""))
        self.labels.append("output")

    def _call(self, node: FxNode, argument: Callable[[FxNode], str]) -> str:
        if node.target is operator.getitem:
            return f"{argument(node.args[0])}[{node.args[1]}]"
        target = self._constant(node.target)
        parts = [self._source(a, argument) for a in node.args]
        parts += [f"{k}={self._source(v, argument)}" for k, v in sorted(node.kwargs.items())]
        return f"{target}({', '.join(parts)})"

    def _source(self, value: Any, argument: Callable[[FxNode], str]) -> str:
        if isinstance(value, FxNode):
            return argument(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(self._source(v, argument) for v in value)}]"
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        return self._constant(value)

    def _constant(self, value: Any) -> str:
        for name, there in self.values.items():
            if there is value:
                return name
        name = f"c{len(self.values)}"
        self.values[name] = value
        return name

    def _value(self, node: FxNode, provider: FxNode) -> str:
        """Variable of `node` as seen in the memory that `provider` left."""
        if provider not in self.memory:
            if provider in self.program.held:
                self.memory[provider] = self._constant(self.program.held[provider])
            else:
                raise AssertionError(f"{provider} has not arrived on device {self.own}")
        return self._seen(node, self.memory[provider])

    def _seen(self, node: FxNode, memory: str) -> str:
        trace = self.program.trace
        if trace.base[node] is node:
            return memory
        if not trace.is_view(node):  # wrote in place: gives back what it was given
            return self._seen(trace_._mutated(node, node.target)[0], memory)
        if (node, memory) not in self.views:
            name = self.views[node, memory] = f"w{trace.index[node]}_{memory}"
            uses: list[str] = []

            def argument(a: FxNode) -> str:
                (source,) = trace.sources[node]
                if a is not source:  # a weight beside it, which a view never has
                    raise ValueError(f"{node}: a view of two tensors")
                seen = self._seen(a, memory)
                uses.append(seen)
                return seen

            self.lines.append((f"{name} = {self._call(node, argument)}", uses, name))
            self.labels.append("view")
        return self.views[node, memory]

    def function(self, around: dict[str, Any], timed: bool) -> Callable[[int], None]:
        """Compile; with `timed` a clock is read before the first line and after every one."""
        last: dict[str, int] = {}
        for k, (_, uses, made) in enumerate(self.lines):
            for name in [*uses, *filter(None, [made])]:
                last[name] = k
        dead: dict[int, list[str]] = {}
        for name, k in last.items():
            if not name.startswith("c"):
                dead.setdefault(k, []).append(name)
        body = ["def run(i):"] + (["  tick()"] if timed else ["  pass"])
        for k, (line, _, _) in enumerate(self.lines):
            body.append(f"  {line}")
            if k in dead:
                body.append(f"  del {', '.join(sorted(dead[k]))}")
            if timed:
                body.append("  tick()")
        scope = self.values | around
        exec(compile("\n".join(body), f"<device {self.own}>", "exec"), scope)
        result: Callable[[int], None] = scope["run"]
        return result


def payloads(program: Program, device: dict[FxNode, int]) -> list[Payload]:
    """Every transfer of a mapping, by producer and then by target."""
    trace = program.trace
    crossing = {
        (trace.index[u], device[v])
        for v in program.operators.values()
        for a in trace.sources[v]
        if (u := trace.provider(v, a)) in device and device[u] != device[v]
    }
    names = {trace.index[node]: node for node in program.operators.values()}
    return [
        Payload(trace.nodes[u].name, device[names[u]], k, trace.base[names[u]].meta["val"])
        for u, k in sorted(crossing)
    ]


def part(
    program: Program,
    device: dict[str, int],
    order: Sequence[str],
    own: int,
    around: dict[str, Any],
    timed: bool = False,
) -> tuple[Callable[[int], None], list[str]]:
    """The function of one device.

    Parameters
    ----------
    device : dict
        Name of every operator -> its device.
    order : sequence of str
        The operators of device `own` in the order in which it runs them.
    around : dict
        ``send(payload, value, sample)``, ``receive(payload, sample)`` and ``out(position, value)``;
        ``tick()`` where `timed`.

    Returns
    -------
    function, labels
        The function takes the number of the sample; a label for each of its lines: the name of the
        operator, or what else it does.
    """
    trace = program.trace
    where = {program.operators[name]: k for name, k in device.items()}
    every = payloads(program, where)
    leaving: dict[str, list[int]] = {}
    arriving: dict[str, int] = {}
    for j, each in enumerate(every):
        if each.source == own:
            leaving.setdefault(each.name, []).append(j)
        elif each.target == own:
            arriving[each.name] = j
    writer = _Writer(program, where, own)
    for name in order:
        node = program.operators[name]
        for a in trace.sources[node]:
            u = trace.provider(node, a)
            if u in where and where[u] != own and u not in writer.memory:
                j = arriving[trace.nodes[trace.index[u]].name]
                variable = writer.memory[u] = f"r{j}"
                writer.lines.append((f"{variable} = receive({j}, i)", [], variable))
                writer.labels.append("receive")
        writer.operator(node)
        for j in leaving.get(name, []):
            writer.send(node, j)
        for position, output in enumerate(program.outputs):
            if trace.owner(output) is node:
                writer.output(position, output)
    return writer.function(around, timed), writer.labels
