"""An instance with other nodes on the same devices."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from problems.instance import Instance


def rebuilt(instance: Instance, group: np.ndarray, edges: np.ndarray, **given: Any) -> Instance:
    """The instance with other nodes.

    Parameters
    ----------
    group : int64 array, shape (n,)
        Any numbers; they are numbered afresh by first node.
    edges : int64 array, shape (m, 2)
        Sorted distinct pairs u < v.
    given
        All other arrays that depend on the nodes.
    """
    n = len(group)
    first, number = np.unique(group, return_index=True, return_inverse=True)[1:]
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    backwards = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
    result = replace(
        instance,
        names=tuple(map(str, range(n))),
        group=rank[number.reshape(-1)],
        edges=edges,
        succ_ptr=np.searchsorted(edges[:, 0], np.arange(n + 1)),
        succ=edges[:, 1],
        pred_ptr=np.searchsorted(backwards[:, 1], np.arange(n + 1)),
        pred=backwards[:, 0],
        paths=(),
        **given,
    )
    # Exactly as those of any instance: other flags or types are another signature to compile.
    alike: dict[str, Any] = {}
    for field in fields(instance):
        model = getattr(instance, field.name)
        if isinstance(model, np.ndarray):
            array = np.array(getattr(result, field.name), model.dtype, order="C")
            array.setflags(write=model.flags.writeable)
            alike[field.name] = array
    return replace(result, **alike)
