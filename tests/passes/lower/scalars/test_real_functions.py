"""Floating-point scalar code against references in extended precision, over the whole range, in ulps."""

from collections.abc import Callable

import iree.runtime
import ml_dtypes
import numpy as np
import pytest
import scipy.special

from adze.passes.lower.scalars import Scalars

from .kernels import compile_kernels, compile_kernels_for_vulkan, op_kernel
from .references import BINARY, LONG, UNARY, arguments, reference, specials
from .tolerances import EXACT, LARGEST_TERM_ULPS, ULPS

SINGLE, DOUBLE = np.dtype("float32"), np.dtype("float64")
# fused multiply-add or not, wide vectors or not; the Vulkan choice of code also runs on a CPU
TARGETS = [("x86-64-v3", "cpu"), ("generic", "vulkan"), ("host", "cpu")]
# one of each kind of error-free transformation, and the rounding ones
VULKAN_OPS = ("exp", "expm1", "log1p", "log2", "sin", "tan", "pow", "rem", "floor", "round", "cbrt", "acosh")
# division and square root may be off by a few ulp there, and fused operations come as the driver likes
VULKAN_SLACK = 1.7
Run = Callable[..., np.ndarray]


def ulps(seen: np.ndarray, exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Distance in ulps of the dtype; infinite where one is NaN or infinite and the other is not."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        spacing = np.spacing(np.clip(np.abs(rounded), info.tiny, info.max)).astype(LONG)
        error = np.abs(seen.astype(LONG) - exact) / spacing
        agree = (np.isnan(seen) & np.isnan(rounded)) | ((seen == rounded) & ~np.isfinite(rounded))
        flushed = (np.abs(exact) < info.tiny) & (seen == 0)
    return np.where(agree | flushed, 0.0, np.where(np.isnan(error), np.inf, error)).astype(float)


@pytest.fixture(
    scope="module",
    params=[TARGETS[0], *(pytest.param(target, marks=pytest.mark.thorough) for target in TARGETS[1:])],
    ids="-".join,
)
def target(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture(scope="module", params=[SINGLE, DOUBLE], ids=str)
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    return request.param


@pytest.fixture(scope="module")
def run(target: tuple[str, str], dtype: np.dtype, thorough: bool) -> Run:
    scalars = Scalars(target[1])  # type: ignore[arg-type]
    scalars.arithmetic = scalars.arithmetic._replace(flushes=target[1] == "cpu")
    kernels = {op: op_kernel(scalars, op, dtype, 1) for op in UNARY}
    kernels |= {op: op_kernel(scalars, op, dtype, 2) for op in BINARY}
    return compile_kernels(kernels, target[0], joined=not thorough)


@pytest.fixture(scope="module")
def run_on_vulkan(dtype: np.dtype) -> Run:
    try:
        config = iree.runtime.Config("vulkan")
    except (RuntimeError, ValueError) as error:
        pytest.skip(f"no Vulkan device: {error}")
    scalars = Scalars("vulkan")
    kernels = {op: op_kernel(scalars, op, dtype, 1) for op in VULKAN_OPS if op in UNARY}
    kernels |= {op: op_kernel(scalars, op, dtype, 2) for op in VULKAN_OPS if op in BINARY}
    return compile_kernels_for_vulkan(kernels, config)


@pytest.mark.oracle
@pytest.mark.vulkan
def test_vulkan_drivers_do_not_simplify_the_error_terms_away(dtype: np.dtype, run_on_vulkan: Run) -> None:
    if np.finfo(LONG).nmant < 63:
        pytest.skip("longdouble is no wider than f64 here: there is no reference")
    for op in VULKAN_OPS:
        operands, exact = arguments(op, dtype), reference(op, dtype)
        error = ulps(run_on_vulkan(op, *operands), exact, dtype)
        limit = max(VULKAN_SLACK * ULPS[op][dtype == DOUBLE], EXACT)
        worst = int(np.argmax(error))
        assert error[worst] <= limit, f"{op}{tuple(x[worst] for x in operands)}: {error[worst]:.3g} ulp"


@pytest.mark.oracle
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_error_stays_within_its_ulps(op: str, dtype: np.dtype, run: Run, thorough: bool) -> None:
    if np.finfo(LONG).nmant < 63:
        pytest.skip("longdouble is no wider than f64 here: there is no reference")
    operands, exact = arguments(op, dtype, thorough), reference(op, dtype, thorough)
    error = ulps(run(op, *operands), exact, dtype)
    limit = np.full(error.shape, ULPS[op][dtype == DOUBLE])
    if op in ("lgamma", "digamma"):
        limit = np.maximum(limit, LARGEST_TERM_ULPS * _largest_term(op, operands[0], exact, dtype))
    worst = int(np.argmax(error - limit))
    assert error[worst] <= limit[worst], (
        f"{op}{tuple(x[worst] for x in operands)}: {error[worst]:.3g} ulp from {exact[worst]}, "
        f"limit {limit[worst]:.3g}"
    )


def _largest_term(op: str, x: np.ndarray, exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The larger of the two terms of the reflection, in units of the result; 1 for positive x."""
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        if op == "lgamma":
            term = np.maximum(
                np.abs(scipy.special.gammaln(-wide)),
                np.log(np.maximum(1 / np.abs(np.sin(np.pi * wide)), np.e)),
            )
            rounding = 1.0
        else:
            cotangent = np.abs(np.pi / np.tan(np.pi * wide))
            term, rounding = np.maximum(cotangent, np.abs(scipy.special.digamma(1 - wide))), 1.0
        ratio = rounding * term / np.maximum(np.abs(exact.astype(np.float64)), float(np.finfo(dtype).tiny))
    return np.where((x < 0) & np.isfinite(ratio), ratio, 1.0)


def test_zeros_and_infinities_keep_their_signs(dtype: np.dtype, run: Run) -> None:
    x = specials(dtype)
    functions = {
        "sqrt": np.sqrt, "cbrt": np.cbrt, "expm1": np.expm1, "log1p": np.log1p, "sin": np.sin, "tan": np.tan,
        "asin": np.arcsin, "atan": np.arctan, "sinh": np.sinh, "tanh": np.tanh, "asinh": np.arcsinh,
        "atanh": np.arctanh, "floor": np.floor, "ceil": np.ceil, "round": np.rint,
        "rsqrt": lambda v: 1 / np.sqrt(v),
    }  # fmt: skip
    with np.errstate(all="ignore"):
        for op, function in functions.items():
            _same_sign(op, run(op, x), function(x))
        zeros = np.array([0.0, -0.0], dtype)
        for op in ("erf", "erf_inv", "sign"):
            _same_sign(op, run(op, zeros), zeros)
        first, second = (v.ravel() for v in np.meshgrid(x, x))
        for op, binary in {"atan2": np.arctan2, "pow": np.power, "rem": np.fmod, "div": np.divide}.items():
            _same_sign(op, run(op, first, second), binary(first, second))


def test_max_and_min_order_signed_zeros(dtype: np.dtype, run: Run) -> None:
    x, y = np.array([0.0, -0.0], dtype), np.array([-0.0, 0.0], dtype)
    assert not np.signbit(run("max", x, y)).any()
    assert np.signbit(run("min", x, y)).all()


def test_logarithms_of_subnormal_numbers_are_those_of_zero(dtype: np.dtype, run: Run) -> None:
    x = np.array([np.finfo(dtype).smallest_subnormal, np.finfo(dtype).tiny / 2, 0.0], dtype)
    for op in ("log", "log2"):
        np.testing.assert_array_equal(run(op, x), np.full(3, -np.inf, dtype))
    np.testing.assert_array_equal(run("pow", x, np.full(3, 0.5, dtype)), np.zeros(3, dtype))


def _same_sign(op: str, seen: np.ndarray, expected: np.ndarray) -> None:
    fixed = (expected == 0) | np.isinf(expected)
    np.testing.assert_array_equal(np.signbit(seen[fixed]), np.signbit(expected[fixed]), err_msg=op)
    np.testing.assert_array_equal(seen[fixed], expected[fixed], err_msg=op)


# f64 is reference enough for a 16-bit result
HALF = {"erf": scipy.special.erf, "erfc": scipy.special.erfc, "erf_inv": scipy.special.erfinv}


HALF_FLOATS = [pytest.param(np.dtype("float16"), marks=pytest.mark.thorough), np.dtype(ml_dtypes.bfloat16)]


@pytest.mark.parametrize("half", HALF_FLOATS, ids=str)
def test_half_floats_are_rounded_once_from_f32(half: np.dtype, thorough: bool) -> None:
    scalars = Scalars("cpu")
    unary = [op for op in UNARY if op not in ("lgamma", "digamma")]
    unary = unary if thorough else unary[::3]
    kernels = {op: op_kernel(scalars, op, half, 1) for op in unary}
    kernels |= {
        op: op_kernel(scalars, op, half, 2) for op in ("add", "mul", "div", "pow", "atan2", "rem", "max")
    }
    run = compile_kernels(kernels)
    tiny = float(ml_dtypes.finfo(half).tiny)
    values = np.arange(0, 2**16, 7, dtype=np.uint16).view(half)
    values = values[values.view(np.uint16) % 2**15 <= np.array(np.inf, half).view(np.uint16)]  # no NaN yet
    values = np.append(values[(values == 0) | (np.abs(values) >= tiny)], np.array(np.nan, half))
    other = np.random.default_rng(3).permutation(values)
    binary = {"add": np.add, "mul": np.multiply, "div": np.divide, "pow": np.power, "atan2": np.arctan2,
              "rem": np.fmod,
              "max": np.maximum}  # fmt: skip
    with np.errstate(all="ignore"):
        wide, wide_other = values.astype(np.float64), other.astype(np.float64)
        for op in kernels:
            if op in binary:
                seen, exact = run(op, values, other), binary[op](wide, wide_other)
            else:
                seen, exact = run(op, values), HALF.get(op, UNARY[op])(wide).astype(np.float64)
            expected = exact.astype(np.float32).astype(half).astype(np.float64)
            # the f32 result may fall on the other side of a tie: one half-float ulp then
            step = float(ml_dtypes.finfo(half).eps) * np.maximum(np.abs(expected), tiny)
            near = np.abs(seen.astype(np.float64) - expected) <= 1.01 * step
            same = (seen.astype(np.float64) == expected) | (
                np.isnan(expected) & np.isnan(seen.astype(np.float64))
            )
            flushed = (np.abs(expected) <= tiny) & (np.abs(seen.astype(np.float64)) <= tiny)
            assert (same | near | flushed).all(), (op, wide[~(same | near | flushed)][:5])
            assert np.mean(same | flushed) > 0.99, op
