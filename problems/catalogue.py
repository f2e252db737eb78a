"""The library of instances: its index, its generated catalogue, and loading by id or path.

``library/index.json`` lists the instances and the named selections (:mod:`problems.compose` writes
it); ``catalogue.json`` is generated from it (:mod:`problems.describe`, ``make library``) and holds
what is worth knowing without loading anything: digests, sizes, the best single device against the
lower bound.
"""

from __future__ import annotations

import difflib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from problems import files, resolve
from problems import graph as graphs
from problems.files import FileError
from problems.generate import scaling
from problems.instance import Bundle, Instance, InstanceSpec
from problems.platform import DeviceFile, LinkFile, Platform, link_names
from problems.statistics.features import Features

ROOT = Path(__file__).parent / "library"
T = TypeVar("T")


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the library holds; every selection is a list of instance ids."""

    format: str
    instances: list[InstanceSpec]
    selections: dict[str, list[str]]


class CatalogueEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the catalogue knows of one instance.

    Attributes
    ----------
    best_single_s : float or None
        Objective of the best single device in seconds; None where no device holds everything.
    lower_bound_s : float
        Theoretical lower bound in seconds.
    features : Features
        Statistics of the instance.
    parts : dict of str to str
        Provenance of each part: measured, imported or modelled.
    """

    id: str
    graph: str
    level: str
    platform: str
    problem: str
    rules: dict[str, Any]
    family: str
    tier: str
    split: str
    n: int
    edges: int
    devices: int
    digest: str
    best_single_s: float | None
    lower_bound_s: float
    features: Features
    parts: dict[str, str]

    @property
    def headroom(self) -> float | None:
        """Best single device / lower bound: what splitting can gain at most."""
        if self.best_single_s is None or self.lower_bound_s <= 0:
            return None
        return self.best_single_s / self.lower_bound_s


class GraphEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the catalogue knows of one graph.

    Attributes
    ----------
    kind : str
        Provenance of the structure.
    training : bool
        Whether it has backward nodes.
    nodes : dict of str to int
        Nodes at every level that the graph has.
    edges, signatures : int
        Edges and different signatures of the operators.
    flops : float
        Counted floating-point operations of one run.
    weight_bytes : int
        Parameters and buffers, each once.
    inputs : dict of str to int
        Batch size, image side in pixels, sequence length in tokens, where they are known.
    """

    name: str
    family: str
    kind: str
    training: bool
    nodes: dict[str, int]
    edges: int
    signatures: int
    flops: float
    weight_bytes: int
    inputs: dict[str, int]


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The generated file: digests of the library's files, one entry a graph and an instance."""

    format: str
    files: dict[str, str]
    graphs: list[GraphEntry]
    instances: list[CatalogueEntry]


