"""Which code computes a floating-point function of one or two real operands.

`REAL` names our own function of f32 and f64 terms for each op, for all targets: IREE's approximations of f32
are slower and less close (exp 4.9 ulp for 1, tanh 4.0 for 2.3, erf 4.3 for 2.1), and SPIR-V promises too
little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from . import exponentials, reals, special, trigonometry
from .terms import Term

REAL: Final[dict[str, Callable[..., Term]]] = {
    **{name: getattr(exponentials, name) for name in (
        "exp", "exp2", "expm1", "log", "log2", "log1p", "logistic", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "cbrt")},
    **{name: getattr(trigonometry, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: getattr(special, name) for name in ("erf", "erfc", "erf_inv", "lgamma", "digamma")},
    "pow": exponentials.pow_, "rem": reals.fmod, "rem_by_power_of_two": reals.fmod_by_power_of_two,
    "sqrt": Term.sqrt, "rsqrt": reals.rsqrt, "floor": Term.floor,
    "ceil": reals.ceil, "round": Term.rounded, "sign": reals.sign, "max": reals.maximum,
    "min": reals.minimum,
    **{f"power_of_{halves}_halves": partial(reals.power_of_halves, halves) for halves in reals.HALVES},
}  # fmt: skip


SHORT: Final = frozenset(
    {"rem_by_power_of_two", "sqrt", "rsqrt", "floor", "ceil", "round", "sign", "max", "min"}
    | {f"power_of_{halves}_halves" for halves in reals.HALVES}
)
"""Functions of a few ops, which are emitted where they are used."""
