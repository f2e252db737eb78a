"""``placebench doctor``."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console

from bench import cgroups, entries, environment, machine, solver_check
from bench.cli import DONE, FAILED, output
from bench.plain import headline
from problems.catalogue import Library
from problems.files import FileError

COLUMNS = 80
EXTRAS = {
    "capture, rl": ("torch",),
    "cluster": ("distributed",),
    "partition": ("kahip", "pymetis", "scotchpy"),
    "cbc": ("pulp",),
}
Rows = list[list[str]]


def run(json: bool) -> int:
    """Print one line a check; 1 where something that is needed is missing or does not work."""
    told = environment.describe()
    checks = [_check("library", _library), _check("entries", _entries)]
    lacking = {
        name: [module for module in modules if importlib.util.find_spec(module) is None]
        for name, modules in EXTRAS.items()
    }
    # Before the solvers, which make noise of their own.
    noise, clock, cache = machine.noise(), machine.clock(), machine.compile_cache()
    groups = cgroups.describe()
    solvers = solver_check.check()
    good = all(ok for _, ok, _ in checks) and not solver_check.broken(solvers)
    if json:
        output.as_json(
            {
                "environment": told,
                "packages": _packages(),
                "machine": {
                    "usable_cores": machine.usable_cores(),
                    "cpu_quota": machine.cpu_quota(),
                    "memory_limit_bytes": machine.memory_limit(),
                    "cgroups": groups,
                    "clock": clock,
                    "noise": noise,
                },
                "compiled": cache,
                "checks": [{"what": w, "ok": ok, "note": n} for w, ok, n in checks],
                "solvers": solvers,
                "extras": {name: not missing for name, missing in lacking.items()},
            }
        )
        return DONE if good else FAILED
    rows: Rows = [
        ["suite", "", str(told["suite"])],
        ["Python", "", f"{sys.version.split()[0]} on {told['os']}"],
        ["packages", "", ", ".join(f"{name} {v}" for name, v in _packages().items())],
        *([what, _state(ok), note] for what, ok, note in checks),
        *([each.solver, _state(each.works), each.note] for each in solvers),
        *(
            [f"extra {name}", "-", f"without {', '.join(missing)}"]
            if missing
            else [f"extra {name}", "ok", ""]
            for name, missing in lacking.items()
        ),
        *_machine(told, groups, clock, cache),
        ["noise", "", _noise(noise)],
    ]
    # As wide in a pipe: what is sent to somebody who helps should be read as it was seen.
    output.rows(
        {"what": "left", "state": "left", "note": "fold"},
        rows,
        to=Console(width=min(COLUMNS, output.console().width), highlight=False),
    )
    return DONE if good else FAILED


def _state(works: bool | None) -> str:
    return {True: "ok", False: "FAILED", None: "-"}[works]


def _machine(
    told: dict[str, Any], groups: str, clock: dict[str, float], cache: dict[str, Any]
) -> Rows:
    quota = machine.cpu_quota()
    cores = f"{told['cores']} cores, {told['threads']} threads; {len(os.sched_getaffinity(0))}"
    cores += " usable" if quota is None else f" usable, {quota:g} by the control group's quota"
    late = f"{1e3 * clock['wake_up_s']:.2f} ms"
    if cache["folder"] is None:
        kept = "no folder of the suite's own; numba chooses"
    elif cache["functions"]:
        kept = f"warm: {cache['functions']} functions"
    else:
        kept = "empty: the first run of a method compiles for some seconds"
    readable = cache["folder"] is None or cache["writable"]
    return [
        ["CPU", "", str(told["cpu"])],
        ["cores", "", cores],
        ["memory", "", machine.memory_text()],
        ["control groups", "", groups],
        ["clock", "", f"{1e9 * clock['resolution_s']:g} ns; a sleep ends {late} late"],
        ["compile cache", _state(readable), kept if readable else f"read-only: {kept}"],
    ]


def _noise(found: dict[str, Any]) -> str:
    steal = "" if found["steal"] is None else f", {100 * found['steal']:.0f} % stolen"
    return (
        f"{found['verdict']} ({found['repeats']} repeats: median {100 * found['spread']:.1f} %,"
        f" slowest {100 * found['worst']:.0f} % over the fastest; {100 * found['waited']:.0f} % of"
        f" the time waiting for a core{steal}; load {found['load']:.1f})"
    )


def _packages() -> dict[str, str]:
    """Versions of what the suite needs or can use, as far as it is installed."""
    try:
        stated = importlib.metadata.requires("placebench") or []
        wanted = [text for text in stated if "extra == 'dev'" not in text.replace('"', "'")]
    except importlib.metadata.PackageNotFoundError:  # run from a checkout
        wanted = list(environment.PACKAGES)
    names = [machine.requirement(text) for text in wanted]
    found = {}
    for name in dict.fromkeys(sorted(names, key=str.lower)):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _check(what: str, look: Callable[[], str]) -> tuple[str, bool, str]:
    try:
        return what, True, look()
    except (ImportError, OSError, FileError, ValueError) as error:
        return what, False, headline(error)


def _library() -> str:
    return f"{len(Library().entries())} instances"


def _entries() -> str:
    names = entries.names()
    for name in names:
        entries.load_method(name)
    return f"{len(names)} entries load"
