"""Instance = graph x platform x problem: its file, and its dense arrays.

:mod:`problems.resolve` makes the one from the other, once, at load.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np

from problems import notebook
from problems import rules as rules_
from problems.files import encode
from problems.graph import GraphFile
from problems.platform import DeviceFile, LinkFile, Platform

Level = Literal["operator", "leaf", "parent", "block"]
Tier = Literal["tiny", "small", "medium", "large", "huge"]


class InstanceSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an instance file says: names of parts, and the problem with its rules."""

    graph: str
    platform: str
    problem: str
    level: Level = "operator"
    rules: dict[str, Any] = {}
    tier: Tier | None = None
    split: Literal["public", "holdout"] = "public"

    @property
    def id(self) -> str:
        """``graph:level/platform/problem[rules]``."""
        label = rules_.label(rules_.parse(self.problem, self.rules))
        suffix = f"[{label}]" if label else ""
        return f"{self.graph}:{self.level}/{self.platform}/{self.problem}{suffix}"


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One self-contained file: graph, devices, links, platform and problem inline."""

    format: Literal["placebench-bundle/1"]
    instance: InstanceSpec
    graph: GraphFile
    platform: Platform
    devices: dict[str, DeviceFile]
    links: dict[str, LinkFile] = {}


@dataclass(frozen=True, eq=False)
class Instance:
    """A resolved instance: n nodes, K devices, m edges, all in SI units.

    Nodes are numbered topologically: every edge (u, v) has u < v. Arrays are read-only.

    Attributes
    ----------
    time : float64 array, shape (n, K)
        p_k(v) in seconds; inf where device k does not support v.
    edges : int64 array, shape (m, 2)
        Sorted pairs (u, v).
    succ_ptr, succ : int64 arrays, shapes (n + 1,), (m,)
        Consumers of u: ``succ[succ_ptr[u]:succ_ptr[u + 1]]``, ascending.
    pred_ptr, pred : int64 arrays, shapes (n + 1,), (m,)
        Producers of v, likewise.
    phase : int8 array, shape (n,)
        0 forward, 1 backward.
    group : int64 array, shape (n,)
        Colocation group of every node, numbered 0..G-1 by first node; a node without one has its
        own.
    node_bytes : int64 array, shape (n,)
        What a node adds to the memory of its device, shared weights apart.
    shared_ptr, shared_node, shared_bytes : int64 arrays, shapes (T + 1,), (.,), (T,)
        Weights that several nodes read: weight i occupies ``shared_bytes[i]`` once on every device
        that holds one of the nodes ``shared_node[shared_ptr[i]:shared_ptr[i + 1]]``.
    memory : float64 array, shape (K,)
        Bytes; inf without a limit.
    host, unlimited : bool arrays, shape (K,)
    staged : bool
        Topology.
    link_time : float64 array, shape (L, n)
        Seconds of the payload o(u) over link l; link 0 takes no time.
    port : int64 array, shape (K,)
        `staged`: link of device k's port; 0 for hosts (and throughout a `direct` platform).
    wire : int64 array, shape (K, K)
        `direct`: link from device k to device l; 0 for k = l (and throughout a `staged` platform).
        `chips`: only k to k + 1; 0 elsewhere, for there is no other link.
    """

    id: str
    problem: str
    rules: rules_.Rules
    names: tuple[str, ...]
    device_names: tuple[str, ...]
    time: np.ndarray
    edges: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    phase: np.ndarray
    group: np.ndarray
    node_bytes: np.ndarray
    shared_ptr: np.ndarray
    shared_node: np.ndarray
    shared_bytes: np.ndarray
    memory: np.ndarray
    host: np.ndarray
    unlimited: np.ndarray
    staged: bool
    link_time: np.ndarray
    port: np.ndarray
    wire: np.ndarray
    family: str = ""
    tier: str = ""
    split: str = "public"
    provenance: Mapping[str, Any] = field(default_factory=dict)
    paths: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.time.shape[0])

    @property
    def K(self) -> int:  # noqa: N802 - the field's symbol
        """Number of devices."""
        return int(self.time.shape[1])

    @property
    def m(self) -> int:
        """Number of edges."""
        return int(self.edges.shape[0])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical resolved content; names and labels are no part of it."""
        content = {
            "problem": self.problem,
            "rules": rules_.given(self.rules),
            "staged": self.staged,
        }
        state = hashlib.sha256(b"placebench-instance/1\n")
        state.update(encode(content))
        for name in _CONTENT:
            array = getattr(self, name)
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            state.update(f"\n{name} {little.dtype.str} {little.shape}\n".encode())
            state.update(little.reshape(-1).view(np.uint8).data)  # bytes, not copied
        return state.hexdigest()

    def __repr__(self) -> str:
        return f"<Instance {self.id}: {self.n} nodes, {self.m} edges, {self.K} devices>"

    def _repr_html_(self) -> str:
        """What a notebook shows: sizes, and the devices with their memory and speed."""
        label = rules_.label(self.rules)
        told = [
            ("problem", self.problem + (f", {label}" if label else "")),
            ("family", ", ".join(filter(None, (self.family, self.tier, self.split)))),
            ("graph", f"{self.n} nodes, {self.m} edges, {int(self.group.max()) + 1} groups"),
            ("digest", self.digest[:16]),
        ]
        whole, supported = self.time.sum(axis=0), np.isfinite(self.time).sum(axis=0)
        devices = [
            [
                name + (" (host)" if self.host[k] else ""),
                notebook.amount(float(self.memory[k])),
                supported[k],
                f"{whole[k]:.4g} s" if np.isfinite(whole[k]) else "not all",
            ]
            for k, name in enumerate(self.device_names)
        ]
        heads = ("device", "memory", "nodes it takes", "all nodes on it")
        return notebook.facts(self.id, told) + notebook.table(heads, devices)

    @cached_property
    def device_class(self) -> np.ndarray:
        """Symmetry class of each device, shape (K,), numbered by first member.

        Two devices are alike when swapping them, all else in its place, changes nothing: equal
        times, memory, flags and links.
        """
        columns = np.ascontiguousarray(self.time.T) + 0.0  # no -0.0: equal is bit by bit
        seconds = [hash(column.tobytes()) for column in columns]
        result = np.arange(self.K)
        for k in range(self.K):
            for first in range(k):
                if (
                    result[first] == first
                    and seconds[first] == seconds[k]
                    and np.array_equal(columns[first], columns[k])
                    and self._alike(first, k)
                ):
                    result[k] = first
                    break
        return np.unique(result, return_inverse=True)[1].astype(np.int64)

    def _alike(self, a: int, b: int) -> bool:
        """Whether swapping two devices of equal times changes nothing."""
        if (
            self.memory[a] != self.memory[b]
            or self.host[a] != self.host[b]
            or self.unlimited[a] != self.unlimited[b]
            or self.port[a] != self.port[b]
        ):
            return False
        swapped = np.arange(self.K)
        swapped[[a, b]] = b, a
        return bool(np.array_equal(self.wire, self.wire[np.ix_(swapped, swapped)]))


_CONTENT = (
    "time", "edges", "phase", "group", "node_bytes", "shared_ptr", "shared_node", "shared_bytes",
    "memory", "host", "unlimited", "link_time", "port", "wire",
)  # fmt: skip


def check_problem(instance: Instance, expected: Sequence[str], what: str) -> None:
    """Refuse an instance of another problem.

    Raises
    ------
    ValueError
        If the problem of `instance` is not among `expected`.
    """
    if instance.problem not in expected:
        raise ValueError(
            f"{what} is for {', '.join(expected)}; {instance.id} is a {instance.problem} instance"
        )
