"""Where every page of the site lies, and the anchors on it: told by names, the same every time."""

from __future__ import annotations

import re
from hashlib import sha256

from bench.records import Record

FOLDERS = ("instances", "entries", "runs")
"""Subfolders whose files are all written by the site."""
_LONGEST = 60


def slug(text: str, more: str = "") -> str:
    """A file name for any text: what is readable of it, and eight digits that tell it apart.

    Parameters
    ----------
    more : str
        Tells apart what has the same text.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST].strip("-")
    told_apart = sha256(f"{text}\n{more}".encode()).hexdigest()[:8]
    return f"{readable or 'x'}-{told_apart}"


def is_slug(stem: str) -> bool:
    """Whether :func:`slug` may have made a file name."""
    return re.fullmatch(r"[a-z0-9][a-z0-9-]*-[0-9a-f]{8}", stem) is not None


def instance(name: str, digest: str) -> str:
    """Page of an instance, from the top of the site."""
    return f"instances/{slug(name, digest)}.html"


def entry(name: str) -> str:
    """Page of an entry, from the top of the site."""
    return f"entries/{slug(name)}.html"


def beside(page: str) -> str:
    """The way to a page from another one in its folder."""
    return page.rpartition("/")[2]


def runs(name: str, digest: str) -> str:
    """File of the packed records and answers of an instance, from the top of the site."""
    return f"runs/{slug(name, digest)}.js"


def run(record: Record) -> str:
    """Anchor of a run on the page of its instance."""
    return f"r-{record.key[:12]}"


def entry_anchor(name: str) -> str:
    """Anchor of the runs of an entry on the page of an instance."""
    return f"e-{slug(name)}"
