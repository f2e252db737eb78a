"""Read PipeDream's ``graph.txt``: a profile of layers, and which reads which.

    node1 -- Conv2d(3, 64) -- forward_compute_time=1.2, backward_compute_time=2.3,
        activation_size=[802816.0; 4.0], parameter_size=37632.0 -- stage_id=0
    TAB node1 -- node2

(a node stands on one line). Times are milliseconds, sizes bytes; a list of activation sizes is
summed. The file names no devices: the platform is what the options say, like devices and one link.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from problems.builder import Builder
from problems.files import FileError
from problems.formats.reading import (
    Imported,
    error,
    located,
    number,
    seconds,
    short,
    text,
    whole_bytes,
)

FIELDS = ("forward_compute_time", "backward_compute_time", "activation_size", "parameter_size")
# A first layer so much slower than the second-slowest has been timed with the start-up.
OUTLIER = 10.0
_FIELD = re.compile(r"\s*(\w+)=(\[[^\]]*\]|[^,\[\]]*)(?:,\s*|$)")


@dataclass(frozen=True)
class Layer:
    """One line of the file, in seconds and bytes."""

    description: str
    forward_s: float
    backward_s: float
    activation_bytes: int
    parameter_bytes: int


def read(
    data: bytes,
    where: str,
    name: str,
    *,
    devices: int,
    bandwidth_Bps: float,
    latency_s: float = 0.0,
    memory_bytes: int | None = None,
    training: bool | None = None,
    problem: str = "throughput",
    rules: dict[str, Any] | None = None,
    provenance: dict[str, Any] | None = None,
) -> Imported:
    """Import a profile.

    Parameters
    ----------
    training : bool, optional
        With backward nodes, each colocated with its forward node; the gradient of what a layer
        reads is as large as that. Default: where some layer has a backward time.

    Raises
    ------
    FileError
        On anything that has no meaning, with its line.
    """
    layers, edges, staged = _parse(text(data, where), where)
    if training is None:
        training = any(layer.backward_s for layer in layers.values())
    notes = [f"{staged} stage ids are not used"] if staged else []
    origin = {
        "format": "pipedream",
        "sha256": hashlib.sha256(data).hexdigest(),
        **(provenance or {}),
    }
    with located(where):
        builder = Builder(name, problem=problem, rules=rules, provenance=origin)
        for k in range(devices):
            builder.add_device(f"dev{k}", kind="dev", memory_bytes=memory_bytes)
        builder.add_link("link", latency_s=latency_s, bandwidth_Bps=bandwidth_Bps, kind="modelled")
        builder.set_default_link("link")
        for key, layer in layers.items():
            builder.add_node(
                key,
                {"dev": layer.forward_s},
                output_bytes=layer.activation_bytes,
                weights={f"{key}.weights": layer.parameter_bytes} if layer.parameter_bytes else 0,
                colocate=key if training else None,
                op=short(layer.description, 80) or "layer",
            )
        for u, v in edges:
            builder.add_edge(u, v)
        if training:
            notes += _add_backward(builder, layers, edges)
        elif any(layer.backward_s for layer in layers.values()):
            notes.append("backward times are left out (--inference)")
        return Imported(builder.build(), notes + _outliers(layers))


def _add_backward(
    builder: Builder, layers: dict[str, Layer], edges: dict[tuple[str, str], int]
) -> list[str]:
    reads: dict[str, set[int]] = {key: set() for key in layers}
    for u, v in edges:
        reads[v].add(layers[u].activation_bytes)
    for key, layer in layers.items():
        builder.add_node(
            f"{key}.backward",
            {"dev": layer.backward_s},
            output_bytes=max(reads[key], default=0),
            weights={f"{key}.weights": layer.parameter_bytes} if layer.parameter_bytes else 0,
            phase="backward",
            colocate=key,
            op="backward",
        )
    for key in layers:
        builder.add_edge(key, f"{key}.backward")
    for u, v in edges:
        builder.add_edge(f"{v}.backward", f"{u}.backward")
    unlike = sum(len(each) > 1 for each in reads.values())
    return (
        [f"{unlike} layers read payloads of unlike sizes: their gradients count as the largest"]
        if unlike
        else []
    )


def _outliers(layers: dict[str, Layer]) -> list[str]:
    times = sorted((layer.forward_s, key) for key, layer in layers.items())
    first = [key for key, layer in layers.items() if layer.forward_s][:2]
    if len(times) < 3 or times[-1][0] <= OUTLIER * times[-2][0] or times[-1][1] not in first:
        return []
    (second, _), (most, key) = times[-2:]
    return [
        f"{short(key)} takes {most * 1e3:.4g} ms forward, the next slowest {second * 1e3:.4g} ms:"
        " was the first layer timed with the start-up?"
    ]


def _parse(content: str, where: str) -> tuple[dict[str, Layer], dict[tuple[str, str], int], int]:
    layers: dict[str, Layer] = {}
    edges: dict[tuple[str, str], int] = {}
    stages = 0
    for at_line, line in enumerate(content.split("\n"), 1):
        at = f"line {at_line}"
        if not line.strip():
            continue
        if line[0] in "\t ":
            ends = [end.strip() for end in line.split(" -- ")]
            if len(ends) != 2 or not all(ends):
                raise error(where, f"an edge is TAB, source -- target, not {short(line)!r}", at)
            edge = ends[0], ends[1]
            if edge in edges:
                raise error(where, f"the edge of line {edges[edge]} once more", at)
            edges[edge] = at_line
            continue
        parts = [part.strip() for part in line.split(" -- ")]
        if len(parts) > 3 and parts[-1].startswith("stage_id="):
            del parts[-1]
            stages += 1
        if len(parts) < 3 or not parts[0]:
            raise error(where, f"a node is id -- description -- fields, not {short(line)!r}", at)
        if parts[0] in layers:
            raise error(where, f"node {short(parts[0])!r} is listed twice", at)
        layers[parts[0]] = _layer(" -- ".join(parts[1:-1]), parts[-1], where, at)
    if not layers:
        raise FileError(f"{where}: no nodes")
    for (u, v), at_line in edges.items():
        if u == v:
            raise error(where, f"an edge of {short(u)!r} to itself", f"line {at_line}")
        for end in (u, v):
            if end not in layers:
                raise error(where, f"no node {short(end)!r}", f"line {at_line}")
    return layers, edges, stages


def _layer(description: str, fields: str, where: str, at: str) -> Layer:
    found: dict[str, str] = {}
    position = 0
    while position < len(fields):
        match = _FIELD.match(fields, position)
        if match is None:
            raise error(where, f"expected name=value, not {short(fields[position:])!r}", at)
        if match[1] in found:
            raise error(where, f"{short(match[1])} is given twice", at)
        found[match[1]] = match[2].strip()
        position = match.end()
    for key in FIELDS:
        if key not in found:
            raise error(where, f"no {key}", at)
    for key in found:
        if key not in FIELDS:
            what = f"unknown field {short(key)!r}; the fields are {', '.join(FIELDS)}"
            raise error(where, what, at)

    def time(key: str) -> float:
        place = f"{at}, {key}"
        value = number(found[key], where, place)
        return seconds(value, where, place, milli=True, hint="is it in milliseconds?")

    def size(key: str) -> int:
        place = f"{at}, {key}"
        listed = found[key]
        each = listed[1:-1].split(";") if listed.startswith("[") else [listed]
        sizes = [whole_bytes(number(x, where, place), where, place) for x in each if x.strip()]
        return sum(sizes)

    return Layer(description, time(FIELDS[0]), time(FIELDS[1]), size(FIELDS[2]), size(FIELDS[3]))
