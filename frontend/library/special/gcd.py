"""Greatest common divisors and least common multiples, by Euclid's algorithm on all elements at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.while_loops import while_loop
from ...errors import DtypeError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..numpy.promotion import type_text
from ..numpy.ufuncs import as_ufunc


@as_ufunc(np.gcd)
def gcd(x1: Any, x2: Any) -> Any:
    """The greatest common divisor of the absolute values of integers; 0 of two zeros."""
    left, right = _integers("gcd", x1, x2)

    def is_left(state: Any) -> Any:
        return xp.any(state[1] != 0)

    def turn(state: Any) -> Any:
        a, b = state
        is_done = b == 0
        return xp.where(is_done, a, b), xp.where(is_done, b, xp.remainder(a, xp.where(is_done, 1, b)))

    return while_loop(is_left, turn, (xp.abs(left), xp.abs(right)))[0]


@as_ufunc(np.lcm)
def lcm(x1: Any, x2: Any) -> Any:
    """The least common multiple of the absolute values of integers; 0 if one of them is."""
    left, right = _integers("lcm", x1, x2)
    divisor = gcd(left, right)
    return xp.abs(left // xp.where(divisor == 0, 1, divisor) * right)


def _integers(function: str, x1: Any, x2: Any) -> list[Any]:
    values = xp.broadcast_arrays(x1, x2)
    dtype = xp.result_type(x1, x2)
    if dtype.kind not in "iu":
        raise DtypeError(
            f"{function} takes integers, got {type_text(values[0])} and {type_text(values[1])}",
            where=user_location_text(),
        )
    return [v.astype(dtype) for v in values]
