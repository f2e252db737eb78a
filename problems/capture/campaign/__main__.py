"""``python -m problems.capture.campaign OUT``: for machines with torch and numpy, and no more."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

from problems.capture.campaign.run import campaign
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
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        works = read(given.job or sorted(GRAPHS.glob("*.json.gz")))
        state = campaign(
            given.out, works, given.deadline, only=given.only, seed=given.seed, tell=_tell
        )
    except ValueError as error:
        print(f"campaign: {error}", file=sys.stderr)
        return 2
    for line in summary(state):
        print(line)
    return 0 if any(step["state"] in ("done", "partial") for step in state["steps"]) else 1


def summary(state: dict[str, Any]) -> list[str]:
    """One line a step: how it ended."""
    lines = []
    for step in state["steps"]:
        parts = [f"{step['name']:<16} {step['state']:<8}"]
        if "seconds" in step:
            parts.append(f"{step['seconds']:6.1f} s")
        if "reached" in step:
            parts.append(f"{step['reached']} of {state['signatures']} signatures")
        if step.get("failed"):
            parts.append(f"{step['failed']} cannot run")
        if "rounds" in step:
            parts.append("{}-{} rounds".format(*step["rounds"]))
        if "why" in step:
            parts.append(f"({step['why']})")
        lines.append("  ".join(parts))
    if "seconds" in state:
        lines.append(f"{state['seconds']:.1f} of {state['deadline_s']:.0f} s")
    return lines


def _tell(fraction: float, message: str) -> None:
    print(f"[{fraction:4.0%}] {message}", file=sys.stderr, flush=True)


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)  # through the clean-up, which ends the running program


if __name__ == "__main__":
    sys.exit(main())
