"""``pytest --benchmark``: the timed comparison as tests, with pytest-benchmark underneath.

This module is imported by every pytest of the environment: it imports nothing of the suite until a
comparison is asked for, and changes nothing in projects that do not set `placebench_benchmarks`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_JOBS = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the comparison."""
    group = parser.getgroup("placebench", "comparison of placement methods (placebench)")
    group.addoption(
        "--benchmark",
        action="store_true",
        help="run the timed comparison instead of the tests, and all else that is timed unless"
        " entries or instances are chosen",
    )
    group.addoption(
        "--method",
        action="append",
        default=[],
        metavar="ENTRIES|FILE",
        help="entries to compare ('heft,annealing[restarts=4]') or a file with a new method;"
        " repeatable",
    )
    group.addoption(
        "--benchmark-selection",
        action="append",
        default=[],
        metavar="SELECTION",
        help="instances to compare on, as `placebench run -i` takes them (default: 'default')",
    )
    group.addoption(
        "--benchmark-time",
        default="10s",
        metavar="TIME",
        help="time limit of each run (500ms, 10s, 2m; default 10s)",
    )
    group.addoption("--benchmark-seed", type=int, default=0, metavar="S", help="seed of every run")
    parser.addini(
        "placebench_benchmarks",
        "folder of the comparison: collected with --benchmark, and only then",
        default="",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect either the comparison or the tests."""
    setting = config.getini("placebench_benchmarks")
    if not setting:
        return None
    folder = config.rootpath / setting
    inside = folder == collection_path or folder in collection_path.parents
    if config.getoption("--benchmark"):
        around = collection_path in folder.parents
        return None if inside or around or collection_path.suffix != ".py" else True
    return True if inside else None


def pytest_configure(config: pytest.Config) -> None:
    """Find the jobs, so that a wrong option ends pytest at once with the whole message.

    Raises
    ------
    pytest.UsageError
        On an unknown selection, entry, option or time.
    """
    if not (config.getoption("--benchmark") and config.getini("placebench_benchmarks")):
        return
    # Only here: everything behind it takes a second to import, and no other test needs it.
    from bench import comparison

    try:
        config.stash[_JOBS] = comparison.jobs(
            instances=config.getoption("--benchmark-selection") or ["default"],
            methods=config.getoption("--method") or ["default"],
            time=config.getoption("--benchmark-time"),
            seed=config.getoption("--benchmark-seed"),
        )
    except ValueError as error:
        raise pytest.UsageError(f"placebench: {error}") from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what entries and instances mean nothing to, where some were chosen.

    Evaluators and the like take minutes, before there is a table of what was asked for.
    """
    chosen = config.getoption("--method") or config.getoption("--benchmark-selection")
    if not chosen or _JOBS not in config.stash:
        return
    compared = [each for each in items if "placebench_job" in getattr(each, "fixturenames", ())]
    config.hook.pytest_deselected(items=[each for each in items if each not in compared])
    items[:] = compared


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `placebench_job` one job an instance and entry."""
    if "placebench_job" in metafunc.fixturenames:
        jobs = metafunc.config.stash.get(_JOBS, [])
        metafunc.parametrize("placebench_job", jobs, ids=[job.name for job in jobs])
