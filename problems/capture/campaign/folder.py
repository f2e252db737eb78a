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
    """Writes into an empty folder, which is made where there is none.

    Raises
    ------
    FolderError
        If a campaign is there already, or anything else, or no folder can be had.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            there = sorted(each.name for each in self.path.iterdir())
        except OSError as error:
            raise FolderError(
                f"{self.path}: cannot be a campaign's folder: {error.strerror}"
            ) from None
        if STATE in there:
            raise FolderError(f"{self.path}: here is a campaign already; name another folder")
        if there:  # they could make one file too many when the work is done
            raise FolderError(
                f"{self.path}: is not empty ({there[0]}); name an empty or new folder"
            )
        self.names: set[str] = set()

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a file: a reader, or whoever comes after a kill, finds the old or the new one.

        Raises
        ------
        FolderError
            If it would be too large, or one too many, or cannot be written.
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
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path / name)
        except OSError as error:
            raise FolderError(f"{self.path / name}: cannot be written: {error.strerror}") from None
