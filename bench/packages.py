"""Installed packages that bring methods: entry points of the group ``placebench.methods``.

In a package's ``pyproject.toml``::

    [project.entry-points."placebench.methods"]
    my-method = "my_package.my_module:my_function"

where ``my_function`` is decorated with :func:`solvers.method.method`. A package is imported when
one of its methods is asked for, not before.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from bench.method_files import EntryError, apart, registered
from bench.plain import headline
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import RULES
from solvers.method import Context, Method

GROUP = "placebench.methods"


@dataclass(frozen=True)
class Offer:
    """One entry point: a name, and where its method is found."""

    name: str
    point: EntryPoint

    @property
    def distribution(self) -> str:
        """The distribution and its version: ``tiny-placers 0.1``."""
        found = self.point.dist
        return "a package without metadata" if found is None else f"{found.name} {found.version}"

    @property
    def source(self) -> str:
        """Distribution, version and SHA-256 of the package's Python files, as records have it."""
        return f"{self.distribution} {_digest(self.point.module)}"


@cache
def offers() -> dict[str, tuple[Offer, ...]]:
    """What installed packages offer, by name, sorted; nothing of theirs is imported."""
    found: dict[str, list[Offer]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(Offer(point.name, point))
    return {name: tuple(found[name]) for name in sorted(found)}


def load(name: str) -> tuple[Method, str]:
    """Import the method that a package offers under a name; returns it and its source.

    One that cannot be imported is returned as a method that refuses every instance and says why:
    it costs its own rows, never the run.

    Raises
    ------
    EntryError
        If no package offers that name, or several do.
    """
    found = offers().get(name, ())
    if len(found) != 1:
        who = " and ".join(each.distribution for each in found) or "no installed package"
        raise EntryError(f"{who} offer{'s' if not found else ''} an entry {name!r}")
    offer = found[0]
    try:
        with apart():
            target = offer.point.load()
    except (Exception, SystemExit) as error:
        return _unusable(offer, f"cannot be imported: {headline(error)}"), offer.source
    method = target if isinstance(target, Method) else registered(target)
    if method is None:
        why = f"{offer.point.value} is no method: decorate it with `solvers.method.method`"
        return _unusable(offer, why), offer.source
    if method.name != name:
        why = f"the entry point {name!r} leads to the method {method.name!r}: name both alike"
        return _unusable(offer, why), offer.source
    return method, offer.source


def usable(method: Method) -> bool:
    """Whether a method is one, and not in the place of one that could not be imported."""
    return method.run is not _never


def _unusable(offer: Offer, why: str) -> Method:
    reason = f"{offer.name} of {offer.distribution}: {why}"
    return Method(
        name=offer.name,
        run=_never,
        problems=tuple(RULES),
        kind="heuristic",
        source=offer.distribution,
        options={},
        refuses=lambda instance: reason,
        summary=reason,
    )


def _never(instance: Instance, context: Context) -> Answer | None:
    raise AssertionError("a method that refuses everything is not run")


def _digest(module: str) -> str:
    """SHA-256 over the Python files of a module's top-level package; nothing is imported."""
    state = hashlib.sha256()
    spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is None:
        return "missing"
    if spec.submodule_search_locations is None:
        state.update(Path(spec.origin or "").read_bytes())
        return state.hexdigest()
    for root in map(Path, spec.submodule_search_locations):
        for path in sorted(root.rglob("*.py")):
            state.update(f"{path.relative_to(root).as_posix()}\n".encode())
            state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()
