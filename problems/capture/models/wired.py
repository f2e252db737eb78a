"""Randomly wired networks: published parameters, stored seeds."""

from __future__ import annotations

from problems.capture.models.inputs import image, own
from problems.capture.models.registry import Built, register
from problems.capture.modules.randwire import RandWire, Rule

LABELS: dict[Rule, str] = {"ws": "WS(4, 0.75)", "er": "ER(0.2)", "ba": "BA(5)"}
SMALL, REGULAR = 78, 109  # C of the paper


def network(name: str, rule: Rule, seeds: tuple[int, ...], channels: int = SMALL) -> None:
    """Register a network whose stages are drawn by `rule`, one seed a stage."""

    def build(batch: int = 1) -> Built:
        about = own(batch=batch, image=224, graph=LABELS[rule], seeds=list(seeds))
        model = RandWire(rule, seeds, channels)
        return Built(model, (image(batch, 224),), {}, r"stages\.\d+\.nodes\.\d+", about)

    regime = "" if channels == SMALL else f", regular regime, C = {channels}"
    title = f"a randomly wired network, {LABELS[rule]}{regime} (arXiv 1904.01569)."
    register(name, "randwire", title, build)


network("randwire-ws", "ws", (1, 2, 3))
network("randwire-er", "er", (1, 2, 3))
network("randwire-ba", "ba", (1, 2, 3))
network("randwire-ws-2", "ws", (4, 5, 6))
network("randwire-ws-regular", "ws", (1, 2, 3, 4), REGULAR)
network("randwire-er-regular", "er", (1, 2, 3, 4), REGULAR)
network("randwire-ba-regular", "ba", (1, 2, 3, 4), REGULAR)
