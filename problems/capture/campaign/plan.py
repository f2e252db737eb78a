"""What a campaign does on a machine, most important first, and how the time is shared out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from problems.capture.cuda import CudaSpec

LEAST_S = 3.0
"""A step with less time than that is left out."""
PARTS = (4, 2, 8)
"""Shares of a card: one in so many multiprocessors, most telling first."""
GRANULE = 8
"""Multiprocessors come in groups of so many (CUDA driver API, cuDevSmResourceSplitByCount, from
compute capability 9.0 on)."""


@dataclass(frozen=True)
class Step:
    """One measurement of a campaign.

    Attributes
    ----------
    name : str
        Unique: what is measured.
    kind : {'cuda', 'cpu', 'copy', 'ping'}
        Operators on a card or on the CPU; copies of a card; transfers between processes.
    weight : float
        Its part of the time.
    file : str
        Where the result goes.
    job : dict
        What the program is told beyond signatures and time.
    skip : str
        Why it cannot be done here; empty: it can.
    """

    name: str
    kind: str
    weight: float
    file: str
    job: dict[str, Any] = field(default_factory=dict)
    skip: str = ""


def steps(survey: dict[str, Any], cores: int) -> list[Step]:
    """Everything to do on a machine, with reasons for what cannot be done.

    Parameters
    ----------
    survey : dict
        Of :func:`problems.capture.cuda_survey.survey`; an empty one has no card.
    cores : int
        Cores that may be used.
    """
    cards = survey.get("cards", [])
    no_card = "" if cards else survey.get("why", "torch sees no CUDA card")
    first = cards[0] if cards else {}
    no_tensor = no_card or ("" if first.get("bf16") else f"{first.get('name')} has no such units")
    plan = [
        _cuda(CudaSpec("fp32"), 5.0, no_card),
        _copy("pinned", 0, no_card),
        _copy("pageable", 0, no_card),
        _cuda(CudaSpec("tf32"), 3.5, no_tensor),
        _cuda(CudaSpec("bf16"), 3.5, no_tensor),
    ]
    no_share = no_card or (
        ""
        if survey.get("green_contexts")
        else f"torch {survey.get('torch')} has no green contexts (2.10 or later on CUDA has)"
    )
    shares = sorted_shares(first.get("multiprocessors", 0))
    plan += [_cuda(CudaSpec("fp32", n), 3.0, no_share) for n in shares]
    if not shares:
        why = no_share or f"{first.get('multiprocessors')} multiprocessors are too few to share"
        plan.append(Step("cuda:shares", "cuda", 3.0, "shares.json.gz", skip=why))
    plan += [
        Step(f"cpu:{n}", "cpu", 4.0 + 3 / n, "cpu.json.gz", {"threads": n})
        for n in thread_counts(cores)
    ]
    alone = "" if cores > 1 else "a link needs two cores, one for each end"
    plan += [
        Step(link, "ping", 0.7, "links.json.gz", {"link": link}, alone)
        for link in ("shm", "tcp-loopback")
    ]
    plan += [
        Step(f"peer:{k}", "copy", 0.7, "links.json.gz", {"link": "peer", "card": 0, "other": k})
        for k in range(1, len(cards))
    ]
    seen = {first.get("name")}
    for k, card in enumerate(cards):
        if card["name"] not in seen:
            seen.add(card["name"])
            plan += [_cuda(CudaSpec("fp32", card=k), 4.0, ""), _copy("pinned", k, "")]
    return plan


def sorted_shares(multiprocessors: int) -> list[int]:
    """Sizes of the shares of a card, whole groups of multiprocessors."""
    sizes = (multiprocessors // part // GRANULE * GRANULE for part in PARTS)
    return list(dict.fromkeys(n for n in sizes if 0 < n < multiprocessors))


def thread_counts(cores: int) -> list[int]:
    """1, as many as 16 of the cores, and 4 in between."""
    return list(dict.fromkeys(n for n in (1, min(cores, 16), 4) if n <= cores))


def share_s(left: Sequence[Step], remaining_s: float) -> float:
    """Seconds of the first of the steps that are left."""
    return remaining_s * left[0].weight / sum(step.weight for step in left)


def _cuda(spec: CudaSpec, weight: float, skip: str) -> Step:
    file = "cuda.json.gz" if spec.multiprocessors is None else "shares.json.gz"
    return Step(str(spec), "cuda", weight, file, {"spec": str(spec)}, skip)


def _copy(link: str, card: int, skip: str) -> Step:
    name = link if card == 0 else f"{link}:{card}"
    return Step(name, "copy", 0.7, "links.json.gz", {"link": link, "card": card}, skip)
