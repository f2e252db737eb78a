"""Child process that times transfers between two processes.

Needs numpy and the standard library only.
"""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import Any

from problems.capture.pings import HOW, METHOD, measure


def main() -> None:
    """Run the job that stands on standard input: ``link``, ``sizes``, ``budget_s``."""
    job = json.load(sys.stdin)
    sizes = job["sizes"]

    def progress(fraction: float, message: str) -> None:
        _say({"progress": fraction, "message": message})

    forth, back, rounds = measure(job["link"], job["budget_s"], sizes, progress)
    result: dict[str, Any] = {"rounds": rounds, "how": HOW[job["link"]], "method": METHOD}
    for name, samples in (("forward", forth), ("backward", back)):
        result[name] = [[n, min(samples[n]), median(samples[n])] for n in sizes]
    _say({"result": result})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
