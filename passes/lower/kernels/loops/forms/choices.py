"""Choices between arrays, in kernels: one that takes the elements of a padded array is a write of its window.

`x.at[1::2].set(y)` is `select(mask, pad(y), x)`, whose mask says where the elements of `y` went. The window
is written alone, in place where nothing else uses `x`; all other choices are elementwise.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ......dialects import mlir
from ......dialects.builder.emitter import Reader
from ......dialects.codec import Codec
from ......dialects.ops.constants import Constant, Iota
from ......dialects.ops.elementwise.family import Elementwise
from ......dialects.ops.shape.rearrange import BroadcastInDim
from ......dialects.ops.shape.slicing import Pad
from ....builder import Value
from ....forms.elementwise import lower_elementwise
from ....lowering import Lowered, LoweringContext
from ..times import elements
from .common import builder_of

LARGEST_MASK: Final = 1 << 22
"""Elements of a mask that is computed here, to see where it holds."""
MASK_OPS: Final = 64
"""Ops that a mask is computed from, at most."""
_OF_MASKS: Final = (Constant, Iota, BroadcastInDim, Pad, Elementwise)


def lower_select(ctx: LoweringContext, predicate: Value, on_true: Value, on_false: Value) -> Lowered:
    """The window of a padded array written into `on_false`; else `linalg.generic` over all elements."""
    window = _window(on_true)
    if window is not None:
        part, (offsets, sizes, strides) = window
        if _holds_there(ctx, offsets, sizes, strides):
            b = builder_of(ctx)
            return b.insert_part(part, on_false, offsets, sizes, strides)
    return lower_elementwise(ctx, predicate, on_true, on_false)


def _window(padded: Value) -> tuple[Value, tuple[list[int], list[int], list[int]]] | None:
    """What was inserted into a filled array, and where: the offsets, sizes and strides, all known."""
    if isinstance(padded.owner, mlir.ir.Block) or padded.owner.operation.name != "tensor.insert_slice":
        return None
    insertion = padded.owner.operation
    part, whole, *dynamic = insertion.operands
    if dynamic or isinstance(whole.owner, mlir.ir.Block) or whole.owner.operation.name != "linalg.fill":
        return None
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = ([int(n) for n in insertion.attributes[name]] for name in names)
    return part, (offsets, sizes, strides)


def _holds_there(ctx: LoweringContext, offsets: list[int], sizes: list[int], strides: list[int]) -> bool:
    """Whether the mask of a choice is known, and true in this window alone."""
    type_ = ctx.operand_tensors[0]
    if not type_.is_static or elements(type_) > LARGEST_MASK:
        return False
    reader = Reader(Codec(ctx.builder.context))
    mask = _Evaluation(reader).value(ctx.operation.operands[0])
    if mask is None or np.count_nonzero(mask) != prod(sizes):
        return False
    places = zip(offsets, sizes, strides, strict=True)
    return bool(mask[tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in places)].all())


class _Evaluation:
    """Values that only depend on constants and places, computed with NumPy."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._left = MASK_OPS

    def value(self, value: Value) -> np.ndarray | None:
        """The array, None where it depends on something else or takes too many ops."""
        self._left -= 1
        if self._left < 0 or isinstance(value.owner, mlir.ir.Block):
            return None
        application = self._reader.read(value.owner.operation)
        if application is None or not issubclass(application.op, _OF_MASKS):
            return None
        operands = []
        for operand in application.operands:
            known = self.value(operand)
            if known is None:
                return None
            operands.append(known)
        return np.asarray(application.op.evaluate(*operands, **application.attributes))
