"""Checks of eager loops and branches: made again where the types of results may be others."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.frontend.tracing.interludes import outside_traces


class Names:
    """What a function closes over, by reference."""

    def __init__(self, text: str) -> None:
        self.text = text


def branches(c: Any, keys: Any) -> tuple[Any, Any]:
    return lambda x: dict.fromkeys(keys(c), x), lambda x: {k: 2 * x for k in keys(c)}


@pytest.mark.parametrize(
    "make, keys",
    [
        (Names, lambda c: c.text),
        (lambda text: text, lambda c: c),
        (len, lambda c: "abc"[:c]),
        (list, lambda c: c),
        (lambda text: {"of": [text]}, lambda c: c["of"][0]),
    ],
    ids=["object", "string", "size", "list", "dictionary"],
)
def test_branches_that_close_over_something_else_have_results_of_their_own(make: Any, keys: Any) -> None:
    x = np.arange(3.0)
    for text in ("ab", "abc", "a"):
        result = lax.cond(True, *branches(make(text), keys), x)
        assert list(result) == list(text)
        for value in result.values():
            np.testing.assert_array_equal(np.asarray(value), x)


def test_what_a_function_closes_over_is_not_kept() -> None:
    class Large:
        pass

    held = Large()
    gone = weakref.ref(held)

    def body(i: Any, x: Any, held: Any = held) -> Any:
        return x + 1

    assert int(adze.lax.fori_loop(0, 3, body, 0)) == 3
    del held, body
    gc.collect()
    assert gone() is None


DTYPE: Any = np.float32


def _converted(x: Any) -> Any:
    return x.astype(DTYPE)


@pytest.mark.parametrize(
    "branch", [lambda x: x.astype(DTYPE), lambda x: _converted(x)], ids=["itself", "helper"]
)
def test_names_of_the_module_are_looked_up_again(branch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for dtype in (np.float32, np.float64, np.float16):
        monkeypatch.setitem(globals(), "DTYPE", dtype)
        assert lax.cond(True, lambda x: 1.5, branch, np.float32(1)).dtype == dtype


def test_default_dtypes_are_part_of_what_is_known() -> None:
    factor = np.float64(2)

    def chosen() -> Any:
        return lax.cond(True, lambda x: 1.5, lambda x: x * factor, adze.numpy.float32(1)).dtype

    for _ in range(2):
        assert chosen() == np.float64
        with adze.default_dtypes("float32"):
            assert chosen() == np.float32


def test_a_checked_function_may_leave_its_trace() -> None:
    def body(c: Any) -> Any:
        with outside_traces():
            three = lax.fori_loop(0, 3, lambda i, v: v + 1, np.float32(0))
        return c + three

    assert float(lax.while_loop(lambda c: c < 5, body, np.float32(0))) == 6
