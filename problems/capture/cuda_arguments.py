"""Arguments on a card: every operator's tensors lie in a few large blocks.

Thousands of sizes would not fit the card's memory side by side, and behind an L2 flush nothing is
gained by keeping them apart. Needs torch and the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from problems.capture.arguments import Arguments, index_limits
from problems.capture.signature import decode, extent, resolve

Key = tuple[torch.dtype, int, int, bool]
"""Type, limit of the values (0: none), place among the tensors, whether the operator writes it."""
Take = Callable[[Key, tuple[int, ...], tuple[int, ...]], torch.Tensor | None]


class Blocks(Arguments):
    """Makes arguments out of one block a type, place and range of values.

    Parameters
    ----------
    device : str
        Where the tensors are.
    seed : int
        Of the random values.
    signatures : mapping
        Id -> {op, args, kwargs}: all that will be built, so that blocks are made large enough.
    room : int
        Bytes that all blocks together may take; results need the rest.
    """

    def __init__(
        self, device: str, seed: int, signatures: Mapping[str, Mapping[str, Any]], room: int
    ) -> None:
        super().__init__(device, seed)
        self.room = room
        self.sizes: dict[Key, set[int]] = {}
        self.blocks: dict[Key, torch.Tensor] = {}
        for each in signatures.values():
            try:
                self._walk(each["op"], each["args"], each["kwargs"], self._note)
            except (ValueError, TypeError, LookupError, AttributeError):
                continue  # building it will say so

    def build(
        self, op: str, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Arguments for one operator; no two tensors of one call overlap.

        Raises
        ------
        torch.OutOfMemoryError
            If a tensor is larger than the block that the card has room for.
        """
        return self._walk(op, args, kwargs, self._view)

    def _walk(
        self, op: str, args: list[Any], kwargs: dict[str, Any], take: Take
    ) -> tuple[list[Any], dict[str, Any]]:
        limits = index_limits(op, args)
        # What operators write changes over the rounds: others must not read it as an index.
        written = bool(resolve(op)._schema.is_mutable)  # type: ignore[attr-defined]
        count = 0

        def make(
            shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype
        ) -> torch.Tensor | None:
            nonlocal count
            key = (dtype, limits.get(count, 0), count, written)
            count += 1
            return take(key, shape, stride)

        return (
            [decode(a, make, self.device) for a in args],
            {k: decode(v, make, self.device) for k, v in kwargs.items()},
        )

    def _note(self, key: Key, shape: tuple[int, ...], stride: tuple[int, ...]) -> None:
        self.sizes.setdefault(key, set()).add(extent(shape, stride))

    def _view(self, key: Key, shape: tuple[int, ...], stride: tuple[int, ...]) -> torch.Tensor:
        size = extent(shape, stride)
        if key not in self.blocks:
            self.blocks[key] = self._block(key)
        block = self.blocks[key]
        if size > block.numel():
            raise torch.OutOfMemoryError(
                f"a tensor of {size * block.element_size()} bytes does not fit beside the others"
            )
        return block.as_strided(shape, stride)

    def _block(self, key: Key) -> torch.Tensor:
        """As large as its largest tensor, or as the largest one that there is memory for."""
        width = torch.empty(0, dtype=key[0]).element_size()
        fitting = (size for size in self.sizes[key] if size * width <= self.room)
        size = max(fitting, default=0)
        self.room -= size * width
        return self._values(size, key[0], key[1] or 2)
