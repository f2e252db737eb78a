"""Child process that times copies between a card and its host, or between two cards.

One transfer is what the host waits for: from the call to the end of the copy. What the card's
events show of it is kept beside. Needs torch and the standard library only.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median
from typing import Any

import torch

HOW = {
    "pinned": "copies between the card and page-locked host memory",
    "pageable": "copies between the card and pageable host memory",
    "peer": "copies between two cards",
}
METHOD = (
    "rounds over all sizes in random order, both directions in turn, small sizes up to 16 times a "
    "round; host time from the call to the end of the copy; min and median"
)
Say = Callable[[dict[str, Any]], None]


def measure(
    job: dict[str, Any],
    say: Say,
    *,
    cuda: Any = torch.cuda,
    devices: tuple[str, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Time transfers both ways.

    Parameters
    ----------
    job : dict
        ``link``: 'pinned', 'pageable' or 'peer'; ``card`` and, for 'peer', ``other``: indices;
        ``sizes``: bytes, ascending; ``budget_s``; at least one round is run.
    devices : tuple of str, optional
        Where the two ends are; tests put a stand-in here. Forward is from the first to the second:
        out of the card.

    Returns
    -------
    dict
        ``forward`` and ``backward``: [bytes, min, median, min between events], seconds; ``rounds``;
        ``peer_access`` where two cards are joined.
    """
    until = clock() + job["budget_s"]
    card, link = job["card"], job["link"]
    ends = devices or (f"cuda:{card}", f"cuda:{job['other']}" if link == "peer" else "cpu")
    cuda.set_device(card)
    near = torch.ones(job["sizes"][-1], dtype=torch.uint8, device=ends[0])
    # Without a card there is no page-locked memory, nor in tests.
    far = torch.ones(
        job["sizes"][-1],
        dtype=torch.uint8,
        device=ends[1],
        pin_memory=link == "pinned" and devices is None,
    )
    sizes: list[int] = list(job["sizes"])
    samples: dict[tuple[bool, int], list[tuple[float, float]]] = {
        (way, n): [] for way in (True, False) for n in sizes
    }
    watch = (cuda.Event(enable_timing=True), cuda.Event(enable_timing=True))

    def copy(size: int, forward: bool) -> tuple[float, float]:
        source, target = (near, far) if forward else (far, near)
        cuda.synchronize()
        begin = time.perf_counter()
        watch[0].record()
        target[:size].copy_(source[:size], non_blocking=link != "pageable")
        watch[1].record()
        watch[1].synchronize()
        return time.perf_counter() - begin, watch[0].elapsed_time(watch[1]) * 1e-3

    for way in (True, False):  # sets up the path once
        copy(sizes[-1], way)
    order, shuffle, rounds = list(sizes), random.Random(0), 0
    while rounds == 0 or clock() < until:
        shuffle.shuffle(order)
        for n in order:
            for _ in range(min(max(2**20 // n, 1), 16)):
                for way in (True, False):
                    samples[way, n].append(copy(n, way))
        rounds += 1
        say({"round": rounds})
    result: dict[str, Any] = {"rounds": rounds, "how": HOW[link], "method": METHOD}
    for name, way in (("forward", True), ("backward", False)):
        result[name] = [
            [n, min(host), median(host), min(events)]
            for n in sizes
            for host, events in [tuple(zip(*samples[way, n], strict=True))]
        ]
    if link == "peer":
        with suppress(RuntimeError, AttributeError):  # says how, not how long
            result["peer_access"] = bool(cuda.can_device_access_peer(card, job["other"]))
    return result


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    print(json.dumps({"result": measure(job, _say)}), flush=True)


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
