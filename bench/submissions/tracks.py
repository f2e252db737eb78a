"""The tables that submissions are ranked in: closed division by track, and the open division.

Closed: a track of this list (its instances, its limit), one thread, no memory limit of its own,
runs of this suite's harness. Open: whatever anybody has; only the answers count there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.submissions.layout import Submission

THREADS = 1
OPEN = "open"


@dataclass(frozen=True)
class Track:
    """A table of the closed division.

    Attributes
    ----------
    instances : tuple of str
        As ``-i`` takes them.
    time_limit_s : float
        Of a run.
    published : str
        The file of ``results/records`` with the suite's own runs; empty for none.
    entries, repeated : tuple of str
        What of the suite's own is run in it: under seed 0, and under seeds 0 to 2.
    ranked : bool
        Whether the published leaderboard has it; one to try things out has no table there.
    """

    name: str
    instances: tuple[str, ...]
    time_limit_s: float
    published: str = ""
    entries: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    ranked: bool = True

    @property
    def title(self) -> str:
        """For people: ``10 s``."""
        return f"{self.time_limit_s:g} s"


TRACKS = (
    Track(
        "10s",
        ("default",),
        10.0,
        "baseline",
        (
            "single", "random", "greedy", "expert", "max-load", "heft", "cpop", "peft", "etf",
            "m-etf", "m-sct", "dpl", "pipedream", "slicegraph", "local-search", "scotch", "metis",
            "kahip", "dp", "prefix@highs", "assign@highs", "stages", "intervals", "slots",
        ),
        ("annealing", "lns", "splitting", "portfolio"),
    ),
    Track(
        "1s",
        ("problem=throughput|latency|calls,tier=tiny|small|medium",),
        1.0,
        "1s",
        repeated=("greedy", "annealing", "portfolio"),
    ),
    # Public medium instances, four a section, that were open after 10 s of every exact entry.
    Track(
        "60s",
        (
            "bart-large:operator/server-tight-3g/latency",
            "inceptionv3:operator/unlike-tcp/latency",
            "moe:operator/cluster-2x2/latency[contention=ports]",
            "t5-base:operator/server/latency",
            "bart-large:operator/six-unlike/throughput[contiguous]",
            "deberta-v3-base:operator/server-3gen/throughput[contiguous]",
            "gnmt-train:parent/nvlink-8a100/throughput[contiguous]",
            "inception-resnetv2:parent/chain-36/throughput[contiguous]",
            "densenet121-train:operator/server-4gpu/throughput",
            "gnmt:parent/server/throughput",
            "moe-8x7b:parent/nvlink-8h100/throughput",
            "nasnet-mobile:operator/server-tight-96m/throughput",
        ),
        60.0,
        "60s",
        entries=("lns", "portfolio"),
    ),
    Track("smoke", ("smoke",), 1.0, ranked=False),
)  # fmt: skip


def track_of(submission: Submission) -> Track | None:
    """The track of a closed submission; None where there is none of its instances and limit."""
    return find(submission.instances, submission.time_limit_s)


def find(instances: Sequence[str], time_limit_s: float | None) -> Track | None:
    """The track of these instances, as they are written, and this limit."""
    for track in TRACKS:
        if set(track.instances) == set(instances) and track.time_limit_s == time_limit_s:
            return track
    return None


def describe() -> str:
    """All tracks on one line, for messages."""
    parts = [
        f"{t.name} (-i {' -i '.join(t.instances[:1])}{' ...' if len(t.instances) > 1 else ''}"
        f" --time {t.time_limit_s:g}s)"
        for t in TRACKS
    ]
    return ", ".join(parts)
