"""Sizes as values: what only the call tells, in every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from adze.dialects.types import REALS, TensorType

from ..programs import Compiled

DTYPES = sorted(REALS, key=str)


def test_a_size_is_returned_in_every_dtype() -> None:
    """The host, which has it, lacks floats of two bytes."""

    def sizes(b: Any, x: Any) -> tuple[Any, ...]:
        return tuple(b.size_to_array(b.dim(x, axis=0), dtype=dtype) for dtype in DTYPES)

    program = Compiled({"sizes": (sizes, [TensorType((None,), np.dtype(np.int8))])})
    for count in (0, 1, 100, 2049):
        for dtype, got in zip(DTYPES, program("sizes", np.zeros(count, np.int8)), strict=True):
            assert got.dtype == dtype and got == np.int64(count).astype(dtype), (count, dtype)
