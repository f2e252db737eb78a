"""Operands in the state in which a network finds them: inputs fresh, weights out of the cache.

In a network an operator's inputs have just been written and its weights were last read a sample
ago, when everything else has passed through the caches since. So weights come from places of a
large block in turn, and inputs are written before the operator runs. Blocks serve all operators:
thousands of them need no more memory than the largest one. Needs torch and the standard library
only.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import torch

from problems.capture.arguments import Arguments, index_limits
from problems.capture.signature import decode, extent, resolve

# Which tensors of an operator are weights, by position among its tensors.
WEIGHTS = {
    "aten.conv": (1, 2),
    "aten.linear.": (1, 2),
    "aten.addmm.": (0, 2),
    "aten.batch_norm.": (1, 2, 3, 4),
    "aten.native_batch_norm.": (1, 2, 3, 4),
    "aten.layer_norm.": (1, 2),
    "aten.native_layer_norm.": (1, 2),
    "aten.group_norm.": (1, 2),
    "aten.rms_norm.": (1,),
    "aten.embedding.": (0,),
}
# Several times the last-level cache of the processors of these years.
POOL_BYTES = 256 << 20
GRAIN = 64  # elements: places start on cache lines, as allocated tensors do


@dataclass
class Operands:
    """Arguments of one call.

    Attributes
    ----------
    args, kwargs
        As the operator takes them.
    inputs : list of Tensor
        What a network would have written just before, flat.
    """

    args: list[Any]
    kwargs: dict[str, Any]
    inputs: list[torch.Tensor]


class Pools(Arguments):
    """Places for the tensors of one operator at a time; tensors of one call never overlap.

    Parameters
    ----------
    seed : int
        Of values and places.
    pool_bytes : int
        Weights go round in a block of this size, or of the largest weights if that is more.
    """

    def __init__(self, seed: int = 0, pool_bytes: int = POOL_BYTES) -> None:
        super().__init__("cpu", seed)
        self.pool_bytes = pool_bytes
        self.shift = random.Random(seed)
        self.pools: dict[tuple[torch.dtype, bool], torch.Tensor] = {}
        self.next: dict[torch.dtype, int] = {}

    def operands(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Operands:
        """Make the arguments of one call, at other places every time."""
        limits = index_limits(op, args)
        constant = next((at for start, at in WEIGHTS.items() if op.startswith(start)), ())
        schema = getattr(resolve(op), "_schema", None)
        writes = schema is not None and schema.is_mutable
        tensors: list[tuple[int, int, torch.dtype]] = []

        def note(shape: Any, stride: Any, dtype: torch.dtype) -> None:
            if dtype.is_floating_point:
                tensors.append((len(seen), extent(shape, stride), dtype))
            seen.append(None)

        seen: list[None] = []
        for value in [*args, *kwargs.values()]:
            decode(value, note, "cpu")
        place = self._places(tensors, constant)
        inputs: list[torch.Tensor] = []
        count = 0

        def make(
            shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype
        ) -> torch.Tensor:
            nonlocal count
            position, count = count, count + 1
            size = extent(shape, stride)
            if position in place:
                flat = place[position]
                if position not in constant:
                    inputs.append(flat)
            else:
                flat = self._kept(size, dtype, limits.get(position, 2), position, writes)
            return flat.as_strided(shape, stride)

        built = [decode(a, make, "cpu") for a in args]
        named = {k: decode(v, make, "cpu") for k, v in kwargs.items()}
        return Operands(built, named, inputs)

    def _places(
        self, tensors: list[tuple[int, int, torch.dtype]], constant: tuple[int, ...]
    ) -> dict[int, torch.Tensor]:
        """Position of every floating-point tensor -> its flat piece of a pool."""
        found: dict[int, torch.Tensor] = {}
        for dtype in {each for _, _, each in tensors}:
            for weights in (False, True):
                chosen = [
                    (i, n) for i, n, d in tensors if d == dtype and (i in constant) is weights
                ]
                if not chosen:
                    continue
                need = sum(n + 2 * GRAIN for _, n in chosen)
                pool = self._pool(dtype, weights, need)
                at = self.next.get(dtype, 0) if weights else 0
                if at + need > pool.numel():
                    at = 0
                # Where exactly tensors lie moves some times by 10 %: it is another place each time.
                at += GRAIN // 4 * self.shift.randrange(4)
                for i, n in chosen:
                    found[i] = pool[at : at + n]
                    at += -(-n // GRAIN) * GRAIN
                if weights:
                    self.next[dtype] = at
        return found

    def _pool(self, dtype: torch.dtype, weights: bool, need: int) -> torch.Tensor:
        key = (dtype, weights)
        if key not in self.pools or self.pools[key].numel() < need:
            self.pools.pop(key, None)
            least = self.pool_bytes // dtype.itemsize if weights else 0
            size = max(need, least)
            pool = torch.empty(size, dtype=dtype)
            block = self._values(min(size, 1 << 20), dtype, 2)
            for at in range(0, size, block.numel()):
                piece = pool[at : at + block.numel()]
                piece.copy_(block[: piece.numel()])
            self.pools[key] = pool
        return self.pools[key]

    def _kept(
        self, size: int, dtype: torch.dtype, limit: int, position: int, writes: bool
    ) -> torch.Tensor:
        """Indices and masks: few and small, one a size; what operators write is kept apart."""
        key = (size, dtype, limit, position, writes)
        if key not in self.storages:
            self.storages[key] = self._values(size, dtype, limit)
        return self.storages[key]

    def freshen(self, operands: Operands) -> None:
        """Write the inputs, as the operators before would have done."""
        for flat in operands.inputs:
            source = self._source(flat)
            for at in range(0, flat.numel(), source.numel()):
                piece = flat[at : at + source.numel()]
                piece.copy_(source[: piece.numel()])

    def _source(self, like: torch.Tensor) -> torch.Tensor:
        key = (1 << 14, like.dtype)  # small: it must not take the inputs' room in the caches
        if key not in self.storages:
            self.storages[key] = self._values(*key, 2)
        return self.storages[key]
