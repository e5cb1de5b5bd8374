"""Dynamic dimensions as Python values: arithmetic, identity, and questions that have no answer yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import ShapeDtype
from adze.frontend.tracing import sizes


def traced_at(function: Callable[[Any], Any]) -> adze.frontend.staging.traced.Traced:  # type: ignore[name-defined]
    """The trace of a function of one f32[n,m] argument."""
    return adze.trace(function, ShapeDtype(("n", "m")))


def text_while_tracing(expression: Callable[[Any, Any], Any]) -> str:
    """What an expression of the dims n and m prints as."""
    seen = []

    def look(x: Any) -> Any:
        seen.append(str(expression(*x.shape)))
        return x

    traced_at(look)
    return seen[0]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (lambda n, m: n + 1, "n + 1"),
        (lambda n, m: 1 + n, "n + 1"),
        (lambda n, m: n - 1, "n - 1"),
        (lambda n, m: 8 - n, "8 - n"),
        (lambda n, m: n * m, "m*n"),
        (lambda n, m: n // 2, "n//2"),
        (lambda n, m: sizes.maximum(n, m), "max(m, n)"),
        (lambda n, m: sizes.minimum(n, 3), "min(n, 3)"),
        (lambda n, m: sizes.maximum(n, n), "n"),
        (lambda n, m: (n + 0, n * 1, n // 1, n - 0, 0 + n, 1 * n), "(n, n, n, n, n, n)"),
        (lambda n, m: n - n, "0"),
        (lambda n, m: sizes.product((2, n, 3)), "6*n"),
        (lambda n, m: (n == n, hash(n) == hash(n), n in {n}), "(True, True, True)"),
        (lambda n, m: (n + n == 2 * n, (n + m) * n - n * m == n * n, 4 * n // 2), "(True, True, 2*n)"),
        (
            lambda n, m: (n + 1 > n, n >= 0, n < 0, n + 1 == n, bool(n + 1)),
            "(True, True, False, False, True)",
        ),
        (lambda n, m: sizes.minimum(n // 2, n), "n//2"),
    ],
)
def test_dimensions_compute_and_print(expression: Callable[[Any, Any], Any], text: str) -> None:
    assert text_while_tracing(expression) == text


def test_sizes_that_are_known_are_plain_integers() -> None:
    assert sizes.maximum(2, 3) == 3 and sizes.minimum(2, 3) == 2 and sizes.product((2, 3)) == 6


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (lambda n, m: n == 3, "'n == 3'"),
        (lambda n, m: n == m, "'n == m'"),
        (lambda n, m: n < m, "'n < m'"),
        (lambda n, m: n <= 3, "'n <= 3'"),
        (lambda n, m: n > 3, "'n > 3'"),
        (lambda n, m: n >= m, "'n >= m'"),
        (lambda n, m: bool(n), "'bool(n)'"),
    ],
)
def test_questions_about_dimensions_are_errors_and_no_guesses(question: Any, text: str) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        traced_at(lambda x: x if question(*x.shape) else -x)
    assert str(caught.value) == (
        f"{text} is not known while tracing: n is a dynamic dimension\n"
        f"  at {__file__}:{question.__code__.co_firstlineno}\n"
        "  hint: give the dimension a static size, or the same name as the one it must equal"
    )


@pytest.mark.parametrize("use", [int, float, range, len], ids=["int", "float", "range", "len"])
def test_a_dimension_has_no_integer_value(use: Any) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        traced_at(lambda x: use(x if use is len else x.shape[0]))
    assert str(caught.value).startswith("dynamic dimension n has no integer value while tracing\n  at ")


def test_a_dimension_meets_arrays_as_an_integer() -> None:
    program = traced_at(lambda x: (x * x.shape[0], x.sum() / (x.shape[0] * x.shape[1]))).lower().compile()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    scaled, mean = program(x)
    assert scaled.dtype == np.float32 and np.array_equal(scaled, x * 2) and mean.item() == x.mean()


def test_arithmetic_on_sizes_runs_in_the_program() -> None:
    def made(x: Any) -> Any:
        n, m = x.shape
        return anp.zeros((n // 2, m + 1, sizes.maximum(n, m), sizes.minimum(n, m), 9 - n), np.int8)

    program = traced_at(made).lower().compile()
    assert program(np.zeros((5, 3), np.float32)).shape == (2, 4, 5, 3, 4)


def test_a_dimension_does_not_outlive_its_trace() -> None:
    kept: list[Any] = []
    traced_at(lambda x: kept.append(x.shape[0]) or x)
    with pytest.raises(adze.AdzeError, match="dynamic dimension was used outside the trace"):
        kept[0] + 1


def test_a_division_by_a_size_of_zero_is_an_error_of_the_call() -> None:
    """CPUs end the process at it."""
    compiled = adze.trace(lambda x: anp.full(7 // x.shape[0], 1.0), ShapeDtype(("n",))).lower().compile()
    assert compiled(np.zeros(2, np.float32)).shape == (3,)
    with pytest.raises(adze.AdzeError, match="a size is divided by a size that is 0"):
        compiled(np.zeros(0, np.float32))
