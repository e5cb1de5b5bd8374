"""What the lowerings in kernels share: the builder of a context, and the shape of a value as integers."""

from __future__ import annotations

from ....builder import Value
from ....lowering import LoweringContext
from ..builder import KernelBuilder


def builder_of(ctx: LoweringContext) -> KernelBuilder:
    """The builder of a kernel."""
    assert isinstance(ctx.builder, KernelBuilder)
    return ctx.builder


def shape_of(x: Value) -> list[int]:
    """The sizes of a static tensor."""
    return [int(n) for n in x.type.shape]
