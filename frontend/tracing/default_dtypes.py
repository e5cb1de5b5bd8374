"""float64 that nobody asked for: `default_dtypes` lets NumPy's yield, `widening` names its line.

Input: values that NumPy made in float64 because it always does (`np.float64(2)`, `np.sqrt(2 / 3)`,
`np.zeros(3)`). Output: with the first, weakly typed values; with the second, an error where one of them makes
a narrower array wider. Idea: both are asked at the one place where such a value enters or meets another.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from ...dialects.errors import AdzeError
from ...dialects.types import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INEXACT,
    INT32,
    INT64,
    UINT32,
    UINT64,
    as_dtype,
)
from ...runtime.settings import read_setting
from ..errors import ArgumentError
from .jax_rules import Installed, follows_jax
from .locations import user_location_text

_WIDEST: Final = (FLOAT64, COMPLEX128)
NAMES: Final = ("float32", "numpy")
_WIDENING: Final[dict[str | None, str]] = {None: "widening", **{name: f"{name}, widening" for name in NAMES}}
CHOICES: Final = (None, *NAMES, *_WIDENING.values())
"""What `chosen` returns: the default dtypes, and whether widening is named. Each has programs of its own."""

_chosen: ContextVar[str | None] = ContextVar("default_dtypes", default=None)
_names_widening: ContextVar[bool] = ContextVar("names_widening", default=False)


class WideningError(AdzeError, TypeError):
    """A float64 came into a computation in narrower numbers, in a context of `adze.debug.widening`."""


@contextmanager
def default_dtypes(name: str) -> Iterator[None]:
    """A context, or a decorator, in which NumPy's own choice of float64 is no choice: `"float32"`.

    NumPy's float64 and complex128 scalars, and such arrays that a traced function captures, are weakly typed
    then: they take the dtype of what they meet, as Python numbers do, and are float32 among themselves.
    Arguments keep their dtypes, and so does what is given one: `anp.asarray(x, dtype="float64")`. `"numpy"`
    is the default. Also `adze.jit(f, default_dtypes="float32")` and ADZE_DEFAULT_DTYPES.

    Raises `ArgumentError` for another name.
    """
    check(name)
    token = _chosen.set(_WIDENING[name] if _names_widening.get() else name)
    try:
        yield
    finally:
        _chosen.reset(token)


def check(name: str) -> None:
    """Raise `ArgumentError` for what is no choice of default dtypes."""
    if name not in NAMES:
        raise ArgumentError(
            f"default_dtypes is {name!r}: expected 'float32' or 'numpy'", where=user_location_text()
        )


chosen: Final = _chosen.get
"""What this context chose; None: nothing, so that the settings decide."""


names_widening: Final = _names_widening.get
"""Whether this context wants to know where float64 comes in."""


class Floating:
    """The dtype of floats that integers become, float32; programs written for JAX may ask for float64."""

    dtype: np.dtype = FLOAT32


def floating() -> np.dtype:
    """What `Floating` says."""
    return Floating.dtype


def floating_of(dtype: np.dtype) -> np.dtype:
    """The dtype of floats that integers of `dtype` become: `floating`, narrow ones float32."""
    return floating() if dtype.itemsize == 8 else FLOAT32


def stated_dtype(dtype: Any) -> np.dtype:
    """A dtype that a program states. Python's `int`, `float` and `complex` are int64, float64 and complex128,
    as in NumPy, and the default dtypes in programs written for JAX."""
    if (dtype is float or dtype is complex) and follows_jax():
        return floating() if dtype is float else complex_floating()
    return integral() if dtype is int else as_dtype(dtype)


def integral() -> np.dtype:
    """The dtype of integers that nobody gave one: int64, and int32 in programs written for JAX that leave 64
    bits off (after `adze.compat.install()`)."""
    return narrowed(INT64)


def counting() -> np.dtype:
    """The dtype of positions and whole numbers that are drawn: int32, or int64 beside float64."""
    return INT32 if Floating.dtype == FLOAT32 else INT64


def complex_floating() -> np.dtype:
    """The complex dtype of the same precision."""
    return COMPLEX64 if Floating.dtype == FLOAT32 else COMPLEX128


def is_float32() -> bool:
    """Whether NumPy's float64 stays none here: where somebody says so, and in programs written for JAX that
    leave 64 bits off (after `adze.compat.install()`)."""
    name = _name_of(chosen())
    if name is None:
        return is_narrow_program() or _from_settings() == "float32"
    return name == "float32"


def _name_of(choice: str | None) -> str | None:
    """The default dtypes of a choice, None where it leaves them to the settings."""
    return None if choice is None else choice.removesuffix("widening").removesuffix(", ") or None


@functools.cache
def _from_settings() -> str:
    name: str = read_setting("default_dtypes")
    return name


def yields(dtype: np.dtype) -> bool:
    """Whether a constant of this dtype, which NumPy made, takes the dtype of what it meets. Programs written
    for JAX narrow it instead (`narrowed`)."""
    return dtype in _WIDEST and is_float32() and narrowed(dtype) == dtype


_NARROW: Final = {FLOAT64: FLOAT32, COMPLEX128: COMPLEX64, INT64: INT32, UINT64: UINT32}


def is_narrow_program() -> bool:
    """Whether this is a program written for JAX that leaves 64 bits off (after `adze.compat.install()`)."""
    return Installed.is_on and Floating.dtype == FLOAT32


def narrowed(dtype: np.dtype) -> np.dtype:
    """The dtype of an array of NumPy's where it enters: 32 bits for 64 in programs written for JAX that leave
    64 bits off (after `adze.compat.install()`), its own everywhere else."""
    if dtype not in _NARROW or not is_narrow_program():
        return dtype
    return _NARROW[dtype] if _name_of(chosen()) is None else dtype


def narrow_stated(dtype: Any, function: str) -> Any:
    """A dtype that a program states to `function`, as it is: but programs written for JAX that leave 64 bits
    off get those of 32 bits for those of 64, with JAX's warning."""
    if dtype is None or not is_narrow_program():
        return dtype
    if dtype is int or dtype is float or dtype is complex:
        return stated_dtype(dtype)
    try:
        stated = np.dtype(dtype)
    except TypeError:
        return dtype
    narrow = narrowed(stated)
    if narrow == stated:
        return dtype
    warnings.warn(
        f"Explicitly requested dtype {stated} requested in {function} is not available, and will be "
        f"truncated to dtype {narrow}. To enable more dtypes, set jax_enable_x64.",
        stacklevel=4,
    )
    return narrow


