"""Random arguments on which an operator can be run: valid indices, positive numbers, masks.

Needs torch and the standard library only.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from problems.capture.signature import decode, extent

# Operators whose second tensor indexes dimension `args[1]` of the first.
ALONG_DIMENSION = (
    "aten.gather.",
    "aten.index_add.",
    "aten.index_select.",
    "aten.scatter.",
    "aten.scatter_add.",
)
INDEX_LISTS = ("aten.index.", "aten.index_put.", "aten.index_put_.")
LARGE = 2**24  # elements: more than a cache holds, so tensors of unlike size may share memory


def index_limits(op: str, args: list[Any]) -> dict[int, int]:
    """Exclusive upper limit of the indices in the i-th tensor of the arguments, where there is one.

    Parameters
    ----------
    op : str
        Operator name.
    args : list
        Encoded positional arguments.
    """
    if op.startswith("aten.embedding."):
        return {1: args[0]["tensor"][0][0]}
    if op.startswith("aten.embedding_dense_backward."):
        return {1: args[2]}
    if op.startswith(("aten.nll_loss_forward.", "aten.nll_loss2d_forward.")):
        return {1: args[0]["tensor"][0][1]}  # labels, of classes in dimension 1
    if op.startswith(("aten.nll_loss_backward.", "aten.nll_loss2d_backward.")):
        return {2: args[1]["tensor"][0][1]}
    if op.startswith("aten.max_pool2d_with_indices_backward."):
        return {2: math.prod(args[1]["tensor"][0][-2:])}  # of a pixel in its image
    if op.startswith(ALONG_DIMENSION):
        return {1: args[0]["tensor"][0][args[1]]}
    if op.startswith(INDEX_LISTS):
        shape = args[0]["tensor"][0]
        # Tensors are counted without the gaps that stand for whole dimensions.
        used = [i for i, index in enumerate(args[1]) if index is not None]
        return {1 + k: shape[i] for k, i in enumerate(used)}
    return {}


class Arguments:
    """Makes arguments; tensors of equal size and place share their memory between operators.

    Large ones share whatever is large enough: the weights of the largest networks, one by one,
    would fill the memory of a small machine.

    Parameters
    ----------
    device : str
        Where the tensors are.
    seed : int
        Of the random values.
    """

    def __init__(self, device: str = "cpu", seed: int = 0) -> None:
        self.device = device
        self.random = torch.Generator(device=device).manual_seed(seed)
        self.storages: dict[tuple[Any, ...], torch.Tensor] = {}
        self.large: list[tuple[tuple[Any, ...], torch.Tensor]] = []

    def build(
        self, op: str, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Arguments for one operator; no two tensors of one call overlap."""
        limits = index_limits(op, args)
        count = 0
        taken: set[int] = set()

        def make(
            shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype
        ) -> torch.Tensor:
            nonlocal count
            key = (extent(shape, stride), dtype, limits.get(count, 2), count)
            if key[0] >= LARGE:
                count += 1
                return self._large(key[:3], taken).as_strided(shape, stride)
            if key not in self.storages:
                self.storages[key] = self._values(*key[:3])
            count += 1
            return self.storages[key].as_strided(shape, stride)

        return (
            [decode(a, make, self.device) for a in args],
            {k: decode(v, make, self.device) for k, v in kwargs.items()},
        )

    def _large(self, key: tuple[Any, ...], taken: set[int]) -> torch.Tensor:
        """Find or make a storage for (size, dtype, limit) that this call has not `taken` yet."""
        size, *kind = key
        for i, ((other, *its_kind), values) in enumerate(self.large):
            if i not in taken and other >= size and its_kind == kind:
                taken.add(i)
                return values
        taken.add(len(self.large))
        self.large.append((key, self._values(*key)))
        return self.large[-1][1]

    def _values(self, size: int, dtype: torch.dtype, limit: int) -> torch.Tensor:
        if dtype == torch.bool or not (dtype.is_floating_point or dtype.is_complex):
            values = torch.randint(
                0, limit, (size,), generator=self.random, device=self.device, dtype=torch.int64
            )
            return values.to(dtype)
        # Positive and of order one: roots, logarithms and variances are fine with it.
        values = torch.rand(size, generator=self.random, device=self.device)
        return values.add_(0.05).to(dtype)
