"""Child process that says what torch and CUDA see on this machine; it changes nothing.

Needs torch and the standard library only.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from typing import Any

import torch

ASKED = "name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,power.limit,mig.mode.current,compute_mode,pstate,temperature.gpu"  # noqa: E501


def survey(cuda: Any = torch.cuda) -> dict[str, Any]:
    """Versions, cards and whether shares of them can be had.

    Returns
    -------
    dict
        ``torch``, ``cuda``, ``cudnn``: versions; ``green_contexts``: whether there are any;
        ``cards``: a dict each; ``nvidia_smi``: what it says of the state of each card, if present.
    """
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": None,
        "green_contexts": False,
        "cards": [],
    }
    if not cuda.is_available():
        return found
    with suppress(RuntimeError):
        found["cudnn"] = torch.backends.cudnn.version()
    contexts = getattr(cuda, "green_contexts", None)
    found["green_contexts"] = bool(contexts is not None and contexts.SUPPORTED)
    for card in range(cuda.device_count()):
        has = cuda.get_device_properties(card)
        found["cards"].append(
            {
                "name": has.name,
                "memory_bytes": has.total_memory,
                "multiprocessors": has.multi_processor_count,
                "capability": f"{has.major}.{has.minor}",
                "l2_bytes": getattr(has, "L2_cache_size", None),
                "bf16": bool(has.major >= 8),
            }
        )
    # Opens a context as every step will, so that the time of this child is what they need, too.
    torch.zeros(1, device="cuda:0" if cuda is torch.cuda else "cpu")
    with suppress(OSError, subprocess.SubprocessError):
        found["nvidia_smi"] = subprocess.run(
            ["nvidia-smi", f"--query-gpu={ASKED}", "--format=csv"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout.splitlines()
    return found


def main() -> None:
    """Print the survey."""
    print(json.dumps({"result": survey()}), flush=True)


if __name__ == "__main__":
    main()
