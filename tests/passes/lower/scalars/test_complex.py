"""Complex scalar code: accuracy against mpmath, special values and branch cuts against NumPy."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from adze.passes.lower.scalars import Scalars

from .kernels import Kernel, compile_kernels, op_kernel

Run = Callable[..., np.ndarray]
UNARY = {
    "sqrt": mpmath.sqrt,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "expm1": lambda z: mpmath.exp(z) - 1,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "sign": lambda z: z / abs(z),
    "exp2": lambda z: mpmath.power(2, z),
    "log2": lambda z: mpmath.log(z, 2),
}
BINARY = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": mpmath.power,
}
NUMPY = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sign": np.sign,
    "conj": np.conj,
    "neg": np.negative,
}
# The error of a result in units of eps * |result|: four real operations at a few ulps each.
LIMIT = 3.0


DOUBLE = pytest.param(np.dtype("complex128"), marks=pytest.mark.thorough)


@pytest.fixture(scope="module", params=[np.dtype("complex64"), DOUBLE], ids=str)
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    return request.param


def _part(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"float{dtype.itemsize * 4}")


@pytest.fixture(scope="module")
def run(dtype: np.dtype, thorough: bool) -> Run:
    scalars = Scalars("cpu")
    part, boolean = _part(dtype), np.dtype(bool)
    kernels = {op: op_kernel(scalars, op, dtype, 1) for op in [*UNARY, "conj", "neg"]}
    kernels |= {op: op_kernel(scalars, op, dtype, 2) for op in [*BINARY, "sub", "max", "min"]}
    kernels |= {op: op_kernel(scalars, op, dtype, 1, part) for op in ("real", "imag", "abs")}
    kernels["is_finite"] = op_kernel(scalars, "is_finite", dtype, 1, boolean)
    kernels["complex"] = Kernel(lambda x, y: scalars.complex(part, x, y), (part, part), dtype)
    for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        body = lambda x, y, d=direction: scalars.compare(dtype, d, x, y)  # noqa: E731
        kernels[direction] = Kernel(body, (dtype, dtype), boolean)
    return compile_kernels(kernels, joined=not thorough)


def _points(dtype: np.dtype, count: int) -> np.ndarray:
    """The plane near 0, out to 20, in many scales, and close to the unit circle."""
    rng = np.random.default_rng(0)
    scales = rng.choice([-1, 1], (2, count)) * 10.0 ** rng.uniform(-12, 1.3, (2, count))
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, count)) * (1 + 10.0 ** rng.uniform(-10, -1, count))
    pieces = [*(rng.normal(size=(1, 2, count)), rng.uniform(-20, 20, (1, 2, count)), scales[None])]
    plane = np.concatenate(pieces)
    return np.concatenate([(plane[:, 0] + 1j * plane[:, 1]).ravel(), circle]).astype(dtype)


def _exact(function: Callable[..., object], *operands: np.ndarray) -> np.ndarray:
    with mpmath.workprec(120):
        values = [
            complex(mpmath.mpc(function(*(mpmath.mpc(complex(v)) for v in point))))  # type: ignore[arg-type]
            for point in zip(*operands, strict=True)
        ]
    return np.array(values)


@pytest.mark.oracle
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_error_is_small_against_the_result(op: str, dtype: np.dtype, run: Run, thorough: bool) -> None:
    points = _points(dtype, 700 if thorough else 150)
    operands = (points,) if op in UNARY else (points, np.random.default_rng(1).permutation(points))
    exact = _exact(UNARY.get(op) or BINARY[op], *operands)
    info = np.finfo(_part(dtype))
    with np.errstate(all="ignore"):
        error = np.abs(run(op, *operands).astype(complex) - exact) / (np.abs(exact) * float(info.eps))
    limit = np.full(error.shape, LIMIT)
    if op == "pow":  # the relative error of exp(w) is the absolute error of w = y log x
        limit += 4 * np.abs(operands[1] * np.log(operands[0]))
    if op == "exp2":
        limit += np.abs(points)
    if op == "logistic":  # near the poles, where exp(-z) = -1, the problem itself is ill conditioned
        limit += 2 * np.abs(points * (1 - exact))
    normal = (np.abs(exact) > 8 * float(info.tiny)) & (np.abs(exact) < float(info.max) / 8)
    worst = int(np.argmax(np.where(normal, error / limit, 0)))
    assert error[worst] <= limit[worst], (op, [x[worst] for x in operands], error[worst], limit[worst])
    assert normal.mean() > 0.6


def test_special_values_and_branch_cuts_follow_numpy(dtype: np.dtype, run: Run) -> None:
    part = _part(dtype)
    values = np.array([0.0, -0.0, 1, -1, 0.5, -2, 3, 1e4, -1e4], part)
    points = np.empty(values.size**2, dtype)
    points.real, points.imag = (v.ravel() for v in np.meshgrid(values, values))
    for op, function in NUMPY.items():
        with np.errstate(all="ignore"):
            seen, expected = run(op, points), np.asarray(function(points))
        for mine, theirs, which in ((seen.real, expected.real, "real"), (seen.imag, expected.imag, "imag")):
            if op == "sign":
                theirs = np.where(points == 0, 0, theirs)
            close = np.isclose(mine, theirs, rtol=64 * np.finfo(part).eps, atol=0, equal_nan=True)
            # overflow to infinity times a sine that vanishes: NumPy's NaN or sign there is not worth having
            close |= ~np.isfinite(theirs) & ~np.isfinite(mine)
            close &= (np.signbit(mine) == np.signbit(theirs)) | (theirs != 0) | (op == "sign")
            bad = np.flatnonzero(~close)[:4]
            assert not bad.size, (op, which, [(points[i], seen[i], expected[i]) for i in bad])


@pytest.mark.parametrize(
    "op", ["sqrt", "log", "asin", "acos", "asinh", "acosh", "atan", "atanh", "exp", "sign"]
)
def test_infinite_operands_follow_numpy(op: str, dtype: np.dtype, run: Run) -> None:
    part = _part(dtype)
    values = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf], part)
    points = np.empty(values.size**2, dtype)
    points.real, points.imag = (v.ravel() for v in np.meshgrid(values, values))
    points = points[np.isinf(points)]
    with np.errstate(all="ignore"):
        seen, expected = run(op, points), NUMPY[op](points)
    for mine, theirs in ((seen.real, expected.real), (seen.imag, expected.imag)):
        close = np.isclose(mine, theirs, rtol=1e-5, equal_nan=True)
        bad = np.flatnonzero(~close)[:4]
        assert not bad.size, [(points[i], seen[i], expected[i]) for i in bad]


def test_parts_order_and_magnitude(dtype: np.dtype, run: Run) -> None:
    part = _part(dtype)
    values = np.array(
        [0.0, -0.0, 1.0, -2.5, 3.0, np.inf, -np.inf, np.nan, float(np.finfo(part).max) / 2], part
    )
    points = np.empty(values.size**2, dtype)
    points.real, points.imag = (v.ravel() for v in np.meshgrid(values, values))
    np.testing.assert_array_equal(run("real", points), points.real)
    np.testing.assert_array_equal(run("imag", points), points.imag)
    np.testing.assert_array_equal(run("is_finite", points), np.isfinite(points))
    np.testing.assert_array_equal(run("complex", points.real.copy(), points.imag.copy()), points)
    np.testing.assert_allclose(run("abs", points), np.abs(points), rtol=4 * np.finfo(part).eps)
    x, y = (v.ravel() for v in np.meshgrid(points[::2], points[::2]))
    orders = {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }
    with np.errstate(all="ignore"):
        for direction, function in orders.items():
            np.testing.assert_array_equal(run(direction, x, y), function(x, y), err_msg=direction)
        for op, function in {"max": np.maximum, "min": np.minimum}.items():
            np.testing.assert_array_equal(run(op, x, y), function(x, y), err_msg=op)
