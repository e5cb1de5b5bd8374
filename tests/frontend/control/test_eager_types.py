"""Checks of eager loops and branches: made again where the types of results may be others."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax


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
