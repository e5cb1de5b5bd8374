"""One-dimensional signals and curves: convolution, correlation, interpolation, polynomials, covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import BOOL, COMPLEX, COMPLEX128, FLOAT32, FLOAT64, INEXACT
from ...tracing.array import Array
from ...tracing.default_dtypes import floating, floating_of, note_promotion
from ...tracing.function_scope import keep_dimensions
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from ...tracing.sizes import maximum as largest_size
from ...tracing.sizes import minimum as least_size
from .arguments import argument_error, float_value, full_like, integer, require_sizes, shape_error
from .arithmetic import add, clip, divide, multiply, remainder, sqrt, subtract
from .cumulative import part
from .joining import concat
from .logic import less
from .matrices import diag
from .products import matmul
from .promotion import asarray_of, broadcast, convert, promote, result_type, type_text
from .reductions import average, mean
from .reductions import sum as sum_of
from .reshaping import atleast_2d, flip, ravel, transpose
from .rounding import conj, imag, real
from .searching import places_among, where
from .sorting import argsort
from .taking import take


def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The discrete convolution of two vectors; mode full, same or valid.

    Sums are of `preferred_element_type` where it is given; `precision` has no effect: nothing is narrowed.
    """
    x, y = _preferred(promote(*_in_jax(a, v)), preferred_element_type)
    _require_vectors("convolve", x, y)
    if mode != "full" and _is_named(x, y):
        whole = convolve(x, y, "full")
        return _middle("convolve", whole, x, y, mode, least_size(x.shape[0], y.shape[0]) - 1)
    if _is_longer("convolve", y, x, mode):
        x, y = y, x
    return _correlated("convolve", x, flip(y), mode)


