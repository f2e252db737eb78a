"""The environment of a measuring process, which has to stand before it starts."""

from __future__ import annotations

import os
from pathlib import Path

# Memory that was freed stays in the heap: otherwise every large result faults its pages in anew,
# which doubles the times of large activations. glibc reads these once, before Python runs.
ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(8 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}


def measuring(threads: int) -> dict[str, str]:
    """Environment of a process that measures with so many threads and finds this package."""
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | ALLOCATOR | {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        # oneDNN compiles a convolution once: its cache has to hold those of a whole library.
        "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "20000",
        "PYTHONPATH": os.pathsep.join(paths),
    }  # fmt: skip
