"""Types of adze values: dtype and shape of a tensor, and the type of a size.

A dtype is a `numpy.dtype`; a shape entry is an `int`, or None where the dimension is dynamic (`?`). Who asks
which sizes an op carries over to its results names the dynamic ones (`NamedSize`).
Nothing here knows MLIR: the door (`mlir.py`) translates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, TypeVar

import ml_dtypes
import numpy as np

from .dataclass import dataclass
from .errors import MeaningLostError, SizeError, TypeCheckError
from .symbolic_sizes import NamedSize

Dimension = int | NamedSize | None


def known(n: Dimension) -> int | None:
    """A dimension where it is static, else None."""
    return n if isinstance(n, int) else None


class Value:
    """A value as a rule sees it: an array or a size, of a type that only its builder knows.

    The name is for type checkers. What stands behind it belongs to the builder, and is of another class.
    """

    __slots__ = ()


N = TypeVar("N")
"""An entry of a shape: `Dimension` where types are inferred, an int where arrays are known, else a `Size`."""

Size: TypeAlias = int | Value
Shape: TypeAlias = tuple[Size, ...]

BOOL: Final = np.dtype(np.bool_)
BFLOAT16: Final = np.dtype(ml_dtypes.bfloat16)
FLOAT16: Final = np.dtype(np.float16)
FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
COMPLEX64: Final = np.dtype(np.complex64)
COMPLEX128: Final = np.dtype(np.complex128)
INT32: Final = np.dtype(np.int32)
INT64: Final = np.dtype(np.int64)
UINT32: Final = np.dtype(np.uint32)
UINT64: Final = np.dtype(np.uint64)

_NAMES: Final[dict[str, np.dtype]] = {
    "i1": BOOL,
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": INT32,
    "i64": INT64,
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": UINT32,
    "ui64": np.dtype(np.uint64),
    "f16": FLOAT16,
    "bf16": BFLOAT16,
    "f32": FLOAT32,
    "f64": FLOAT64,
    "complex<f32>": COMPLEX64,
    "complex<f64>": COMPLEX128,
}
_TEXT: Final[dict[np.dtype, str]] = {dtype: name for name, dtype in _NAMES.items()}

BOOLS: Final[frozenset[np.dtype]] = frozenset({BOOL})
SIGNED: Final[frozenset[np.dtype]] = frozenset(_NAMES[n] for n in ("i8", "i16", "i32", "i64"))
UNSIGNED: Final[frozenset[np.dtype]] = frozenset(_NAMES[n] for n in ("ui8", "ui16", "ui32", "ui64"))
INTEGERS: Final[frozenset[np.dtype]] = SIGNED | UNSIGNED
FLOATS: Final[frozenset[np.dtype]] = frozenset({FLOAT16, BFLOAT16, FLOAT32, FLOAT64})
COMPLEX: Final[frozenset[np.dtype]] = frozenset({COMPLEX64, COMPLEX128})
REALS: Final[frozenset[np.dtype]] = INTEGERS | FLOATS
NUMBERS: Final[frozenset[np.dtype]] = REALS | COMPLEX
INEXACT: Final[frozenset[np.dtype]] = FLOATS | COMPLEX
ANY: Final[frozenset[np.dtype]] = NUMBERS | BOOLS


def dtype_name(dtype: np.dtype) -> str:
    """The MLIR spelling of a dtype: `f32`, `i64`, `ui8`, `i1`, `complex<f32>`."""
    try:
        return _TEXT[dtype]
    except KeyError:
        raise TypeCheckError(
            f"dtype {dtype} is not supported: expected one of {', '.join(str(d) for d in _TEXT)}"
        ) from None


def short_name(dtype: np.dtype) -> str:
    """A dtype as users write and read it: `f32`, `i1`, `c64`."""
    return dtype_name(dtype).replace("complex<f32>", "c64").replace("complex<f64>", "c128")


def dtype_from_name(name: str) -> np.dtype:
    """The dtype spelled `name` in MLIR (`f32`, `ui8`, `complex<f32>`, ...)."""
    try:
        return _NAMES[name]
    except KeyError:
        raise TypeCheckError(f"unknown dtype {name!r}: expected one of {', '.join(_NAMES)}") from None


def _numpy_names() -> str:
    """The dtypes as NumPy calls them."""
    return ", ".join(dict.fromkeys(dtype.name for dtype in _NAMES.values()))


def as_dtype(dtype: object) -> np.dtype:
    """`dtype` (a NumPy dtype, scalar type, or name) as one of the supported dtypes, native byte order."""
    try:
        result = np.dtype(dtype).newbyteorder("=")  # type: ignore[call-overload]
    except TypeError:
        if isinstance(dtype, str) and dtype in _NAMES:
            return _NAMES[dtype]
        if dtype == "bfloat16":
            return BFLOAT16
        raise TypeCheckError(f"{dtype!r} is not a dtype: expected one of {_numpy_names()}") from None
    dtype_name(result)
    return result


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of an array: `TensorType((4, None), float32)` prints as `f32[4,?]`."""

    shape: tuple[Dimension, ...]
    dtype: np.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return all(isinstance(n, int) for n in self.shape)

    @property
    def static_shape(self) -> tuple[int | None, ...]:
        """The shape, None for each dynamic dimension, whether it has a name or not."""
        return tuple(known(n) for n in self.shape)

    def with_dtype(self, dtype: np.dtype) -> TensorType:
        return TensorType(self.shape, dtype)

    def with_shape(self, shape: Iterable[Dimension]) -> TensorType:
        return TensorType(tuple(shape), self.dtype)

    def __str__(self) -> str:
        return f"{short_name(self.dtype)}[{','.join('?' if n is None else str(n) for n in self.shape)}]"


