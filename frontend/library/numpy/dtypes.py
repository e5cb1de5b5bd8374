"""Dtypes by name, what is known of them, and how they relate: the data type part of the array API."""

from __future__ import annotations

import builtins
from typing import Any, Final

import ml_dtypes
import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import (
    ANY,
    BFLOAT16,
    BOOL,
    COMPLEX,
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
)
from ...tracing.array import Array, ArrayMethods
from ...tracing.default_dtypes import integral
from ...tracing.frames import Tracer
from .arguments import argument_error, dtype_of
from .promotion import asarray_of, convert, promote_types, result_type

bool = bool_ = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64
bfloat16 = ml_dtypes.bfloat16
complex64, complex128 = np.complex64, np.complex128

# NumPy's other names of the same dtypes: `int_` and `uint` have 64 bits, `float_` and `complex_` are the
# default ones, as in `jax.numpy` with 64 bits enabled.
single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = np.int64, np.uint64, np.float64, np.complex128
dtype = np.dtype
object_, character, flexible = np.object_, np.character, np.flexible
ComplexWarning = np.exceptions.ComplexWarning

# NumPy's abstract kinds, for `issubdtype`; every array, traced or concrete, is an `ndarray`.
generic, number, inexact = np.generic, np.number, np.inexact
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
ndarray = ArrayMethods

_KINDS: Final = {
    "bool": frozenset({BOOL}),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": ANY - {BOOL},
}


_ABSTRACT: Final = (
    *(generic, number, inexact, integer, signedinteger, unsignedinteger),
    *(floating, complexfloating),
)


@dataclass(frozen=True, slots=True)
class FloatInformation:
    """What `finfo` says of a float dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    resolution: float
    dtype: np.dtype
    epsneg: float
    smallest_subnormal: float
    precision: int
    nmant: int
    nexp: int
    iexp: int
    machep: int
    negep: int
    minexp: int
    maxexp: int

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return self.smallest_normal


@dataclass(frozen=True, slots=True)
class IntegerInformation:
    """What `iinfo` says of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


_WHOLE: Final = ("precision", "nmant", "nexp", "iexp", "machep", "negep", "minexp", "maxexp")
"""What NumPy's `finfo` says in whole numbers: digits, bits, exponents."""


def _dtype_of_argument(function: str, argument: Any) -> np.dtype:
    """The dtype that an array has, or that a name or type means: of Python's types the dtype of 64 bits."""
    if isinstance(argument, (Tracer, Array, np.ndarray, np.generic)):
        return argument.dtype
    if argument is int or argument is float or argument is complex:
        return np.dtype(argument)
    return dtype_of(function, argument)


def finfo(type: Any, /) -> FloatInformation:
    """Machine limits of a float dtype (of a complex one: of its parts)."""
    dtype = _dtype_of_argument("finfo", type)
    if dtype in COMPLEX:
        dtype = FLOAT32 if dtype == COMPLEX64 else FLOAT64
    if dtype not in FLOATS:
        raise argument_error(f"finfo: expected a float dtype, got {dtype.name}")
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return FloatInformation(
        int(info.bits),
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        float(info.resolution),
        dtype,
        float(info.epsneg),
        float(info.smallest_subnormal),
        *(int(getattr(info, name)) for name in _WHOLE),
    )


def iinfo(type: Any, /) -> IntegerInformation:
    """Machine limits of an integer dtype."""
    dtype = _dtype_of_argument("iinfo", type)
    if dtype not in INTEGERS:
        raise argument_error(f"iinfo: expected an integer dtype, got {dtype.name}")
    info = np.iinfo(dtype)
    return IntegerInformation(int(info.bits), int(info.max), int(info.min), dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether `dtype` is of a kind ("bool", "integral", "real floating", ...), a dtype, or one of several."""
    wanted = dtype_of("isdtype", dtype)
    if isinstance(kind, tuple):
        return any(isdtype(wanted, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return wanted in _KINDS[kind]
    if isinstance(kind, str) and kind not in np.sctypeDict and kind != "bfloat16":
        raise argument_error(f"isdtype: unknown kind {kind!r}, expected one of {', '.join(_KINDS)}")
    return wanted == dtype_of("isdtype", kind)


def issubdtype(arg1: Any, arg2: Any) -> Any:
    """Whether a dtype is of one of NumPy's kinds (`floating`, `integer`, ...) or is a dtype."""
    if isinstance(arg2, type) and issubclass(arg2, np.generic) and arg2 in _ABSTRACT:
        standard = np.dtype(np.float16) if dtype_of("issubdtype", arg1) == BFLOAT16 else arg1
        return np.issubdtype(standard, arg2)
    return dtype_of("issubdtype", arg1) == dtype_of("issubdtype", arg2)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> Any:
    """Whether a dtype (or an array's) can be cast to another under NumPy's rule `casting`."""
    source, target = _dtype_of_argument("can_cast", from_), dtype_of("can_cast", to)
    if BFLOAT16 not in (source, target):
        return np.can_cast(source, target, casting)  # type: ignore[arg-type]
    if source == target or casting == "unsafe":
        return True
    if casting == "same_kind" and source in FLOATS:
        return target in FLOATS | COMPLEX
    return casting in ("safe", "same_kind") and promote_types(source, target) == target


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """`x` in another dtype: floats to integers truncate and saturate, complex to real drops the rest."""
    value, wanted = asarray_of(x), dtype_of("astype", dtype)
    return convert(value, wanted)


def default_dtypes() -> dict[str, np.dtype]:
    """The dtypes of new arrays by kind, as the array API's inspection functions name them."""
    return {
        "real floating": FLOAT32,
        "complex floating": COMPLEX64,
        "integral": integral(),
        "indexing": integral(),
    }


def iscomplexobj(x: Any) -> Any:
    """Whether the dtype of `x` is complex."""
    return result_type(x) in COMPLEX


def isrealobj(x: Any) -> Any:
    """Whether the dtype of `x` is not complex."""
    return not iscomplexobj(x)


def is_supported_dtype(dtype: Any) -> builtins.bool:
    """Whether arrays of `dtype` can be exchanged through DLPack: every dtype of adze but bfloat16."""
    try:
        return np.dtype(dtype) in ANY and np.dtype(dtype) != BFLOAT16
    except TypeError:
        return False
