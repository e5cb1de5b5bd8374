"""Every public function of one or two floats, where its derivatives are taken, and what they are there.

A row names the functions, states them in mpmath, and lists points. Derivatives are those of mpmath's
differences at high precision, except where the mathematics leaves a choice or has a one-sided limit only:
`At` says what is expected there and why. Expected are `(f', f'')`, of two arguments
`(f_x, f_y, f_xx, f_xy, f_yy)`; None is a number that nobody should ask for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import mpmath as mp

INF, NAN = float("inf"), float("nan")

FLAT = "constant on both sides"
RELU6 = "relu6 has slope 0 at 0 and 6, as in jax.nn"
HARD_TANH = "hard_tanh has slope 1 at 1 and -1, as in jax.nn"
SHARED = "at a tie a maximum or minimum passes half of the tangent to each"
POLE = "a pole: one-sided limits of its derivatives"
EDGE = "the end of the domain: the limit from inside"
SIGNED_ZERO = "the root of -0.0 is -0.0, one over it -inf, as IEEE 754 has it"
MAGNITUDE = "|x| has slope 0 at 0, the mean of both sides; so have functions of it"
COUNT = "a number of events counts whole ones: it has no slope between them"
JUMP = "a jump: the derivative from that side to which the value belongs"


class At(NamedTuple):
    """A point at which derivatives are stated, with the reason."""

    point: tuple[float, ...]
    expected: tuple[float | None, ...]
    why: str


def at(point: Any, expected: Any, why: str) -> At:
    return At(point if isinstance(point, tuple) else (point,), expected, why)


@dataclass(frozen=True)
class Row:
    """Functions that are one mathematical function, `exact` in mpmath, and the points."""

    names: tuple[str, ...]
    exact: Callable[..., Any]
    points: tuple[Any, ...]
    stated: tuple[At, ...] = ()
    tolerance: float = 1e-9
    is_slow: bool = False

    @property
    def arity(self) -> int:
        return len(self.all_points()[0])

    def all_points(self) -> list[tuple[float, ...]]:
        smooth = [p if isinstance(p, tuple) else (p,) for p in self.points]
        return [*smooth, *(s.point for s in self.stated)]

    def expected(self) -> list[tuple[float | None, ...]]:
        """The derivatives at all points."""
        count = len(self.points)
        smooth = [self.differences(p) for p in self.all_points()[:count]]
        return [*smooth, *(s.expected for s in self.stated)]

    def differences(self, point: tuple[float, ...]) -> tuple[float, ...]:
        orders = ((1,), (2,)) if len(point) == 1 else ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        size = mp.mpf(max(abs(v) for v in point))
        scale = size if size > 1e3 or 0 < size < 1e-3 else mp.mpf(1)  # mpmath's steps are absolute
        with mp.workdps(40):
            exact = tuple(mp.mpf(v) / scale for v in point)
            scaled = lambda *x: self.exact(*(v * scale for v in x))  # noqa: E731
            results = (
                mp.diff(scaled, *((exact[0], n[0]) if len(n) == 1 else (exact, n))) / scale ** sum(n)
                for n in orders
            )
            return tuple(float(mp.re(d)) for d in results)


def row(
    names: str,
    exact: Callable[..., Any],
    points: Any,
    *stated: At,
    tolerance: float = 1e-9,
    is_slow: bool = False,
) -> Row:
    return Row(tuple(names.split()), exact, tuple(points), stated, tolerance, is_slow)


def both_zeros(expected: Any, why: str) -> tuple[At, At]:
    return at(0.0, expected, why), at(-0.0, expected, why)


EVERYWHERE: Final = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, -30.0)
MODERATE: Final = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 8.0, -8.0)
POSITIVE: Final = (1.0, 0.5, 2.5, 30.0, 1e-4, 1e6)
PAIRS: Final = ((0.0, 0.0), (-0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, -0.0), (-1.0, 2.5), (2.5, -2.5))


def zero(*x: Any) -> Any:
    """A function without slope."""
    return mp.mpf(0)


def pairs_of_ties(*values: float) -> list[At]:
    return [at((v, v), (0.5, 0.5, 0, 0, 0), SHARED) for v in values]


# -- primitives and elementary functions ---------------------------------------------------------

IDENTITIES = row(
    "numpy.array numpy.asanyarray numpy.asarray numpy.ascontiguousarray numpy.block numpy.clip numpy.conj "
    "numpy.conjugate numpy.copy numpy.nan_to_num numpy.positive numpy.real numpy.squeeze numpy.transpose "
    "lax.conj lax.optimization_barrier nn.identity",
    lambda x: x,
    EVERYWHERE,
)
FLATS = row(
    "numpy.ceil numpy.fix numpy.floor numpy.imag numpy.rint numpy.round numpy.around numpy.sign numpy.trunc "
    "numpy.empty_like numpy.ones_like numpy.zeros_like numpy.angle lax.ceil lax.floor lax.round lax.sign "
    "lax.stop_gradient special.gammasgn",
    zero,
    (),
    *(at(x, (0, 0), FLAT) for x in (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 30.0)),
)
ELEMENTARY = (
    row(
        "numpy.abs numpy.absolute numpy.fabs lax.abs",
        abs,
        (1.0, -1.0, 30.0),
        *both_zeros((0, 0), MAGNITUDE),
    ),
    row("numpy.negative lax.neg", lambda x: -x, EVERYWHERE),
    row("numpy.square lax.square", lambda x: x * x, EVERYWHERE),
    row(
        "numpy.reciprocal lax.reciprocal",
        lambda x: 1 / x,
        (1.0, -1.0, 30.0),
        at(0.0, (-INF, INF), POLE),
        at(-0.0, (-INF, -INF), POLE),
    ),
    row("numpy.deg2rad numpy.radians", mp.radians, EVERYWHERE),
    row("numpy.rad2deg numpy.degrees", mp.degrees, EVERYWHERE),
    row(
        "numpy.sqrt lax.sqrt",
        mp.sqrt,
        POSITIVE,
        at(0.0, (INF, -INF), EDGE),
        at(-0.0, (-INF, None), SIGNED_ZERO),
    ),
    row(
        "lax.rsqrt",
        lambda x: 1 / mp.sqrt(x),
        POSITIVE,
        at(0.0, (-INF, INF), EDGE),
    ),
    row(
        "numpy.cbrt lax.cbrt",
        lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        (1.0, -1.0, 30.0, -1e-4, 1e6),
        at(0.0, (INF, -INF), "a vertical tangent: the limit from the right"),
        at(-0.0, (INF, INF), "a vertical tangent: the limit from the left"),
    ),
    row("numpy.exp lax.exp", mp.exp, EVERYWHERE),
    row("numpy.exp2 lax.exp2", lambda x: mp.mpf(2) ** x, EVERYWHERE),
    row("numpy.expm1 lax.expm1", mp.expm1, EVERYWHERE),
    row("numpy.log lax.log", mp.log, POSITIVE, at(0.0, (INF, -INF), EDGE)),
    row("numpy.log2", lambda x: mp.log(x, 2), POSITIVE, at(0.0, (INF, -INF), EDGE)),
    row("numpy.log10", mp.log10, POSITIVE, at(0.0, (INF, -INF), EDGE)),
    row("numpy.log1p lax.log1p", mp.log1p, (0.0, -0.0, 1.0, -0.5, 30.0), at(-1.0, (INF, -INF), EDGE)),
    row("numpy.sin lax.sin", mp.sin, EVERYWHERE),
    row("numpy.cos lax.cos", mp.cos, EVERYWHERE),
    row("numpy.tan lax.tan", mp.tan, EVERYWHERE),
    row("numpy.sinh lax.sinh", mp.sinh, EVERYWHERE),
    row("numpy.cosh lax.cosh", mp.cosh, EVERYWHERE),
    row("numpy.tanh lax.tanh nn.tanh", mp.tanh, EVERYWHERE),
    row(
        "numpy.asin numpy.arcsin lax.asin",
        mp.asin,
        (0.0, -0.0, 0.5, -0.5, 0.999999),
        at(1.0, (INF, INF), EDGE),
        at(-1.0, (INF, -INF), EDGE),
    ),
    row(
        "numpy.acos numpy.arccos lax.acos",
        mp.acos,
        (0.0, -0.0, 0.5, -0.5, -0.999999),
        at(1.0, (-INF, -INF), EDGE),
        at(-1.0, (-INF, INF), EDGE),
    ),
    row("numpy.atan numpy.arctan lax.atan", mp.atan, EVERYWHERE),
    row("numpy.asinh numpy.arcsinh lax.asinh", mp.asinh, EVERYWHERE),
    row("numpy.acosh numpy.arccosh lax.acosh", mp.acosh, (1.5, 30.0, 1e8), at(1.0, (INF, -INF), EDGE)),
    row(
        "numpy.atanh numpy.arctanh lax.atanh",
        mp.atanh,
        (0.0, -0.0, 0.5, -0.5, 0.999999),
        at(1.0, (INF, INF), EDGE),
        at(-1.0, (INF, -INF), EDGE),
    ),
    row("lax.logistic special.expit nn.sigmoid", lambda x: 1 / (1 + mp.exp(-x)), EVERYWHERE),
    row(
        "numpy.sinc",
        lambda x: mp.sinc(mp.pi * x),
        (*EVERYWHERE, 1e-9, -1e-4, 0.3183, 0.3184, 50.25),
    ),
    row(
        "numpy.modf",
        lambda x: x - (mp.floor(x) if x >= 0 else mp.ceil(x)),
        (0.0, -0.0, 0.5, -2.5),
        *(at(x, (1, 0), JUMP) for x in (1.0, -1.0, 30.0)),
    ),
    row(
        "numpy.frexp",
        lambda x: mp.frexp(x)[0],
        (0.75, -2.5, 30.0, 1e300, 1e-300),
        *both_zeros((1, 0), "zeros are their own mantissa"),
        at(1.0, (0.5, 0), JUMP),
        at(-1.0, (0.5, 0), JUMP),
        at(4.0, (0.125, 0), JUMP),
    ),
)

ARITHMETIC = (
    row("numpy.add lax.add", lambda x, y: x + y, PAIRS),
    row("numpy.subtract lax.sub", lambda x, y: x - y, PAIRS),
    row("numpy.multiply lax.mul", lambda x, y: x * y, PAIRS),
    row(
        "numpy.divide numpy.true_divide lax.div",
        lambda x, y: x / y,
        ((0.0, 1.0), (-0.0, -1.0), (1.0, 1.0), (2.5, -30.0)),
    ),
    row(
        "numpy.maximum numpy.fmax lax.max numpy.clip",
        max,
        ((0.0, 1.0), (-1.0, -2.5), (30.0, -30.0)),
        *pairs_of_ties(0.0, 1.0, -1.0),
        at((0.0, -0.0), (0.5, 0.5, 0, 0, 0), SHARED),
        at((-0.0, 0.0), (0.5, 0.5, 0, 0, 0), SHARED),
    ),
    row(
        "numpy.minimum numpy.fmin lax.min",
        min,
        ((0.0, 1.0), (-1.0, -2.5), (30.0, -30.0)),
        *pairs_of_ties(0.0, 1.0, -1.0),
        at((0.0, -0.0), (0.5, 0.5, 0, 0, 0), SHARED),
    ),
    row(
        "numpy.fmod lax.rem",
        lambda x, y: x - y * (mp.floor(x / y) if x / y >= 0 else mp.ceil(x / y)),
        ((0.0, 1.0), (-0.0, 1.0), (2.5, 1.0), (-2.5, 2.0)),
        at((4.0, 2.0), (1, -2, 0, 0, 0), JUMP),
        at((-3.0, 1.0), (1, 3, 0, 0, 0), JUMP),
    ),
    row(
        "numpy.remainder numpy.mod numpy.divmod",
        lambda x, y: x - y * mp.floor(x / y),
        ((2.5, 1.0), (-2.5, 2.0), (2.5, -2.0)),
        at((4.0, 2.0), (1, -2, 0, 0, 0), JUMP),
        at((0.0, 2.0), (1, 0, 0, 0, 0), JUMP),
        at((-0.0, 2.0), (1, 0, 0, 0, 0), JUMP),
        at((0.0, -2.0), (1, 0, 0, 0, 0), JUMP),
        at((-4.0, 2.0), (1, 2, 0, 0, 0), JUMP),
    ),
    row(
        "numpy.floor_divide",
        zero,
        (),
        *(at(p, (0, 0, 0, 0, 0), FLAT) for p in ((4.0, 2.0), (0.0, 1.0), (2.5, -1.0))),
        *(at(p, (0, 0, 0, 0, 0), FLAT) for p in ((1.0, 0.0), (-1.0, -0.0), (0.0, 0.0), (INF, 2.0))),
    ),
    row(
        "numpy.full_like",
        lambda x, y: y,
        PAIRS,
    ),
    row("numpy.nan_to_num numpy.copy", lambda x, y: x, PAIRS),
    row(
        "numpy.copysign",
        lambda x, y: mp.sign(y) * abs(x),
        ((1.0, 2.0), (-1.0, 2.5), (2.5, -1.0)),
        at((0.0, 1.0), (0, 0, 0, 0, 0), MAGNITUDE),
        at((-0.0, -1.0), (0, 0, 0, 0, 0), MAGNITUDE),
        at((2.0, 0.0), (1, 0, 0, 0, 0), JUMP),
        at((2.0, -0.0), (-1, 0, 0, 0, 0), JUMP),
    ),
    row(
        "numpy.heaviside",
        lambda x, y: mp.mpf(x > 0),
        ((1.0, 1.0), (-1.0, 0.5)),
        at((0.0, 0.5), (0, 1, 0, 0, 0), "the value at the jump is the second argument"),
        at((-0.0, 0.5), (0, 1, 0, 0, 0), "the value at the jump is the second argument"),
    ),
    row(
        "numpy.power numpy.pow numpy.float_power lax.pow",
        lambda x, y: x**y,
        ((1.0, 1.0), (1.0, 0.0), (2.5, -0.0), (2.0, 3.0), (0.5, -2.5), (30.0, 1.0)),
        at((0.0, 2.0), (0, 0, 2, 0, 0), "limits from positive bases"),
        at((0.0, 3.0), (0, 0, 0, 0, 0), "limits from positive bases"),
        at((0.0, 1.0), (1, 0, 0, None, 0), "limits from positive bases; the mixed one is infinite"),
        at((0.0, 0.0), (0, 0, 0, None, None), "0 ** 0 is 1, and x ** 0 flat"),
        at((0.0, 0.5), (INF, 0, -INF, None, 0), "limits from positive bases"),
        at((-2.0, 2.0), (-4, None, 2, None, None), "a negative base has derivatives in the base only"),
        at((-2.0, 3.0), (12, None, -12, None, None), "a negative base has derivatives in the base only"),
    ),
    row(
        "numpy.atan2 numpy.arctan2 lax.atan2",
        mp.atan2,
        ((0.0, 1.0), (-0.0, 2.5), (1.0, 0.0), (1.0, 1.0), (-1.0, 0.5), (2.5, -30.0)),
        at((0.0, 0.0), (NAN, NAN, None, None, None), "no direction, no limit"),
        at((0.0, -1.0), (-1, 0, 0, -1, 0), "smooth but for the jump of a whole turn"),
        at((-0.0, -1.0), (-1, 0, 0, -1, 0), "smooth but for the jump of a whole turn"),
    ),
    row(
        "numpy.hypot",
        mp.hypot,
        ((0.0, 1.0), (-0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-2.5, 30.0), (3e200, 4e200)),
        at((0.0, 0.0), (0, 0, 0, 0, 0), MAGNITUDE),
        at((-0.0, 0.0), (0, 0, 0, 0, 0), MAGNITUDE),
        at((-INF, 1.0), (-1, 0, 0, 0, 0), "the limit"),
        at((1.0, INF), (0, 1, 0, 0, 0), "the limit"),
    ),
    row(
        "numpy.logaddexp",
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        (*PAIRS, (30.0, -30.0), (-800.0, -800.0), (800.0, 800.0)),
        at((INF, 0.0), (1, 0, 0, 0, 0), "the limit"),
        at((0.0, -INF), (1, 0, 0, 0, 0), "the limit"),
        at((-INF, -INF), (0.5, 0.5, 0, 0, 0), SHARED),
    ),
    row(
        "numpy.logaddexp2",
        lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y, 2),
        (*PAIRS, (30.0, -30.0), (-1100.0, -1100.0)),
    ),
)

# -- nn ------------------------------------------------------------------------------------------

CURVATURE = "the slope is continuous, the second derivative is that of one side"


def log1pexp(x: Any) -> Any:
    return mp.log1p(mp.exp(x))


def _elu(x: Any, alpha: Any = 1) -> Any:
    return x if x > 0 else alpha * mp.expm1(x)


def _celu(x: Any, alpha: Any = 1) -> Any:
    return x if x > 0 else alpha * mp.expm1(x / alpha)


SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
NETWORKS = (
    row("nn.softplus", log1pexp, EVERYWHERE),
    row("nn.log_sigmoid", lambda x: -log1pexp(-x), EVERYWHERE),
    row("nn.silu nn.swish", lambda x: x / (1 + mp.exp(-x)), EVERYWHERE),
    row("nn.mish", lambda x: x * mp.tanh(log1pexp(x)), EVERYWHERE),
    row(
        "nn.gelu",
        lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))),
        EVERYWHERE,
    ),
    row("nn.squareplus", lambda x: (x + mp.sqrt(x * x + 4)) / 2, EVERYWHERE),
    row("nn.squareplus", lambda x, b: (x + mp.sqrt(x * x + b)) / 2, ((0.0, 1.0), (-0.0, 4.0), (1.0, 1.0))),
    row("nn.soft_sign", lambda x: x / (1 + abs(x)), (1.0, -1.0, 30.0), *both_zeros((1, 0), MAGNITUDE)),
    row(
        "nn.log1mexp",
        lambda x: mp.log(-mp.expm1(-x)),
        (1.0, 0.5, 30.0, 0.6931471805599453, 1e-4),
        at(0.0, (INF, -INF), EDGE),
    ),
    row(
        "nn.relu",
        lambda x: max(x, mp.mpf(0)),
        (1.0, -1.0, 30.0),
        *both_zeros((0, 0), "relu has slope 0 at 0, as in jax.nn"),
    ),
    row(
        "nn.relu6",
        lambda x: min(max(x, 0), 6),
        (1.0, -1.0, 30.0),
        *both_zeros((0, 0), RELU6),
        at(6.0, (0, 0), RELU6),
    ),
    row(
        "nn.hard_tanh",
        lambda x: min(max(x, -1), 1),
        (0.0, -0.0, 0.5, 30.0),
        at(1.0, (1, 0), HARD_TANH),
        at(-1.0, (1, 0), HARD_TANH),
    ),
    row(
        "nn.hard_sigmoid",
        lambda x: min(max(x + 3, 0), 6) / 6,
        (0.0, -0.0, 1.0, 30.0),
        at(3.0, (0, 0), RELU6),
        at(-3.0, (0, 0), RELU6),
    ),
    row(
        "nn.hard_swish nn.hard_silu",
        lambda x: x * min(max(x + 3, 0), 6) / 6,
        (0.0, -0.0, 1.0, -1.0, 30.0),
        at(3.0, (1, 0), RELU6),
        at(-3.0, (0, 0), RELU6),
    ),
    row(
        "nn.sparse_sigmoid",
        lambda x: min(max(x + 1, 0), 2) / 2,
        (0.0, -0.0, 0.5, 30.0),
        at(1.0, (0.25, 0), SHARED),
        at(-1.0, (0.25, 0), SHARED),
    ),
    row(
        "nn.sparse_plus",
        lambda x: 0 if x <= -1 else x if x >= 1 else (x + 1) ** 2 / 4,
        (0.0, -0.0, 0.5, 30.0, -30.0),
        at(1.0, (1, 0), CURVATURE),
        at(-1.0, (0, 0), CURVATURE),
    ),
    row(
        "nn.leaky_relu",
        lambda x: x if x >= 0 else x * mp.mpf(0.01),
        (1.0, -1.0, 30.0),
        *both_zeros((1, 0), "zeros count as positive, as in jax.nn"),
    ),
    row(
        "nn.leaky_relu",
        lambda x, slope: x if x >= 0 else x * slope,
        ((1.0, 0.5), (-1.0, 0.5)),
        at((0.0, 0.5), (1, 0, 0, 0, 0), "zeros count as positive, as in jax.nn"),
    ),
    row("nn.elu", _elu, (1.0, -1.0, 30.0, -30.0), *both_zeros((1, 1), CURVATURE)),
    row(
        "nn.elu",
        _elu,
        ((1.0, 0.5), (-1.0, 2.0)),
        at((0.0, 0.5), (0.5, 0, 0.5, 1, 0), "zeros count as negative"),
    ),
    row("nn.celu", _celu, (1.0, -1.0, 30.0, -30.0), *both_zeros((1, 1), CURVATURE)),
    row("nn.celu", _celu, ((1.0, 0.5), (-1.0, 2.0)), at((0.0, 0.5), (1, 0, 2, 0, 0), CURVATURE)),
    row(
        "nn.selu",
        lambda x: mp.mpf(SCALE) * _elu(x, mp.mpf(ALPHA)),
        (1.0, -1.0, 30.0, -30.0),
        *both_zeros((SCALE * ALPHA, SCALE * ALPHA), "zeros count as negative, as in jax.nn"),
    ),
    row(
        "nn.sigmoid_cross_entropy",
        lambda x, y: log1pexp(x) - x * y,
        ((0.0, 0.0), (0.0, 1.0), (-0.0, 0.5), (1.0, 1.0), (-1.0, 0.0), (30.0, 1.0), (-30.0, 0.5)),
    ),
)

# -- special functions ---------------------------------------------------------------------------

LOGARITHMIC = "the logarithm of 0: an infinite slope"
ABSENT = "what has probability 0 has no slope, as in JAX; the limit of the logarithm is infinite"


def _entr(x: Any) -> Any:
    return -x * mp.log(x)


def _rel_entr(x: Any, y: Any) -> Any:
    return x * mp.log(x / y)


def _boxcox(logarithm: Any, power: Any) -> Any:
    return logarithm if power == 0 else mp.expm1(power * logarithm) / power


def _log_ndtr(x: Any) -> Any:
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def _lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _upper(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _log_beta(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def _student(df: Any, t: Any) -> Any:
    slope = mp.gamma((df + 1) / 2) / (mp.sqrt(mp.pi * df) * mp.gamma(df / 2))
    return mp.mpf(1) / 2 + t * slope * mp.hyp2f1(0.5, (mp.mpf(df) + 1) / 2, 1.5, -t * t / df)


INSIDE: Final = (0.0, -0.0, 0.5, -0.5, 0.999)
BESSEL: Final = (*EVERYWHERE, 19.999, 20.0, 1e-6)
SPECIAL = (
    row("special.erf lax.erf", mp.erf, MODERATE),
    row("special.erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), MODERATE),
    row("special.dawsn", lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), EVERYWHERE),
    row("special.exp1", mp.e1, (1.0, 0.5, 2.5, 30.0, 1e-4), at(0.0, (-INF, INF), EDGE)),
    row("special.expi", mp.ei, (1.0, 0.5, -2.5, 30.0, -1e-4)),
    row("special.spence", lambda x: mp.polylog(2, 1 - x), (1.0, 0.5, 2.5, 30.0, 1e-4), is_slow=True),
    row("special.erfc lax.erfc", mp.erfc, MODERATE),
    row(
        "special.erfinv lax.erf_inv",
        mp.erfinv,
        INSIDE,
        at(1.0, (INF, INF), EDGE),
        at(-1.0, (INF, -INF), EDGE),
    ),
    row("special.gammaln lax.lgamma", lambda x: mp.log(abs(mp.gamma(x))), (1.0, 2.0, 0.5, -0.5, 30.0, -2.5)),
    row("special.digamma special.psi lax.digamma", mp.digamma, (1.0, 2.0, 0.5, -0.5, 30.0, -2.5, 1e6)),
    row("special.gamma", mp.gamma, (1.0, 2.0, 0.5, -0.5, 30.0, -2.5)),
    row("special.factorial", mp.factorial, (0.0, -0.0, 1.0, 0.5, 5.0)),
    row(
        "special.logit",
        lambda x: mp.log(x / (1 - x)),
        (0.5, 0.1, 1e-6, 0.999),
        at(0.0, (INF, -INF), EDGE),
        at(1.0, (INF, INF), EDGE),
    ),
    row(
        "special.entr", _entr, POSITIVE, at(0.0, (INF, -INF), LOGARITHMIC), at(-0.0, (INF, -INF), LOGARITHMIC)
    ),
    row("special.ndtr", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, (0.0, -0.0, 1.0, -1.0, 8.0, -8.0)),
    row("special.log_ndtr", _log_ndtr, (0.0, -0.0, 1.0, -1.0, -8.0, -19.999, -20.0, -20.001, -30.0, 8.0)),
    row(
        "special.ndtri",
        lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
        (0.5, 0.25, 0.2499, 0.999, 1e-3),
        at(0.0, (INF, -INF), EDGE),
        at(1.0, (INF, INF), EDGE),
    ),
    row("special.i0 numpy.i0", lambda x: mp.besseli(0, x), BESSEL),
    row("special.i1", lambda x: mp.besseli(1, x), BESSEL),
    row(
        "special.i0e lax.bessel_i0e",
        lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
        (1.0, -1.0, 0.5, -19.999, 20.0, 30.0),
        *both_zeros((0, 0.5), MAGNITUDE),
    ),
    row(
        "special.i1e lax.bessel_i1e",
        lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
        (1.0, -1.0, 0.5, -19.999, 20.0, 30.0),
        *both_zeros((0.5, 0), MAGNITUDE),
    ),
    row(
        "special.betaln",
        _log_beta,
        ((1.0, 1.0), (0.5, 2.5), (30.0, 1.0), (8.0, 8.0), (20.0, 20.0), (9.0, 30.0)),
    ),
    row(
        "special.beta",
        mp.beta,
        ((1.0, 1.0), (0.5, 2.5), (30.0, 1.0), (8.0, 8.0), (-0.5, 0.25), (-0.5, -0.25)),
    ),
    row(
        "special.binom",
        mp.binomial,
        ((5.0, 2.0), (0.5, 2.0), (-2.5, 1.0), (30.0, 10.0), (1.0, 0.0), (0.0, -0.0), (2.5, -0.5)),
    ),
    row(
        "special.xlogy",
        lambda x, y: x * mp.log(y),
        ((0.0, 1.0), (-0.0, 2.5), (1.0, 1.0), (-1.0, 0.5), (0.0, 1e-4)),
        at((0.0, 0.0), (-INF, 0, None, None, 0), LOGARITHMIC),
    ),
    row(
        "special.xlog1py",
        lambda x, y: x * mp.log1p(y),
        ((0.0, 0.0), (-0.0, 2.5), (1.0, -0.0), (-1.0, -0.5), (0.0, -0.999)),
        at((0.0, -1.0), (-INF, 0, None, None, 0), LOGARITHMIC),
    ),
    row(
        "special.rel_entr",
        _rel_entr,
        ((1.0, 1.0), (0.5, 2.5), (30.0, 1e-4)),
        at((0.0, 1.0), (0, 0, 0, 0, 0), ABSENT),
        at((-0.0, 1.0), (0, 0, 0, 0, 0), ABSENT),
    ),
    row(
        "special.kl_div",
        lambda x, y: _rel_entr(x, y) - x + y,
        ((1.0, 1.0), (0.5, 2.5), (30.0, 1e-4)),
        at((0.0, 1.0), (-1, 1, 0, 0, 0), ABSENT),
    ),
    row(
        "special.boxcox",
        lambda x, power: _boxcox(mp.log(x), power),
        ((1.0, 0.0), (2.5, 0.0), (2.5, -0.0), (1.0, 1.0), (30.0, 1e-7), (0.5, -1.0), (1.0, 2.0)),
    ),
    row(
        "special.boxcox1p",
        lambda x, power: _boxcox(mp.log1p(x), power),
        ((0.0, 0.0), (-0.0, 1.0), (2.5, 0.0), (1.0, 1.0), (30.0, 1e-7), (-0.5, -1.0)),
    ),
    row(
        "special.poch",
        lambda z, m: mp.gamma(z + m) / mp.gamma(z),
        ((1.0, 1.0), (0.5, 2.5), (2.5, 0.0), (-0.5, 2.0), (1.0, -0.5)),
    ),
    row(
        "special.gammainc lax.igamma",
        _lower,
        ((1.0, 1.0), (0.5, 2.5), (2.5, 0.5), (12.0, 12.0), (12.0, 30.0)),
        at((1.0, 0.0), (0, 1, 0, None, -1), EDGE),
        at((2.0, 0.0), (0, 0, 0, None, 1), EDGE),
        at((3.0, 0.0), (0, 0, 0, 0, 0), EDGE),
        at((0.5, 0.0), (None, INF, None, None, -INF), EDGE),
        tolerance=1e-6,
        is_slow=True,
    ),
    row(
        "special.gammaincc lax.igammac",
        _upper,
        ((1.0, 1.0), (0.5, 2.5), (2.5, 0.5), (12.0, 12.0), (12.0, 30.0)),
        at((1.0, 0.0), (0, -1, 0, None, 1), EDGE),
        at((2.0, 0.0), (0, 0, 0, None, -1), EDGE),
        tolerance=1e-6,
        is_slow=True,
    ),
    row(
        "special.chdtr",
        lambda v, x: _lower(v / 2, x / 2),
        ((1.0, 1.0), (2.5, 0.5), (30.0, 12.0)),
        at((2.0, 0.0), (0, 0.5, 0, None, -0.25), EDGE),
        tolerance=1e-6,
        is_slow=True,
    ),
    row(
        "special.chdtrc",
        lambda v, x: _upper(v / 2, x / 2),
        ((1.0, 1.0), (2.5, 0.5), (30.0, 12.0)),
        at((2.0, 0.0), (0, -0.5, 0, None, 0.25), EDGE),
        tolerance=1e-6,
        is_slow=True,
    ),
    row(
        "special.pdtr",
        lambda k, m: _upper(mp.floor(k) + 1, m),
        (),
        at((0.5, 1.0), (0, -math.exp(-1), 0, 0, math.exp(-1)), COUNT),
        at((1.5, 2.0), (0, -2 * math.exp(-2), 0, 0, math.exp(-2)), COUNT),
        tolerance=1e-6,
    ),
    row(
        "special.pdtrc",
        lambda k, m: _lower(mp.floor(k) + 1, m),
        (),
        at((0.5, 1.0), (0, math.exp(-1), 0, 0, -math.exp(-1)), COUNT),
        at((1.5, 2.0), (0, 2 * math.exp(-2), 0, 0, -math.exp(-2)), COUNT),
        tolerance=1e-6,
    ),
    row(
        "lax.igamma_grad_a",
        lambda a, x: mp.diff(_lower, (a, x), (1, 0)),
        ((2.5, 0.5),),
        tolerance=1e-5,
        is_slow=True,
    ),
    row(
        "lax.random_gamma_grad",
        lambda a, x: -mp.diff(_lower, (a, x), (1, 0)) / (x ** (a - 1) * mp.exp(-x) / mp.gamma(a)),
        ((2.5, 0.5),),
        tolerance=1e-5,
        is_slow=True,
    ),
)
# Derivatives in the first argument are errors (those of zeta have a test of their own): the second counts.
IN_THE_SECOND = (
    ("special.zeta", lambda x, q: mp.zeta(x, q), ((2.0, 1.0), (3.0, 0.5), (2.5, 30.0))),
    ("lax.zeta", lambda x, q: mp.zeta(x, q), ((2.0, 1.0),)),
    ("special.polygamma", lambda n, x: mp.polygamma(int(n), x), ((0.0, 1.0), (1.0, 1.0), (2.0, 0.5))),
    ("lax.polygamma", lambda n, x: mp.polygamma(int(n), x), ((1.0, 1.0),)),
    (
        "special.stdtr",
        _student,
        ((1.0, 0.5), (2.5, -1.0), (30.0, 2.5), (2.5, -30.0), (5.0, 0.0), (5.0, -0.0), (1e4, 0.1)),
    ),
)

ROWS = (IDENTITIES, FLATS, *ELEMENTARY, *ARITHMETIC, *NETWORKS, *SPECIAL)

COMPOSED = tuple(
    r
    for r in ROWS
    if r.names[0].split(".")[1]
    in {
        *("asin", "acos", "acosh", "atanh", "cbrt", "sinc", "modf", "frexp", "remainder", "hypot"),
        *("logaddexp", "logaddexp2", "softplus", "log_sigmoid", "mish", "sigmoid_cross_entropy"),
        *("entr", "xlogy", "xlog1py", "rel_entr", "boxcox", "ndtri", "i0", "i1", "i0e", "i1e"),
    }
)
"""The functions whose derivatives at these points their own rules or branches make."""

NO_ROWS = {
    ("special.zeta", 1): "its argument is the exponent: tests/frontend/library/special/test_zeta.py",
    ("lax.zeta", 1): "as special.zeta",
    **dict.fromkeys(
        [
            *((f"special.{name}", 1) for name in ("fresnel", "sici", "loggamma", "wofz")),
            *((f"special.{name}", 2) for name in ("expn", "owens_t")),
        ],
        "several results, complex ones, or an integral: tests/frontend/library/special has its slopes",
    ),
}
NO_FUNCTIONS_OF_VALUES = {
    "numpy.nextafter": "steps on the grid of floats have no derivative: an error says so",
    "lax.nextafter": "as numpy.nextafter",
    "lax.stage": "the array itself",
    "numpy.view": "its bits; a view of its own dtype is the array itself",
    "numpy.spacing": "as numpy.nextafter",
    "special.comb": "a count of choices, of integers",
    "lax.broadcast_like": "the second array only has a shape",
    "lax.with_sharding_constraint": "the second argument is where the first lies",
    "numpy.trim_zeros": "its shape depends on values; what is left is copied",
    "numpy.histogram_bin_edges": "bins of one number, whose count the second argument is",
    "numpy.pad": "a width of 0 by conversion of a float",
    "lax.complex": "complex results: of the parts it is linear",
    "lax.select_n": "chosen by a condition, not by a float",
}
