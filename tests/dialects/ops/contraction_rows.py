"""Rows of the table of op cases: reductions, running values, contraction, convolution, ordering.

A section of `tests/op_cases.py`, which explains the format. Cases that are about the form of an op and not
about its arithmetic run for a few dtypes only, since each is a kernel to compile.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from adze.dialects.types import BFLOAT16, FLOAT16, REALS

from .cases import Case, Domain, Row, T, array, case, row
from .domains import few

_F32: Final = (np.dtype(np.float32),)
_SOME: Final = tuple(np.dtype(t) for t in (np.float32, np.float64, np.int32, np.complex64))


def _reduction(
    op: str, tolerance: str = "exact", domain: str = "special", empty: bool = True, many: str = ""
) -> Row:
    """`many`: the domain of many numbers, whose sum must not cancel: each processor adds them otherwise."""
    without_elements = (case(array(0, 3), axes=(0,), only=_SOME), case(array(0, 3), axes=(0, 1), only=_SOME))
    return row(
        op,
        case(array(3, 17, domain=domain), axes=(1,)),
        case(array(17, 3, domain=domain), axes=(0,)),
        case(array(2, 5, 3, domain=domain), axes=(0, 2), only=_SOME),
        case(array(5, 7, domain=domain), axes=(0, 1)),
        case(array(20000, domain=many or domain), axes=(0,), only=_SOME),
        case(array(domain=domain), axes=(), only=_SOME),
        case(array(0, 3, domain=domain), axes=(1,), only=_SOME),
        *(without_elements if empty else ()),
        tolerance=tolerance,
    )


def _position(op: str) -> Row:
    i32, i64 = np.dtype(np.int32), np.dtype(np.int64)
    return row(
        op,
        case(array(4, 33), axis=1, index_dtype=i32),
        case(array(33, 4, domain="unit"), axis=0, index_dtype=i64, only=REALS),
        case(array(40, domain=few), axis=0, index_dtype=i32),
        case(array(0, 3), axis=1, index_dtype=i32, only=_F32),
    )


def _running(op: str, tolerance: str = "exact", domain: str = "special") -> Row:
    return row(
        op,
        case(array(3, 9, domain=domain), axis=1, reverse=False),
        case(array(9, 3, domain=domain), axis=0, reverse=True),
        case(array(2, 64, domain=domain), axis=1, reverse=True, only=_SOME),
        case(array(2, 70, 3, domain=domain), axis=1, reverse=False, only=_SOME),
        case(array(0, 3, domain=domain), axis=0, reverse=False, only=_SOME),
        case(array(0, 3, domain=domain), axis=1, reverse=True, only=_SOME),
        tolerance=tolerance,
    )


REDUCTIONS: Final = (
    _reduction("reduce_sum", "sum", "normal", many="positive"),
    _reduction("reduce_prod", "product", "unit"),
    _reduction("reduce_max", empty=False),
    _reduction("reduce_min", empty=False),
    _reduction("reduce_and"),
    _reduction("reduce_or"),
    _position("argmax"),
    _position("argmin"),
    _running("cumsum", "sum", "normal"),
    _running("cumprod", "product", "unit"),
    _running("cummax"),
    _running("cummin"),
)


def product(
    left: tuple[int, ...],
    right: tuple[int, ...],
    contracting: tuple[tuple[int, ...], tuple[int, ...]],
    batch: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    domain: str | Domain = "normal",
    **more: Any,
) -> Case:
    """A product of two arrays; `more` replaces attributes."""
    operands = (array(*left, domain=domain), array(*right, domain=domain))
    attributes: dict[str, Any] = {"dtype": T, "only": _SOME, **more}
    return case(*operands, contracting=contracting, batch=batch, **attributes)


CONTRACTION: Final = (
    row(
        "dot_general",
        product((5, 7), (7, 6), ((1,), (0,)), only=None),  # matmul
        product((5, 7), (6, 7), ((1,), (1,))),
        product((7, 5), (7, 6), ((0,), (0,))),
        product((7, 5), (6, 7), ((0,), (1,))),
        product((9, 7), (7,), ((1,), (0,)), only=None),  # matvec
        product((7,), (7, 9), ((0,), (0,))),
        product((37,), (37,), ((0,), (0,)), only=None),  # vecdot
        product((3,), (4,), ((), ())),  # outer
        product((), (), ((), ())),
        product((3, 1), (1, 4), ((1,), (0,))),
        product((2, 5, 7), (2, 7, 3), ((2,), (1,)), ((0,), (0,)), only=None),  # batched matmul
        product((2, 7), (2, 7), ((1,), (1,)), ((0,), (0,))),  # batched vecdot
        product((2, 3, 4, 5), (5, 3, 2, 6), ((3,), (0,)), ((1, 0), (1, 2))),
        product((2, 3, 4), (3, 2, 5), ((0, 1), (1, 0))),
        product((2, 4, 3), (3, 5, 2), ((0, 2), (2, 0))),
        product((5, 0), (0, 6), ((1,), (0,))),
        product((0, 3), (3, 2), ((1,), (0,))),
        product((40, 64), (64, 48), ((1,), (0,)), only=_F32),
        product((5, 7), (7, 6), ((1,), (0,)), only={BFLOAT16, FLOAT16}, dtype=np.dtype(np.float32)),
        product((5, 7), (7, 6), ((1,), (0,)), only={np.dtype(np.int8)}, dtype=np.dtype(np.int32)),
        tolerance="sum",
    ),
)


def convolution(
    left: tuple[int, ...], right: tuple[int, ...], domain: str | Domain = "normal", **changes: Any
) -> Case:
    """Channels last, kernel (spatial, in, out), plain window; `changes` replace attributes."""
    spatial = len(left) - 2
    last = (0, spatial + 1, *range(1, spatial + 1))
    attributes: dict[str, Any] = {
        "window_strides": (1,) * spatial,
        "padding": ((0, 0),) * spatial,
        "lhs_dilation": (1,) * spatial,
        "rhs_dilation": (1,) * spatial,
        "lhs_spec": last,
        "rhs_spec": (spatial + 1, spatial, *range(spatial)),
        "out_spec": last,
        "feature_group_count": 1,
        "batch_group_count": 1,
        "only": _SOME,
    }
    return case(array(*left, domain=domain), array(*right, domain=domain), **{**attributes, **changes})


_CHANNELS_FIRST: Final = {"lhs_spec": (0, 1, 2, 3), "rhs_spec": (0, 1, 2, 3), "out_spec": (0, 1, 2, 3)}

CONVOLUTION: Final = (
    row(
        "conv_general",
        convolution((2, 5, 6, 3), (3, 2, 3, 4), only=None),
        convolution((2, 3, 5, 6), (4, 3, 3, 2), **_CHANNELS_FIRST, padding=((1, 1), (0, 1))),
        convolution((1, 9, 2), (3, 2, 4), window_strides=(2,), padding=((1, 2),)),
        convolution((1, 4, 5, 3, 2), (2, 2, 2, 2, 3), padding=((0, 1),) * 3),
        convolution((2, 7, 7, 2), (3, 3, 2, 3), window_strides=(2, 3), rhs_dilation=(2, 1)),
        convolution((2, 4, 3, 2), (3, 2, 2, 3), lhs_dilation=(2, 3), padding=((2, 1), (0, 2))),
        convolution((1, 8, 8, 2), (3, 3, 2, 2), padding=((-1, 2), (-2, -1)), lhs_dilation=(1, 2)),
        convolution((2, 5, 5, 4), (3, 3, 2, 6), feature_group_count=2),
        convolution((2, 5, 5, 3), (3, 3, 1, 3), feature_group_count=3, padding=((1, 1), (1, 1))),
        convolution((2, 5, 5, 3), (2, 2, 1, 6), feature_group_count=3),
        convolution((4, 5, 5, 3), (2, 3, 3, 6), batch_group_count=2),
        convolution((2, 4, 4, 3), (1, 1, 3, 5)),
        convolution((2, 4, 4, 3), (1, 1, 3, 5), window_strides=(2, 2)),
        convolution((2, 3), (3, 4)),
        convolution((1, 2, 2, 1), (3, 3, 1, 1)),
        convolution((0, 4, 4, 2), (3, 3, 2, 2), only=_F32),
        convolution((1, 4, 4, 0), (3, 3, 0, 2), only=_F32),
        # the shape of a weight gradient: a window as large as the image, the batch summed over
        convolution(
            (4, 8, 8, 3),
            (4, 8, 8, 5),
            padding=((1, 1), (1, 1)),
            lhs_spec=(3, 0, 1, 2),
            rhs_spec=(3, 0, 1, 2),
            out_spec=(2, 3, 0, 1),
        ),
        tolerance="sum",
    ),
)

ORDERING: Final = (
    row(
        "sort",
        case(array(3, 40), axis=1, num_keys=1, is_stable=True),
        case(array(40, 3), axis=0, num_keys=1, is_stable=True, only=_SOME),
        case(array(50, domain=few), array(50, dtype=np.int32), axis=0, num_keys=1, is_stable=True),
        case(
            array(2, 40, domain=few, dtype=np.int32),
            array(2, 40, domain=few),
            array(2, 40),
            axis=1,
            num_keys=2,
            is_stable=True,
            only=_SOME,
        ),
        case(array(1500), array(1500, dtype=np.int32), axis=0, num_keys=1, is_stable=True, only=_SOME),
        case(array(0), axis=0, num_keys=1, is_stable=True, only=_F32),
        case(array(2, 0), axis=0, num_keys=1, is_stable=True, only=_F32),
        case(array(1), axis=0, num_keys=1, is_stable=True, only=_F32),
    ),
    row(
        "top_k",
        case(array(3, 40, fixed=(1,)), k=5),
        case(array(60, domain=few), k=10),
        case(array(2, 9), k=9, only=_F32),
        case(array(2, 9), k=0, only=_F32),
        case(array(2, 700), k=3, only=_F32),
    ),
)
