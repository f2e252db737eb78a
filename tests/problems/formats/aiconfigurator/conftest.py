"""A package of two GPUs with a few rows in every table, in the layout of the real one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from problems.formats.aiconfigurator.package import Package

SYSTEM = """
gpu: {mem_bw: 1.0e+12, mem_bw_empirical_scaling_factor: 0.8, mem_empirical_constant_latency: 3.0e-6,
      mem_capacity: 85899345920, bfloat16_tc_flops: 1.0e+14}
node: {inter_node_bw: 25.0e+9, p2p_latency: 1.0e-5}
"""


def write(folder: Path, place: str, rows: list[dict]) -> None:
    path = folder / "data" / f"{place}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path)


def gemms(scale: float) -> list[dict]:
    """Milliseconds m * n * k / 1e6 * scale; an fp8 row and a slower kernel do not count."""
    rows = [
        {"device": "Fake", "gemm_dtype": "bfloat16", "m": m, "n": n, "k": k,
         "latency": m * n * k / 1e6 * scale}
        for m, n, k in product((1, 64, 256), (64, 256), (64, 256))
    ]  # fmt: skip
    slower = [{**row, "latency": 5 * row["latency"]} for row in rows]
    return [*rows, *slower, {**rows[0], "gemm_dtype": "fp8", "latency": 1e-9}]


def attentions(**extra) -> list[dict]:
    """Milliseconds batch * length * heads * width / 1e6, three times that when causal."""
    return [
        {"batch_size": b, "isl": s, "num_heads": h, "head_dim": d, "attn_dtype": "bfloat16",
         "latency": b * s * h * d / 1e6 * (3 if extra else 1), **extra}
        for b, s, h, d in product((1, 2), (64, 256), (1, 2, 8), (128,) if extra else (64, 80))
    ]  # fmt: skip


def causal(window: int) -> list[dict]:
    extra = {"kv_cache_dtype": "bfloat16", "beam_width": 1, "step": 0, "window_size": window}
    rows = attentions(**extra)
    return [{**row, "num_key_value_heads": row["num_heads"]} for row in rows]


@pytest.fixture(scope="session")
def package(tmp_path_factory) -> Package:
    pytest.importorskip("yaml", reason="needs the extra gpu-data")
    folder = tmp_path_factory.mktemp("systems")
    for name in ("a100_sxm", "h100_sxm"):
        (folder / f"{name}.yaml").write_text(SYSTEM)
    write(folder, "a100_sxm/gemm/vllm/0.9.0/gemm_perf", gemms(1000.0))
    write(folder, "a100_sxm/gemm/vllm/0.14.0/gemm_perf", gemms(2.0))
    write(folder, "a100_sxm/attention/vllm/0.14.0/context_attention_perf", causal(0) + causal(9))
    write(folder, "h100_sxm/gemm/vllm/0.24.0/gemm_perf", gemms(1.0))
    write(folder, "h100_sxm/attention/vllm/0.24.0/context_attention_perf", causal(0))
    write(folder, "h100_sxm/encoder_attention/vllm/0.24.0/encoder_attention_perf", attentions())
    collectives = [
        {"nccl_dtype": dtype, "num_gpus": gpus, "message_size": size // width, "op_name": op,
         "latency": 0.005 + size / 1e8 * gpus * slow + (dtype == "int8") * 0.001}
        for (dtype, width), gpus, size, (op, slow) in product(
            (("half", 2), ("int8", 1)),
            (2, 4),
            (256, 512, 1024),
            (("alltoall", 1), ("all_gather", 2)),
        )
    ]  # fmt: skip
    write(folder, "a100_sxm/comm/nccl/2.9.1/nccl_perf", collectives)
    write(folder, "a100_sxm/comm/nccl/2.27.3/nccl_perf", collectives)
    only = [row for row in collectives if row["op_name"] == "all_gather"]
    write(folder, "h100_sxm/comm/oneccl/2021.1/oneccl_perf", only)
    return Package(folder, "0")
