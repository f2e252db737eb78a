"""Sets of chips as the bits of one word, none of them empty."""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def lowest(typing, bits):  # type: ignore[no-untyped-def]
    """Number of the lowest bit that is set: one instruction."""

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


@intrinsic
def _leading(typing, bits):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


@njit(cache=True)
def highest(bits):  # type: ignore[no-untyped-def]
    """Number of the highest bit that is set."""
    return 63 - _leading(bits)


@njit(cache=True)
def single(bits):  # type: ignore[no-untyped-def]
    """Whether exactly one bit is set."""
    return bits & (bits - 1) == 0