def plain_array(array: np.ndarray) -> np.ndarray:
    """`array`, unless it is of a class that means more than its elements: that would be lost silently."""
    if type(array) is np.ndarray:
        return array
    if isinstance(array, np.ma.MaskedArray):
        raise MeaningLostError(
            "a masked array would lose its mask: adze has no masks",
            hint="fill it (x.filled(0)), or pass x.data and x.mask as two arrays",
        )
    if isinstance(array, np.matrix):
        raise MeaningLostError(
            "a numpy.matrix would lose its meaning of *: adze has arrays only",
            hint="pass numpy.asarray(x), and write x @ y for the matrix product",
        )
    if type(array).__array_ufunc__ is not np.ndarray.__array_ufunc__:
        kind = type(array).__name__
        raise MeaningLostError(
            f"an array of class {kind} would lose what its class adds to its elements",
            hint="pass numpy.asarray(x), if the elements alone are meant",
        )
    return array


MAX_BYTES: Final = 2**56
"""The most bytes of an array. No processor addresses more, and sums of such sizes fit in 64 bits: IREE
computes them modulo 2^64, so that beyond 2^63 it crashes or allocates too little."""
MAX_RANK: Final = 64
"""The most axes of an array, which is NumPy's limit."""


def require_possible(op: str, types: Iterable[ValueType]) -> None:
    """Raise the `SizeError` for an array of these types that `op` makes and that no machine can hold."""
    for t in types:
        if isinstance(t, SizeType):
            continue
        if len(t.shape) > MAX_RANK:
            raise SizeError(f"{op}: an array of {len(t.shape)} axes is not possible: at most {MAX_RANK} are")
        count = t.dtype.itemsize
        for n in t.static_shape:
            count *= n or 1  # axes of size 0 do not make the others possible: NumPy counts like this too
        if count > MAX_BYTES:
            raise SizeError(
                f"{op}: {t} is not possible: it would have {_readable(count)}, "
                "and an array has at most 64 PiB"
            )


def _readable(count: int) -> str:
    """Bytes that are too many, for people."""
    if count < 2**70:
        return f"{count / 2**60:,.2f} EiB"
    return f"10^{len(str(count)) - 1} bytes"


@dataclass(frozen=True, slots=True)
class SizeType:
    """The type of a size: MLIR's `index`, a non-negative machine integer known when the program runs."""

    @property
    def is_static(self) -> bool:
        """A size has no dimensions, so none that is dynamic."""
        return True

    def __str__(self) -> str:
        return "size"


SIZE: Final = SizeType()
ValueType = TensorType | SizeType


def same_dimension(left: Dimension, right: Dimension) -> bool:
    """True unless both are static and differ; a dynamic one is checked when the program runs."""
    return not isinstance(left, int) or not isinstance(right, int) or left == right


def merge_shapes(shapes: Iterable[tuple[Dimension, ...]]) -> tuple[Dimension, ...] | None:
    """The most static shape that all `shapes` allow, or None when two of them contradict.

    Of dynamic dimensions the first that has a name stays.
    """
    shapes = list(shapes)
    merged = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) != len(merged):
            return None
        for axis, (have, new) in enumerate(zip(merged, shape, strict=True)):
            if not same_dimension(have, new):
                return None
            merged[axis] = new if have is None or isinstance(new, int) else have
    return tuple(merged)


def storage(array: np.ndarray) -> np.ndarray:
    """The bits of `array` in a dtype that MLIR's bindings can both write and read.

    bfloat16 becomes int16 bit patterns, complex a trailing axis of real and imaginary part (observed: the
    bindings cannot cast a dense attribute of either element type back to Python).
    """
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype == BFLOAT16:
        return array.view(np.int16)
    if array.dtype in COMPLEX:
        return np.stack([array.real, array.imag], axis=-1)
    return array


def from_storage(stored: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array of type `dtype` whose `storage` is `stored`."""
    if dtype == BFLOAT16:
        return stored.view(BFLOAT16)
    if dtype in COMPLEX:
        array = np.empty(stored.shape[:-1], dtype)
        array.real, array.imag = stored[..., 0], stored[..., 1]
        return array
    return stored
