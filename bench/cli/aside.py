"""Searches for bounds in a process of their own: a solver that computes does not hear of Ctrl-C."""

from __future__ import annotations

import os
import signal
from contextlib import AbstractContextManager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType

import problems.bounds.theoretical  # noqa: F401 - registers them all, in the other process too
from bench.parent import die_with
from problems.bounds.registry import REGISTRY, Bound
from problems.instance import Instance


class Died(Exception):  # noqa: N818 - what happened, not an error of the program
    """The process ended without an answer, of too little memory for instance."""


class Aside(AbstractContextManager["Aside"]):
    """Starts the process with the first search and ends it when the block is left, also amidst one.

    The process is spawned, not forked: solvers keep threads, which a fork would not have.
    """

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._line: Connection | None = None

    def search(self, name: str, instance: Instance, seconds: float) -> Bound:
        """Compute a bound of the registry.

        Parameters
        ----------
        seconds : float
            Limit of the search.

        Raises
        ------
        Died
            If the process ends meanwhile; the next search has a new one.
        """
        if self._line is None:
            self._line = self._started()
        try:
            self._line.send((name, instance, seconds))
            found = self._line.recv()
        except (EOFError, OSError):
            self.close()
            raise Died from None
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Bound)
        return found

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._line = self._process = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    def _started(self) -> Connection:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()
        return ours


def _serve(line: Connection, parent: int) -> None:
    """Answer until the other end is closed."""
    die_with(parent)  # amidst a search, too
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has asked
    while True:
        try:
            name, instance, seconds = line.recv()
        except EOFError:
            return
        try:
            found: Bound | Exception = REGISTRY[name](instance, seconds)
        except Exception as error:
            found = error
        line.send(found)
