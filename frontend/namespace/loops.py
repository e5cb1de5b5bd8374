"""How an elementwise function is made: NumPy's ufunc says the dtypes, a body of primitives the values.

`@elementwise(np.hypot)` wraps a body that receives operands already converted to the dtype of NumPy's
loop and broadcast to one shape. The result is weakly typed exactly when all operands are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...dialects.types import BFLOAT16, BOOL, FLOAT16, FLOAT32
from ..errors import DtypeError
from ..tracing.interpreter import ops
from ..tracing.locations import user_location_text
from .promotion import broadcast_together, coerce, convert, key_of, loop_dtypes, widened
from .ufuncs import Ufunc

Body = Callable[..., Any]


def elementwise(ufunc: np.ufunc) -> Callable[[Body], Ufunc]:
    """Give a body the calling convention, promotion and broadcasting of `ufunc`."""

    def decorate(body: Body) -> Ufunc:
        @wraps(body)
        def function(*xs: Any) -> Any:
            if len(xs) != ufunc.nin:
                raise TypeError(f"{body.__name__}() takes {ufunc.nin} positional arguments, got {len(xs)}")
            values, weak = prepared(body.__name__, ufunc, xs)
            result = body(*values)
            if weak:
                mark_weak(result)
            return result

        return Ufunc(function, ufunc)

    return decorate


def prepared(name: str, ufunc: np.ufunc, xs: tuple[Any, ...]) -> tuple[list[Any], bool]:
    """The operands as NumPy's loop takes them, in one shape, and whether the result is weak."""
    values = [coerce(x) for x in xs]
    try:
        dtypes, weak = loop_dtypes(ufunc, tuple(key_of(v) for v in values))
    except DtypeError as error:
        message = error.message.replace(ufunc.__name__, name, 1)
        raise DtypeError(message, where=user_location_text(), hint=error.hint) from None
    if weak:
        dtypes = tuple(widened(d, values) for d in dtypes)
    converted = [convert(v, d) for v, d in zip(values, dtypes, strict=True)]
    return (broadcast_together(converted) if len(converted) > 1 else converted), weak


def mark_weak(result: Any) -> None:
    """Mark the result (or each of several) of an all-weak operation as weak."""
    for value in result if isinstance(result, tuple) else (result,):
        if value.dtype != BOOL:
            value.weak_type = True


def unary(ufunc: np.ufunc, primitive: str, summary: str, name: str | None = None) -> Any:
    """The elementwise function that is one primitive on NumPy's dtypes."""
    method = getattr(ops, primitive)

    def body(x: Any) -> Any:
        return method(x)

    body.__name__ = body.__qualname__ = name or ufunc.__name__
    body.__doc__ = summary
    return elementwise(ufunc)(body)


def binary(ufunc: np.ufunc, primitive: str, summary: str, name: str | None = None) -> Any:
    """The elementwise function of two operands that is one primitive on NumPy's dtypes."""
    method = getattr(ops, primitive)

    def body(x: Any, y: Any) -> Any:
        return method(x, y)

    body.__name__ = body.__qualname__ = name or ufunc.__name__
    body.__doc__ = summary
    return elementwise(ufunc)(body)


def in_float32(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of the values, computed in float32 and rounded once if they are half precision."""
    dtype = values[0].dtype
    if dtype not in (FLOAT16, BFLOAT16):
        return function(*values)
    return ops.convert(function(*(ops.convert(v, dtype=FLOAT32) for v in values)), dtype=dtype)
