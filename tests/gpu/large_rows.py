"""Cases of ops at sizes that kernels for GPUs vectorise: the table of ops has matrices of a few elements.

Rows as those of `tests/op_cases.py`, in the same format. Products have all dtypes; reductions, convolutions
and ops of elements have integers of 8 and 16 bits, several of which kernels load as one word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from adze.dialects.types import BFLOAT16, FLOAT16

from ..dialects.ops.cases import Array, Case, Row, array, case, row
from ..dialects.ops.contraction_rows import convolution, product
from ..dialects.ops.domains import normal, special
from ..op_cases import BY_OP

NARROW: Final = tuple(np.dtype(t) for t in (np.int8, np.int16, np.uint8, np.uint16))
WIDER: Final = {
    np.dtype(np.int8): (np.int16, np.int32, np.int64),
    np.dtype(np.int16): (np.int32, np.int64),
    np.dtype(np.uint8): (np.int32, np.uint32),
    np.dtype(np.uint16): (np.int32, np.uint64),
    np.dtype(np.int32): (np.int64,),
    FLOAT16: (np.float32,),
    BFLOAT16: (np.float32,),
    np.dtype(np.float32): (np.float64,),
}
"""The dtypes that products of each dtype are added up in, beside its own."""


def whole(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Integers over the whole range of the dtype, and well-behaved other numbers."""
    return special(rng, shape, dtype) if dtype.kind in "iu" else normal(rng, shape, dtype)


_MATMUL: Final = ((1,), (0,))
_BATCHED: Final = ((2,), (1,)), ((0,), (0,))


def _products(**more: Any) -> tuple[Case, ...]:
    more = {"only": None, "domain": whole, **more}
    return (
        product((64, 64), (64, 64), _MATMUL, **more),
        product((65, 63), (63, 65), _MATMUL, **more),
        product((3, 64, 64), (3, 64, 64), *_BATCHED, **more),
    )


PRODUCTS: Final = row(
    "dot_general",
    *_products(),
    product((64, 64), (64, 64), ((1,), (1,)), only=None, domain=whole),
    product((64, 64), (64,), _MATMUL, only=None, domain=whole),
    *(c for t, kinds in WIDER.items() for d in kinds for c in _products(only={t}, dtype=np.dtype(d))),
    tolerance="sum",
)

CONVOLUTIONS: Final = row(
    "conv_general",
    convolution((2, 8, 8, 64), (3, 3, 64, 64), only=NARROW, domain=whole, padding=((1, 1), (1, 1))),
    convolution((1, 9, 9, 63), (3, 3, 63, 65), only=NARROW, domain=whole, window_strides=(2, 2)),
    convolution((1, 8, 8, 64), (3, 3, 1, 64), only=NARROW, domain=whole, feature_group_count=64),
    convolution((2, 66, 16), (3, 16, 64), only=NARROW, domain=whole),
    tolerance="sum",
)


def _reduction(op: str) -> Row:
    return row(
        op,
        case(array(64, 64, domain=whole), axes=(1,), only=NARROW),
        case(array(64, 64, domain=whole), axes=(0,), only=NARROW),
        case(array(65, 63, domain=whole), axes=(0, 1), only=NARROW),
        case(array(4096, domain=whole), axes=(0,), only=NARROW),
        tolerance=BY_OP[op].tolerance,
    )


def _running(op: str) -> Row:
    return row(
        op,
        case(array(64, 64, domain=whole), axis=1, reverse=False, only=NARROW),
        case(array(64, 64, domain=whole), axis=0, reverse=True, only=NARROW),
        tolerance=BY_OP[op].tolerance,
    )


def _position(op: str) -> Row:
    index = np.dtype(np.int32)
    return row(
        op,
        case(array(64, 64), axis=1, index_dtype=index, only=NARROW),
        case(array(64, 64), axis=0, index_dtype=index, only=NARROW),
    )


REDUCTIONS: Final = (
    *(_reduction(f"reduce_{name}") for name in ("sum", "prod", "max", "min", "and", "or")),
    *(_running(name) for name in ("cumsum", "cumprod", "cummax", "cummin")),
    *(_position(name) for name in ("argmax", "argmin")),
)


def _of_elements(known: Row) -> Row | None:
    """The cases of an elementwise op with 64 x 64 elements; None where no narrow integer is an operand."""
    cases = [
        replace(each, operands=tuple(map(_enlarged, each.operands)), dtypes=(each.dtypes or _ALL) & _ALL)
        for each in known.cases
        if each.operands and all(isinstance(o, Array) and o.shape == _USUAL for o in each.operands)
    ]
    dtypes = tuple(d for d in known.dtypes if d in NARROW)
    return Row(known.op, tuple(cases), dtypes, known.tolerance) if cases and dtypes else None


_ALL: Final = frozenset(NARROW)
_USUAL: Final = (2, 60)


def _enlarged(operand: Any) -> Any:
    return replace(operand, shape=(64, 64))


ELEMENTS: Final = tuple(filter(None, map(_of_elements, BY_OP.values())))
