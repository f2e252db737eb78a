"""Device symmetry: like devices, and servers of devices that are alike as wholes.

A permutation s of the devices is a symmetry where every device k and its image s(k) have equal
times, memory, flags and ports, and every pair (k, l) the same link as (s(k), s(l)). Then s turns
every valid answer into a valid one of the same objective: s(device[v]) instead of device[v], with
orders, calls and rates carried along. (What is completed by rule, `latency` without orders or
calls without slots, breaks ties by number, and may come out otherwise.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from problems.instance import Instance


def is_symmetry(instance: Instance, image: np.ndarray) -> bool:
    """Whether a permutation of the devices changes nothing.

    Parameters
    ----------
    image : int array, shape (K,)
        Where every device goes.
    """
    image = np.asarray(image)
    if not np.array_equal(np.sort(image), np.arange(instance.K)):
        raise ValueError(f"not a permutation of {instance.K} devices: {image.tolist()}")
    links = _links(instance)
    wire = links[instance.wire]
    flags = instance.memory, instance.host, instance.unlimited, links[instance.port]
    return all(
        np.array_equal(each[image], each) for each in (*flags, instance.time.T)
    ) and np.array_equal(wire[np.ix_(image, image)], wire)


def server_classes(instance: Instance) -> list[np.ndarray]:
    """Servers that may change places as wholes.

    A server is a set of devices joined, directly or through others of them, by links faster than
    some threshold, the same for all servers; joined means by the slower of both directions, and a
    link's speed is what all payloads together take on it. Two servers are alike where some pairing
    of their devices is a symmetry: both change places, all else stays. That is an equivalence.

    Of all thresholds the one with most servers that are alike counts, the lowest among equals, so
    that what is returned is one level of a hierarchy.

    Returns
    -------
    list of int64 arrays, shape (S, s)
        One array a class of at least two servers of at least two devices, by first device. Row by
        row a server's devices, each row so that it changes places with the first, column by
        column. Empty on `staged` platforms, where every device has its own port to the host, and
        on `chips`, whose order counts.

    Notes
    -----
    Together with the swaps of like devices (:attr:`Instance.device_class`) these swaps generate
    all device symmetries of a platform of two levels: one link inside servers, a slower one
    between them. Symmetries of other kinds (rings, say) are not looked for.
    """
    if instance.staged or instance.problem == "chips" or instance.K < 4:
        return []
    best: list[np.ndarray] = []
    for servers in _levels(instance):
        found = _classes(instance, servers)
        if sum(map(len, found)) > sum(map(len, best)):
            best = found
    return best


def _links(instance: Instance) -> np.ndarray:
    """For every link the first one that takes equal times."""
    first: dict[bytes, int] = {}
    rows = instance.link_time + 0.0  # no -0.0
    return np.array([first.setdefault(row.tobytes(), i) for i, row in enumerate(rows)])


def _levels(instance: Instance) -> Iterator[list[list[int]]]:
    """The servers at every threshold, from the lowest on; those of one device left out."""
    K = instance.K
    total = instance.link_time.sum(axis=1)[instance.wire]
    slow = np.maximum(total, total.T)
    for threshold in np.unique(slow[~np.eye(K, dtype=bool)])[:-1]:
        name = np.arange(K)
        for a in range(K):
            for b in range(a):
                if slow[a, b] <= threshold and name[a] != name[b]:
                    name[name == name[a]] = name[b]
        servers = [np.flatnonzero(name == each).tolist() for each in np.unique(name)]
        yield sorted(each for each in servers if len(each) > 1)


def _classes(instance: Instance, servers: Sequence[list[int]]) -> list[np.ndarray]:
    classes: list[list[list[int]]] = []
    for server in servers:
        for mine in classes:
            paired = _pairing(instance, mine[0], server)
            if paired is not None:
                mine.append(paired)
                break
        else:
            classes.append([server])
    return [np.array(each, np.int64) for each in classes if len(each) > 1]


def _pairing(instance: Instance, ours: list[int], theirs: list[int]) -> list[int] | None:
    """`theirs` in an order in which they change places with `ours`, or None.

    Depth first; like devices of one server are the same choice, so a server of like devices takes
    no search.
    """
    if len(ours) != len(theirs):
        return None
    wire = _links(instance)[instance.wire]
    chosen: list[int] = []

    def fits(a: int, b: int) -> bool:
        return all(
            wire[a, x] == wire[b, y] and wire[x, a] == wire[y, b]
            and wire[a, y] == wire[b, x] and wire[y, a] == wire[x, b]
            for x, y in zip(ours, chosen, strict=False)
        ) and np.array_equal(instance.time[:, a], instance.time[:, b])  # fmt: skip

    def extend() -> bool:
        if len(chosen) == len(ours):
            image = np.arange(instance.K)
            image[ours], image[chosen] = chosen, ours
            return is_symmetry(instance, image)
        tried: set[int] = set()
        for b in theirs:
            kind = int(instance.device_class[b])
            if b in chosen or kind in tried or not fits(ours[len(chosen)], b):
                continue
            tried.add(kind)
            chosen.append(b)
            if extend():
                return True
            chosen.pop()
        return False

    return chosen if extend() else None
