"""Pages made from what is written elsewhere: guides, registry, help texts, public functions.

Nothing is told twice: the guides are those of the packages, with their links turned to pages of
the site; cards and reference come from the code.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Guide -> its page. A link to any other file of the repository is shown as the file's path.
GUIDES = {
    "CONTRIBUTING.md": "contributing",
    "bench/README.md": "harness",
    "problems/README.md": "problems",
    "problems/capture/README.md": "capture",
    "problems/formats/README.md": "formats",
    "problems/formats/aiconfigurator/README.md": "aiconfigurator",
    "problems/library/README.md": "library",
    "results/README.md": "results",
    "results/submissions/README.md": "submissions",
    "solvers/README.md": "solvers",
}
CARDS = {"heuristics/README.md": "heuristics"}
LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s]+)\)")
API = [
    "bench.runs",
    "bench.compare_frames",
    "problems.instance",
    "problems.answer",
    "problems.builder",
    "problems.checker",
    "solvers.method",
]
DOCUMENTED = re.compile(r"^\* `([a-z-]+)`: (.*)$")
COST = re.compile(r"^- `([a-z@-]+)`: (.*)$", re.MULTILINE)


def write(folder: Path) -> None:
    """Write all generated pages into `folder`, which holds nothing else."""
    folder.mkdir(exist_ok=True)
    pages = {page: guide(name) for name, page in GUIDES.items()}
    pages |= {"heuristics": heuristics_page(), "exact": exact_page()}
    pages |= {"commands": commands_page(), "api": api_page(), "columns": columns_table()}
    for old in folder.glob("*.md"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:  # Sphinx reads again what is newer
            path.write_text(text)


def guide(name: str) -> str:
    """One guide of the repository, its links turned to the site."""
    source = ROOT / name
    return LINK.sub(lambda found: _link(found, source), source.read_text())


def _link(found: re.Match[str], source: Path) -> str:
    picture, text, target = found.groups()
    if target.startswith(("https:", "http:", "#")):
        return found[0]
    place, _, anchor = target.partition("#")
    path = Path(os.path.normpath(source.parent / place))
    name = path.relative_to(ROOT).as_posix()
    if picture:
        return f"![{text}]({os.path.relpath(path, ROOT / 'docs' / 'generated')})"
    if name == "README.md":
        return f"[{text}](../index.md)"
    if page := (GUIDES | CARDS).get(name):
        return f"[{text}]({page}.md{'#' + anchor if anchor else ''})"
    return text if text.strip("`") == name else f"{text} (`{name}`)"


def heuristics_page() -> str:
    """The guide of the heuristics, with a card of each in place of its table and list."""
    from heuristics import catalogue
    from solvers import catalogue as solvers

    notes: dict[str, str] = {}
    costs = costs_of("heuristics/README.md")
    kept = []
    lines = guide("heuristics/README.md").splitlines()
    for line in lines:
        if described := DOCUMENTED.match(line):
            notes[described[1]] = described[2]
        elif not line.startswith(("| ", "Options with their defaults")) and not COST.match(line):
            kept.append(line)
    first, _, last = "\n".join(kept).partition("## Adding one")
    cards = [
        _card(name, catalogue if name in catalogue.names() else solvers, notes[name], costs[name])
        for name in sorted(notes)
    ]
    intro = first.replace("## All entries\n", "")
    return "\n".join([intro, "## Cards\n", *cards, "## Adding one" + last, ""])


def exact_page() -> str:
    """Cards of the exact entries; one for all backends of a formulation."""
    from solvers import catalogue

    chosen: dict[str, list[str]] = {}
    for name in catalogue.names():
        if catalogue.load(name).kind == "exact":
            chosen.setdefault(name.partition("@")[0], []).append(name)
    costs = costs_of("solvers/README.md")
    cards = [
        _card(names[0], catalogue, "", costs[title_of(names)], names) for names in chosen.values()
    ]
    head = (
        "# Exact methods, one by one\n\nWhat formulations, backends and dynamic programs are:"
        " [Exact solvers](solvers.md).\n\n## Cards\n"
    )
    return "\n".join([head, *cards])


def costs_of(guide: str) -> dict[str, str]:
    """Entry -> what a step of it costs, or how large its model is, as a guide says."""
    return dict(COST.findall((ROOT / guide).read_text()))


def title_of(names: list[str]) -> str:
    """What stands for all backends of a formulation: ``prefix@``."""
    return names[0].partition("@")[0] + ("@" if "@" in names[0] else "")


def _card(
    name: str, catalogue: object, note: str, cost: str, names: list[str] | None = None
) -> str:
    """What a method is, from whom, with which options and needs, and what its code says."""
    entry = catalogue.load(name)  # type: ignore[attr-defined]
    needs = sorted({need for each in names or [name] for need in catalogue.load(each).needs})  # type: ignore[attr-defined]
    several = names is not None and "@" in name
    title = title_of(names or [name]) if several else name
    rows = [("problems", ", ".join(f"`{each}`" for each in entry.problems))]
    rows += [("kind", entry.kind), ("source", entry.source)]
    if several:
        rows.append(("entries", ", ".join(f"`{each}`" for each in names or [])))
    options = [
        f"`{each.name}={_shown(each.default)}` ({each.valid})" for each in entry.options.values()
    ]
    rows.append(("options", "; ".join(options) or "none"))
    rows.append(("cost", cost))
    if needs:
        rows.append(("packages", ", ".join(f"`{each}`" for each in needs)))
    if entry.mixtures:
        rows.append(("mixtures", "takes `replicate: mixture`"))
    table = ["| | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in rows)]
    text = inspect.getdoc(entry.run) or ""
    if not text or entry.kind == "exact":  # the file of a formulation says what it is
        module = importlib.import_module(_module_of(title, entry.run.__module__))
        text = inspect.cleandoc(module.__doc__ or text)
    if "\n\nParameters\n" in text:
        text = text.partition("\n\nParameters\n")[0]
    body = [f"### {title}\n", *table, "", "```{eval-rst}", text, "```", ""]
    return "\n".join([*body, *([note[0].upper() + note[1:], ""] if note else [])])


def _shown(value: object) -> str:
    return "''" if value == "" else str(value).lower()


def _module_of(title: str, module: str) -> str:
    return f"solvers.formulations.{title[:-1]}" if title.endswith("@") else module


def commands_page() -> str:
    """The help text of every command."""
    import typer

    from bench.cli import app, capture, exporting, importing, submitting

    head = (
        "# Command line\n\nThe help texts, as `placebench COMMAND -h` prints them."
        " Exit codes: 0 done, 1 a run or check failed, 2 wrong usage, 130 interrupted.\n"
    )
    groups = {
        "placebench": app.app,
        "placebench import": importing.app,
        "placebench export": exporting.app,
        "placebench capture": capture.app,
        "placebench submit": submitting.app,
    }
    parts = [head]
    seen: set[str] = set()
    for name, group in groups.items():
        command = typer.main.get_command(group)
        for path, text in _helps(command, name):
            if (path in groups and path != name) or path in seen:
                continue  # the group's own page says more
            seen.add(path)
            level = "##" if path in groups else "###"
            parts.append(f"{level} {path}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)


def _helps(command: object, path: str) -> Iterator[tuple[str, str]]:
    """Path and help of a command, and of those below it."""
    context = command.context_class(  # type: ignore[attr-defined]
        command, info_name=path, max_content_width=90, terminal_width=90
    )
    yield path, command.get_help(context)  # type: ignore[attr-defined]
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from _helps(each, f"{path} {name}")


def columns_table() -> str:
    """What the columns of the ranked table mean, as its own page says."""
    from bench.leaderboard.words import COLUMNS

    return "\n".join(
        ["| column | what |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in COLUMNS.values()), ""]
    )


def api_page() -> str:
    """The public functions of `bench`, and the modules that a method meets."""
    bench = importlib.import_module("bench")
    parts = ["# Python\n\n## bench\n"]
    for name in bench.__all__:
        function = getattr(bench, name)
        kind = "autoclass" if inspect.isclass(function) else "autofunction"
        parts.append(_directive(kind, f"bench.{name}"))
    for name in API:
        parts.append(f"## {name}\n")
        parts.append(_directive("automodule", name))
    return "\n".join(parts)


def _directive(kind: str, name: str) -> str:
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n```\n"
