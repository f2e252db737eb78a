"""``placebench list``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import to_builtins
from rich.text import Text

from bench import entries, packages, presets
from bench.cli import DONE, UsageError, output
from bench.entries import EntryError
from bench.leaderboard.words import seconds
from bench.selection import Selected, select
from problems import files
from problems.catalogue import CatalogueEntry, Library
from problems.describe import describe
from problems.instance import Bundle
from problems.selections import HOLDOUT
from solvers.method import Method, Option

WIDE, WIDER = 110, 150
SUITE = "suite"


def run(what: str, texts: Sequence[str], json: bool) -> int:
    """List one kind of thing.

    Raises
    ------
    UsageError
        If there is no such kind, or instances are chosen for another.
    """
    kinds: dict[str, Callable[[bool], None]] = {
        "instances": lambda json: _instances(texts, json),
        "entries": _entries,
        "platforms": _platforms,
        "selections": _selections,
    }
    if what not in kinds:
        # `placebench list family=bert` means the instances.
        if any(sign in what for sign in "=<>"):
            what, texts = "instances", [*texts, what]
        else:
            raise UsageError(f"cannot list {what!r}; can list {', '.join(kinds)}")
    if texts and what != "instances":
        raise UsageError(f"-i chooses instances; `list {what}` takes none")
    kinds[what](json)
    return DONE


def _instances(texts: Sequence[str], json: bool) -> None:
    library = Library()
    found: list[CatalogueEntry] = library.entries()
    if texts:
        found = [_described(each, library) for each in select(texts, library)]
    if json:
        output.as_json([{**to_builtins(e), "headroom": e.headroom} for e in found])
        return
    console = output.console()
    wide, wider = console.width >= WIDE, console.width >= WIDER
    columns = {"instance": "fold"}
    columns |= {"family": "left", "tier": "left"} if wide else {"tier": "left"}
    columns |= {"nodes": "right", "dev.": "right", "best single": "right", "bound": "right"}
    columns |= {"x": "right"}
    if wider:
        columns |= dict.fromkeys(("width", "par.", "CCR", "memory", "split"), "right")
    rows = [
        [
            e.id,
            *([e.family, e.tier] if wide else [e.tier]),
            str(e.n),
            str(e.devices),
            seconds(e.best_single_s),
            seconds(e.lower_bound_s),
            "-" if e.headroom is None else f"{e.headroom:.2f}",
            *(_more(e) if wider else []),
        ]
        for e in found
    ]
    output.rows(columns, rows, to=console)
    count = f"{len(found)} instance{'s' if len(found) != 1 else ''}"
    more = "; par.: work / critical path; memory: bytes / limits" if wider else ""
    console.print(f"{count}; x: best single device / lower bound{more}")


def _more(entry: CatalogueEntry) -> list[str]:
    told = entry.features
    width = f"{told.width}" if told.width_exact else f">={told.width}"
    numbers = (told.parallelism, told.ccr, told.memory_pressure)
    return [width, *("-" if x is None else f"{x:.3g}" for x in numbers), entry.split]


def _described(selected: Selected, library: Library) -> CatalogueEntry:
    """The line of the catalogue; for a bundle file the same, computed."""
    if selected.entry is not None:
        return selected.entry
    assert selected.path is not None  # one of the two
    instance = library.load_path(selected.path)
    return describe(instance, files.read(selected.path, Bundle).instance)


def _entries(json: bool) -> None:
    own = entries.names()
    told = [_told(entries.load_method(name), SUITE) for name in own]
    for name in entries.installed():
        told += _brought(name)
    if json:
        output.as_json(told)
        return
    console = output.console()
    elsewhere = any(each["from"] != SUITE for each in told)
    columns = {"entry": "left", "kind": "left", "problems": "left"}
    columns |= {"from": "left"} if elsewhere else {}
    columns |= {"options: default (valid)": "fold"}
    rows = [
        [
            each["name"] + ("*" if each["default"] else ""),
            each["kind"],
            " ".join(each["problems"]),
            *([each["from"]] if elsewhere else []),
            "; ".join(f"{n}: {option['text']}" for n, option in each["options"].items()),
        ]
        for each in told
        if not each["unusable"]
    ]
    output.rows(columns, rows, to=console)
    console.print("* in the default set; -m also takes a .py file, a .toml file and exec:PROGRAM")
    for each in told:
        if each["missing"]:
            needs = ", ".join(each["missing"])
            console.print(f"{each['name']} cannot run here: {needs} is not installed")
        if each["unusable"]:
            console.print(Text(each["unusable"]))
    for name, offers in packages.offers().items():
        for offer in offers if name in own else ():
            taken = "is the name of one of the suite's methods: not used"
            console.print(f"{name!r} of {offer.distribution} {taken}")


def _brought(name: str) -> list[dict[str, Any]]:
    """What a package brings under a name; why not, where it cannot be used."""
    (first, *_) = packages.offers()[name]
    try:
        method, _ = packages.load(name)
    except EntryError as error:  # two of them
        return [{**_EMPTY, "name": name, "from": first.distribution, "unusable": str(error)}]
    usable = packages.usable(method)
    return [_told(method, first.distribution, "" if usable else method.summary)]


_EMPTY: dict[str, Any] = {
    "name": "", "problems": [], "kind": "", "from": SUITE, "options": {}, "default": False,
    "needs": [], "missing": [], "source": "", "summary": "", "unusable": "",
}  # fmt: skip


def _told(method: Method, origin: str, unusable: str = "") -> dict[str, Any]:
    return {
        **_EMPTY,
        "name": method.name,
        "problems": method.problems,
        "kind": method.kind,
        "from": origin,
        "options": {name: _option(each) for name, each in method.options.items()},
        "default": method.name in presets.DEFAULT and origin == SUITE,
        "needs": method.needs,
        "missing": [each for each in method.needs if importlib.util.find_spec(each) is None],
        "source": method.source,
        "summary": method.summary,
        "unusable": unusable,
    }


def _option(option: Option) -> dict[str, Any]:
    """Default, choices and range, and all of it in a few characters: ``0.5 (0 to 1)``."""
    default = option.default
    shown = str(default).lower() if isinstance(default, bool) else str(default) or "''"
    valid = "|".join(map(str, option.choices)) or option.valid
    low_high = None if option.range is None else list(option.range)
    text = f"{shown} ({valid})"
    return {"default": default, "choices": option.choices, "range": low_high, "text": text}


def _platforms(json: bool) -> None:
    library = Library()
    used = library.entries()
    platforms = [library.platform(name) for name in library.names("platform")]
    if json:
        output.as_json(platforms)
        return
    columns = {"platform": "left", "topology": "left", "devices": "fold", "instances": "right"}
    rows = [
        [
            p.name,
            p.topology,
            ", ".join(d.name for d in p.devices),
            str(sum(e.platform == p.name for e in used)),
        ]
        for p in platforms
    ]
    output.rows(columns, rows)


def _selections(json: bool) -> None:
    selections = Library().selections()
    if json:
        output.as_json(selections)
        return
    split = {entry.id: entry.split for entry in Library().entries()}
    columns = {"selection": "left", "instances": "right", "public": "right", "hold-out": "right"}
    rows = []
    for name, ids in selections.items():
        held = sum(split.get(each) == HOLDOUT for each in ids)
        rows.append([name, str(len(ids)), str(len(ids) - held), str(held)])
    output.rows(columns, rows)
