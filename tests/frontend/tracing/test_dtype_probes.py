"""Dtypes of results are JAX's with 64-bit numbers enabled; but floats that are created are float32.

Each probe is one expression, and is run with both libraries; JAX, the oracle, with `enable_x64`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze

ARRAYS = {
    "b": np.array([True, False]),
    "i8": np.int8([1, 2]),
    "i32": np.int32([1, 2]),
    "i64": np.int64([1, 2]),
    "u8": np.uint8([1, 2]),
    "u32": np.uint32([1, 2]),
    "f16": np.float16([1, 2]),
    "f32": np.float32([1, 2]),
    "f64": np.float64([1, 2]),
    "c64": np.complex64([1, 2]),
}

# Probes of an array `v` by its name here, `np` is the library's numpy, `lib` the library.
PROBES = """
v.i64 + v.f32
v.i32 * v.f16
v.f32 + v.f64
v.b + v.f16
v.b + v.i8
v.i8 + v.i32
v.u8 + v.i8
v.u32 + v.i32
v.f16 + v.f32
v.f64 * v.c64
v.i64 + v.c64
v.f16 @ v.f32
v.f32.astype('bfloat16') + v.f16
v.i32 + v.f32.astype('bfloat16')
np.where(v.b, v.i64, v.f32)
v.f32 + 1
v.f32 * 1.5
v.f16 * 1.5
v.i32 + 1
v.i8 + 1
v.b + 1
v.u8 - 1
v.f32 + 1j
v.f64 + 1j
v.f16 ** 2
v.f32 ** v.i64
v.i32 ** 2
v.f32 + numpy.float64(2)
v.f16 * numpy.float32(2)
v.i8 + numpy.int64(2)
v.i64 * numpy.float32(2)
v.i32 / v.i32
v.i32 // v.i32
v.i32 % 2
v.f32 // 1
np.exp(v.i8)
np.exp(v.f16)
np.mean(v.f16)
np.mean(v.f32)
np.sum(v.i8)
np.sum(v.b)
np.sum(v.f16)
np.prod(v.i32)
np.max(v.i8)
np.argmax(v.f32)
np.dot(v.i8, v.i8)
np.abs(v.c64)
np.var(v.f16)
np.std(v.f32)
np.clip(v.i32, 0, 5)
np.maximum(v.f32, 0)
np.floor(v.f32)
np.concatenate([v.i32, v.f32])
np.stack([v.f16, v.f32])
np.linspace(v.f32[0], v.f32[1], 3)
np.result_type(v.i64, v.f16)
np.promote_types('int32', 'float32')
np.median(v.f32)
np.power(v.f32, 2)
np.arange(3)
np.arange(3, dtype='float32')
np.full(2, 3)
np.ones(2, 'int8')
np.asarray([1, 2])
np.asarray([True])
np.zeros_like(v.f16)
np.full_like(v.i8, 2)
np.round(v.f16)
np.sign(v.i8)
np.linalg.norm(v.f32)
np.var(v.c64)
lib.grad(lambda x: (x * v.i64[0]).sum())(v.f32)
lib.lax.fori_loop(0, 3, lambda i, x: x * i, v.f32)
lib.lax.fori_loop(0, 3, lambda i, x: x + i, v.f16)
lib.lax.scan(lambda c, x: (c + x, c), 0, v.i32)[0]
lib.vmap(lambda x: x * 2)(v.i8)
lib.jit(lambda x: x * 2.0)(v.f16)
lib.nn.softmax(v.f16)
lib.nn.relu(v.i32)
lib.nn.one_hot(v.i32, 3, dtype='float16')
lib.nn.sigmoid(v.f16)
lib.lax.cond(True, lambda x: x * 1.0, lambda x: x * 2, v.f32)
lib.lax.while_loop(lambda x: x[0] < 9, lambda x: x * 2, v.f16)
np.einsum('i,i', v.i32, v.f32)
""".strip().splitlines()

CREATED = """
np.zeros(2)
np.asarray([1.5])
np.linspace(0, 1, 3)
np.exp(1.0)
np.eye(2)
v.i64 * 1.5 * 1
lib.random.normal(lib.random.PRNGKey(0))
np.mean(v.i64)
np.array(2.0)
v.b / 2
v.b * 1.5
v.i32 * 1.5
v.i64 / 2
v.i64 / v.i64
np.sqrt(v.i64)
""".strip().splitlines()
"""Floats that no floating array takes part in: float32 here, float64 in JAX with 64-bit numbers."""

OTHERS = {
    "np.cumsum(v.i8)": ("int64", "int8"),  # as NumPy
    "np.searchsorted(v.f32, 1.0)": ("int64", "int32"),  # as NumPy
    "lib.random.randint(lib.random.PRNGKey(0), (2,), 0, 5)": ("int32", "int64"),  # JAX's numbers by default
}
"""The dtypes here and in JAX, where they differ for another reason."""


class _Arrays:
    def __init__(self, asarray: Callable[[Any], Any]) -> None:
        for name, array in ARRAYS.items():
            setattr(self, name, asarray(array))


def dtype_of(probe: str, lib: Any) -> str:
    names = {"v": _Arrays(lib.numpy.asarray), "np": lib.numpy, "lib": lib, "numpy": np}
    result = eval(probe, names)
    return str(np.dtype(getattr(result, "dtype", result)))


def dtype_in_jax(probe: str) -> str:
    jax = pytest.importorskip("jax", reason="the oracle of dtypes")
    with jax.enable_x64(True):
        return dtype_of(probe, jax)


@pytest.mark.parametrize("probe", PROBES)
def test_the_dtype_is_that_of_jax(probe: str) -> None:
    wanted = dtype_in_jax(probe)
    assert dtype_of(probe, adze) == wanted


@pytest.mark.parametrize("probe", CREATED)
def test_created_floats_are_float32(probe: str) -> None:
    assert (dtype_of(probe, adze), dtype_in_jax(probe)) == ("float32", "float64")


@pytest.mark.parametrize("probe", OTHERS)
def test_other_dtypes_differ_as_documented(probe: str) -> None:
    assert (dtype_of(probe, adze), dtype_in_jax(probe)) == OTHERS[probe]
