"""Write the modelled devices and links of the library; run as a program after a new graph."""

from __future__ import annotations

import sys
from pathlib import Path

from problems import files
from problems.capture.table import collect_signatures
from problems.catalogue import ROOT
from problems.generate.roofline import DEVICES, roofline_device
from problems.generate.wires import WIRES, modelled_link


def write_modelled(root: Path) -> list[Path]:
    """Write every modelled device and link for the graphs under `root`; return the paths."""
    signatures = collect_signatures((root / "graphs").glob("*.json.gz"))
    written = []
    for name, roofline in DEVICES.items():
        written.append(root / "devices" / f"{name}.json.gz")
        files.write(written[-1], roofline_device(name, roofline, signatures))
    for name in WIRES:
        written.append(root / "links" / f"{name}.json")
        files.write(written[-1], modelled_link(name))
    return written


if __name__ == "__main__":
    for path in write_modelled(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT):
        print(path)
