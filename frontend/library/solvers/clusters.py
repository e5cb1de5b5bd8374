"""Vector quantization under SciPy's name: `vq`."""

from __future__ import annotations

from typing import Any

from ....dialects.types import COMPLEX, FLOAT32, FLOAT64, INEXACT
from ...tracing.default_dtypes import floating_of
from .. import numpy as xp
from ..numpy.arguments import shape_error
from ..numpy.arithmetic import root_of_squares
from ..numpy.promotion import promote, type_text


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """For each row of `obs` the number (int64) of the nearest row of `code_book`, and the distance to it.

    Vectors count as columns. Integers are computed as float32; `check_finite` has no effect. Raises
    `ShapeError` for other ranks, or rows of two lengths.
    """
    del check_finite
    points, codes = promote(obs, code_book)
    dtype = points.dtype if points.dtype in INEXACT else floating_of(points.dtype)
    if points.dtype not in (FLOAT32, FLOAT64, *COMPLEX):  # half precision is rounded once, at the end
        points, codes = xp.astype(points, FLOAT32), xp.astype(codes, FLOAT32)
    if points.ndim == codes.ndim == 1:
        points, codes = points[:, None], codes[:, None]
    if points.ndim != 2 or codes.ndim != 2 or points.shape[1] != codes.shape[1]:
        raise shape_error(
            f"vq: expected matrices with rows of one length, got {type_text(points)} and {type_text(codes)}"
        )
    gaps = points[:, None] - codes[None]
    squares = xp.sum(xp.real(gaps * xp.conj(gaps)) if gaps.dtype.kind == "c" else gaps * gaps, axis=-1)
    number = xp.argmin(squares, axis=-1)
    least = xp.take_along_axis(squares, number[:, None], axis=-1)[:, 0]
    distance = root_of_squares(least)
    return number, distance if dtype in COMPLEX else xp.astype(distance, dtype)
