"""Write the digests of ``generated.json``: ``python -m problems.generate.scaling_library``.

Run it after a rule, a parameter or a palette has changed on purpose; tests hold the digests.
"""

from __future__ import annotations

import sys

import msgspec

from problems import files
from problems.catalogue import Library
from problems.generate.scaling import GeneratedFile, digest_of


def refreshed(library: Library) -> GeneratedFile:
    """The library's ``generated.json`` with the digests of what comes out now."""
    graphs = {}
    for name, how in library.generated().items():
        palette = [library.graph(each) for each in how.palette]
        graphs[name] = msgspec.structs.replace(how, digest=digest_of(how, palette))
    return GeneratedFile("placebench-generated/1", graphs)


def main() -> int:
    """Rewrite the file and say what changed."""
    library = Library()
    old, new = library.generated(), refreshed(library)
    files.write(library.root / "generated.json", new)
    changed = [name for name, how in new.graphs.items() if how.digest != old[name].digest]
    print(f"{len(new.graphs)} graphs, {len(changed)} digests changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
