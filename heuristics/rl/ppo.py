"""Proximal policy optimisation (Schulman et al. 2017) on rounds of proposals; needs torch.

The advantage of a proposal is its reward against the mean of all proposals from the same state, in
deviations: the state's own mean is the baseline, so that no critic has to be learned. Every unit
has its own ratio of probabilities, clipped on its own, since the units' wishes are drawn apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from heuristics.rl.policy import Graph, Policy, logits
from heuristics.rl.rounds import Round

CLIP = 0.2
ENTROPY = 0.002
RATE = 1e-3
EPOCHS = 2
NORM = 1.0
PAIRS = 400_000
"""Pairs of unit and place in one step, about: more states go into several steps."""


def optimizer_of(policy: Policy, rate: float = RATE) -> torch.optim.Adam:
    """The optimizer of a policy."""
    return torch.optim.Adam(policy.parameters(), lr=rate)


def advantage(reward: np.ndarray) -> np.ndarray:
    """Rewards as deviations from their mean, shape (B,); all 0 where they are alike."""
    deviation = float(reward.std())
    if deviation < 1e-9:
        return np.zeros(len(reward))
    result: np.ndarray = (reward - reward.mean()) / deviation
    return result


def update(
    policy: Policy,
    graph: Graph,
    optimizer: torch.optim.Adam,
    rounds: Sequence[Round],
    epochs: int = EPOCHS,
    done: Callable[[], bool] = lambda: False,
) -> None:
    """Learn from rounds on one graph; stops between steps when `done` says so."""
    useful = [each for each in rounds if len(each.reward) > 1 and advantage(each.reward).any()]
    if not useful:
        return
    U, C = graph.allowed.shape
    size = max(1, PAIRS // (U * C))
    steps = [useful[i : i + size] for i in range(0, len(useful), size)]
    before = []
    for step in steps:
        if done():
            return
        with torch.no_grad():
            before.append(_taken(logits(policy, graph, [each.seen for each in step]), step))
    for _ in range(epochs):
        for step, old in zip(steps, before, strict=True):
            if done():
                return
            now = logits(policy, graph, [each.seen for each in step])
            objective = _surrogate(_taken(now, step), old, step) + ENTROPY * _entropy(now)
            optimizer.zero_grad()
            (-objective).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), NORM)
            optimizer.step()


def _taken(logs: torch.Tensor, step: Sequence[Round]) -> list[torch.Tensor]:
    """Log-probabilities of what was wished, by state, shape (B, U) each."""
    result = []
    for log, each in zip(logs, step, strict=True):
        wished = torch.from_numpy(each.wished).to(log.device)
        result.append(log.gather(1, wished.T).T)
    return result


def _surrogate(
    now: Sequence[torch.Tensor], old: Sequence[torch.Tensor], step: Sequence[Round]
) -> torch.Tensor:
    total = torch.zeros((), device=now[0].device)
    for log, was, each in zip(now, old, step, strict=True):
        ratio = (log - was).exp()
        gain = torch.from_numpy(advantage(each.reward)).to(log)[:, None]
        clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
        total = total + torch.minimum(ratio * gain, clipped * gain).sum(dim=1).mean()
    return total / len(step)


def _entropy(logs: torch.Tensor) -> torch.Tensor:
    """Mean over states of the sum over units."""
    finite = logs.masked_fill(torch.isneginf(logs), 0.0)
    return -(logs.exp() * finite).sum(dim=(1, 2)).mean()
