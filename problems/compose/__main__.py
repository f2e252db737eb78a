"""``python -m problems.compose``: write the modelled parts, the platforms and the index."""

from __future__ import annotations

import sys
from pathlib import Path

from problems import files
from problems.catalogue import ROOT
from problems.compose.instances import index
from problems.compose.platforms import platforms
from problems.generate.modelled import write_modelled


def main(root: Path = ROOT) -> int:
    """Write what is composed; what was captured or imported must be there."""
    count = len(write_modelled(root))
    for platform in platforms():
        files.write(root / "platforms" / f"{platform.name}.json", platform)
        count += 1
    files.write(root / "index.json", index())
    print(f"{count} files and the index")
    return 0


if __name__ == "__main__":
    sys.exit(main())
