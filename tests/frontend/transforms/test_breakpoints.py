"""`debug.breakpoint`: the prompt has the values of the user's variables where the program stops."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp


def f(x: Any) -> Any:
    y, pair = anp.sin(x), (x, 2)
    adze.debug.breakpoint()
    return y * pair[1]


LINE = f.__code__.co_firstlineno + 2


def guarded(x: Any, y: Any) -> Any:
    z = x / y
    adze.cond(anp.isfinite(z).all(), lambda x: None, lambda x: adze.debug.breakpoint(), z)
    return z


def said(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any], *lines: str) -> tuple[Any, list[str]]:
    """What a call returns, and what its prompt says, for these lines of input."""
    answers = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    monkeypatch.setattr(sys, "stdout", answers)
    result = call()
    return result, answers.getvalue().replace("adzedb> ", "").splitlines()


@pytest.mark.parametrize("how", ["jit", "grad", "eager", "inner"])
def test_values_of_variables(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    calls = {
        "jit": lambda: adze.jit(f)(2.0),
        "grad": lambda: adze.grad(f)(2.0),
        "eager": lambda: f(2.0),
        "inner": lambda: adze.jit(lambda x: adze.jit(f)(x))(2.0),
    }
    result, answers = said(
        monkeypatch, calls[how], "p float(y)", "p float(pair[0]) + pair[1]", "p np.pi", "c"
    )
    expected = 2 * (np.cos(2) if how == "grad" else np.sin(2))
    assert float(result) == pytest.approx(expected)
    assert answers[0].startswith(f'File "{__file__}", line {LINE}, in f')
    assert float(answers[1]) == pytest.approx(np.sin(2))
    assert (answers[2], answers[3]) == ("4.0", str(np.pi))


def test_a_stop_for_each_element_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    _, answers = said(
        monkeypatch, lambda: adze.vmap(f)(np.float32([1, 2])), "p pair[0]", "c", "p pair[0]", "c"
    )
    assert answers[1::2] == ["1.0", "2.0"]


def test_calls_and_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = ("u", "d", "d", "bt", "l", "p nothing", "pp (x, x)", "go", "", "c")
    _, answers = said(monkeypatch, lambda: adze.jit(f)(1.0), *inputs)
    in_f = f'File "{__file__}", line {LINE}, in f'
    assert answers[0] == answers[2] == in_f and "<lambda>" in answers[1]
    assert answers[3] == "no more calls in that direction"
    assert f"-> {in_f}" in answers
    assert f"->   {LINE}     adze.debug.breakpoint()" in answers
    assert "NameError: name 'nothing' is not defined" in answers
    assert "no command: go; there are p, pp, l, bt, u, d, c and q" in answers


def test_in_a_branch_it_stops_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = adze.jit(guarded)
    result, answers = said(monkeypatch, lambda: compiled(2.0, 1.0))
    assert (result.item(), answers) == (2.0, [])
    result, answers = said(monkeypatch, lambda: compiled(2.0, 0.0), "u", "p z")
    assert np.isinf(result) and answers[-1] == "inf"  # and the end of the input goes on


def test_quit_leaves_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        said(monkeypatch, lambda: adze.jit(f)(3.0), "q")


def test_other_backends_are_refused() -> None:
    with pytest.raises(adze.AdzeError, match="breakpoint: backend is 'web', expected 'cli'"):
        adze.debug.breakpoint(backend="web")