def correlate(
    a: Any, v: Any, mode: str = "valid", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The cross-correlation of two vectors, the second one conjugated; mode full, same or valid.

    Sums are of `preferred_element_type` where it is given; `precision` has no effect: nothing is narrowed.
    """
    x, y = _preferred(promote(*_in_jax(a, v)), preferred_element_type)
    _require_vectors("correlate", x, y)
    if mode != "full" and _is_named(x, y):
        whole = correlate(x, y, "full")
        return _middle("correlate", whole, x, y, mode, least_size(x.shape[0], y.shape[0] - 1))
    y = conj(y) if y.dtype in COMPLEX else y
    if _is_longer("correlate", y, x, mode):
        return flip(_correlated("correlate", y, x, mode))
    return _correlated("correlate", x, y, mode)


def _in_jax(*values: Any) -> tuple[Any, ...]:
    """The vectors; in programs written for JAX as floats, where they are integers."""
    return tuple(map(float_value, promote(*values))) if follows_jax() else values


def _preferred(values: Any, dtype: Any) -> Any:
    return values if dtype is None else tuple(convert(v, np.dtype(dtype)) for v in values)


def _require_vectors(function: str, *values: Any) -> None:
    for value in values:
        if value.ndim != 1 or (isinstance(value.shape[0], int) and value.shape[0] == 0):
            raise shape_error(f"{function}: expected nonempty vectors, got {type_text(value)}")


def _is_named(*values: Any) -> bool:
    """Whether the length of one of the vectors shows at the call."""
    return not all(isinstance(value.shape[0], int) for value in values)


def _middle(function: str, whole: Any, x: Any, y: Any, mode: str, doubled: Any) -> Any:
    """The part of a full convolution that another mode has, of `same` from half of `doubled` on."""
    sizes = x.shape[0], y.shape[0]
    shorter, longer = least_size(*sizes), largest_size(*sizes)
    if mode == "same":
        first, count = doubled // 2, longer
    elif mode == "valid":
        first, count = shorter - 1, longer - shorter + 1
    else:
        raise argument_error(f"{function}: mode is {mode!r}, expected one of valid, full, same")
    return keep_dimensions(part(whole, 0, first, first + count), (count,))


def _is_longer(function: str, y: Any, x: Any, mode: str) -> bool:
    """Whether `y` is the longer one; in a full convolution either may be the kernel."""
    (m,), (n,) = y.shape, x.shape
    if not isinstance(m, int) and not isinstance(n, int):
        raise shape_error(
            f"{function}: one of the vectors must have a static length, got {type_text(x)} and {type_text(y)}"
        )
    if mode == "full" and not (isinstance(m, int) and isinstance(n, int)):
        return isinstance(n, int)
    return bool(m > n)


def _correlated(function: str, x: Any, y: Any, mode: str) -> Any:
    """The inner products of `y` with every stretch of `x`, which is the longer one."""
    n = y.shape[0]
    padding = {"valid": (0, 0), "full": (n - 1, n - 1), "same": (n // 2, n - 1 - n // 2)}
    if mode not in padding:
        raise argument_error(f"{function}: mode is {mode!r}, expected one of {', '.join(padding)}")
    dtype = x.dtype
    if dtype == BOOL:  # as NumPy: and, then or
        x, y = (convert(v, np.dtype(np.int32)) for v in (x, y))
    result = ops.conv_general(
        ops.reshape(x, shape=(1, 1, x.shape[0])),
        ops.reshape(y, shape=(1, 1, n)),
        window_strides=(1,),
        padding=(padding[mode],),
        lhs_dilation=(1,),
        rhs_dilation=(1,),
        lhs_spec=(0, 1, 2),
        rhs_spec=(0, 1, 2),
        out_spec=(0, 1, 2),
        feature_group_count=1,
        batch_group_count=1,
    )
    return convert(ravel(result), dtype)


def _points(function: str, count: Any) -> int:
    """The number of points of a window; NumPy's own windows make of a float what its integer would be."""
    is_whole = isinstance(count, float) and count.is_integer()
    return integer(function, int(count) if is_whole else count, "M, the number of points,")


def bartlett(M: int) -> Any:
    """The triangular window of `M` points, float32."""
    return Array(np.bartlett(_points("bartlett", M)).astype(floating()))


def blackman(M: int) -> Any:
    """Blackman's window of `M` points, float32."""
    return Array(np.blackman(_points("blackman", M)).astype(floating()))


def hamming(M: int) -> Any:
    """Hamming's window of `M` points, float32."""
    return Array(np.hamming(_points("hamming", M)).astype(floating()))


def hanning(M: int) -> Any:
    """Hann's window of `M` points, float32."""
    return Array(np.hanning(_points("hanning", M)).astype(floating()))


def kaiser(M: int, beta: float) -> Any:
    """Kaiser's window of `M` points, float32; `beta` is a number."""
    return Array(np.kaiser(_points("kaiser", M), beta).astype(floating()))


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """Values at `x` of the line through the points `(xp, fp)`, `xp` ascending; `left` and `right` outside."""
    wanted, places, values = (asarray_of(v) for v in (x, xp, fp))
    met = result_type(wanted, places, values)
    met = met if met in INEXACT else floating_of(met)
    note_promotion((wanted, places, values), (met,) * 3)
    place_dtype = FLOAT64 if met in (FLOAT64, COMPLEX128) else FLOAT32
    wanted, places = convert(wanted, place_dtype), convert(places, place_dtype)
    values = convert(values, met)
    if places.ndim != 1:
        raise shape_error(f"interp: xp {type_text(places)} must be a vector")
    require_sizes("interp", "fp", values, places.shape, "xp")
    if period is not None:
        if period == 0:
            raise argument_error("interp: period must not be 0")
        size = abs(period)
        wanted, places = remainder(wanted, size), remainder(places, size)
        order = argsort(places)
        places, values = take(places, order, axis=0), take(values, order, axis=0)
        places = concat([subtract(places[-1:], size), places, add(places[:1], size)])
        values = concat([values[-1:], values, values[:1]])
        left = right = None
    last = places.shape[0] - 1
    if isinstance(last, int) and last == 0:
        inside = broadcast(values[0], wanted.shape)
    else:
        at = clip(subtract(places_among(places, wanted, side="right"), 1), 0, last - 1)
        after = add(at, 1)
        x0, x1, y0, y1 = (take(v, i, axis=0, mode="clip") for v in (places, values) for i in (at, after))
        slope = divide(subtract(y1, y0), subtract(x1, x0))
        inside = add(multiply(slope, subtract(wanted, x0)), y0)
        inside = where(_is_equal(wanted, places[-1]), values[-1], inside)
    result = where(less(wanted, places[0]), values[0] if left is None else left, inside)
    result = where(less(places[-1], wanted), values[-1] if right is None else right, result)
    result = convert(result, met)
    return where(ops.compare(wanted, wanted, direction="NE"), full_like(result, np.nan), result)


def _is_equal(x: Any, y: Any) -> Any:
    return ops.compare(x, broadcast(y, x.shape), direction="EQ")


def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """The polynomial with coefficients `p`, highest power first, at `x` (Horner's rule).

    Further axes of `p` broadcast against `x`. All steps are written out, whatever `unroll` says.
    """
    coefficients, value = promote(p, x)
    if coefficients.ndim == 0 or not isinstance(coefficients.shape[0], int):
        raise shape_error(f"polyval: expected coefficients of static number, got {type_text(coefficients)}")
    result: Any = full_like(value, 0)
    for k in range(coefficients.shape[0]):
        result = add(multiply(result, value), coefficients[k])
    return result


# -- covariance --------------------------------------------------------------------------------


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """The covariance of variables, which are rows (columns with `rowvar=False`).

    It is 0-d of one variable, unless the number of variables is a dynamic dimension.
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = concat([x, _variables(y, rowvar)])
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            require_sizes("cov", name, asarray_of(given), (x.shape[1],), "the observations")
    if fweights is not None:
        weights = float_value(fweights)
    if aweights is not None:
        analytic = float_value(aweights)
        weights = analytic if weights is None else multiply(weights, analytic)
    if weights is None:
        centred = subtract(x, mean(x, axis=1, keepdims=True))
        factor = largest_size(x.shape[1] - correction, 0)
        result = matmul(centred, transpose(conj(centred)))
    else:
        total = sum_of(weights)
        centred = subtract(x, average(x, axis=1, weights=weights, keepdims=True))
        factor = total
        if correction and aweights is None:
            factor = subtract(total, correction)
        elif correction:
            factor = subtract(total, divide(multiply(correction, sum_of(multiply(weights, aweights))), total))
        result = matmul(multiply(centred, weights), transpose(conj(centred)))
    result = divide(result, factor)
    is_one = all(isinstance(n, int) and n == 1 for n in result.shape)
    result = ops.reshape(result, shape=()) if is_one else result
    return result if dtype is None else convert(result, np.dtype(dtype))


def _variables(m: Any, rowvar: bool) -> Any:
    value = asarray_of(m)
    if value.ndim > 2:
        raise shape_error(f"cov: expected a vector or a matrix, got {type_text(value)}")
    value = float_value(value)
    one_variable = value.ndim < 2
    value = atleast_2d(value)
    return value if rowvar or one_variable else transpose(value)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The correlation of variables: their covariance scaled to a unit diagonal, kept in [-1, 1]."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return divide(c, c)
    deviation = sqrt(real(diag(c)))
    n = deviation.shape[0]
    c = divide(divide(c, ops.reshape(deviation, shape=(n, 1))), ops.reshape(deviation, shape=(1, n)))
    if c.dtype in COMPLEX:
        return ops.complex(clip(real(c), -1.0, 1.0), clip(imag(c), -1.0, 1.0))
    return clip(c, -1.0, 1.0)
