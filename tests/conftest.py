"""How the tests are dealt out to processes (`make test`, or ``pytest -n 2 --dist loadfile``)."""

from __future__ import annotations

from typing import Any

import pytest

from problems import compiled

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


def pytest_configure() -> None:
    """Let one process at a time save what it has compiled."""
    compiled.save_alone()
