"""How long a whole network takes, to hold the sum of its operators against.

Run as a program it is the child process of :func:`whole_model`.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

import torch

from problems.capture import child, machine
from problems.capture.device import cpu_threads
from problems.capture.models import find


def whole_model(name: str, spec: str, rounds: int = 20) -> tuple[float, float]:
    """Run a network of :data:`problems.capture.models.BUILDERS` with random weights.

    Returns
    -------
    min_s, median_s : float
        Over `rounds` runs after three that do not count.

    Raises
    ------
    ValueError
        If there is no such network or device.
    BusyError
        If the machine is not quiet.
    """
    find(name)
    threads = cpu_threads(spec)
    machine.require_quiet()
    job = {"network": name, "rounds": rounds}
    result, _ = child.run("problems.capture.whole", job, threads, lambda line: None)
    return result["min_s"], result["median_s"]


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    torch.set_num_threads(job["threads"])
    built = find(job["network"]).build()
    model = built.model.eval()
    times = []
    with torch.inference_mode():
        for _ in range(job["rounds"] + 3):
            start = time.perf_counter()
            model(*built.args, **built.kwargs)
            times.append(time.perf_counter() - start)
    print(json.dumps({"result": {"min_s": min(times[3:]), "median_s": median(times[3:])}}))


if __name__ == "__main__":
    main()
