"""Bits read as elements of another width: NumPy's `view`, and JAX's bitcast, which has an axis for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax

DTYPES = ("uint8", "int16", "float16", "float32", "int32", "uint32", "float64", "int64")


@pytest.mark.parametrize("source", DTYPES)
def test_bits_are_those_of_numpy(source: str) -> None:
    numbers = np.frombuffer(np.random.default_rng(0).bytes(96), source).reshape(2, -1)

    def views(x: Any) -> list[Any]:
        return [x.view(target) for target in DTYPES]

    for viewed in (views(adze.numpy.asarray(numbers)), adze.jit(views)(numbers)):
        for result, wanted in zip(viewed, views(numbers), strict=True):
            assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
            assert np.asarray(result).tobytes() == wanted.tobytes()


def test_narrower_elements_have_an_axis() -> None:
    x = np.float32([[1.5, -2.0, 0.0]])
    parts = lax.bitcast_convert_type(x, np.uint8)
    assert parts.shape == (1, 3, 4) and parts[0, 0].tolist() == [0, 0, 192, 63]
    assert lax.bitcast_convert_type(parts, np.float32).tolist() == x.tolist()
    batched = adze.vmap(lambda v: lax.bitcast_convert_type(v, np.int16))(x[0])
    np.testing.assert_array_equal(batched, x[0].view(np.int16).reshape(3, 2))
    assert lax.bitcast_convert_type(np.float32(1), np.uint16).shape == (2,)
    assert lax.bitcast_convert_type(np.zeros((0, 2), np.uint16), np.float32).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lax.bitcast_convert_type(np.zeros(3, np.uint16), np.float32),
            "needs a last axis of 2 elements",
        ),
        (lambda: lax.bitcast_convert_type(np.complex64(1), np.uint8), "c64.* cannot be read as uint8"),
        (lambda: adze.numpy.zeros(3, np.uint16).view(np.float32), "holds no whole number of float32"),
        (lambda: adze.numpy.asarray(1.0).view(np.uint8), "has no axis"),
        (lambda: adze.numpy.zeros(3).view(type=np.ndarray), "arrays have one class"),
    ],
)
def test_what_cannot_be_read(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(adze.AdzeError, match=message):
        call()
