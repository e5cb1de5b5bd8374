"""Calls, checks and prints: what reaches the compiled program, and what its user sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME
from adze.dialects.errors import AdzeError, TypeCheckError
from adze.dialects.types import BOOL, COMPLEX64, FLOAT32, UINT32, TensorType

from ..programs import Compiled

VECTOR = TensorType((3,), FLOAT32)
COLUMN = TensorType((None, 1), UINT32)


def twice(b: Any, x: Any, y: Any) -> Any:
    return b.add(x, x), y


def calls(b: Any, x: Any, y: Any) -> Any:
    return b.call(x, y, callee="_twice", results=(VECTOR, COLUMN))


def checks(b: Any, x: Any, predicate: Any) -> Any:
    b.check(predicate, message="x must be positive (model.py:3)")
    return b.add(x, x)


def prints(b: Any, x: Any, y: Any, z: Any) -> Any:
    b.print(x, y, z, format="x = {}, y = {}, z = {}")
    return b.add(x, x)


run = Compiled(
    {
        "_twice": (twice, (VECTOR, COLUMN)),
        "calls": (calls, (VECTOR, COLUMN)),
        "checks": (checks, (VECTOR, TensorType((), BOOL))),
        "prints": (prints, (VECTOR, COLUMN, TensorType((1,), COMPLEX64))),
    }
)
X = np.arange(3, dtype=np.float32)
Y = np.array([[2**32 - 1], [1]], np.uint32)


def test_a_call_gives_the_results_of_its_function() -> None:
    doubled, same = run("calls", X, Y)
    assert doubled.tolist() == [0, 2, 4] and np.array_equal(same, Y)


def test_a_failed_check_stops_the_program_with_its_text() -> None:
    assert run("checks", X, np.array(True))[0].tolist() == [0, 2, 4]
    with pytest.raises(AdzeError, match=r"x must be positive \(model\.py:3\)"):
        run("checks", X, np.array(False))


def test_a_check_stops_eager_evaluation_too() -> None:
    with pytest.raises(AdzeError, match="x must be positive"):
        BY_NAME["check"].evaluate(np.array(False), message="x must be positive")


def test_print_writes_to_standard_output_when_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    BY_NAME["print"].evaluate(X, np.asarray(1), format="x = {}, n = {}")
    assert capsys.readouterr().out == "x = [0. 1. 2.], n = 1\n"


def test_print_writes_to_standard_error_when_compiled(capfd: pytest.CaptureFixture[str]) -> None:
    """Unsigned and complex numbers too, of which IREE's own trace knows only the bits."""
    run("prints", X, Y, np.array([1 + 2j], np.complex64))
    shown = capfd.readouterr().err
    assert "=== x = {}, y = {}, z = {} ===" in shown
    assert "3xf32=0 1 2" in shown and "[4294967295][1]" in shown and "1x2xf32=[1 2]" in shown


def test_a_format_that_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeCheckError, match=r"format '\{\} \{\}' does not fit 1 operands"):
        BY_NAME["print"].infer(VECTOR, format="{} {}")
    with pytest.raises(TypeCheckError, match="the predicate must be 0-d"):
        BY_NAME["check"].infer(TensorType((2,), BOOL), message="")
