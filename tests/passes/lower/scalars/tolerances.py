"""How far compiled scalar functions may be from the correctly rounded result, in ulps, and why.

An ulp is the spacing of the result's dtype at the exact result, and that of the smallest normal number below
it: IREE's CPU drivers flush denormals, so a denormal result may also come out as 0. The limits are the worst
seen over the test grids, rounded up; they hold on x86-64 with and without fused multiply-add.
"""

from __future__ import annotations

from typing import Final

EXACT = 0.5  # correctly rounded

# op: (f32, f64)
ULPS: Final[dict[str, tuple[float, float]]] = {
    # one hardware operation, or integer arithmetic
    "sqrt": (EXACT, EXACT),
    "div": (EXACT, EXACT),
    "floor": (0, 0),
    "ceil": (0, 0),
    "round": (0, 0),
    "sign": (0, 0),
    "rem": (0, 0),
    "max": (0, 0),
    "min": (0, 0),
    # two roundings: square root and division
    "rsqrt": (1.5, 1.5),
    # a short polynomial added to an exact leading term
    "exp": (1.25, 1),
    "exp2": (1, 1),
    "log": (1, 1),
    "log1p": (1.5, 1.5),
    "log2": (1, 1),
    "sin": (1, 1),
    "cos": (1, 1),
    "cbrt": (1, 1),
    # the logarithm in two words, then exp
    "pow": (1.25, 1),
    # one more rounded operation on such a result
    "expm1": (2, 2),
    "acos": (1.5, 1.5),
    "asin": (2, 2),
    "atan": (2, 2),
    "atan2": (2.25, 2.25),
    "cosh": (1.5, 1.5),
    "asinh": (2, 2),
    "acosh": (2, 2),
    "atanh": (2, 2),
    "logistic": (2.5, 2.5),
    # a quotient of two results
    "tan": (2.5, 2.5),
    "sinh": (2.5, 2.5),
    "tanh": (2.5, 2.5),
    # f32: one minus a polynomial
    "erf": (2.5, 1.25),
    # exponential times polynomial over division
    "erfc": (3, 3.5),
    "erf_inv": (3, 2.75),
    # sums of terms of both signs; see ABSOLUTE for the roots
    "lgamma": (4, 4),
    "digamma": (4, 4),
}

# Near the roots on the negative axis these sum large terms of opposite sign: there the error is held to this
# many ulps of the largest term instead.
LARGEST_TERM_ULPS: Final = 6.0
