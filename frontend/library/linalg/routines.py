"""Compositions that a target may compute by a kernel of its own: recorded as routines, by the kernel's name.

Input: the name of a kernel, a function of arrays, and arrays. Output: what the function returns of them.
Idea: in a trace the function becomes a private one, the callee of an `adze.routine`; equal calls share it.
Outside a trace, and for dtypes and sizes that no kernel takes, the function is called as it is. A kernel
takes float32 and float64, static sizes and any number of leading axes (`passes/lower/kernels/linalg`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ....dialects.types import FLOAT32, FLOAT64, TensorType
from ...tracing.frames import current_frame
from ...tracing.function_scope import FunctionScope, PrivateFunction, argument_of
from ...tracing.interpreter import ops

DTYPES: Final = (FLOAT32, FLOAT64)


def routine(kernel: str, function: Callable[..., Any], *arrays: Any) -> Any:
    """``function(*arrays)``, an array or a tuple of arrays, as the routine `kernel`.

    The name stands for the function and for everything but the arrays that it depends on.
    """
    if not _has_kernel(arrays):
        return function(*arrays)
    callee = _traced(kernel, function, arrays)
    results = ops.routine(*arrays, callee=callee.symbol, kernel=kernel, results=callee.result_types)
    return results[0] if len(results) == 1 else tuple(results)


def linear_routine(
    kernel: str,
    function: Callable[..., Any],
    transposed_kernel: str,
    transposed: Callable[..., Any],
    *arrays: Any,
) -> Any:
    """The same for a function that is linear in its last argument, with its transpose.

    ``transposed(*others, cotangent)`` is the cotangent of the last argument, which has the result's shape.
    """
    if not _has_kernel(arrays):
        return function(*arrays)
    callee = _traced(kernel, function, arrays)
    back = _traced(transposed_kernel, transposed, arrays)
    (result,) = ops.linear_routine(
        *arrays,
        callee=callee.symbol,
        kernel=kernel,
        transposed=back.symbol,
        transposed_kernel=transposed_kernel,
        results=callee.result_types,
    )
    return result


def _has_kernel(arrays: tuple[Any, ...]) -> bool:
    if current_frame() is None:
        return False
    types = [ops.tensor_type(x) for x in arrays]
    return types[0].dtype in DTYPES and all(t.is_static and 0 not in t.shape for t in types)


def _traced(kernel: str, function: Callable[..., Any], arrays: tuple[Any, ...]) -> PrivateFunction:
    scope = FunctionScope()
    types: tuple[TensorType, ...] = tuple(ops.tensor_type(x) for x in arrays)
    memo, key = scope.program.memo, ("routine", kernel, types)
    if key not in memo:
        arguments = [argument_of(x) for x in arrays]
        memo[key] = scope.trace(kernel, lambda leaves: function(*leaves), arguments)
        assert not memo[key].captured, f"the routine {kernel} depends on more than its arguments"
    traced: PrivateFunction = memo[key]
    return traced
