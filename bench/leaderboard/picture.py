"""The graph of an instance as a picture: devices are colours; no script, no library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.leaderboard.curves import COLOURS
from problems.instance import Instance

MOST = 400  # nodes that are drawn one by one
_LAYERS_A_ROW = 48
_COLUMNS = 120  # bars of a grouped picture
_STEP, _MARGIN = 16.0, 14.0
_BAR, _HEIGHT = 8.0, 160.0


@dataclass(frozen=True)
class Picture:
    """An SVG image and what it shows, in words."""

    svg: str
    caption: str


def colour(k: int) -> str:
    """Colour of device k; devices beyond the palette go round the colour wheel."""
    if k < len(COLOURS):
        return COLOURS[k]
    return f"hsl({(k * 137.508) % 360:.0f} 60% {45 + 12 * (k % 3 - 1)}%)"


def layers(instance: Instance) -> np.ndarray:
    """Number of edges on the longest path to each node, int64 array, shape (n,)."""
    depth = np.zeros(instance.n, np.int64)
    producers, consumers = instance.edges[:, 0].tolist(), instance.edges[:, 1].tolist()
    told = [0] * instance.n
    for u, v in zip(producers, consumers, strict=True):  # sorted by u: u is settled when it is read
        told[v] = max(told[v], told[u] + 1)
    depth[:] = told
    return depth


def draw(instance: Instance, device: np.ndarray | None) -> Picture:
    """Picture of a graph, layer by layer; of an answer's mapping where there is one.

    Up to :data:`MOST` nodes one by one; beyond, a bar a layer (or a few layers) that shows how many
    nodes of it lie on each device.

    Parameters
    ----------
    device : int array, shape (n,), or None
        Device of every node.
    """
    layer = layers(instance)
    if instance.n <= MOST:
        return _nodes(instance, layer, device)
    return _bars(instance, layer, device)


def _nodes(instance: Instance, layer: np.ndarray, device: np.ndarray | None) -> Picture:
    place = _places(instance, layer)
    rows = layer // _LAYERS_A_ROW
    tall = [int(place[rows == r].max()) + 1 for r in range(int(rows.max()) + 1)]
    top = np.concatenate([[0], np.cumsum([t + 1 for t in tall])])
    widest = np.bincount(layer)
    middle = (np.array(tall)[rows] - widest[layer]) / 2
    x = _MARGIN + _STEP * (layer % _LAYERS_A_ROW)
    y = _MARGIN + _STEP * (top[rows] + middle + place)
    width = 2 * _MARGIN + _STEP * (min(_LAYERS_A_ROW, int(layer.max()) + 1) - 1)
    height = 2 * _MARGIN + _STEP * (float(top[-1]) - 2)
    u, v = instance.edges[:, 0], instance.edges[:, 1]
    crossing = np.zeros(len(u), bool) if device is None else device[u] != device[v]
    lines = []
    for chosen, kind in ((~crossing, "edge"), (crossing, "edge cross")):
        parts = [
            _edge(x[a], y[a], x[b], y[b], rows[a] == rows[b])
            for a, b in zip(u[chosen], v[chosen], strict=True)
        ]
        if parts:
            lines.append(f'<path class="{kind}" d="{"".join(parts)}"/>')
    colours = np.zeros(instance.n, np.int64) if device is None else device
    for k in np.unique(colours):
        mine = np.flatnonzero(colours == k)
        dots = "".join(f"M{x[v]:g} {y[v]:g}h0" for v in mine)
        lines.append(f'<path class="dots" stroke="{colour(int(k))}" d="{dots}"/>')
    caption = f"{instance.n} nodes, {instance.m} edges; from left to right by longest path"
    if len(tall) > 1:
        caption += f", in {len(tall)} rows of {_LAYERS_A_ROW} layers that follow one another"
    if device is not None:
        caption += f"; colours are devices, {int(crossing.sum())} edges lead from one to another"
    return Picture(_svg(width, height, lines, caption), caption)


def _places(instance: Instance, layer: np.ndarray) -> np.ndarray:
    """Place of each node within its layer: near what it reads, so that few edges cross."""
    place = np.zeros(instance.n)
    for depth in range(int(layer.max()) + 1):
        members = np.flatnonzero(layer == depth)
        wanted = [
            place[instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]].mean()
            if depth
            else float(v)
            for v in members
        ]
        place[members[np.argsort(wanted, kind="stable")]] = np.arange(len(members))
    return place


def _edge(a: float, b: float, c: float, d: float, same_row: bool) -> str:
    if same_row and c - a <= _STEP * 1.5:
        return f"M{a:g} {b:g}L{c:g} {d:g}"
    if same_row:  # a long edge bows, lest it hide behind the nodes between
        return f"M{a:g} {b:g}Q{(a + c) / 2:g} {min(b, d) - _STEP * 0.7:g} {c:g} {d:g}"
    return f"M{a:g} {b:g}h{_STEP / 2:g}M{c - _STEP / 2:g} {d:g}h{_STEP / 2:g}"  # out; in again


def _bars(instance: Instance, layer: np.ndarray, device: np.ndarray | None) -> Picture:
    depth = int(layer.max()) + 1
    each = -(-depth // _COLUMNS)
    columns = -(-depth // each)
    kinds = instance.K if device is not None else 1
    counts = np.zeros((columns, kinds), np.int64)
    of = np.zeros(instance.n, np.int64) if device is None else device
    np.add.at(counts, (layer // each, of), 1)
    scale = _HEIGHT / counts.sum(axis=1).max()
    tops = _HEIGHT - scale * np.cumsum(counts, axis=1)
    lines = []
    for k in range(kinds):
        parts = "".join(
            f"M{_BAR * i:g} {tops[i, k]:.1f}h{_BAR - 1:g}v{scale * counts[i, k]:.1f}h{1 - _BAR:g}z"
            for i in np.flatnonzero(counts[:, k])
        )
        if parts:
            lines.append(f'<path fill="{colour(k)}" d="{parts}"/>')
    layers_each = "layer" if each == 1 else f"{each} layers"
    caption = (
        f"{instance.n} nodes, {instance.m} edges, too many to draw one by one (more than {MOST}): a"
        f" bar a {layers_each} of the longest paths, {depth} in all; its height is the number of"
        f" nodes, at most {int(counts.sum(axis=1).max())}"
    )
    if each > 1:
        caption = caption.replace(f"a bar a {layers_each}", f"a bar for every {layers_each}")
    if device is not None:
        caption += "; colours are devices"
    return Picture(_svg(_BAR * columns, _HEIGHT, lines, caption), caption)


def _svg(width: float, height: float, lines: Sequence[str], caption: str) -> str:
    """Numbers and colours only go in: nothing here needs escaping."""
    return (
        f'<svg class="graph" viewBox="0 0 {width:g} {height:g}" style="max-width:{width * 1.4:g}px"'
        f' role="img" aria-label="{caption}">{"".join(lines)}</svg>'
    )
