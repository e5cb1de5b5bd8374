"""Runs one call three ways: with NumPy, with adze outside a trace, and traced and then evaluated.

Only NumPy arrays (also inside lists and tuples) are traced; everything else stays a Python value.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adze.numpy as anp
from adze.frontend.tracing.trace import trace_program
from adze.passes.analysis.evaluate import evaluate

FLOAT_TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 2e-6,
    "float64": 1e-12,
    "complex64": 5e-6,
    "complex128": 1e-12,
}


@dataclass(frozen=True)
class Call:
    """`numpy.<name>(*args, **kwargs)`, and under which name adze has it."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    adze_name: str | None = None
    tolerance: float | None = None

    def __str__(self) -> str:
        shown = [_short(a) for a in self.args] + [f"{k}={_short(v)}" for k, v in self.kwargs.items()]
        return f"{self.name}({','.join(shown)})"

    def of(self, module: Any) -> Callable[..., Any]:
        """The function in `numpy` or `adze.numpy`; dots reach into submodules."""
        name = self.adze_name or self.name if module is anp else self.name
        for part in name.split("."):
            module = getattr(module, part)
        return module  # type: ignore[no-any-return]


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}".replace(" ", "")
    if isinstance(value, (list, tuple)):
        return f"({','.join(map(_short, value))})"
    return repr(value)


def flat(result: Any) -> list[Any]:
    """The arrays of a result, in order."""
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in flat(item)]
    return [result]


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple)):
        return [a for item in value for a in _arrays(item)]
    return []


def _filled(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, np.ndarray):
        return arrays.pop(0)
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(item, arrays) for item in value)
    return value


def traced_and_evaluated(function: Callable[..., Any], *arrays: Any) -> list[np.ndarray]:
    """The results of the traced function, by the evaluator."""
    program = trace_program(lambda *xs: tuple(flat(function(*xs))), arrays, {})
    return evaluate(program.module, program.symbol, [np.asarray(a) for a in arrays])


def numpy_result(call: Call) -> Any:
    """What NumPy returns, in the dtypes of adze: where a call has integer arrays, its floats are of the dtype
    of the floating arrays, or of half the bits if there are none."""
    with np.errstate(all="ignore"):
        result = call.of(np)(*call.args, **call.kwargs)
    arrays = _arrays([call.args, [*call.kwargs.values()]])
    floating = [a.dtype for a in arrays if a.dtype.kind in "fcV"]
    if len(floating) == len(arrays) and call.name not in ("cov", "corrcoef", "interp"):  # float64 in NumPy
        return result
    if not floating and any(np.asarray(r).dtype.kind in "fc" for r in flat(result)):
        args, values = (_as_floats(part) for part in (call.args, tuple(call.kwargs.values())))
        with contextlib.suppress(TypeError, IndexError), np.errstate(all="ignore"):
            result = call.of(np)(*args, **dict(zip(call.kwargs, values, strict=True)))
    return _in_dtype(result, np.result_type(*floating) if floating else None)


def _as_floats(value: Any) -> Any:
    """Integers as adze converts them where the result is floating; values that need integers stay."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biu":
        return value.astype(np.float32)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_as_floats, value))
    return value


def _in_dtype(result: Any, floating: np.dtype | None) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_in_dtype(item, floating) for item in result)
    kind = np.asarray(result).dtype.kind
    if kind not in "fc":
        return result
    wanted = np.dtype("f4") if floating is None else floating
    if kind == "c" and wanted.kind == "f":
        wanted = np.result_type(wanted, np.complex64)
    elif kind == "f" and wanted.kind == "c":
        wanted = np.dtype("f4" if wanted == np.complex64 else "f8")
    with np.errstate(all="ignore"):
        return np.asarray(result).astype(wanted)


def run_traced(call: Call) -> list[np.ndarray]:
    """The call with its arrays traced, evaluated."""
    return run_traced_together([call])[0]


def run_traced_together(calls: list[Call]) -> list[list[np.ndarray]]:
    """The calls with their arrays traced in one program, evaluated."""
    given = [[call.args, tuple(call.kwargs.values())] for call in calls]
    counts: list[int] = []

    def function(*traced: Any) -> Any:
        left = list(traced)
        results = []
        for call, arguments in zip(calls, given, strict=True):
            args, values = _filled(arguments, left)
            leaves = flat(call.of(anp)(*args, **dict(zip(call.kwargs, values, strict=True))))
            counts.append(len(leaves))
            results += leaves
        return results

    results = traced_and_evaluated(function, *_arrays(given))
    return [[results.pop(0) for _ in range(count)] for count in counts]


def assert_same(actual: Any, expected: Any, tolerance: float | None = None) -> None:
    """Equal count, dtypes and shapes; integers and booleans equal, floats within their tolerance."""
    got, wanted = flat(actual), flat(expected)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype, f"dtype {one.dtype}, expected {other.dtype}"
        assert one.shape == other.shape, f"shape {one.shape}, expected {other.shape}"
        bound = FLOAT_TOLERANCE.get(other.dtype.name, 0.0) if tolerance is None else tolerance
        if other.dtype.name == "bfloat16":
            one, other = one.astype(np.float32), other.astype(np.float32)
        with np.errstate(all="ignore"):
            finite = np.abs(other[np.isfinite(other)]) if other.dtype.kind in "fc" else np.zeros(0)
            scale = float(finite.max(initial=0.0))
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * scale)
