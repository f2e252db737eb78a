"""Link files: transfers between two GPUs of a server, and between servers."""

from __future__ import annotations

from statistics import median

from problems.formats.aiconfigurator.estimate import MS
from problems.formats.aiconfigurator.package import Package, System, Table
from problems.platform import AlphaBeta, LinkFile, LinkPoint

ELEMENT_BYTES = {"half": 2, "int8": 1}
LIBRARIES = (("nccl", "nccl_perf"), ("oneccl", "oneccl_perf"))


def between_two(package: Package, system: System, name: str) -> LinkFile | None:
    """Make the link of two GPUs of one server from collectives between two; None without any.

    The table's sizes are nccl-tests' buffer sizes, counted in elements. A two-GPU all-to-all over
    a buffer of 2 B bytes is one send and one receive of B bytes on each side (NCCL makes it of its
    point-to-point calls), so it stands for a transfer of B bytes while another one comes back. An
    all-gather, which hands B bytes to the other side as well, stands in where it is missing.
    """
    table = _collectives(package, system)
    if table is None:
        return None
    rows = table.rows[table.rows["num_gpus"] == 2]
    operation = "alltoall" if (rows["op_name"] == "alltoall").any() else "all_gather"
    seconds: dict[int, list[float]] = {}
    rows = rows[rows["op_name"] == operation]
    for dtype, count, ms in rows[["nccl_dtype", "message_size", "latency"]].to_numpy().tolist():
        seconds.setdefault(count * ELEMENT_BYTES[dtype] // 2, []).append(ms * MS)
    if not seconds:
        return None
    points = [
        LinkPoint(size, significant(min(times)), significant(median(times)))
        for size, times in sorted(seconds.items())
    ]
    return LinkFile(
        format="placebench-link/1",
        name=name,
        kind="imported",
        provenance={
            **package.origin(),
            "table": {"path": table.path, "sha256": table.sha256},
            "rule": f"two-GPU {operation} over a buffer of 2 B bytes for a transfer of B bytes, "
            "both ways at the same time; the table counts elements; minimum and median over its "
            "data types",
        },
        forward=points,
    )


def between_servers(package: Package, system: System) -> LinkFile:
    """Make the modelled link of two servers, named by its rate in Gbit/s."""
    return LinkFile(
        format="placebench-link/1",
        name=f"internode-{system.between_nodes_Bps * 8 / 1e9:.0f}g",
        kind="modelled",
        provenance={
            **package.origin(),
            "rule": "latency_s + bytes / bandwidth_Bps",
            "source": "the package's descriptions of systems: network bandwidth of one GPU in one "
            "direction, at line rate; the latency is the package's own unofficial figure",
        },
        model=AlphaBeta(system.transfer_latency_s, system.between_nodes_Bps),
    )


def significant(seconds: float) -> float:
    """Five significant digits: finer than any of the measurements, and small in a file."""
    return float(f"{seconds:.5g}")


def _collectives(package: Package, system: System) -> Table | None:
    for source, stem in LIBRARIES:
        table = package.table(system.name, "comm", source, stem)
        if table is not None:
            return table
    return None
