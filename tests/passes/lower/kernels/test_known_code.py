"""Loops that are equal are built once; what differs in more than the names of functions is not equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax
from adze.dialects import mlir
from adze.passes.lower.kernels.loops import known_code
from adze.passes.lower.kernels.loops.known_code import text_without_names

LOOP = """
module {
  func.func @kernel() {
    "test.loop"() {body = @BODY, message = "MESSAGE"} : () -> ()
    return
  }
  func.func private @BODY() {
    return
  }
}"""


def text(body: str, message: str) -> str:
    with mlir.ir.Context() as context, mlir.ir.Location.unknown():
        context.allow_unregistered_dialects = True
        code = LOOP.replace("BODY", body).replace("MESSAGE", message)
        return text_without_names(mlir.ir.Module.parse(code))


def test_names_of_functions_make_no_difference() -> None:
    assert text("small_1", "x") == text("small_2", "x")


@pytest.mark.parametrize("message", ["y", "@small_2", r"\22@small_2\22", r"\\"])
def test_what_strings_say_does(message: str) -> None:
    assert text("small_1", "@small_1") != text("small_2", message)


def test_large_constants_are_compared_and_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def noted(module: Any) -> str:
        texts.append(text_without_names(module))
        return texts[-1]

    tables = [np.arange(100_000, dtype=np.float32), np.arange(100_000, dtype=np.float32) * 2]

    def function(x: Any) -> Any:
        for table in tables:
            x = lax.fori_loop(0, 50, lambda i, x, table=table: x / 2 + anp.asarray(table)[i * 7], x)
        return x

    monkeypatch.setattr(known_code, "text_without_names", noted)
    expected = np.float32(1)
    for table in tables:
        for i in range(50):
            expected = expected / np.float32(2) + table[i * 7]
    np.testing.assert_allclose(adze.trace(function, np.float32(1)).lower().compile()(np.float32(1)), expected)
    assert len(texts) == 2
    assert max(map(len, texts)) < 20_000


def decay(rate: float) -> Callable[[Any], Any]:
    """A loop whose steps depend on each other, so that it is a kernel of its own."""

    def step(i: Any, x: Any) -> Any:
        return x.at[i].set(x[i - 1] * rate + x[i])

    return lambda x: lax.fori_loop(1, 40, step, x)


def expected(x: np.ndarray, *rates: float) -> np.ndarray:
    x = x.copy()
    for rate in rates:
        for i in range(1, 40):
            x[i] = x[i - 1] * np.float32(rate) + x[i]
    return x


# The first loop may not write into the program's argument, the others may into what the one before wrote.
@pytest.mark.parametrize(("rates", "count"), [((0.5, 0.5, 0.5, 0.5), 2), ((0.5, 0.25, 0.5, 0.25), 3)])
def test_equal_loops_are_built_once(
    monkeypatch: pytest.MonkeyPatch, rates: tuple[float, ...], count: int
) -> None:
    modules: list[str] = []
    build = known_code.build

    def counted(module: Any, *rest: Any, **named: Any) -> Any:
        modules.append(str(module))
        return build(module, *rest, **named)

    def function(x: Any) -> Any:
        for rate in rates:
            x = decay(rate)(x)
        return x

    monkeypatch.setattr(known_code, "build", counted)
    x = np.linspace(-1, 1, 40, dtype=np.float32)
    lowered = adze.trace(function, x).lower()
    assert len(modules) == count
    np.testing.assert_allclose(lowered.compile()(x), expected(x, *rates), rtol=2e-6)
