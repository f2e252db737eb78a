"""The folder that a campaign fills: few files, none large, each replaced as a whole."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

FILES = 8
"""Most files of a campaign."""
BYTES = 16 << 20
"""Each file stays below so many bytes."""
STATE = "campaign.json"
PART = ".part"
FORMAT = "placebench-campaign/1"


class FolderError(ValueError):
    """The folder cannot be used; the message says why."""


class Folder:
    """Writes into a folder; what else lies there counts as files, too.

    Raises
    ------
    FolderError
        If a campaign is there already.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.names = {each.name for each in self.path.iterdir()}
        if STATE in self.names:
            raise FolderError(f"{self.path}: here is a campaign already; name another folder")

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a file: a reader, or whoever comes after a kill, finds the old or the new one.

        Raises
        ------
        FolderError
            If it would be too large, or one too many.
        """
        text = json.dumps(content, separators=(",", ":"), sort_keys=True, allow_nan=False)
        data = text.encode()
        if name.endswith(".gz"):
            data = gzip.compress(data, compresslevel=6, mtime=0)
        if len(data) >= BYTES:
            raise FolderError(
                f"{name} would have {len(data)} bytes; a file of a campaign has less than {BYTES}"
            )
        if len(self.names | {name}) > FILES:
            raise FolderError(
                f"{name} would be one file too many; a campaign has at most {FILES}: "
                + ", ".join(sorted(self.names))
            )
        self.names.add(name)
        # One fixed name, so that kills leave at most one such file behind.
        part = self.path / PART
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path / name)
