"""Memory and numbers of a kernel that is run with every access checked.

Input: the places and values of its ops. Output: values, or a `KernelFault`. What an element without a value
holds, and what an op leaves open (poison), is `UNKNOWN`, which may be moved and computed with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .interpreter import KernelFault


class Unknown:
    """The value of an element that nothing was written to: it may be moved, but decides nothing."""

    __array_ufunc__ = None  # numbers of NumPy leave their operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "unknown"


def _decided(*_: Any) -> Any:
    raise KernelFault("a value that nothing was written to, or poison, decides")


UNKNOWN: Final = Unknown()
for _name in ["add", "sub", "mul", "truediv", "mod", "and", "or", "xor", "lshift", "rshift"]:
    setattr(Unknown, f"__{_name}__", lambda *_: UNKNOWN)
    setattr(Unknown, f"__r{_name}__", lambda *_: UNKNOWN)
for _name in ["neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "invert"]:
    setattr(Unknown, f"__{_name}__", lambda *_: UNKNOWN)
for _name in ["bool", "int", "float", "index", "floordiv", "rfloordiv"]:
    setattr(Unknown, f"__{_name}__", _decided)


# -- memory ------------------------------------------------------------------------------------------


@dataclass
class Buffer:
    """The elements of an allocation, which of them are known, and whether it may be written."""

    elements: np.ndarray
    known: bytearray
    is_writable: bool

    @classmethod
    def of(cls, array: np.ndarray) -> Buffer:
        """An operand."""
        return cls(array.reshape(-1).copy(), bytearray(b"\1") * array.size, False)

    @classmethod
    def fresh(cls, count: int, dtype: Any) -> Buffer:
        """A result, scratch, or an allocation of the kernel."""
        return cls(np.zeros(count, dtype), bytearray(count), True)


@dataclass
class View:
    """A memref: a window of a buffer."""

    buffer: Buffer
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def whole(cls, buffer: Buffer, sizes: Sequence[int]) -> View:
        """All of a buffer in row-major order."""
        strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        return cls(buffer, 0, tuple(sizes), tuple(strides))

    def at(self, *places: int) -> int:
        """Where an element lies in the buffer."""
        position = self.offset
        for place, size, stride in zip(places, self.sizes, self.strides, strict=True):
            if not 0 <= place < size:
                raise KernelFault(f"place {places} of {self.sizes}")
            position += place * stride
        if not 0 <= position < len(self.known):
            raise KernelFault(f"element {position} of a buffer of {len(self.known)}")
        return position

    def behind(self, count: int, *places: int) -> tuple[int, ...]:
        """The place so many elements further on in memory, perhaps in another row: vectors of an array that
        is seen in another shape go on there."""
        *outer, last = places
        if last + count < self.sizes[-1]:
            return (*outer, last + count)
        following = (stride * size for stride, size in zip(self.strides[1:], self.sizes[1:], strict=True))
        if [*following, 1] != [*self.strides]:
            raise KernelFault(f"{count} elements from {places} on of {self.sizes}, which are apart")
        position = count + sum(place * stride for place, stride in zip(places, self.strides, strict=True))
        found = []
        for stride in self.strides:
            place, position = divmod(position, stride)
            found.append(place)
        return tuple(found)

    def load(self, *places: int) -> Any:
        """One element; integers and bools as numbers of Python."""
        position = self.at(*places)
        if not self.buffer.known[position]:
            return UNKNOWN
        element = self.buffer.elements[position]
        kind = element.dtype.kind
        return int(element) if kind == "i" else (element.real, element.imag) if kind == "c" else element

    @property
    def known(self) -> bytearray:
        return self.buffer.known

    def store(self, value: Any, *places: int) -> None:
        """Write one element."""
        position = self.at(*places)
        if not self.buffer.is_writable:
            raise KernelFault(f"write into an operand at {places}")
        parts = value if isinstance(value, tuple) else (value,)
        is_known = not any(part is UNKNOWN for part in parts)
        self.buffer.known[position] = is_known
        if is_known:
            self.buffer.elements[position] = complex(*value) if isinstance(value, tuple) else value

    def shown(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> View:
        """Another window of the same buffer, in elements of the buffer."""
        return View(self.buffer, offset, tuple(sizes), tuple(strides))


# -- numbers -----------------------------------------------------------------------------------------


def signed(x: int, width: int) -> int:
    """`x` as a number of `width` bits; a bool is 0 or 1."""
    if width == 1:
        return x & 1
    half = 1 << (width - 1)
    return ((x + half) & ((1 << width) - 1)) - half


def unsigned(x: int, width: int) -> int:
    return x & ((1 << width) - 1)


def _as_signed(x: int, width: int) -> int:
    """A bool as the signed number that its bit is."""
    return -x if width == 1 else x


def _divided(x: int, y: int) -> int:
    if y == 0:
        raise KernelFault("a division by zero")
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _divided_signed(x: int, y: int, width: int) -> int:
    if y == -1 and x == -(1 << (width - 1)):
        raise KernelFault("the least number is divided by -1")
    return _divided(x, y)


def _remainder_signed(x: int, y: int, width: int) -> int:
    return x - y * _divided_signed(x, y, width)


def _shifted(function: Callable[[int, int], int]) -> Callable[[int, int, int], Any]:
    def shift(x: int, count: int, width: int) -> Any:
        places = unsigned(count, width)
        return UNKNOWN if places >= width else function(x, places)

    return shift


INTEGERS: Final[dict[str, Callable[[int, int, int], Any]]] = {
    "addi": lambda x, y, w: x + y,
    "subi": lambda x, y, w: x - y,
    "muli": lambda x, y, w: x * y,
    "andi": lambda x, y, w: x & y,
    "ori": lambda x, y, w: x | y,
    "xori": lambda x, y, w: x ^ y,
    "minsi": lambda x, y, w: min(x, y, key=lambda v: _as_signed(v, w)),
    "maxsi": lambda x, y, w: max(x, y, key=lambda v: _as_signed(v, w)),
    "minui": lambda x, y, w: min(unsigned(x, w), unsigned(y, w)),
    "maxui": lambda x, y, w: max(unsigned(x, w), unsigned(y, w)),
    "divsi": _divided_signed,
    "remsi": _remainder_signed,
    "divui": lambda x, y, w: _divided(unsigned(x, w), unsigned(y, w)),
    "remui": lambda x, y, w: unsigned(x, w) - unsigned(y, w) * _divided(unsigned(x, w), unsigned(y, w)),
    "ceildivsi": lambda x, y, w: -_divided_signed(-x, y, w) if (x % y) else _divided_signed(x, y, w),
    "floordivsi": lambda x, y, w: x // y if _divided_signed(x, y, w) is not None else 0,
    "shli": lambda x, y, w: _shifted(lambda v, n: v << n)(x, y, w),
    "shrui": lambda x, y, w: _shifted(lambda v, n: unsigned(v, w) >> n)(x, y, w),
    "shrsi": lambda x, y, w: _shifted(lambda v, n: _as_signed(v, w) >> n)(x, y, w),
}


def integer(kind: str, x: Any, y: Any, width: int, is_wrapping: bool = True) -> Any:
    """An op of two integers; overflow that is said not to happen is poison."""
    result = INTEGERS[kind](x, y, width)
    if result is UNKNOWN:
        return UNKNOWN
    wrapped = signed(result, width)
    return wrapped if is_wrapping or wrapped == result else UNKNOWN


def compared(predicate: int, x: Any, y: Any, width: int) -> Any:
    """`arith.cmpi`."""
    if x is UNKNOWN or y is UNKNOWN:
        return UNKNOWN
    if predicate > 5:
        x, y, predicate = unsigned(x, width), unsigned(y, width), predicate - 4
    else:
        x, y = _as_signed(x, width), _as_signed(y, width)
    return int((x == y, x != y, x < y, x <= y, x > y, x >= y)[predicate])


def compared_floats(predicate: int, x: Any, y: Any) -> Any:
    """`arith.cmpf`: predicates 1 to 7 are of equal (1), greater (2) and less (4), 8 to 13 or unordered."""
    if x is UNKNOWN or y is UNKNOWN:
        return UNKNOWN
    if x != x or y != y:
        return int(predicate > 7)
    relation = 1 if x == y else 2 if x > y else 4
    is_asked = predicate if predicate < 8 else predicate - 7 if predicate < 14 else 7 * (predicate - 14)
    return int(bool(is_asked & relation))


def _extremum(x: Any, y: Any, choose: Callable[[Any, Any], Any], is_propagating: bool) -> Any:
    if x != x or y != y:
        return (x if x != x else y) if is_propagating else (y if x != x else x)
    if x == y == 0:
        return x if bool(np.signbit(x)) == (choose(-1, 1) == -1) else y
    return choose(x, y)


def fused(x: Any, y: Any, z: Any) -> Any:
    """`math.fma`, rounded once where long doubles have the digits."""
    return type(x)(np.longdouble(x) * np.longdouble(y) + np.longdouble(z))


FLOAT_OPS: Final[dict[str, Callable[..., Any]]] = {
    "arith.addf": lambda x, y: x + y,
    "arith.subf": lambda x, y: x - y,
    "arith.mulf": lambda x, y: x * y,
    "arith.divf": lambda x, y: x / y,
    "arith.remf": lambda x, y: type(x)(np.fmod(x, y)),
    "arith.negf": lambda x: -x,
    "arith.maximumf": lambda x, y: _extremum(x, y, max, True),
    "arith.minimumf": lambda x, y: _extremum(x, y, min, True),
    "arith.maxnumf": lambda x, y: _extremum(x, y, max, False),
    "arith.minnumf": lambda x, y: _extremum(x, y, min, False),
    "math.absf": abs,
    "math.sqrt": lambda x: type(x)(np.sqrt(x)),
    "math.floor": lambda x: type(x)(np.floor(x)),
    "math.ceil": lambda x: type(x)(np.ceil(x)),
    "math.trunc": lambda x: type(x)(np.trunc(x)),
    "math.roundeven": lambda x: type(x)(np.rint(x)),
    "math.copysign": lambda x, y: type(x)(np.copysign(x, y)),
    "math.rsqrt": lambda x: type(x)(1) / type(x)(np.sqrt(x)),
    "math.exp": lambda x: type(x)(np.exp(x)),
    "math.log": lambda x: type(x)(np.log(x)),
    "math.fma": fused,
    "complex.create": lambda x, y: (x, y),
    "complex.re": lambda z: z[0],
    "complex.im": lambda z: z[1],
}
INTEGER_FUNCTIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "math.ctpop": lambda x, w: unsigned(x, w).bit_count(),
    "math.ctlz": lambda x, w: w - unsigned(x, w).bit_length(),
    "math.absi": lambda x, w: abs(x),
}


def bits(x: Any, dtype: Any, width: int | None) -> Any:
    """`arith.bitcast` to a float type, or to an integer of a width."""
    if x is UNKNOWN:
        return UNKNOWN
    if width is None:
        kind = {2: np.int16, 4: np.int32, 8: np.int64}[np.dtype(dtype).itemsize]
        return np.asarray(x, kind).view(dtype)[()]
    return int(np.asarray(x).view(f"i{width // 8}"))


def as_float(dtype: Any, x: Any) -> Any:
    return x if x is UNKNOWN else dtype(x)


def to_integer(x: Any, width: int, is_signed: bool) -> Any:
    """A float as an integer; poison where there is none."""
    if x is UNKNOWN or not np.isfinite(x):
        return UNKNOWN
    whole = int(x)
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
    return signed(whole, width) if low <= whole < high else UNKNOWN
