"""What calls, branches and loops share: calls of functions, and the values that loops carry.

Input: lowered operands and the symbol of a body. Output: `func.call`s, which are inlined later; the initial
values of loops in buffers of their own; carried values with the sizes that IREE cannot infer.
Idea: a loop may write into what it carries, and IREE takes an argument of the program for its own. So carried
values that may be a caller's array or a constant are copied first.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.types import TensorType
from ..builder import DYNAMIC, LinalgBuilder, Size, Type, Value
from ..iree.copied_loop_state import resident
from ..iree.overwritten_arguments import owned
from ..lowering import LoweringContext


def result_tensor_types(ctx: LoweringContext) -> list[Type]:
    """The lowered types of the results."""
    return [ctx.builder.tensor_type(t.shape, t.dtype) for t in ctx.result_tensors]


def call_body(
    ctx: LoweringContext, symbol: str, operands: Sequence[Value], types: Sequence[Type]
) -> tuple[Value, ...]:
    """A call of a function of the module: operands are cast to its argument types, results to `types`."""
    b = ctx.builder
    argument_types, result_types = ctx.functions.signature(symbol)
    arguments = [b.cast(v, t) for v, t in zip(operands, argument_types, strict=True)]
    callee = mlir.ir.FlatSymbolRefAttr.get(symbol, b.context)
    results = mlir.func.CallOp(result_types, callee, arguments).results
    return tuple(b.cast(v, t) for v, t in zip(results, types, strict=True))


def initial_value(ctx: LoweringContext, value: Value, declared: TensorType) -> Value:
    """The initial value of what a loop carries, in its declared type and in a buffer of its own."""
    b = ctx.builder
    initial = b.cast(owned(ctx, value, declared.dtype), b.tensor_type(declared.shape, declared.dtype))
    b.shape(initial)  # its sizes are asked for inside of the loop, and used behind it
    return initial


def tie_shapes(b: LinalgBuilder, values: Sequence[Value], like: Sequence[Value]) -> tuple[Value, ...]:
    """`values` with the shapes of `like`, as carried values keep those of the initial ones."""
    return tuple(tie_shape(b, v, b.shape(other)) for v, other in zip(values, like, strict=True))


def resident_arguments(b: LinalgBuilder, arguments: Sequence[Value], like: Sequence[Value]) -> list[Value]:
    """The arguments of the block of a loop with the shapes of `like`, not to be copied."""
    tied = tie_shapes(b, arguments, like)
    return [b.bind_shape(resident(v, dynamic_sizes(b, v, b.shape(v))), b.shape(v)) for v in tied]


def tie_shape(b: LinalgBuilder, value: Value, shape: Sequence[Size]) -> Value:
    """`value` with sizes that IREE is told where they are dynamic."""
    dynamic = dynamic_sizes(b, value, shape)
    return b.bind_shape(mlir.flow.TensorTieShapeOp(value, dynamic).result if dynamic else value, shape)


def dynamic_sizes(b: LinalgBuilder, value: Value, shape: Sequence[Size]) -> list[Value]:
    """Those entries of `shape` that the type of `value` leaves open."""
    sizes = zip(value.type.shape, shape, strict=True)
    return [b.size_value(n) for static, n in sizes if static == DYNAMIC]
