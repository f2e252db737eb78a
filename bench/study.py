"""What the studies that make their own runs share: arguments, progress, and where results go."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from bench.cli import units
from bench.cli.progress import Plain
from problems.files import write_atomically

STORE = Path("results/runs")
STUDIES = Path("results/studies")


def parser(program: str, description: str | None, limit: str) -> argparse.ArgumentParser:
    """Arguments of a study: `--time`, `--jobs`, `--store` and `--save`.

    Parameters
    ----------
    limit : str
        Default of ``--time``, the limit of a run.
    """
    result = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    default, text = units.seconds(limit), f"limit of a run (default {limit})"
    result.add_argument("--time", type=units.seconds, default=default, metavar="T", help=text)
    text = "runs at the same time (default 1)"
    result.add_argument("--jobs", type=positive, default=1, metavar="N", help=text)
    text = f"records; good ones are reused, so a study that was cut goes on (default {STORE})"
    result.add_argument("--store", type=Path, default=STORE, help=text)
    result.add_argument("--save", action="store_true", help=f"write the study to {STUDIES}")
    result.add_argument("--output", type=Path, default=STUDIES, help=argparse.SUPPRESS)
    return result


def positive(text: str) -> int:
    """Read a whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def progress() -> Plain:
    """A line a finished run, apart from the study's own output."""
    return Plain(sys.stderr)


def publish(given: argparse.Namespace, name: str, texts: dict[str, str]) -> None:
    """Print the page (ending ``md``); with ``--save`` write all texts, by their endings."""
    print(texts["md"], end="")
    if given.save:
        for ending, text in texts.items():
            write_atomically(given.output / f"{name}.{ending}", text.encode())


def guarded(main: Callable[[], int]) -> int:
    """Run a study; a wrong request is one line and exit code 2, an interruption 130."""
    try:
        return main()
    except ValueError as error:
        print(f"placebench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("placebench: interrupted; the same command goes on from there", file=sys.stderr)
        return 130
