"""What the catalogue says of every instance; ``python -m problems.describe`` writes it afresh."""

from __future__ import annotations

import sys

from problems import files
from problems.bounds.theoretical import theoretical
from problems.catalogue import Catalogue, CatalogueEntry, Library
from problems.instance import Instance, InstanceSpec
from problems.single import best_single


def describe(instance: Instance, spec: InstanceSpec) -> CatalogueEntry:
    """The catalogue's line on an instance."""
    provenance = instance.provenance
    single = best_single(instance)
    parts = {"graph": str(provenance["graph"].get("kind", "unstated"))}
    for kind in ("devices", "links"):
        parts |= {name: str(each["kind"]) for name, each in provenance[kind].items()}
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
        best_single_s=None if single is None else single[1],
        lower_bound_s=theoretical(instance).value,
        parts=parts,
    )


def build(library: Library) -> Catalogue:
    """Make the catalogue afresh from the library's files."""
    entries = [describe(library.resolve(spec), spec) for spec in library.index().instances]
    folders = ("graph", "device", "link", "platform")
    paths = [path for kind in folders for path in sorted(library.folder(kind).glob("*.json*"))]
    return Catalogue(
        format="placebench-catalogue/1",
        files={str(path.relative_to(library.root)): files.content_digest(path) for path in paths},
        instances=entries,
    )


def main() -> int:
    """Write ``catalogue.json``."""
    library = Library()
    catalogue = build(library)
    files.write(library.root / "catalogue.json", catalogue)
    print(f"{len(catalogue.instances)} instances, {len(catalogue.files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
