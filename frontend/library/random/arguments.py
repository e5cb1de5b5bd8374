"""The arguments of samplers, checked once: keys, shapes, dtypes and parameters that broadcast to a shape.

Input: what the user passes. Output: the value in the form that samplers compute with, or an error that says
what was seen and what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ....dialects.errors import AdzeError
from ....dialects.types import FLOATS, INT32, UINT32, as_dtype, short_name
from ...errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ...tracing.array import Array
from ...tracing.default_dtypes import floating, narrowed, stated_dtype, yields
from ...tracing.frames import Tracer
from ...tracing.interpreter import as_value
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim
from .. import numpy as xp
from .reuse import note_use


class RandomKeyError(ArgumentTypeError):
    """A random key of the wrong kind, shape or dtype."""


def as_key(function: str, key: Any, uses_up: bool | None = True) -> Any:
    """`key` as a value of two uint32; tells the debug mode that `function` uses it (None: that is no use)."""
    if isinstance(key, (bool, int, float, complex)):
        raise RandomKeyError(
            f"{function}: the key is the number {key}, expected two uint32 words",
            where=user_location_text(),
            hint=f"make a key of a seed first: adze.random.key({key})",
        )
    words = key if isinstance(key, Array) else getattr(key, "key_words", key)  # of JAX's typed keys
    value = as_value(words)
    if value.dtype != UINT32 or value.ndim == 0:
        raise RandomKeyError(
            f"{function}: the key is {_described(value)}, expected uint32 of shape (2,)",
            where=user_location_text(),
            hint="make a key of a seed: adze.random.key(seed)",
        )
    if value.ndim > 1 and not isinstance(value.shape[-1], Dim) and value.shape[-1] == 2:
        raise RandomKeyError(
            f"{function}: got an array of keys, {_described(value)}, expected one key of shape (2,)",
            where=user_location_text(),
            hint=f"map over the keys: adze.vmap(lambda key: adze.random.{function}(key, ...))(keys)",
        )
    if value.ndim > 1 or (not isinstance(value.shape[0], Dim) and value.shape[0] != 2):
        raise RandomKeyError(
            f"{function}: the key is {_described(value)}, expected uint32 of shape (2,)",
            where=user_location_text(),
            hint="make a key of a seed: adze.random.key(seed)",
        )
    if uses_up is not None:
        note_use(function, value, uses_up)
    return value


def _described(value: Any) -> str:
    return f"{short_name(value.dtype)} of shape {tuple(value.shape)}"


def as_shape(function: str, shape: Any) -> tuple[Any, ...]:
    """`shape` as a tuple of sizes."""
    if not isinstance(shape, Iterable) or isinstance(shape, (str, dict, np.ndarray, Array, Tracer)):
        hint = f"write ({shape},)" if isinstance(shape, (int, Dim)) else "write a tuple of integers"
        raise ShapeError(
            f"{function}: the shape is {shape!r}, expected a tuple", where=user_location_text(), hint=hint
        )
    return tuple(_size(function, shape, n) for n in shape)


def _size(function: str, shape: Any, n: Any) -> Any:
    if isinstance(n, Dim):
        return n
    is_integer = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
    if not is_integer or n < 0:
        raise ShapeError(
            f"{function}: the shape {tuple(shape)} has the size {n!r}, expected integers from 0",
            where=user_location_text(),
        )
    return int(n)


def float_dtype(function: str, dtype: Any, *parameters: Any) -> np.dtype:
    """The float dtype of samples: the one given, else that of the parameters' arrays, else float32.

    In programs written for JAX parameters do not decide, but for mean and covariance of several numbers.
    """
    if dtype is None and function != "multivariate_normal" and follows_jax():
        return floating()
    if dtype is None:
        strong = [p.dtype for p in parameters if hasattr(p, "dtype") and not getattr(p, "weak_type", False)]
        floats = [narrowed(d) for d in map(np.dtype, strong) if d in FLOATS and not yields(d)]
        return as_dtype(xp.result_type(*floats)) if floats else floating()
    wanted = _dtype(function, dtype)
    if wanted not in FLOATS:
        raise DtypeError(
            f"{function}: the dtype is {short_name(wanted)}, expected a float dtype",
            where=user_location_text(),
            hint="one of float16, bfloat16, float32, float64",
        )
    return wanted


def integer_dtype(function: str, dtype: Any, kinds: str = "iu") -> np.dtype:
    """An integer dtype whose kind is one of `kinds`; None is that of 32 bits."""
    wanted = (INT32 if "i" in kinds else UINT32) if dtype is None else _dtype(function, dtype)
    if wanted.kind not in kinds:
        expected = "an integer dtype" if "i" in kinds else "an unsigned integer dtype"
        raise DtypeError(
            f"{function}: the dtype is {short_name(wanted)}, expected {expected}", where=user_location_text()
        )
    return wanted


def _dtype(function: str, dtype: Any) -> np.dtype:
    try:
        return stated_dtype(dtype)
    except (AdzeError, TypeError):
        raise DtypeError(f"{function}: {dtype!r} is no dtype of adze", where=user_location_text()) from None


def parameter(function: str, name: str, value: Any, dtype: np.dtype) -> Any:
    """A parameter of a distribution in the dtype of the samples; a complex one is an error."""
    if isinstance(value, (bool, int, float)):
        return as_value(value, dtype)
    parameter_ = as_value(value)
    if parameter_.dtype.kind == "c":
        raise DtypeError(
            f"{function}: {name} is {short_name(parameter_.dtype)}, expected real numbers",
            where=user_location_text(),
        )
    return as_value(parameter_, dtype)


def probabilities(function: str, p: Any) -> None:
    """An error where a weight is known to be negative or NaN; a traced one is not looked at."""
    if isinstance(p, Array) and not np.all(np.asarray(p) >= 0):
        least = np.min(np.asarray(p))
        raise ArgumentError(
            f"{function}: p holds {least}, expected probabilities from 0", where=user_location_text()
        )


def joint_shape(function: str, shape: Any, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    """The shape of the samples: the one given, over which each parameter must spread, or the parameters'."""
    if shape is None:
        try:
            return tuple(xp.broadcast_shapes(*(p.shape for p in parameters.values())))
        except ShapeError as error:
            shapes = ", ".join(f"{name} {tuple(p.shape)}" for name, p in parameters.items())
            raise ShapeError(
                f"{function}: the parameters' shapes do not fit together: {shapes}", where=error.where
            ) from None
    wanted = as_shape(function, shape)
    for name, value in parameters.items():
        if not spreads(tuple(value.shape), wanted):
            raise ShapeError(
                f"{function}: {name} of shape {tuple(value.shape)} does not spread over the shape {wanted}",
                where=user_location_text(),
                hint=f"the shape is that of all samples: it must end with that of {name}",
            )
    return wanted


def spreads(shape: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """Whether an array of one shape broadcasts to the other, as far as is known while tracing."""
    if len(shape) > len(wanted):
        return False
    for m, n in zip(shape, wanted[len(wanted) - len(shape) :], strict=True):
        if isinstance(m, Dim) or isinstance(n, Dim):
            continue  # checked when the program runs
        if m not in (1, n):
            return False
    return True
