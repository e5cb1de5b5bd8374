"""IREE's CPU drivers flush subnormal numbers to zero; the table of tolerances allows for it.

When this test fails, the allowance in `tolerances.py` and the care in `domains.py` can go. f16 keeps its
subnormals, since it is computed in f32, where they are normal.
"""

from __future__ import annotations

import numpy as np

from adze.dialects.types import FLOAT16, FLOAT32, FLOAT64, TensorType

from .execution import compile_functions
from .programs import add_function, new_module


def test_subnormals_are_flushed_except_in_f16() -> None:
    module, codec = new_module()
    signatures = {}
    for dtype in (FLOAT16, FLOAT32, FLOAT64):
        types = (TensorType((2,), dtype),) * 2
        signatures[dtype.name] = (types, types[:1])
        add_function(module, codec, dtype.name, types, lambda b, x, y: [b.mul(x, y)])
    call = compile_functions(module, signatures)
    for dtype in (FLOAT16, FLOAT32, FLOAT64):
        tiny = np.finfo(dtype).tiny
        smallest_normal = np.array([tiny, 1], dtype)
        (result,) = call(dtype.name, [smallest_normal, np.array([0.5, 0.5], dtype)])
        expected = tiny / 2 if dtype == FLOAT16 else 0.0
        assert result.tolist() == [expected, 0.5], dtype
