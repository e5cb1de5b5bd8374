"""Complex functions at infinities, NaN and on the real line have the values of C99, evaluated as compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (complex(INF, 0), complex(INF, 0)),
        (complex(INF, -0.0), complex(INF, -0.0)),
        (complex(NAN, 0), complex(NAN, 0)),
        (complex(INF, INF), complex(INF, NAN)),
        (complex(INF, NAN), complex(INF, NAN)),
        (complex(-INF, INF), complex(-1, 0)),
        (complex(-INF, NAN), complex(-1, 0)),
        (complex(-INF, 2), complex(-1, 0)),
        (complex(1e-6, 0), complex(math.expm1(1e-6), 0)),
    ],
)
def test_expm1(dtype: type, x: complex, expected: complex) -> None:
    result = BY_NAME["expm1"].evaluate(np.array([x], dtype))[0]
    for part, wanted in ((result.real, expected.real), (result.imag, expected.imag)):
        assert math.isclose(part, wanted, rel_tol=1e-6) or (math.isnan(part) and math.isnan(wanted))
        if wanted == 0:
            assert part == 0 and (x.imag != 0 or math.copysign(1, part) == math.copysign(1, wanted))
