"""Constants, counting, and sizes: the values that come from no array.

Sizes are MLIR `index` scalars; they carry the dynamic dimensions of a program (`?`) from `dim` through
`size_add`, `size_mul`, ... into the ops that make shapes. They are never batched and have no tangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic

import numpy as np

from ..errors import RunTimeCheckError
from ..extents import carried_size
from ..factors import Axes, Factors
from ..op import (
    NO_BATCH,
    NO_TANGENT,
    Op,
    Operand,
    Record,
    dtype_attribute,
    elements,
    integer,
    require,
    require_axis,
    sizes,
    stated,
    text,
    undefined,
)
from ..protocols import Batched, Builder, Size, Value, Values
from ..types import ANY, COMPLEX, NUMBERS, REALS, SIZE, Dimension, N, SizeType, TensorType, from_storage


class Constant(Op):
    """``y = value``, an array known at compile time.

    `value` holds the bits as `types.storage` writes them, `dtype` the element type they stand for.
    """

    name = "constant"
    is_constant = True
    is_cheap = True
    attributes = {"value": elements("the stored bits"), "dtype": dtype_attribute("the element type")}

    @staticmethod
    def infer(*, value: np.ndarray, dtype: np.dtype) -> TensorType:
        return TensorType(value.shape[:-1] if dtype in COMPLEX else value.shape, dtype)

    @staticmethod
    def evaluate(*, value: np.ndarray, dtype: np.dtype) -> np.ndarray:
        return from_storage(value, dtype)

    jvp = NO_TANGENT
    transpose = undefined("a constant has no operands")
    batch = NO_BATCH


class Counting(Record, Generic[N]):
    """The attributes of `iota`."""

    shape: tuple[N, ...] = stated(sizes("the result's shape"))
    axis: int = stated(integer("the axis to count along"))
    dtype: np.dtype = stated(dtype_attribute("the element type"))


class Iota(Op):
    """``y[i] = i[axis]``: counts along one axis."""

    name = "iota"
    is_cheap = True
    is_count = True
    record = Counting

    @staticmethod
    def infer(*, attributes: Counting[Dimension]) -> TensorType:
        shape, axis, dtype = attributes.shape, attributes.axis, attributes.dtype
        require_axis("iota", "axis", axis, len(shape))
        require(dtype in NUMBERS, f"iota: dtype {dtype} cannot count")
        return TensorType(shape, dtype)

    @staticmethod
    def factors(*, attributes: Counting[int]) -> Factors:
        """Along the axes that it does not count along."""
        factors = Factors()
        shape = enumerate(attributes.shape)
        axes: Axes = [((factors.undivided if k == attributes.axis else factors.free)(n),) for k, n in shape]
        factors.results = [axes]
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType], results: Sequence[TensorType], *, attributes: Counting[int]
    ) -> dict[str, Any]:
        return {**attributes.keywords, "shape": results[0].static_shape}

    @staticmethod
    def evaluate(*, attributes: Counting[int]) -> np.ndarray:
        shape, axis, dtype = attributes.shape, attributes.axis, attributes.dtype
        count = np.arange(shape[axis]).astype(dtype)
        count = count.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        return np.broadcast_to(count, shape).copy()

    jvp = NO_TANGENT
    transpose = undefined("iota has no operands")
    batch = NO_BATCH


class Dim(Op):
    """``n = x.shape[axis]``, as a size."""

    name = "dim"
    is_arithmetic = False
    is_cheap = True
    operands = (Operand("x", ANY),)
    attributes = {"axis": integer("the axis to measure")}

    @staticmethod
    def infer(x: TensorType, *, axis: int) -> SizeType:
        require_axis("dim", "axis", axis, x.rank)
        return SIZE

    @staticmethod
    def evaluate(x: np.ndarray, *, axis: int) -> int:
        return x.shape[axis]

    @staticmethod
    def simplify(b: Builder, x: Value, *, axis: int) -> Value | None:
        """The size that the op of `x` took from an operand or was told."""
        application = b.defining(x)
        return None if application is None else carried_size(b, application, axis)

    jvp = NO_TANGENT
    transpose = undefined("a size carries no cotangent")

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, axis: int) -> Batched:
        return [b.dim(operands[0], axis=axis + 1)], [False]


class SizeConstant(Op):
    """``n = value``, a size known at compile time."""

    name = "size_constant"
    is_cheap = True
    attributes = {"value": integer("the size")}

    @staticmethod
    def infer(*, value: int) -> SizeType:
        return SIZE

    @staticmethod
    def evaluate(*, value: int) -> int:
        return value

    jvp = NO_TANGENT
    transpose = undefined("a size carries no cotangent")
    batch = NO_BATCH


class SizeArithmetic(Op, adds=("function",)):
    """Family of integer arithmetic on two sizes."""

    operands = (Operand("m", None), Operand("n", None))
    is_cheap = True
    function: ClassVar[Any]

    @classmethod
    def infer(cls, m: SizeType, n: SizeType) -> SizeType:
        return SIZE

    @classmethod
    def evaluate(cls, m: int, n: int) -> int:
        return int(cls.function(m, n))

    jvp = NO_TANGENT
    transpose = undefined("a size carries no cotangent")
    batch = NO_BATCH


class SizeAdd(SizeArithmetic):
    """``k = m + n``"""

    name = "size_add"
    function = int.__add__


class SizeSub(SizeArithmetic):
    """``k = m - n``"""

    name = "size_sub"
    function = int.__sub__


class SizeMul(SizeArithmetic):
    """``k = m * n``"""

    name = "size_mul"
    function = int.__mul__


class SizeDiv(SizeArithmetic):
    """``k = floor(m / n)``"""

    name = "size_div"
    function = int.__floordiv__


class SizeMax(SizeArithmetic):
    """``k = max(m, n)``"""

    name = "size_max"
    function = max


class SizeMin(SizeArithmetic):
    """``k = min(m, n)``"""

    name = "size_min"
    function = min


class SizeToArray(Op):
    """``y = n``, a size as a 0-d array of an integer or float dtype."""

    name = "size_to_array"
    is_cheap = True
    operands = (Operand("n", None),)
    attributes = {"dtype": dtype_attribute("the element type")}

    @staticmethod
    def infer(n: SizeType, *, dtype: np.dtype) -> TensorType:
        require(
            dtype in REALS,
            f"size_to_array: {dtype} cannot hold a size; expected an integer or float dtype",
        )
        return TensorType((), dtype)

    @staticmethod
    def evaluate(n: int, *, dtype: np.dtype) -> np.ndarray:
        return np.asarray(n).astype(dtype)

    jvp = NO_TANGENT
    transpose = undefined("a size carries no cotangent")
    batch = NO_BATCH


class SizeCheck(Op):
    """Fails when the program runs unless ``m == n``; afterwards the two are known to be equal."""

    name = "size_check"
    operands = (Operand("m", None), Operand("n", None))
    attributes = {"message": text("what is said when they differ")}
    has_effect = True

    @staticmethod
    def infer(m: SizeType, n: SizeType, *, message: str) -> tuple[()]:
        return ()

    @staticmethod
    def evaluate(m: int, n: int, *, message: str) -> tuple[()]:
        if m != n:
            raise RunTimeCheckError(f"{message} (sizes {m} and {n})")
        return ()

    jvp = NO_TANGENT
    transpose = undefined("a check has no result")
    batch = NO_BATCH
