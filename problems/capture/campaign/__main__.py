"""``python -m problems.capture.campaign OUT``: for machines with torch and numpy, and no more."""

from __future__ import annotations

import argparse
import signal
import sys

from problems.capture.campaign.run import campaign, summary
from problems.capture.campaign.signatures import GRAPHS, read


def main(arguments: list[str] | None = None) -> int:
    """Run a campaign; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.capture.campaign",
        description="Measure everything this machine offers, most important first.",
    )
    parser.add_argument("out", metavar="OUT", help="folder for at most 8 files under 16 MiB")
    parser.add_argument("--deadline", type=float, default=480.0, metavar="SECONDS")
    parser.add_argument(
        "--job",
        action="append",
        metavar="FILE",
        help="graph or job file with signatures, repeatable; default: all graphs of the library",
    )
    parser.add_argument("--only", action="append", metavar="STEP", help="repeatable")
    parser.add_argument("--seed", type=int, default=0, help="of values and order")
    parser.add_argument("--rounds", type=int, help="most rounds of a process, for a quick look")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        works = read(given.job or sorted(GRAPHS.glob("*.json.gz")))
        state = campaign(
            given.out,
            works,
            given.deadline,
            only=given.only,
            seed=given.seed,
            rounds=given.rounds,
            tell=_tell,
        )
    except ValueError as error:
        print(f"campaign: {error}", file=sys.stderr)
        return 2
    for line in summary(state):
        print(line)
    return 0 if any(step["state"] in ("done", "partial") for step in state["steps"]) else 1


def _tell(fraction: float, message: str) -> None:
    print(f"[{fraction:4.0%}] {message}", file=sys.stderr, flush=True)


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)  # through the clean-up, which ends the running program


if __name__ == "__main__":
    sys.exit(main())
