"""One device file of a card of this machine: one step of a campaign, on its own."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

import msgspec

from problems.capture import Progress, silent
from problems.capture.campaign.adopt import device_file, of_device, slug
from problems.capture.campaign.children import Launch, launch
from problems.capture.campaign.measuring import measure
from problems.capture.campaign.plan import Step
from problems.capture.campaign.run import look, machine
from problems.capture.campaign.samples import Means
from problems.capture.campaign.signatures import work
from problems.capture.cores import available_cores
from problems.capture.cuda import CudaSpec, parse
from problems.graph import Signature
from problems.platform import DeviceFile

STARTUP_S = 120.0
"""Most that torch may take to find the cards."""


def capture_cuda(
    spec: str,
    signatures: Mapping[str, Signature],
    budget_s: float = 60.0,
    *,
    name: str | None = None,
    seed: int = 0,
    progress: Progress = silent,
    launch: Launch = launch,
) -> DeviceFile:
    """Measure every signature on a card, or on a share of it.

    Parameters
    ----------
    spec : str
        ``cuda:fp32``, ``cuda:32sm:bf16``, ...: see :mod:`problems.capture.cuda`.
    signatures : mapping
        Signature id -> :class:`Signature`.
    budget_s : float
        Seconds, first calls included.

    Raises
    ------
    ValueError
        If the spec is none, there is nothing to measure, or no such card.
    RuntimeError
        If nothing could be measured.
    """
    asked = parse(spec)
    if not signatures:
        raise ValueError("no signatures to measure")
    if budget_s <= 0:
        raise ValueError("budget_s <= 0")
    works = {key: work(msgspec.to_builtins(each)) for key, each in sorted(signatures.items())}
    means = Means(works, seed=seed, launch=launch)
    progress(0.0, f"{spec}: looking for the card")
    survey = look(means, STARTUP_S)
    cards = survey["cards"]
    if asked.card >= len(cards):
        why = survey.get("why") or f"torch sees {len(cards)} CUDA cards here"
        raise ValueError(f"no device {spec!r} here: {why}")
    step = Step(spec, "cuda", 1.0, "", {"spec": spec})
    begin = means.clock()
    until = begin + means.startup_s + budget_s
    data = measure(step, means, until, until + budget_s, lambda data: None)
    if not data["times"]:
        why = data.get("trouble") or next(iter(data["failed"].values()), "no time")
        raise RuntimeError(f"nothing was measured on {spec}: {why}")
    common = machine(available_cores()) | {
        "torch": survey.get("torch"),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seed": seed,
    }
    missing = len(works) - len(data["times"]) - len(data["failed"])
    if missing:
        common["not_reached"] = missing
    return device_file(
        name or default_name(asked, cards[asked.card]["name"]),
        data,
        common | of_device(spec, data, survey),
    )


def default_name(spec: CudaSpec, card: str) -> str:
    """Name of a device file: card, share and precision."""
    share = f"-{spec.multiprocessors}sm" if spec.multiprocessors else ""
    return f"{slug(card)}{share}-{spec.precision}"
