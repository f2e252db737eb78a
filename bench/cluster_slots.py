"""What a worker has to be, so that a run on it is measured as a run anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench import environment

RESOURCE = "placebench"
REQUIRED = (
    "start workers with one thread (`dask worker ADDRESS --nthreads 1`), no more of them a machine"
    f" than it has cores for, or say how many runs one may have at a time with `--resources"
    f" {RESOURCE}=N`"
)


class ClusterError(ValueError):
    """A cluster that cannot be used; the message says what would be."""


@dataclass(eq=False)
class Worker:
    """One worker process.

    Attributes
    ----------
    slots : int
        Runs at a time.
    declared : bool
        The slots were set by the user as a resource, and not derived from one thread.
    told : dict
        See :func:`bench.cluster_worker.identify`.
    environment : str
        Digest of its stored description.
    has : set of str
        Digests of instances that were sent to it.
    """

    address: str
    slots: int
    declared: bool
    told: Mapping[str, Any]
    environment: str = ""
    has: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, address: str, info: Mapping[str, Any], told: Mapping[str, Any]) -> Worker:
        """From what the scheduler and the worker say.

        Raises
        ------
        ClusterError
            If it is not clear how many runs it may have at a time.
        """
        if RESOURCE in info["resources"]:
            slots = min(int(info["resources"][RESOURCE]), info["nthreads"])
            if slots < 1:
                raise ClusterError(f"{address} has no slot for a run: {REQUIRED}")
            return cls(address, slots, True, told)
        if info["nthreads"] != 1:
            raise ClusterError(
                f"{address} has {info['nthreads']} threads, and runs would disturb one another:"
                f" {REQUIRED}"
            )
        return cls(address, 1, False, told)


def check_versions(worker: Worker) -> None:
    """See that a worker has the client's suite and Python.

    Raises
    ------
    ClusterError
        If not.
    """
    here = {
        "suite": environment.suite_version(),
        "sources": environment.sources(),
        "python": environment.python_version(),
    }
    differ = [
        f"{name} {worker.told.get(name, 'unknown')[:12]} (here {value[:12]})"
        for name, value in here.items()
        if worker.told.get(name) != value
    ]
    if differ:
        raise ClusterError(
            f"{worker.address} has {', '.join(differ)}: records of the two would not be of one"
            " kind; install the same suite there, under the same Python"
        )


def check_host(workers: Sequence[Worker], threads: int) -> None:
    """See that a machine has the cores for all its runs at once; declared slots are as meant.

    Raises
    ------
    ClusterError
        If the last worker's machine has not.
    """
    host = workers[-1].told["host"]
    mine = [worker for worker in workers if worker.told["host"] == host and not worker.declared]
    if not mine or workers[-1].declared:
        return
    cores = float(len(set().union(*(worker.told["cores"] for worker in mine))))
    quotas = [worker.told["quota"] for worker in mine if worker.told["quota"] is not None]
    cores = min([cores, *quotas])
    if len(mine) * threads > cores:
        raise ClusterError(
            f"{host.split()[0]} has {cores:g} usable cores, and {len(mine)} workers whose runs have"
            f" {threads} thread{'s' if threads != 1 else ''} each: {REQUIRED}"
        )
