"""Time of a signature on one GPU: from its tables where they have it, else by a stated rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from problems.formats.aiconfigurator.grid import Grid
from problems.formats.aiconfigurator.package import FRAMEWORK, Package, System, Table
from problems.formats.aiconfigurator.work import Attention, Work, work_of
from problems.graph import Signature

MS = 1e-3  # the tables are in milliseconds
EFFICIENCY = 0.7  # share of the peak that products without a table reach: assumed
# Five products of the forward's size in place of two (Dao, FlashAttention-2, arXiv 2307.08691).
BACKWARD = 2.5

Rule = Literal["table", "interpolated", "products", "stand-in", "backward", "roofline"]
RULES: dict[Rule, str] = {
    "table": "the table's latency at exactly these sizes",
    "interpolated": "log time multilinear in the logs of the sizes, between the table's points",
    "products": "a convolution whose windows tile its input, or an LSTM cell: its matrix products "
    "from the table, plus the bytes of an LSTM cell by the roofline rule",
    "stand-in": "attention that the table has in place of this one: geometric mean of the lengths, "
    "another head dimension with as many channels in all; causal attention where the table of full "
    "attention has none (on GPUs with both: 0.8 to 1.4 of the table, medians by length)",
    "backward": "gradient of attention: 2.5 times the attention, by table or stand-in",
    "roofline": "max(flops / (share * peak), bytes / (bandwidth_share * bandwidth)) + latency_s, "
    "and for products and attention never under the fastest point of their table; bytes are those "
    "of bf16",
}
IMPORTED: tuple[Rule, ...] = ("table", "interpolated")


@dataclass(frozen=True)
class Estimate:
    """Seconds, and the rule (one of :data:`RULES`) that they came by."""

    seconds: float
    rule: Rule


class Gpu:
    """One GPU and its tables of matrix products and of attention.

    Parameters
    ----------
    package : Package
        Where the tables are.
    name : str
        Of the system, as the package spells it.
    """

    def __init__(self, package: Package, name: str) -> None:
        self.system: System = package.system(name)
        self.tables: dict[str, Table] = {}
        for stem, family in (
            ("gemm_perf", "gemm"),
            ("encoder_attention_perf", "encoder_attention"),
            ("context_attention_perf", "attention"),
        ):
            table = package.table(name, family, FRAMEWORK, stem)
            if table is not None:
                self.tables[stem] = table
        self.gemm = _grid(self._rows("gemm_perf", gemm_dtype="bfloat16"), ["m", "n", "k"])
        sizes = ["batch_size", "isl", "num_heads"]
        # Full attention by head dimension; causal attention by head dimension and key heads, 0
        # where there are as many as queries have.
        self.full: dict[int, Grid] = {}
        self.causal: dict[tuple[int, int], Grid] = {}
        rows = self._rows("encoder_attention_perf", attn_dtype="bfloat16")
        for width, part in _split(rows, "head_dim"):
            self.full[width] = _grid(part, sizes)
        rows = self._rows(
            "context_attention_perf",
            attn_dtype="bfloat16",
            kv_cache_dtype="bfloat16",
            beam_width=1,
            step=0,
            window_size=0,
        )
        for width, part in _split(rows, "head_dim"):
            same = part["num_heads"] == part["num_key_value_heads"]
            self.causal[width, 0] = _grid(part[same], sizes)
            for heads, some in _split(part, "num_key_value_heads"):
                self.causal[width, heads] = _grid(some, sizes)
        self.attention_floor = min(
            (grid.least for grid in (*self.full.values(), *self.causal.values()) if grid.times),
            default=0.0,
        )

    def _rows(self, stem: str, **wanted: Any) -> pd.DataFrame:
        if stem not in self.tables:
            return pd.DataFrame()
        rows = self.tables[stem].rows
        for column, value in wanted.items():
            if column in rows:  # A100's tables know no windows
                rows = rows[rows[column] == value]
        return rows

    def estimate(self, signature: Signature) -> Estimate | None:
        """Time of a signature in bf16; None where nothing here can say it (`Work.refused`)."""
        work = work_of(signature)
        if work.refused:
            return None
        if work.gemms:
            return self._products(signature, work)
        if work.attention is not None:
            return self._attention(signature, work, work.attention)
        floor = self.gemm.least if signature.flops else 0.0
        if "scaled_dot_product" in signature.op:
            floor = self.attention_floor
        return Estimate(max(self.roofline(signature.flops, work.moved_bytes), floor), "roofline")

    def roofline(self, flops: float, moved: float) -> float:
        """Seconds by the rule of :data:`RULES`."""
        gpu = self.system
        return (
            max(
                flops / (EFFICIENCY * gpu.peak_flops),
                moved / (gpu.bandwidth_share * gpu.bandwidth_Bps),
            )
            + gpu.latency_s
        )

    def _products(self, signature: Signature, work: Work) -> Estimate:
        parts = [self.gemm.at(gemm) for gemm in work.gemms]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            flops = sum(2.0 * math.prod(gemm) for gemm in work.gemms)
            least = len(parts) * self.gemm.least
            return Estimate(max(self.roofline(flops, work.moved_bytes), least), "roofline")
        if work.exactly:
            ((seconds, exact),) = known
            return Estimate(seconds, "table" if exact else "interpolated")
        seconds = sum(part for part, _ in known)
        if "lstm_cell" in signature.op:
            # Four gates a product, read once, and the new state: the matrices are in the products.
            gates = sum(2.0 * gemm.m * gemm.n for gemm in work.gemms)
            seconds += self.roofline(0.0, gates + signature.bytes_written / 2)
        return Estimate(seconds, "products")

    def _attention(self, signature: Signature, work: Work, it: Attention) -> Estimate:
        found = self._measured(it)
        seconds = found[0] if found is not None else self.stand_in(it)
        if seconds is None:
            least = self.roofline(signature.flops, work.moved_bytes)
            return Estimate(max(least, self.attention_floor), "roofline")
        if it.backward:
            return Estimate(BACKWARD * seconds, "backward")
        if found is not None:
            return Estimate(seconds, "table" if found[1] else "interpolated")
        return Estimate(seconds, "stand-in")

    def _measured(self, it: Attention) -> tuple[float, bool] | None:
        if it.queries != it.keys:
            return None
        same = it.kv_heads == it.heads
        if it.causal:
            grid = self.causal.get((it.width, 0 if same else it.kv_heads))
        else:
            grid = self.full.get(it.width) if same else None
        return None if grid is None else grid.at((it.batch, it.queries, it.heads))

    def stand_in(self, it: Attention) -> float | None:
        """Seconds of the nearest attention that is in a table (see :data:`RULES`), or None."""
        length = math.sqrt(it.queries * it.keys)
        causal = {width: grid for (width, kv), grid in self.causal.items() if kv == 0}
        for grids in (causal,) if it.causal else (self.full, causal):
            for width in sorted(grids, key=lambda w: (abs(math.log(w / it.width)), w)):
                heads = max(1.0, it.heads * it.width / width)
                found = grids[width].at((it.batch, length, heads))
                if found is not None:
                    return found[0]
        return None


def _split(rows: pd.DataFrame, column: str) -> list[tuple[int, pd.DataFrame]]:
    if rows.empty:
        return []
    values = rows[column].to_numpy()
    return [(int(value), rows[values == value]) for value in np.unique(values)]


def _grid(rows: pd.DataFrame, sizes: list[str]) -> Grid:
    """Take the fastest of the kernels that were measured at a point."""
    if rows.empty:
        return Grid({})
    best: dict[tuple[int, ...], float] = {}
    points = zip(rows[sizes].to_numpy().tolist(), rows["latency"].to_numpy().tolist(), strict=True)
    for sizes_, ms in points:
        key = tuple(sizes_)
        best[key] = min(ms * MS, best.get(key, math.inf))
    return Grid(best)
