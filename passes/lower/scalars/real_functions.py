"""Which code computes a floating-point function of one or two real operands.

`REAL` names our own function of f32 and f64 terms for each op; `NATIVE` names the ops whose f32 form is left
to the compiler, by target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ....dialects import mlir
from . import exponentials, reals, special, trigonometry
from .terms import Term, choose

# f32 functions taken from the math dialect, by target. On IREE's CPU path each was measured against our own:
# ours are faster and closer (exp 1 ulp for 4.9, tanh 2.3 for 4.0, sin right at large arguments) but for erf,
# where the rational approximation there takes half the time at 3.6 ulp. SPIR-V promises too little to use.
NATIVE: Final[dict[str, frozenset[str]]] = {
    "cpu": frozenset({"erf"}),
    "cuda": frozenset(),
    "vulkan": frozenset(),
    "rocm": frozenset(),
    "metal": frozenset(),
}

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
}  # fmt: skip


SHORT: Final = frozenset(
    {"rem_by_power_of_two", "sqrt", "rsqrt", "floor", "ceil", "round", "sign", "max", "min"}
)
"""Functions of a few ops, which are emitted where they are used."""


def native_call(name: str, x: Term) -> Term:
    """The math op; an odd function keeps -0, which the approximation loses."""
    return choose(x.equals(0.0), x, Term(getattr(mlir.math, name)(x.value)))
