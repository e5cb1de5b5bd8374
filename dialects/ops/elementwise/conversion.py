"""Between dtypes, elementwise: value conversion, bit reinterpretation, complex numbers and their parts.

`convert` keeps the value as far as the new dtype can: floats saturate to the range of an integer (NaN
becomes 0), integers wrap around, a complex number loses its imaginary part, and a boolean is `x != 0`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...op import Operand, dtype_attribute, require
from ...protocols import Builder, Cotangents, OneLinear, Tangent, Tangents, Value, Values
from ...types import (
    ANY,
    BOOL,
    COMPLEX,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    FLOATS,
    INTEGERS,
    REALS,
    TensorType,
)
from .family import HALVES, INTEGERS_ARE_DISCRETE, Binary, LinearUnary, inverse_of, part_dtype


class Conversion(LinearUnary):
    """Family of changes of the dtype; `dtype` is the new one."""

    attributes = {"dtype": dtype_attribute("the dtype of the result")}
    is_arithmetic = False
    result_rule = "an array of the operand's shape and of type `dtype`"

    @classmethod
    def infer(cls, x: TensorType, *, dtype: np.dtype) -> TensorType:
        return x.with_dtype(dtype)

    @staticmethod
    def simplify(b: Builder, x: Value, *, dtype: np.dtype) -> Value | None:
        return x if b.tensor_type(x).dtype == dtype else None


class Convert(Conversion):
    """``y`` = the number of type `dtype` nearest to `x`;  ``dy`` = the converted ``dx`` between floats."""

    name = "convert"
    operands = (Operand("x", ANY),)

    @staticmethod
    def evaluate(x: np.ndarray, *, dtype: np.dtype) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(converted(x, dtype))

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: OneLinear, *, dtype: np.dtype) -> Cotangents:
        return b.convert(cotangent, dtype=operands[0].dtype)


class BitcastConvert(Conversion):
    """``y`` = the bits of `x` read as a number of type `dtype`, which has the same width."""

    name = "bitcast_convert"
    operands = (Operand("x", REALS),)
    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE

    @classmethod
    def infer(cls, x: TensorType, *, dtype: np.dtype) -> TensorType:
        require(
            dtype in REALS and dtype.itemsize == x.dtype.itemsize,
            f"bitcast_convert: cannot read the bits of {x} as {dtype}: expected an integer or float dtype "
            f"of {8 * x.dtype.itemsize} bits",
        )
        return x.with_dtype(dtype)

    @staticmethod
    def evaluate(x: np.ndarray, *, dtype: np.dtype) -> np.ndarray:
        return x.view(dtype)


class Part(LinearUnary):
    """Family of real functions of a complex number that are linear over the reals."""

    operands = (Operand("x", COMPLEX),)
    is_arithmetic = False
    result_rule = "an array of the operand's shape and of the dtype of its parts"

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        return part_dtype(dtype)


class Real(Part):
    """``y = Re x;  dy = Re dx``."""

    name = "real"
    function = np.real

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return b.complex(cotangent, b.zeros_like(cotangent))


class Imag(Part):
    """``y = Im x;  dy = Im dx``."""

    name = "imag"
    function = np.imag

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return b.complex(b.zeros_like(cotangent), b.neg(cotangent))


class Conj(LinearUnary):
    """``y = Re x - i Im x;  dy = conj(dx)``."""

    name = "conj"
    operands = (Operand("x", COMPLEX),)
    function = np.conj

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        return b.conj(cotangent)

    @staticmethod
    def simplify(b: Builder, x: Value) -> Value | None:
        return inverse_of(b, "conj", x)


class Complex(Binary):
    """``z = x + i y;  dz = dx + i dy``, from real and imaginary parts."""

    name = "complex"
    is_arithmetic = False
    operands = (Operand("x", frozenset({FLOAT32, FLOAT64})), Operand("y", frozenset({FLOAT32, FLOAT64})))
    result_rule = "an array of the operands' common shape and of the complex dtype with such parts"

    @classmethod
    def result_dtype(cls, dtype: np.dtype) -> np.dtype:
        return COMPLEX64 if dtype == FLOAT32 else COMPLEX128

    @staticmethod
    def function(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = np.empty(x.shape, Complex.result_dtype(x.dtype))
        result.real, result.imag = x, y
        return result

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value) -> Tangents:
        dx, dy = tangents
        present = dy if dx is None else dx
        assert present is not None
        zero = b.zeros_like(present)
        return b.complex(zero if dx is None else dx, zero if dy is None else dy)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values) -> Cotangents:
        """The pairing of complex numbers is `Re(ct * z)`, so that the imaginary part changes its sign."""
        return [b.real(cotangent), b.neg(b.imag(cotangent))]


class Nextafter(Binary):
    """``z`` = the number of the dtype that comes after `x` on the way to `y`; `y` where they are equal."""

    name = "nextafter"
    operands = (Operand("x", FLOATS), Operand("y", FLOATS))
    jvp = INTEGERS_ARE_DISCRETE

    @classmethod
    def evaluate(cls, *arrays: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(np.nextafter(*arrays))


def converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`x` converted to `dtype`; see the module docstring."""
    if dtype == BOOL:
        return x != 0
    if x.dtype in COMPLEX and dtype not in COMPLEX:
        x = x.real
    if x.dtype in FLOATS and dtype in INTEGERS:
        return _saturated(np.trunc(x.astype(FLOAT64)), dtype)
    if x.dtype in INTEGERS and dtype in HALVES:
        x = x.astype(FLOAT32)
    return x.astype(dtype)


def _saturated(whole: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integral float64 values as integers of type `dtype`, clipped to its range."""
    limits = np.iinfo(dtype)
    low, high = float(limits.min), float(limits.max) + (1.0 if dtype.itemsize < 8 else 0.0)
    inside = (whole >= low) & (whole < high)
    result = np.where(inside, whole, 0.0).astype(dtype)
    result = np.where(whole >= high, dtype.type(limits.max), result)
    return np.where(whole < low, dtype.type(limits.min), result)
