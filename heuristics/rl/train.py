"""Train a policy: ``python -m heuristics.rl.train OUT --graphs 64 --steps 1000 --seed 0``.

OUT is a folder. ``OUT/latest.safetensors`` is the checkpoint (with its digest and the state of the
optimizer), ``OUT/policy.safetensors`` the weights alone, ``OUT/log.jsonl`` has a line a step. The
same command goes on from the checkpoint, and ends where an uninterrupted run ends: all that a step
draws follows from seed and step. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

try:
    import torch

    from heuristics.rl import checkpoint, corpus, ppo
    from heuristics.rl.policy import Config, Graph, Policy, fresh, graph_of, vectors
    from heuristics.rl.rounds import Round, State, play, state_of
    from heuristics.rl.search import BATCH, TOLERANCES, device_of, episode
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    print(f"heuristics.rl.train: {error}; pip install -e '.[rl]'", file=sys.stderr)
    sys.exit(2)
from heuristics.rl.task import Task
from heuristics.rl.tasks import task_of
from problems.catalogue import Library
from problems.files import FileError, write_atomically
from problems.instance import Instance
from solvers.rng import seeded

EVERY = 50
"""Steps between two checkpoints."""
RANGES = {
    "graphs": (1, 10**6),
    "steps": (1, 10**9),
    "seed": (0, 2**63 - 1),
    "every": (1, 10**9),
    "threads": (1, 1024),
}
"""The least and the largest value of the arguments that are numbers."""


class Trainer:
    """Training on some instances.

    Parameters
    ----------
    load : callable
        Number of a case -> its instance.
    """

    def __init__(self, policy: Policy, load: Any, cases: int, seed: int) -> None:
        self.policy, self.load, self.cases, self.seed = policy, load, cases, seed
        self.optimizer = ppo.optimizer_of(policy)
        self.device = next(policy.parameters()).device
        self._kept: dict[int, tuple[Task, Graph, list[State]]] = {}

    def step(self, number: int) -> dict[str, Any]:
        """One episode on one case, and what is learned from it; says what came out.

        Returns
        -------
        dict
            `step`, `case`, `units`, `greedy` (seconds), `gain` (log of greedy over the best
            proposal of the episode), `better` (share of proposals that beat their state).
        """
        rng = np.random.default_rng([self.seed, 1, number])
        index = int(rng.integers(self.cases))
        task, graph, starts = self._case(index)
        said = {"step": number, "case": task.instance.id, "units": task.units}
        if not starts:  # nothing valid to start from
            return said
        # Half of the episodes from the greedy answer, as under the clock.
        start = starts[0 if rng.random() < 0.5 else int(rng.integers(len(starts)))]
        stream, greedy = seeded(rng), starts[0].value
        vector = vectors(self.policy, graph)

        def play_round(state: State) -> Round:
            return play(task, self.policy, graph, state, greedy, BATCH, stream, vector=vector)

        rounds = list(episode(play_round, start, TOLERANCES[int(rng.integers(len(TOLERANCES)))]))
        ppo.update(self.policy, graph, self.optimizer, rounds)
        gain = max(float(each.reward.max()) for each in rounds)
        states = [start.value] + [each.value for each in rounds]
        better = [
            float((each.reward > np.log(greedy / value) + 1e-9).mean())
            for each, value in zip(rounds, states, strict=False)
        ]
        return said | {"greedy": greedy, "gain": gain, "better": float(np.mean(better))}

    def _case(self, index: int) -> tuple[Task, Graph, list[State]]:
        if index not in self._kept:
            task = task_of(self.load(index), self.seed)
            starts = [state_of(task, place) for place in task.starts()]
            if task.places == 1 or (starts and starts[0].value <= 0):
                starts = []
            self._kept[index] = task, graph_of(task, self.device), starts
        return self._kept[index]


def _named(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the value is empty")
    return text


def _folder(text: str) -> Path:
    return Path(_named(text))


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    result = argparse.ArgumentParser(prog="python -m heuristics.rl.train", description=__doc__)
    result.add_argument("out", type=_folder, metavar="OUT", help="folder of the checkpoints")
    result.add_argument("--graphs", type=int, default=64, help="cases of the training set")
    result.add_argument("--steps", type=int, default=1000, help="episodes, from the beginning")
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--init", type=Path, help="checkpoint to begin with (else untrained)")
    text = "train on this instance of the library alone"
    result.add_argument("--instance", type=_named, help=text)
    result.add_argument("--every", type=int, default=EVERY, help="steps between two checkpoints")
    result.add_argument("--threads", type=int, default=1)
    return result


def train(given: argparse.Namespace) -> str:
    """Train as the arguments say; returns the digest of the weights.

    Raises
    ------
    ValueError
        If a number is out of its range, or the folder holds a training with other arguments.
    """
    for name, (least, most) in RANGES.items():
        if not least <= getattr(given, name) <= most:
            raise ValueError(f"--{name} is {getattr(given, name)}, not in {least} to {most}")
    torch.set_num_threads(given.threads)
    device, library = device_of(), Library()
    latest, log = given.out / "latest.safetensors", given.out / "log.jsonl"
    begun = {
        "graphs": 1 if given.instance else given.graphs,
        "seed": given.seed,
        "instance": given.instance or "",
        "init": checkpoint.read(given.init).digest if given.init else "",
    }
    given.out.mkdir(parents=True, exist_ok=True)
    policy, done, found = _begin(given, device), 0, None
    if latest.exists():
        found = checkpoint.read(latest)
        before = {key: found.notes.get(key) for key in begun}
        if before != begun:
            wrong = [key for key in begun if before[key] != begun[key]]
            raise ValueError(
                f"{latest}: trained with {', '.join(f'{k}={before[k]!r}' for k in wrong)}, now"
                f" {', '.join(f'{k}={begun[k]!r}' for k in wrong)}: take another folder"
            )
        policy, done = checkpoint.policy_of(found, latest, device), int(found.notes.get("steps", 0))

    def load(number: int) -> Instance:
        if given.instance:
            return library.load(given.instance)
        return corpus.case(number, given.seed, library)

    trainer = Trainer(policy, load, begun["graphs"], given.seed)
    if found is not None:
        checkpoint.restore(found, trainer.optimizer)
    lines = log.read_text().splitlines()[:done] if log.exists() else []
    clock, recent = time.monotonic(), []
    for number in range(done, given.steps):
        said = trainer.step(number)
        lines.append(json.dumps(said))
        recent.append(said.get("gain", 0.0))
        if (number + 1) % given.every == 0 or number + 1 == given.steps:
            write_atomically(log, ("\n".join(lines) + "\n").encode())
            notes = begun | {"steps": number + 1, "torch": str(torch.__version__)}
            digest = checkpoint.write(latest, policy, notes, trainer.optimizer)
            print(
                f"step {number + 1} of {given.steps}: mean gain over greedy"
                f" {100 * float(np.mean(recent)):.2f} %, {time.monotonic() - clock:.0f} s,"
                f" digest {digest[:16]}",
                flush=True,
            )
            recent = []
    notes = begun | {"steps": max(done, given.steps), "torch": str(torch.__version__)}
    return checkpoint.write(given.out / "policy.safetensors", policy, notes)


def _begin(given: argparse.Namespace, device: torch.device) -> Policy:
    if given.init:
        return checkpoint.policy_of(checkpoint.read(given.init), given.init, device)
    return fresh(Config(), given.seed, device)


def main(arguments: list[str] | None = None) -> int:
    """Train; a wrong request is one line and exit code 2, an interruption 130."""
    try:
        print("policy", train(parser().parse_args(arguments)))
    except (ValueError, FileError, OSError) as error:
        print(f"heuristics.rl.train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("heuristics.rl.train: interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
