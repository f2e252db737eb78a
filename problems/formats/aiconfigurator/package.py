"""Reader of the package's data folder: descriptions of systems, tables of latencies."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as parquet

from problems.files import FileError, plainly

PACKAGE = "aiconfigurator_core"
LICENCE = "Apache-2.0"
# One framework for all GPUs: it is the only one with tables of all ten, and its matrix products
# are plain torch.nn.functional.linear, which is what our graphs run.
FRAMEWORK = "vllm"


@dataclass(frozen=True)
class System:
    """What the package says of a system and its GPU.

    Attributes
    ----------
    name : str
        As the package spells it (``h100_sxm``).
    peak_flops : float
        bf16 floating-point operations a second of the matrix units.
    bandwidth_Bps, bandwidth_share, latency_s : float
        Memory bandwidth, the share of it that is reached, and the time of an operator that moves
        nothing: the package's own correction.
    memory_bytes : int
        Capacity.
    between_nodes_Bps, transfer_latency_s : float
        Of transfers between servers, one direction, one GPU.
    """

    name: str
    peak_flops: float
    bandwidth_Bps: float
    bandwidth_share: float
    latency_s: float
    memory_bytes: int
    between_nodes_Bps: float
    transfer_latency_s: float


@dataclass(frozen=True)
class Table:
    """One table: its rows, and which file of the package they are from."""

    rows: pd.DataFrame
    path: str
    sha256: str


class Package:
    """The installed package, or a folder of the same layout.

    Parameters
    ----------
    systems : Path or None
        Folder that holds ``NAME.yaml`` and ``data/NAME/``; that of the installed package if None.
    version : str or None
        Of the package; that of the installed one if None.

    Raises
    ------
    ModuleNotFoundError
        If the package is asked for and not installed (extra: gpu-data).
    """

    def __init__(self, systems: Path | None = None, version: str | None = None) -> None:
        if systems is None:
            found = importlib.util.find_spec(PACKAGE)  # its own code is never run
            if found is None or not found.submodule_search_locations:
                raise ModuleNotFoundError(f"no module {PACKAGE}", name=PACKAGE)
            systems = Path(found.submodule_search_locations[0]) / "systems"
        self.systems = systems
        self.version = version or importlib.metadata.version("aiconfigurator-core")

    def system(self, name: str) -> System:
        """Read the description of a system.

        Raises
        ------
        FileError
            If there is none of that name, or it lacks a figure.
        """
        import yaml  # comes with the package, not with the core

        path = self.systems / f"{name}.yaml"
        if not path.is_file():
            known = sorted(each.stem for each in self.systems.glob("*.yaml"))
            raise FileError(f"{path}: no system {name!r}; there are {', '.join(known) or 'none'}")
        text: dict[str, Any] = yaml.safe_load(path.read_text())
        try:
            gpu, node = text["gpu"], text["node"]
            return System(
                name=name,
                peak_flops=float(gpu["bfloat16_tc_flops"]),
                bandwidth_Bps=float(gpu["mem_bw"]),
                bandwidth_share=float(gpu["mem_bw_empirical_scaling_factor"]),
                latency_s=float(gpu["mem_empirical_constant_latency"]),
                memory_bytes=int(gpu["mem_capacity"]),
                between_nodes_Bps=float(node["inter_node_bw"]),
                transfer_latency_s=float(node["p2p_latency"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path}: no figure for {error}") from None

    def table(self, system: str, family: str, source: str, stem: str) -> Table | None:
        """Read the table of the newest version that has it; None where no version does.

        Parameters
        ----------
        system, family, source, stem : str
            Place in the package: ``data/SYSTEM/FAMILY/SOURCE/VERSION/STEM.parquet``.

        Raises
        ------
        FileError
            If the file cannot be read.
        """
        folder = self.systems / "data" / system / family / source
        paths = sorted(folder.glob(f"*/{stem}.parquet"), key=lambda path: _numbers(path.parent))
        if not paths:
            return None
        try:
            data = paths[-1].read_bytes()
            rows = parquet.read_table(paths[-1]).to_pandas()
        except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
            raise FileError(f"{paths[-1]}: cannot be read: {plainly(error)}") from None
        return Table(
            rows, str(paths[-1].relative_to(self.systems)), hashlib.sha256(data).hexdigest()
        )

    def origin(self) -> dict[str, str]:
        """Say where everything is from, for a file's provenance."""
        return {
            "package": f"aiconfigurator-core {self.version} (NVIDIA)",
            "licence": LICENCE,
        }


def _numbers(version: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.name)]
