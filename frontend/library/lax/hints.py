"""Names of `jax.lax` that are hints to XLA, or mean the same on one device: approximate search, tokens,
composites, choices by platform, wide products.

Input and output: as in JAX. What a hint allows, adze does exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects.ops.control.choices import place
from ....dialects.types import INTEGERS
from ...control.branches import chosen_branch
from ...tracing.default_dtypes import stated_dtype
from ...tracing.frames import current_frame
from ...tracing.interpreter import as_value, ops
from .. import numpy as xp
from ..numpy.arguments import argument_error, dtype_error, shape_error, type_error
from ..numpy.promotion import type_text
from .ordering import top_k
from .scalar_operands import repeated


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """The `k` largest along an axis and their positions (int32): all of them, which any `recall_target`
    allows. `aggregate_to_topk=False`, for several devices, is refused."""
    return _approximate("approx_max_k", operand, k, reduction_dimension, recall_target, aggregate_to_topk)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """The `k` smallest along an axis and their positions (int32), as `approx_max_k`."""
    value = as_value(operand)
    if value.dtype in INTEGERS:  # the complement has the opposite order, also of the least integer
        key = xp.bitwise_not(value)
    else:
        key = xp.where(xp.isnan(value), -np.inf, ops.neg(value))  # NaN are last
    _, places = _approximate("approx_min_k", key, k, reduction_dimension, recall_target, aggregate_to_topk)
    return xp.take_along_axis(value, places, axis=reduction_dimension), places


def _approximate(
    name: str, operand: Any, k: int, axis: int, recall: float, aggregate: bool
) -> tuple[Any, Any]:
    if not 0 < recall <= 1:
        raise argument_error(f"{name}: recall_target is {recall}, expected a number above 0, at most 1")
    if not aggregate:
        raise argument_error(f"{name}: aggregate_to_topk=False is for several devices", "leave it out")
    return top_k(operand, k, axis=axis)


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """`arr` broadcast to the shape of `like_arr`."""
    return xp.broadcast_to(as_value(arr), as_value(like_arr).shape)


def empty(shape: Sequence[Any], dtype: Any) -> Any:
    """An array whose elements mean nothing: zeros."""
    return xp.zeros(tuple(shape), dtype=stated_dtype(dtype))


def mulhi(x: Any, y: Any, /) -> Any:
    """The upper half of the product of integers of one dtype, whose whole has twice the bits."""
    left, right = repeated(x, y)
    if left.dtype not in INTEGERS:
        raise dtype_error(f"mulhi takes integers, got {type_text(left)}")
    bits = left.dtype.itemsize * 8
    if bits < 64:
        wide = np.dtype(np.int64 if left.dtype.kind == "i" else np.uint64)
        product = ops.mul(ops.convert(left, dtype=wide), ops.convert(right, dtype=wide))
        return xp.right_shift(product, bits).astype(left.dtype)
    return _high_of_64(left, right)


def _high_of_64(x: Any, y: Any) -> Any:
    """By halves of 32 bits (Warren, Hacker's Delight, section 8-2); a signed high half is arithmetic."""
    mask = x.dtype.type(0xFFFFFFFF)
    x_low, y_low = xp.bitwise_and(x, mask), xp.bitwise_and(y, mask)
    x_high, y_high = xp.right_shift(x, 32), xp.right_shift(y, 32)
    unsigned = np.dtype(np.uint64)
    low = ops.bitcast_convert(x_low, dtype=unsigned) * ops.bitcast_convert(y_low, dtype=unsigned)
    carry = ops.bitcast_convert(xp.right_shift(low, 32), dtype=x.dtype)
    middle = x_high * y_low + carry
    other = xp.bitwise_and(middle, mask) + x_low * y_high
    return x_high * y_high + xp.right_shift(middle, 32) + xp.right_shift(other, 32)


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """`decomposition` itself: adze has no ops by the names of others. Keywords are passed on."""
    del name, version
    if not callable(decomposition):
        raise type_error(f"composite: decomposition is {type(decomposition).__name__}, expected a function")
    return decomposition


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """The function of the platform that the program is compiled for, at `args`: `cpu=`, `cuda=`, `rocm=`,
    `vulkan=` or `metal=`, else `default`.

    All are traced and must return the same tree, shapes and dtypes; one is compiled. Outside a trace it is
    `cpu`. Functions of other platforms are never taken. Raises `ArgumentError` outside a trace, or
    `MissingRuleError` when the program is compiled, where there is no function for the platform.
    """
    functions = [*per_platform.values(), *(() if default is None else (default,))]
    if current_frame() is None:
        index = place("cpu", ",".join(per_platform))
        if index < len(functions):
            return functions[index](*args)
    if not functions:
        raise argument_error("platform_dependent got no function", "pass default=, which works anywhere")
    if current_frame() is None:
        raise argument_error(
            f"platform_dependent: only {', '.join(per_platform)} are defined, and this runs on cpu",
            "pass cpu=, or default=, which works anywhere",
        )
    roles = [*per_platform, *(() if default is None else ("default",))]
    index = ops.platform_index(platforms=",".join(per_platform))
    return chosen_branch("platform_dependent", index, functions, roles, args)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Nothing: an unused value is not kept."""
    del val, prevent_mlir_dce


def create_token(_: Any = None) -> Any:
    """A token, which orders effects in JAX: an empty array, since programs of adze have none to order."""
    return xp.zeros((0,), dtype=np.bool_)


def after_all(*operands: Any) -> Any:
    """A token after all of `operands`."""
    for operand in operands:
        if as_value(operand).shape != (0,):
            raise shape_error(f"after_all takes tokens, got {type_text(as_value(operand))}")
    return create_token()
