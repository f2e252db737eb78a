"""``placebench doctor``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial

from bench import entries, environment
from bench.cli import DONE, FAILED, output
from problems.catalogue import Library
from problems.files import FileError

SOLVERS = {"HiGHS": "highspy", "SCIP": "pyscipopt", "CP-SAT": "ortools.sat.python.cp_model",
           "Pyomo": "pyomo.environ"}  # fmt: skip
EXTRAS = {
    "capture, rl": ("torch",),
    "cluster": ("distributed",),
    "partition": ("kahip", "pymetis", "scotchpy"),
    "cbc": ("pulp",),
}


def run(json: bool) -> int:
    """Print one line a check; 1 where something that is needed is missing."""
    checks = [
        _check("library", _library),
        *(_check(name, partial(_import, module)) for name, module in SOLVERS.items()),
        _check("entries", _entries),
    ]
    told = environment.describe()
    lacking = {
        name: [module for module in modules if importlib.util.find_spec(module) is None]
        for name, modules in EXTRAS.items()
    }
    if json:
        output.as_json(
            {
                "environment": told,
                "checks": [{"what": w, "ok": ok, "note": n} for w, ok, n in checks],
                "extras": {name: not missing for name, missing in lacking.items()},
            }
        )
    else:
        rows = [
            ["suite", "", str(told["suite"])],
            ["Python", "", f"{sys.version.split()[0]} on {told['os']}"],
            ["machine", "", f"{told['cpu']}, {len(os.sched_getaffinity(0))} usable threads"],
            *([what, "ok" if ok else "FAILED", note] for what, ok, note in checks),
            *(
                [f"extra {name}", "-", f"without {', '.join(missing)}"]
                if missing
                else [f"extra {name}", "ok", ""]
                for name, missing in lacking.items()
            ),
        ]
        output.rows({"what": "left", "state": "left", "note": "fold"}, rows)
    return DONE if all(ok for _, ok, _ in checks) else FAILED


def _check(what: str, look: Callable[[], str]) -> tuple[str, bool, str]:
    try:
        return what, True, look()
    except (ImportError, OSError, FileError, ValueError) as error:
        return what, False, f"{type(error).__name__}: {error}"


def _library() -> str:
    return f"{len(Library().entries())} instances"


def _import(module: str) -> str:
    importlib.import_module(module)
    return module


def _entries() -> str:
    names = entries.names()
    for name in names:
        entries.load_method(name)
    return f"{len(names)} entries load"
