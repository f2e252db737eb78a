"""Platforms out of the devices and links that a campaign measured on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from problems.capture.cuda import CudaSpec, parse
from problems.platform import Device, Platform

ALONE = "each part was measured alone"
NOT_SHARED = (
    "a card's memory bandwidth, caches and port to the host are not shared out: shares that work"
    " at the same time are slower than that"
)


def compose(
    found: Mapping[str, str],
    cards: Sequence[Mapping[str, Any]],
    machine: Mapping[str, Any],
    cpu: str,
    card_names: Sequence[str],
    date: str,
) -> Iterator[Platform]:
    """Every platform that the measured parts allow.

    Parameters
    ----------
    found : mapping
        Step -> its device or link file.
    cards : sequence of mapping
        The survey's cards: ``memory_bytes``, ``multiprocessors``.
    cpu, card_names : str
        First part of the names.

    Yields
    ------
    Platform
        CPU and whole card, in each precision; CPU and shares of the card; two CPU devices of
        unlike thread counts; as far as their parts are there.
    """
    threads = sorted(int(step[4:]) for step in found if step.startswith("cpu:"))
    specs = [parse(step) for step in found if step.startswith("cuda")]
    if threads and "pinned" in found:
        host = Device(name="cpu", device=found[f"cpu:{threads[-1]}"], memory_bytes=None, host=True)
        for spec in specs:
            if spec.multiprocessors is None and spec.card == 0:
                yield _whole(spec, host, found, cards, card_names[0], date, len(cards))
        shares = [spec for spec in specs if spec.multiprocessors is not None]
        yield from _shares(shares, host, found, cards, card_names[0] if cards else "", date)
    if len(threads) > 1 and "shm" in found:
        yield from _workers(threads, found, int(machine["cores"]), cpu, date)


def _whole(
    spec: CudaSpec,
    host: Device,
    found: Mapping[str, str],
    cards: Sequence[Mapping[str, Any]],
    name: str,
    date: str,
    count: int,
) -> Platform:
    same = [k for k in range(count) if cards[k]["name"] == cards[0]["name"]]
    text = f"the CPU and {len(same)} whole card{'s' if len(same) > 1 else ''} in {spec.precision}"
    if spec.precision == "bf16":
        text += " (the CPU in fp32)"
    if len(same) > 1:
        text += ", of which one was measured"
    return Platform(
        format="placebench-platform/1",
        name=f"{name}-server-{spec.precision}",
        topology="staged",
        devices=[
            host,
            *(
                Device(
                    name=f"gpu{k}",
                    device=found[str(spec)],
                    memory_bytes=int(cards[k]["memory_bytes"]),
                    link=found["pinned"],
                )
                for k in same
            ),
        ],
        provenance={"kind": "measured", "description": f"{text}; {ALONE}", "date": date},
    )


def _shares(
    shares: Sequence[CudaSpec],
    host: Device,
    found: Mapping[str, str],
    cards: Sequence[Mapping[str, Any]],
    name: str,
    date: str,
) -> Iterator[Platform]:
    """The measured shares side by side, largest first, as long as the card has enough."""
    if not shares:
        return
    whole, memory = int(cards[0]["multiprocessors"]), int(cards[0]["memory_bytes"])
    taken, left = [], whole
    for spec in sorted(shares, key=lambda spec: -(spec.multiprocessors or 0)):
        size = spec.multiprocessors or 0
        if size <= left:
            left -= size
            taken.append((size, spec))
    yield Platform(
        format="placebench-platform/1",
        name=f"{name}-shares-{'-'.join(str(size) for size, _ in taken)}",
        topology="staged",
        devices=[
            host,
            *(
                Device(
                    name=f"gpu-{size}sm",
                    device=found[str(spec)],
                    memory_bytes=memory * size // whole,
                    link=found["pinned"],
                )
                for size, spec in taken
            ),
        ],
        provenance={
            "kind": "measured",
            "description": "the CPU and unlike shares of the multiprocessors of one card; "
            f"{ALONE}; memory in the same parts; {NOT_SHARED}",
            "date": date,
        },
    )


def _workers(
    threads: Sequence[int], found: Mapping[str, str], cores: int, cpu: str, date: str
) -> Iterator[Platform]:
    """Two workers of unlike thread counts that the cores can run side by side."""
    for small, large in pairwise(threads):
        if small + large > cores:
            continue
        yield Platform(
            format="placebench-platform/1",
            name=f"{cpu}-workers-{small}t-{large}t",
            topology="direct",
            devices=[
                Device(name="small", device=found[f"cpu:{small}"]),
                Device(name="large", device=found[f"cpu:{large}"]),
            ],
            default_link=found["shm"],
            provenance={
                "kind": "measured",
                "description": f"workers of {small} and {large} threads on one machine, joined by"
                f" shared memory; {ALONE}",
                "date": date,
            },
        )
