"""How an elementwise function is made: NumPy's ufunc says the dtypes, a body of primitives the values.

`@elementwise(np.hypot)` wraps a body that receives operands already converted to the dtype of NumPy's
loop and broadcast to one shape. The result is weakly typed exactly when all operands are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32
from ...errors import DtypeError
from ...tracing.default_dtypes import note_promotion
from ...tracing.interpreter import as_weak, ops
from ...tracing.locations import user_location_text
from .plain_operands import Quick, quick
from .promotion import broadcast_together, coerce, convert, dtype_of_numbers, key_of, loop_dtypes
from .ufuncs import Ufunc

Body = Callable[..., Any]


def elementwise(ufunc: np.ufunc, at_once: Quick | None = None) -> Callable[[Body], Ufunc]:
    """Give a body the calling convention, promotion and broadcasting of `ufunc`.

    `at_once` is asked first, and returns None for operands that it leaves to the body.
    """

    def decorate(body: Body) -> Ufunc:
        signature = inspect.signature(body)

        @wraps(body)
        def function(*xs: Any, **named: Any) -> Any:
            if named:
                xs = signature.bind(*xs, **named).args
            if len(xs) != ufunc.nin:
                raise TypeError(f"{body.__name__}() takes {ufunc.nin} positional arguments, got {len(xs)}")
            if at_once is not None:
                quickly = at_once(*xs)
                if quickly is not None:
                    return quickly
            values, weak = prepared(body.__name__, ufunc, xs)
            result = body(*values)
            return weakened(result) if weak else result

        return Ufunc(function, ufunc)

    return decorate


def prepared(name: str, ufunc: np.ufunc, xs: tuple[Any, ...]) -> tuple[list[Any], bool]:
    """The operands as NumPy's loop takes them, in one shape, and whether the result is weak: then they have
    64 bits, and `weakened` makes the result what a user sees."""
    values = [coerce(x) for x in xs]
    try:
        dtypes, weak = loop_dtypes(ufunc, tuple(key_of(v) for v in values))
    except DtypeError as error:
        message = error.message.replace(ufunc.__name__, name, 1)
        raise DtypeError(message, where=user_location_text(), hint=error.hint) from None
    if weak:
        dtypes = tuple(map(dtype_of_numbers, dtypes))
    note_promotion(values, dtypes)
    converted = [convert(v, d) for v, d in zip(values, dtypes, strict=True)]
    return (broadcast_together(converted) if len(converted) > 1 else converted), weak


def weakened(result: Any) -> Any:
    """The result (or each of several) of an operation on weak values alone, weak as they are."""
    return tuple(map(as_weak, result)) if isinstance(result, tuple) else as_weak(result)


def unary(ufunc: np.ufunc, primitive: str, summary: str, name: str | None = None) -> Any:
    """The elementwise function that is one primitive on NumPy's dtypes."""
    method = getattr(ops, primitive)

    def body(x: Any) -> Any:
        return method(x)

    body.__name__ = body.__qualname__ = name or ufunc.__name__
    body.__doc__ = summary
    return elementwise(ufunc, quick(ufunc, primitive))(body)


def binary(ufunc: np.ufunc, primitive: str, summary: str, name: str | None = None) -> Any:
    """The elementwise function of two operands that is one primitive on NumPy's dtypes."""
    method = getattr(ops, primitive)

    def body(x: Any, y: Any) -> Any:
        return method(x, y)

    body.__name__ = body.__qualname__ = name or ufunc.__name__
    body.__doc__ = summary
    return elementwise(ufunc, quick(ufunc, primitive))(body)


def in_float32(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of the values, computed in float32 and rounded once if they are half precision."""
    dtype = values[0].dtype
    if dtype not in (FLOAT16, BFLOAT16):
        return function(*values)
    return ops.convert(function(*(ops.convert(v, dtype=FLOAT32) for v in values)), dtype=dtype)
