"""Donated arguments: used up where JAX uses them up, an error where they are used again."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.errors import ArgumentError, DeletedArrayError


def on_device(*values: float, dtype: Any = np.float32) -> adze.Array:
    return adze.device_put(np.array(values, dtype))


@pytest.fixture(scope="module")
def step() -> Any:
    return adze.jit(lambda x, y: (x + 1, y * 2), donate_argnums=0)


USES: list[Callable[[adze.Array], Any]] = [
    lambda x: x + 1,
    lambda x: anp.exp(x),
    lambda x: np.exp(x),
    lambda x: np.asarray(x),
    lambda x: np.from_dlpack(x),
    lambda x: x[0],
    lambda x: float(x.sum()),
    lambda x: x.tolist(),
    lambda x: pickle.dumps(x),
    lambda x: x.device,
    lambda x: adze.grad(lambda a: a.sum())(x),
    lambda x: adze.jit(lambda a: a)(x),
    lambda x: adze.trace(lambda: x + 1),
]


def test_a_donated_array_is_used_up(step: Any) -> None:
    x, y = on_device(1, 2), on_device(3, 4)
    first, second = step(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert (x.shape, x.dtype, x.ndim) == ((2,), np.float32, 1)
    assert "deleted" in repr(x)
    for use in USES:
        with pytest.raises(DeletedArrayError, match=r"float32\[2\], donated to"):
            use(x)
    with pytest.raises(RuntimeError, match="use what the call returned"):
        step(x, y)
    with pytest.raises(RuntimeError):
        step(y, x)  # not donated there, and deleted all the same
    for _ in range(3):  # the short way of known calls
        previous = first
        first, second = step(first, second)
        assert previous.is_deleted()
    assert first.tolist() == [5, 6] and second.tolist() == [48, 64]


def test_views_keep_the_memory_of_a_donated_array(step: Any) -> None:
    x = on_device(1, 2)
    view = np.asarray(x)
    step(x, on_device(3, 4))
    assert view.tolist() == [1, 2]


def test_memory_of_the_host_is_never_used_up(step: Any) -> None:
    x = np.ones(2, np.float32)
    first, _ = step(x, x)
    assert x.tolist() == [1, 1] and first.tolist() == [2, 2]


def test_an_array_is_used_up_once(step: Any) -> None:
    x = on_device(1, 2)
    with pytest.raises(ArgumentError, match="given one array twice"):
        step(x, x)
    assert not x.is_deleted()


def test_trees_names_and_results_without_a_place() -> None:
    update = adze.jit(
        lambda state, gradient: {"w": state["w"] - gradient, "n": state["n"].sum()}, donate_argnames="state"
    )
    state = {"w": on_device(1, 2), "n": on_device(1, 2, 3)}
    new = update(gradient=on_device(1, 1), state=state)
    assert state["w"].is_deleted() and not state["n"].is_deleted()  # no result is as large as `n`
    assert new["w"].tolist() == [0, 1]
    update(new | {"n": state["n"]}, on_device(1, 1))
    assert new["w"].is_deleted()


def test_the_same_object_as_result_stays() -> None:
    x = on_device(1, 2)
    result = adze.jit(lambda x: x, donate_argnums=-1, first_call="evaluate")(x)
    assert result.tolist() == [1, 2]


def test_inside_other_functions_nothing_is_donated(step: Any) -> None:
    x = on_device(1, 2)
    outer = adze.jit(lambda a: step(a, a)[0] + a)
    assert outer(x).tolist() == [3, 5] and not x.is_deleted()


def test_delete() -> None:
    for x in (on_device(1, 2), anp.ones(2)):
        assert not x.is_deleted()
        x.delete()
        x.delete()
        assert x.is_deleted()
        with pytest.raises(DeletedArrayError, match=r"by delete\(\)"):
            x.numpy()


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"donate_argnums \[3\] are no parameters of"):
        adze.jit(lambda x: x, donate_argnums=3)
    with pytest.raises(ArgumentError, match=r"donate_argnames \['y'\] are no parameters of"):
        adze.jit(lambda x: x, donate_argnames="y")


def test_copies_outlive_a_donated_array(step: Any) -> None:
    add = adze.jit(lambda a, b: a + b, donate_argnums=0)
    for copied in (lambda x: x.copy(), anp.copy, anp.array, copy.copy, copy.deepcopy):
        x = on_device(1, 2)
        other = copied(x)
        assert add(x, other).tolist() == [2, 4]  # as the hint for one array given twice says
        assert x.is_deleted() and other.tolist() == [1, 2]
        with pytest.raises(DeletedArrayError):
            copied(x)
    assert adze.jit(lambda x: x.copy())(on_device(3)).tolist() == [3]
