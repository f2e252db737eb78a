"""One run of the entry: which weights, on which device, with how many threads; needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from heuristics.rl import checkpoint as checkpoint_
from heuristics.rl.policy import Config, Policy, fresh
from heuristics.rl.search import device_of, search
from heuristics.rl.task import Task
from heuristics.rl.tasks import task_of
from heuristics.shared.best import Best


def trained(variant: str, file: Path | None) -> Policy | None:
    """The policy that a variant begins with; None for `scratch`, which begins with a fresh one.

    Parameters
    ----------
    variant : {'zero-shot', 'fine-tuned', 'scratch'}
    file : Path or None
        Checkpoint; the suite's own by default. None is read from `scratch`.

    Raises
    ------
    CheckpointError
        If the checkpoint cannot be used.
    """
    if variant == "scratch":
        return None
    path = checkpoint_.PRETRAINED if file is None else file
    return checkpoint_.policy_of(checkpoint_.read(path), path, device_of())


def improve(best: Best, begin: Policy | None, samples: int, *, learn: bool) -> None:
    """Improve the answer in `best`; nothing where there is none, or nothing to gain.

    Parameters
    ----------
    begin : Policy or None
        Of :func:`trained`.
    samples : int
        Proposals at most; 0: until the context's time is up.
    learn : bool
        Go on with PPO on the instance.
    """
    context, device = best.context, device_of()
    seed = int(context.rng.integers(2**31))
    policy = fresh(Config(), seed, device) if begin is None else begin
    if best.answer is None or best.value <= 0 or best.done():
        return
    task = task_of(best.instance, int(context.rng.integers(2**31)))
    if task.places == 1:
        return
    place = np.zeros(task.units, np.int64)
    place[task.unit] = best.answer.device
    if task.units == 1:
        _everywhere(task, best, place)
        return
    with _threads(context.threads):
        count = search(task, policy, best, place, samples, learn=learn)
    context.claim("feasible", best.value, f"{count} proposals, network on {device.type}")


def _everywhere(task: Task, best: Best, place: np.ndarray) -> None:
    """Every place of the only unit: there is nothing to propose."""
    task.begin(place)
    for c in range(task.places):
        found = task.repair(np.array([c]), np.array([0]))
        if found is not None:
            best.offer_device(found[task.unit])


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """So many threads for torch, which has one number for the whole process."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
