"""Build an instance in Python, step by step, with every mistake refused where it is made.

builder = Builder("mine", problem="throughput", rules={"contiguous": True})
builder.add_device("cpu", host=True)
builder.add_device("gpu", memory_bytes=8 * 2**30, link="pcie")
builder.add_link("pcie", latency_s=1e-5, bandwidth_Bps=12e9)
builder.add_node("conv", {"cpu": 4e-3, "gpu": 2e-4}, output_bytes=802816)
builder.add_node("head", {"cpu": 1e-3, "gpu": None}, weights={"head.weight": 8192000})
builder.add_edge("conv", "head")
bundle = builder.build()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from problems.files import FileError
from problems.graph import GraphFile, Node
from problems.instance import Bundle, InstanceSpec
from problems.platform import (
    AlphaBeta,
    Device,
    DeviceFile,
    Kind,
    LinkFile,
    LinkPoint,
    Platform,
    Timing,
    Wire,
    link_names,
)
from problems.plausible import (
    MOST_DEVICES,
    check_types,
    name_of,
    number,
    plain_mapping,
    seconds,
    shown,
    unknown,
    whole_bytes,
)
from problems.resolve import from_bundle
from problems.rules import parse


class Builder:
    """Collects the parts of an instance; :meth:`build` puts them together.

    Parameters
    ----------
    name : str
        Of the graph and of the instance.
    problem : str
        ``throughput``, ``latency``, ``calls`` or ``chips``.
    rules : mapping
        Rules of the problem that differ from the default.
    family : str
        Family of architectures.
    kind : {'imported', 'measured', 'modelled'}
        How the times came about.
    provenance : mapping
        Where the graph comes from, in words of your own (model, versions, licence).

    Notes
    -----
    Every method raises :class:`problems.files.FileError` on what it is given; the message names
    the node, device or link.
    """

    def __init__(
        self,
        name: str,
        *,
        problem: str,
        rules: Mapping[str, Any] | None = None,
        family: str = "imported",
        kind: Kind = "imported",
        provenance: Mapping[str, Any] | None = None,
        platform: str | None = None,
    ) -> None:
        self.name = name_of(name, "an instance")
        given = {"problem": problem, "family": family, "kind": kind}
        check_types(Builder.__init__, given, name)
        self._problem, self._rules = problem, plain_mapping(rules, f"{name}: rules")
        parse(problem, self._rules, name)
        self._family, self._kind = family, kind
        self._provenance = plain_mapping(provenance, f"{name}: provenance")
        self._platform = f"{name}-platform" if platform is None else name_of(platform, "a platform")
        self._devices: dict[str, Device] = {}
        self._links: dict[str, LinkFile] = {}
        self._wires: list[Wire] = []
        self._joined: set[frozenset[str]] = set()
        self._default_link: str | None = None
        self._nodes: dict[str, Node] = {}
        self._times: dict[str, dict[str, float | None]] = {}
        self._edges: dict[tuple[str, str], None] = {}
        self._number: dict[str, int] = {}

    def add_device(
        self,
        name: str,
        *,
        kind: str | None = None,
        memory_bytes: int | None = None,
        host: bool = False,
        unlimited: bool = False,
        link: str | None = None,
    ) -> None:
        """Add a device.

        Parameters
        ----------
        kind : str, optional
            Devices of one kind share their times; default: a kind of its own, called `name`.
        memory_bytes : int, optional
            None: no limit.
        host : bool
            A CPU device: its memory is the staging area.
        unlimited : bool
            As many lanes as needed (``latency`` only).
        link : str, optional
            Link of its port to host memory. Devices with such links make a staged platform;
            :meth:`add_wire` and :meth:`set_default_link` a direct one.
        """
        where = f"device {name_of(name, 'a device')!r}"
        if name in self._devices:
            raise FileError(f"{where} is added twice")
        if len(self._devices) == MOST_DEVICES:
            raise FileError(f"{where}: more than {MOST_DEVICES} devices")
        for text, what in ((kind, "a kind of device"), (link, "a link")):
            if text is not None:
                name_of(text, f"{where}: {what}")
        given = {"host": host, "unlimited": unlimited}
        check_types(Builder.add_device, given, where)
        if memory_bytes is not None:
            whole_bytes(memory_bytes, f"{where}: memory_bytes")
        self._devices[name] = Device(name, kind or name, memory_bytes, host, unlimited, link)

    def add_link(
        self,
        name: str,
        *,
        latency_s: float | None = None,
        bandwidth_Bps: float | None = None,
        points: Sequence[tuple[int, float]] = (),
        provenance: Mapping[str, Any] | None = None,
        kind: Kind | None = None,
    ) -> None:
        """Add a link, the same both ways: `latency_s` and `bandwidth_Bps`, or measured points.

        Parameters
        ----------
        points : sequence of (int, float)
            Bytes, ascending, and the seconds that they take.
        """
        where = f"link {name_of(name, 'a link')!r}"
        if name in self._links:
            raise FileError(f"{where} is added twice")
        check_types(Builder.add_link, {"kind": kind}, where)
        measured = _points(points, where)
        model = None
        if (latency_s is None) != (bandwidth_Bps is None) or (latency_s is None) != bool(measured):
            raise FileError(f"{where} needs latency_s and bandwidth_Bps, or points, not both")
        if bandwidth_Bps is not None and latency_s is not None:
            bandwidth = number(bandwidth_Bps, where, "bandwidth_Bps is a number")
            if not 0 < bandwidth <= 1e18:
                raise FileError(f"{where}: bandwidth_Bps is {bandwidth}, not in (0, 1e18]")
            model = AlphaBeta(seconds(latency_s, f"{where}: latency_s"), bandwidth)
        try:
            self._links[name] = LinkFile(
                "placebench-link/1",
                name,
                kind or self._kind,
                self._provenance | plain_mapping(provenance, f"{where}: provenance"),
                measured,
                model=model,
            )
        except ValueError as error:
            raise FileError(f"{where}: {error}") from None

    def add_wire(self, source: str, target: str, link: str) -> None:
        """Join two devices of a direct platform, both ways, by a link."""
        where = f"wire {source!r} - {target!r}"
        name_of(link, f"{where}: a link")
        for end in (source, target):
            if name_of(end, f"{where}: a device") not in self._devices:
                raise FileError(f"{where}: {unknown('device', end, self._devices)}")
        if source == target:
            raise FileError(f"{where} joins a device to itself")
        if frozenset((source, target)) in self._joined:
            raise FileError(f"{where} is added twice")
        self._joined.add(frozenset((source, target)))
        self._wires.append(Wire(source, target, link))

    def set_default_link(self, link: str) -> None:
        """Join all pairs of devices that no wire joins (direct platform).

        In a chain of `chips` these are the neighbours, in the order in which devices are added.
        """
        self._default_link = name_of(link, "a default link")

    def add_node(
        self,
        name: str,
        times: Mapping[str, float | None],
        *,
        output_bytes: int = 0,
        weights: Mapping[str, int] | int = 0,
        phase: Literal["forward", "backward"] = "forward",
        colocate: str | None = None,
        op: str = "imported",
        signature: str | None = None,
    ) -> None:
        """Add an operator.

        Parameters
        ----------
        times : mapping
            Kind of device -> seconds; None where it cannot run. Every kind is named: a missing one
            is an error at :meth:`build`, never "cannot run" nor "takes no time".
        output_bytes : int
            Payload of every out-edge.
        weights : mapping or int
            Name -> bytes: a weight that several nodes name is held once a device. A number is a
            weight of this node alone.
        colocate : str, optional
            All nodes of one group sit on one device.
        signature : str, optional
            How the device tables name the node; default: its name.
        """
        where = f"node {name_of(name, 'a node')!r}"
        if name in self._nodes:
            raise FileError(f"{where} is added twice; every node has a name of its own")
        given = {"phase": phase, "colocate": colocate, "op": op, "signature": signature}
        check_types(Builder.add_node, given, where)
        if not isinstance(times, Mapping):
            raise FileError(f"{where}: times map kinds of device to seconds, not {shown(times)}")
        if not isinstance(weights, Mapping):
            weights = {f"{name}.weights": weights} if weights != 0 else {}
        key = signature or name
        if key in self._times:
            raise FileError(f"{where}: signature {key!r} is that of another node")
        table = {
            name_of(kind, f"{where}: a kind of device"): (
                None if time is None else seconds(time, f"{where} on {kind!r}")
            )
            for kind, time in times.items()
        }
        node = Node(
            name=name,
            op=op,
            signature=key,
            output_bytes=whole_bytes(output_bytes, f"{where}: output_bytes"),
            weights={
                name_of(w, f"{where}: a weight"): whole_bytes(size, f"{where}: weight {w!r}")
                for w, size in weights.items()
            },
            phase=phase,
            colocate=colocate,
        )
        self._times[key] = table  # nothing is kept of a node that is refused
        self._number[name] = len(self._nodes)
        self._nodes[name] = node

    def add_edge(self, source: str, target: str) -> None:
        """Let `target` read what `source` produces; both are nodes that were added before."""
        where = f"edge {source!r} -> {target!r}"
        for end in (source, target):
            if name_of(end, f"{where}: a node") not in self._number:
                raise FileError(f"{where}: {unknown('node', end, self._nodes)}")
        if source == target:
            raise FileError(f"{where}: a node cannot read itself")
        if (source, target) in self._edges:
            raise FileError(f"{where} is added twice")
        if self._nodes[source].phase == "backward" and self._nodes[target].phase == "forward":
            raise FileError(f"{where} goes from a backward node to a forward one")
        self._edges[source, target] = None

    def build(self) -> Bundle:
        """The bundle, resolved once so that whatever else is wrong shows here.

        Raises
        ------
        FileError
            On a node without the time of some kind of device, a kind that no device is of, a
            missing link, a cycle, or a node that runs nowhere.
        """
        kinds = dict.fromkeys(device.device for device in self._devices.values())
        for node in self._nodes.values():
            times = self._times[node.signature or node.name]
            for kind in times:
                if kind not in kinds:
                    raise FileError(f"node {node.name!r}: {unknown('kind of device', kind, kinds)}")
            for kind in kinds:
                if kind not in times:
                    raise FileError(
                        f"node {node.name!r} has no time on {kind!r}; None says it cannot run there"
                    )
        direct = bool(self._wires) or self._default_link is not None
        platform = Platform(
            "placebench-platform/1",
            self._platform,
            "direct" if direct else "staged",
            list(self._devices.values()),
            self._wires,
            self._default_link,
            {"kind": self._kind, **self._provenance},
        )
        for link in sorted(link_names(platform)):
            if link not in self._links:
                raise FileError(f"{self.name}: {unknown('link', link, self._links)}")
        bundle = Bundle(
            "placebench-bundle/1",
            InstanceSpec(self.name, self._platform, self._problem, rules=self._rules),
            GraphFile(
                "placebench-graph/1",
                self.name,
                self._family,
                list(self._nodes.values()),
                [(self._number[u], self._number[v]) for u, v in self._edges],
                {"kind": self._kind, **self._provenance},
            ),
            platform,
            {kind: self._device_file(kind) for kind in kinds},
            {name: self._links[name] for name in sorted(link_names(platform))},
        )
        from_bundle(bundle, self.name)
        return bundle

    def _device_file(self, kind: str) -> DeviceFile:
        table: dict[str, Timing | None] = {}
        for key, times in self._times.items():
            time = times[kind]
            table[key] = None if time is None else Timing(time, time, time, 1)
        return DeviceFile("placebench-device/1", kind, self._kind, self._provenance, table)


def _points(points: Sequence[tuple[int, float]], where: str) -> list[LinkPoint]:
    result = []
    try:
        pairs = [(size, time) for size, time in points]
    except (TypeError, ValueError):
        raise FileError(
            f"{where}: points are pairs of bytes and seconds, not {shown(points)}"
        ) from None
    for size, time in pairs:
        took = seconds(time, where)
        result.append(LinkPoint(whole_bytes(size, f"{where}: bytes"), took, took))
    return result