class Library:
    """The serialized instances under `root` (default: those of the suite)."""

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = ROOT if root is None else Path(root)

    def index(self) -> Index:
        """The index."""
        return files.read(self.root / "index.json", Index)

    def catalogue(self) -> Catalogue:
        """The generated catalogue."""
        return files.read(self.root / "catalogue.json", Catalogue)

    def entries(self) -> list[CatalogueEntry]:
        """What is known of every instance, in the order of the index; loads no instance."""
        return self.catalogue().instances

    def selections(self) -> dict[str, list[str]]:
        """Named selections of instance ids."""
        return self.index().selections

    def selection(self, name: str) -> list[str]:
        """Instance ids of one named selection.

        Raises
        ------
        FileError
            If there is none of that name.
        """
        selections = self.selections()
        if name not in selections:
            raise FileError(
                f"unknown selection {name!r}; the selections are {', '.join(selections)}"
            )
        return selections[name]

    def load(self, instance_id: str) -> Instance:
        """Resolve an instance of the library.

        Raises
        ------
        FileError
            If there is none of that id, or a file is broken.
        """
        for spec in self.index().instances:
            if spec.id == instance_id:
                return self.resolve(spec)
        ids = [spec.id for spec in self.index().instances]
        close = difflib.get_close_matches(instance_id, ids, 3, 0.3)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        if ids and not close:
            hint = f"; ids are such as {', '.join(map(repr, ids[:3]))}"
        raise FileError(f"unknown instance {instance_id!r}{hint}")

    def load_path(self, path: str | Path) -> Instance:
        """Resolve the bundle in a file outside the library.

        Raises
        ------
        FileError
            If the file is no valid bundle.
        """
        return resolve.from_bundle(files.read(path, Bundle), str(path))

    def bundle(self, spec: InstanceSpec) -> Bundle:
        """The self-contained form of an instance."""
        platform = self.platform(spec.platform)
        return Bundle(
            format="placebench-bundle/1",
            instance=spec,
            graph=(
                scaling.to_file(self.graph(spec.graph))
                if spec.graph in self.generated()
                else self._file("graph", spec.graph, graphs.GraphFile)
            ),
            platform=platform,
            devices=self._devices(platform),
            links=self._links(platform),
        )

    def resolve(self, spec: InstanceSpec) -> Instance:
        """Put the parts that `spec` names together."""
        graph, platform = self.graph(spec.graph), self.platform(spec.platform)
        devices, links = self._devices(platform), self._links(platform)
        return resolve.resolve(spec, graph, platform, devices, links, str(self.root))

    def graph(self, name: str) -> graphs.OpGraph:
        """A graph, read and validated, or generated."""
        how = self.generated().get(name)
        if how is None:
            return _graph(self._path("graph", name))
        return _generated(self.root, name, files.encode(how))

    def generated(self) -> dict[str, scaling.Generated]:
        """How the generated graphs are made, by name; empty where there are none."""
        path = self.root / "generated.json"
        return files.read(path, scaling.GeneratedFile).graphs if path.exists() else {}

    def _devices(self, platform: Platform) -> dict[str, DeviceFile]:
        return {d.device: self.device(d.device) for d in platform.devices}

    def _links(self, platform: Platform) -> dict[str, LinkFile]:
        return {name: self.link(name) for name in sorted(link_names(platform))}

    def device(self, name: str) -> DeviceFile:
        """A device file."""
        return self._file("device", name, DeviceFile)

    def link(self, name: str) -> LinkFile:
        """A link file."""
        return self._file("link", name, LinkFile)

    def platform(self, name: str) -> Platform:
        """A platform."""
        return self._file("platform", name, Platform)

    def names(self, kind: str) -> list[str]:
        """Names of all files of a kind: graph, device, link or platform."""
        return sorted(path.name.split(".json")[0] for path in self.folder(kind).glob("*.json*"))

    def folder(self, kind: str) -> Path:
        """Where the files of a kind lie."""
        return self.root / f"{kind}s"

    def _path(self, kind: str, name: str) -> Path:
        for ending in (".json", ".json.gz"):
            path = self.folder(kind) / f"{name}{ending}"
            if path.exists():
                return path
        there = self.names(kind) + (sorted(self.generated()) if kind == "graph" else [])
        raise FileError(f"unknown {kind} {name!r}; there are {', '.join(there)}")

    def _file(self, kind: str, name: str, type_: type[T]) -> T:
        hashable: Any = type_  # to the cache's annotations an open type variable is not
        file: T = _read(self._path(kind, name), hashable)
        return file


@cache
def _read(path: Path, type_: type[Any]) -> Any:
    return files.read(path, type_)


@cache
def _graph(path: Path) -> graphs.OpGraph:
    return graphs.from_file(_read(path, graphs.GraphFile), str(path))


@lru_cache(maxsize=2)  # large ones take 50 MB, and instances of one graph follow one another
def _generated(root: Path, name: str, encoded: bytes) -> graphs.OpGraph:
    library, how = Library(root), files.decode(encoded, scaling.Generated, name)
    for each in how.palette:
        if each in library.generated():
            raise FileError(
                f"{root / 'generated.json'}: {each!r} is generated itself; a palette is of captured"
                f" graphs - at `$.graphs[{name!r}].palette`"
            )
    return scaling.generate(name, how, [library.graph(each) for each in how.palette])
