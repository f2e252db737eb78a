"""How the tests are dealt out to processes (`make test`, or ``pytest -n 2 --dist loadfile``)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from problems import compiled

HANG_S = 300.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# These compile every entry of the catalogue: one after the other, the second finds it all on file.
COMPILE_ALL = ("tests/heuristics/test_methods.py", "tests/test_agreement.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out file by file, with those files together that compile the same."""
    if config.getvalue("dist") != "loadfile":
        return None
    # Only here: without the extra `dev` there is no such package, and nobody who asks.
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return COMPILE_ALL[0] if file in COMPILE_ALL else file

    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let one process at a time compile a function; set the limit of a test that hangs."""
    compiled.take_turns()
    # Not in pyproject.toml: without the extra `dev`, as `pytest --benchmark` may run, there is no
    # pytest-timeout, and its setting would be refused as unknown.
    unset = config.getoption("timeout", 0.0) is None and "PYTEST_TIMEOUT" not in os.environ
    if config.pluginmanager.hasplugin("timeout") and unset:
        config.option.timeout = HANG_S


@pytest.fixture(autouse=True)
def _signal_handlers_as_before() -> Iterator[None]:
    """Leave no signal ignored for the next test, as the command line does at its end."""
    before = {each: signal.getsignal(each) for each in ENDING}
    yield
    for each, handler in before.items():
        if handler is not None:  # one that was not set by Python
            signal.signal(each, handler)
