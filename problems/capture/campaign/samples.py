"""What a step of a campaign has to work with, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from problems.capture import SIZES
from problems.capture.campaign.children import Launch, launch
from problems.capture.campaign.signatures import Work

Keep = Callable[[dict[str, Any]], None]


@dataclass
class Means:
    """What a step has to work with.

    Attributes
    ----------
    works : mapping
        Signatures to measure, in this order.
    startup_s : float
        How long a process needs to import torch and reach the card: measured, not assumed.
    rounds : int or None
        Most rounds, for a quick look: of one process, and links as short as can be.
    """

    works: Mapping[str, Work]
    startup_s: float = 0.0
    seed: int = 0
    rounds: int | None = None
    launch: Launch = launch
    clock: Callable[[], float] = time.monotonic
    sizes: tuple[int, ...] = SIZES


@dataclass
class Samples:
    """Times of one device so far."""

    method: str = ""
    times: dict[str, list[float]] = field(default_factory=dict)
    dispatch: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    barren: int = 0

    def data(self) -> dict[str, Any]:
        """As it is written: [min, median, max, count] a signature; dispatch [min, median]."""
        data: dict[str, Any] = {
            "times": {
                key: [min(each), median(each), max(each), len(each)]
                for key, each in sorted(self.times.items())
                if each
            },
            "failed": dict(sorted(self.failed.items())),
            "info": self.info,
        }
        if self.method:
            data["method"] = self.method
        if self.dispatch:
            data["dispatch"] = {
                key: [min(each), median(each)] for key, each in sorted(self.dispatch.items())
            }
        if self.trouble:
            data["trouble"] = self.trouble
        return data
