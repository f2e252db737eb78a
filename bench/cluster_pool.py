"""A connection to a Dask scheduler, and those of its workers that were looked at."""

from __future__ import annotations

import logging
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench import cluster_worker, environment
from bench.cluster_slots import RESOURCE, ClusterError, Worker, check_host, check_versions
from bench.plain import headline
from bench.records import Store

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
LOOK_S = 1.0
SETTLE_S = 15.0


@dataclass
class Pool:
    """A connection to a scheduler, and the workers that were looked at.

    Parameters
    ----------
    client : distributed.Client
    threads : int
        Threads of a run, for which a slot has to have the cores.
    notify : callable
        Takes one line that the user should see.
    """

    client: Client
    address: str
    threads: int
    notify: Callable[[str], None]
    workers: dict[str, Worker] = field(default_factory=dict)
    session: str = field(default_factory=lambda: f"placebench-{uuid.uuid4().hex[:12]}")
    _refused: set[str] = field(default_factory=set)
    _looked: float = 0.0

    @property
    def slots(self) -> int:
        """Runs at the same time."""
        return sum(worker.slots for worker in self.workers.values())

    def look(self, store: Store, *, first: bool = False) -> list[Worker]:
        """Take note of workers that have come; returns those that have gone.

        Raises
        ------
        ClusterError
            If the scheduler is gone, or (at first) a worker cannot be used.
        """
        self._looked = time.monotonic()
        info = self._ask(lambda: self.client.scheduler_info(n_workers=-1))["workers"]
        gone = [self.workers.pop(each) for each in list(self.workers) if each not in info]
        new = [each for each in info if each not in self.workers and each not in self._refused]
        described = {}
        for address in new:
            try:
                told = self._identity(address)
                if told is None:
                    continue  # gone again
                worker = Worker.of(address, info[address], told)
                check_versions(worker)
                check_host([*self.workers.values(), worker], self.threads)
                described[address] = (
                    worker,
                    self.submit(worker, "describe", cluster_worker.describe),
                )
            except ClusterError as error:
                if first:
                    raise
                self._refused.add(address)
                self.notify(f"a worker is not used: {error}")
                continue
            self.workers[address] = worker
        for address, (worker, future) in described.items():
            told = self.result(future)
            if isinstance(told, BaseException):
                del self.workers[address]  # the next look finds it again, if it is there
                self.notify(f"{address} could not be described: {headline(told)}")
            else:
                worker.environment = store.put_environment(told)
        return gone

    def due(self) -> bool:
        """Whether it is time to look again."""
        return time.monotonic() >= self._looked + LOOK_S

    def submit(
        self, worker: Worker, name: str, function: Callable[..., Any], *arguments: Any
    ) -> Future[Any]:
        """Hand a call to one worker and no other."""
        return self.client.submit(
            function,
            *arguments,
            key=f"{self.session}-{name}-{uuid.uuid4().hex[:8]}",
            workers=[worker.address],
            allow_other_workers=False,
            pure=False,
            resources={RESOURCE: 1} if worker.declared else None,
        )

    def calibrate_again(self, store: Store) -> None:
        """Store what the machines of the workers were like after the batch."""
        futures = [
            (worker, self.submit(worker, "calibrate", environment.calibrate))
            for worker in self.workers.values()
        ]
        for worker, future in futures:
            told = self.result(future)
            if not isinstance(told, BaseException):  # else it has gone since
                store.put_environment(environment.after(worker.environment, told))

    def settle(self) -> None:
        """End what runs on the workers, and wait until it has ended."""
        if self.client.status != "running":
            return  # without a scheduler the workers end, and their runs with them
        with suppress(OSError, TimeoutError):
            left = self.client.run(cluster_worker.settle, SETTLE_S, self.session, on_error="ignore")
            for address, count in left.items():
                if count:
                    self.notify(f"{address} has not ended {count} runs yet")

    def _identity(self, address: str) -> dict[str, Any] | None:
        """What a worker says it is; None where it has gone."""
        try:
            told = self.client.run(cluster_worker.identify, workers=[address])
        except OSError:
            return None
        except Exception as error:  # whatever it raised, or what kept it from being called
            raise ClusterError(
                f"{address} has not the same suite (its answer: {headline(error)}); install"
                f" placebench {environment.suite_version()} there, from the same sources"
            ) from None
        mine: dict[str, Any] | None = told.get(address)
        return mine

    @staticmethod
    def result(future: Future[Any], within_s: float = 60.0) -> Any:
        """Result of a call, or what was raised instead."""
        try:
            return future.result(timeout=within_s)
        except Exception as error:
            return error
        finally:
            give_up(future)

    def _ask(self, question: Callable[[], Any]) -> Any:
        try:
            if self.client.status == "running":
                return question()
        except (OSError, TimeoutError):
            pass
        raise ClusterError(
            f"the scheduler at {self.address} is gone; finished runs are kept, and the same"
            " command goes on from there"
        )


@contextmanager
def connect(
    address: str, store: Store, threads: int, notify: Callable[[str], None]
) -> Iterator[Pool]:
    """Connect to a scheduler and look at its workers; waits for the first, which may take hours.

    Raises
    ------
    ClusterError
        If `distributed` is not installed, nothing answers, or a worker cannot be used.
    """
    try:
        import distributed  # only with --cluster: it is an extra, and slow to load
        from distributed.comm.addressing import resolve_address
    except ModuleNotFoundError as error:
        raise ClusterError(f"{error.name} is not installed: pip install -e '.[cluster]'") from None
    try:
        # Before there is a client: one that has never connected waits 20 s when it is let go, and
        # ends with a traceback.
        resolve_address(address)
        client = distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=CONNECT_S, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address!r}: {headline(error)}") from None
    with client, warnings.catch_warnings():
        # A large instance is sent as it is, once a worker: what the advice in the warning comes to.
        warnings.filterwarnings("ignore", message="Sending large graph")
        # What happens to the connection is told in the suite's own words.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        pool = Pool(client, address, threads, notify)
        pool.look(store, first=True)
        if not pool.workers:
            notify(f"no worker has joined {address} yet: waiting")
        while not pool.workers:
            time.sleep(LOOK_S)
            pool.look(store, first=True)
        yield pool


def give_up(future: Future[Any]) -> None:
    """Let a call go, whether it runs or not."""
    future.cancel(force=True)  # type: ignore[no-untyped-call]
