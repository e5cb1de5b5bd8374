"""Objects that are arrays by JAX's method `__jax_array__`, such as the variables of flax.nnx."""

from __future__ import annotations

from typing import Any

import numpy as np

import adze
from adze import numpy as anp


class Wrapped:
    """An array in an object that forwards what it does not have, and answers operators of others."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __jax_array__(self) -> Any:
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)

    def __rmatmul__(self, other: Any) -> Any:
        raise AssertionError("the array answers")

    __radd__ = __rsub__ = __rmatmul__


def test_such_objects_are_operands() -> None:
    x, w = anp.ones((2, 3)), anp.arange(3, dtype=np.float32)

    def values(x: Any, w: Any) -> list[Any]:
        wrapped = Wrapped(w)
        return [x @ wrapped, x + wrapped, x - wrapped, anp.sum(wrapped), anp.asarray(wrapped) * 2]

    for transform in (lambda f: f, adze.jit):
        found = transform(values)(x, w)
        assert [f.tolist() for f in found[:1]] == [[3, 3]] and found[3].item() == 3
        np.testing.assert_array_equal(found[1], x + w)
        np.testing.assert_array_equal(found[2], x - w)
        assert found[4].tolist() == [0, 2, 4]
    gradient = adze.jit(adze.grad(lambda w: anp.sum(anp.square(x @ Wrapped(w)))))(w)
    np.testing.assert_array_equal(gradient, [12, 12, 12])


def test_numbers_in_such_objects_are_weakly_typed() -> None:
    half = anp.ones(2, "bfloat16") + Wrapped(0.5)
    assert half.dtype == anp.bfloat16 and half.tolist() == [1.5, 1.5]