@contextmanager
def widening(enabled: bool = True) -> Iterator[None]:
    """A context in which the first float64 that comes into narrower numbers is a `WideningError`.

    The error names the line where an array of float32 (or half precision) meets one of float64 and becomes
    it, and says which operand is wide. What is computed in float64 alone, or converted by name, is none.
    Jitted functions are traced again in it, so that a call before hides nothing.
    """
    token = _names_widening.set(enabled)
    name = _name_of(_chosen.get())
    choice = _chosen.set(_WIDENING[name] if enabled else name)
    try:
        yield
    finally:
        _chosen.reset(choice)
        _names_widening.reset(token)


def note_promotion(values: Sequence[Any], dtypes: Sequence[np.dtype]) -> None:
    """Raise where these values, strong ones, become wider than they are, and somebody wants to know."""
    if not _names_widening.get():
        return
    for value, dtype in zip(values, dtypes, strict=True):
        narrow = getattr(value, "dtype", dtype)
        is_widened = dtype in _WIDEST and narrow in INEXACT and narrow not in _WIDEST
        if is_widened and not value.weak_type:
            raise _error(value, [v for v in values if getattr(v, "dtype", None) in _WIDEST])


def _error(narrow: Any, wide: Sequence[Any]) -> WideningError:
    shape = ", ".join(map(str, narrow.shape))
    described, origin = "float64", ""
    if wide:
        described = f"{wide[0].dtype.name}[{', '.join(map(str, wide[0].shape))}]"
        origin = f" from {wide[0].origin()}" if hasattr(wide[0], "origin") else ""
    return WideningError(
        f"{narrow.dtype.name}[{shape}] meets {described}{origin} here and becomes {described.split('[')[0]}",
        where=user_location_text(),
        hint="write a Python number, float(...), or give the constant a dtype: np.zeros(3, np.float32); "
        'adze.default_dtypes("float32") lets NumPy\'s constants yield',
    )
