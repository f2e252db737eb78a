"""A simple answer of `chips`: everything on the first chip, or as many nodes a chip as it holds."""

from __future__ import annotations

import numpy as np

from problems import chips
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable


def chips_start(instance: Instance) -> Answer | None:
    """A valid answer, or None where neither of two ways gives one.

    All on chip 0; else nodes in topological order, each on the chip of the one before it while
    that still holds it. Colocation and the triangle rule may make the second way fail.
    """
    device = np.zeros(instance.n, np.int64)
    if is_placeable(instance, device):
        return Answer(device)
    k = 0
    size = instance.node_bytes.astype(float)
    for i, shared in enumerate(instance.shared_bytes.tolist()):
        # As if every reader held a copy: more than there is, never less.
        size[instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]] += shared
    held = 0.0
    for v in range(instance.n):
        if held + size[v] > instance.memory[k]:
            k, held = k + 1, 0.0
            if k == instance.K:
                return None
        held += float(size[v])
        device[v] = k
    return Answer(device) if chips.is_valid(instance, device) else None
