"""What the catalogue says of every instance and graph; ``python -m problems.describe`` writes it.

What is known of an instance whose digest is unchanged, or of a graph whose file is, is taken from
the catalogue that is there; ``--fresh`` computes everything, which a change to a bound or to a
statistic calls for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence

from problems import files, selections, tables
from problems.bounds.theoretical import theoretical
from problems.catalogue import Catalogue, CatalogueEntry, GraphEntry, Library
from problems.coarsen import LEVELS, coarsen
from problems.graph import BACKWARD, OpGraph
from problems.instance import Instance, InstanceSpec
from problems.single import best_single
from problems.statistics.measure import measure

FOLDERS = ("graph", "device", "link", "platform")


def describe(
    instance: Instance, spec: InstanceSpec, known: CatalogueEntry | None = None
) -> CatalogueEntry:
    """The catalogue's entry of an instance.

    Parameters
    ----------
    known : CatalogueEntry or None
        An earlier entry; its numbers are used if its digest is that of `instance`.
    """
    provenance = instance.provenance
    parts = {"graph": str(provenance["graph"].get("kind", "unstated"))}
    for kind in ("devices", "links"):
        parts |= {name: str(each["kind"]) for name, each in provenance[kind].items()}
    if known is not None and known.digest == instance.digest:
        single, bound, features = known.best_single_s, known.lower_bound_s, known.features
    else:
        best = best_single(instance)
        single = None if best is None else best[1]
        bound, features = theoretical(instance).value, measure(instance)
    return CatalogueEntry(
        id=instance.id,
        graph=spec.graph,
        level=spec.level,
        platform=spec.platform,
        problem=spec.problem,
        rules=spec.rules,
        family=instance.family,
        tier=instance.tier,
        split=instance.split,
        n=instance.n,
        edges=instance.m,
        devices=instance.K,
        digest=instance.digest,
        best_single_s=single,
        lower_bound_s=bound,
        features=features,
        parts=parts,
    )


def describe_graph(graph: OpGraph) -> GraphEntry:
    """The catalogue's entry of a graph."""
    weights = {name: size for each in graph.weights for name, size in each.items()}
    # Without module paths there is nothing to coarsen by.
    levels = LEVELS if any(graph.paths) else LEVELS[:1]
    inputs = {key: graph.provenance.get(key) for key in INPUTS}
    return GraphEntry(
        name=graph.name,
        family=graph.family,
        kind=str(graph.provenance.get("kind", "unstated")),
        training=bool((graph.phase == BACKWARD).any()),
        nodes={level: coarsen(graph, level).n for level in levels},
        edges=len(graph.edges),
        signatures=len({signature for each in graph.members for signature in each}),
        flops=float(graph.flops.sum()),
        weight_bytes=sum(weights.values()),
        inputs={key: value for key, value in inputs.items() if isinstance(value, int)},
    )


INPUTS = ("batch", "image", "sequence")


def build(
    library: Library,
    known: Catalogue | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Catalogue:
    """Make the catalogue from the library's files.

    Parameters
    ----------
    known : Catalogue or None
        An earlier one, for what has not changed since.
    progress : callable
        Told what is worked on.

    Raises
    ------
    FileError
        If a file is broken, or a selection names what it may not.
    """
    index = library.index()
    selections.check(index.instances, index.selections)
    paths = [path for kind in FOLDERS for path in sorted(library.folder(kind).glob("*.json*"))]
    paths += [path for path in (library.root / "generated.json",) if path.exists()]
    digests = {p.relative_to(library.root).as_posix(): files.content_digest(p) for p in paths}
    entries = {} if known is None else {entry.id: entry for entry in known.instances}
    instances = []
    for i, spec in enumerate(index.instances):
        progress(f"instance {i + 1} of {len(index.instances)}: {spec.id}")
        instances.append(describe(library.resolve(spec), spec, entries.get(spec.id)))
    graphs = {} if known is None else {graph.name: graph for graph in known.graphs}
    # A generated graph has no file of its own that could be unchanged.
    kept = {name for name in graphs if _unchanged(f"graphs/{name}", digests, known)}
    names = sorted({*library.names("graph"), *library.generated()})
    for name in names:
        progress(f"graph {name}")
        if name not in kept:
            graphs[name] = describe_graph(library.graph(name))
    return Catalogue(
        format="placebench-catalogue/1",
        files=digests,
        graphs=[graphs[name] for name in names],
        instances=instances,
    )


def _unchanged(stem: str, digests: dict[str, str], known: Catalogue | None) -> bool:
    """Whether a file, named without its ending, is there and as it was."""
    now = [digests.get(f"{stem}{ending}") for ending in (".json", ".json.gz")]
    before = (
        [known.files.get(f"{stem}{ending}") for ending in (".json", ".json.gz")] if known else now
    )
    return known is not None and any(now) and now == before


def load_time(library: Library, catalogue: Catalogue) -> str:
    """Time the largest instance in a process of its own, where nothing is loaded yet."""
    largest = max(catalogue.instances, key=lambda entry: entry.n * entry.devices)
    code = (
        "import sys, time; from problems.catalogue import Library;"
        "begin = time.perf_counter(); Library(sys.argv[1]).load(sys.argv[2]);"
        "print(time.perf_counter() - begin)"
    )
    command = [sys.executable, "-c", code, str(library.root), largest.id]
    tries = [subprocess.run(command, capture_output=True, check=True, text=True) for _ in range(3)]
    best = min(float(each.stdout) for each in tries)
    return (
        f"{tables.TIMED}, `{largest.id}` ({largest.n} nodes, {largest.devices} devices), takes"
        f" {best:.2f} s (best of 3, one core)."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``catalogue.json`` and the tables in the library's ``README.md``."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.describe",
        description="Describe the library: catalogue.json and the tables in its README.md.",
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="compute everything again, and time the largest instance again",
    )
    parser.add_argument(
        "--table", action="store_true", help="print the tables of the present catalogue, no more"
    )
    options = parser.parse_args(arguments)
    library = Library()
    if options.table:
        print(tables.tables(library, library.catalogue()))
        return 0
    known = None
    if not options.fresh:
        try:
            known = library.catalogue()
        except files.FileError as error:  # of another form, or none yet: make it anew
            print(f"computing everything: {error}", file=sys.stderr)
    catalogue = build(library, known, _progress)
    files.write(library.root / "catalogue.json", catalogue)
    timed = load_time(library, catalogue) if options.fresh else ""
    tables.rewrite(library.root / "README.md", tables.tables(library, catalogue), timed)
    _progress("")
    print(f"{len(catalogue.instances)} instances, {len(catalogue.files)} files")
    return 0


def _progress(text: str) -> None:
    """One line that changes on a terminal; nothing in a pipe."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:78]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
