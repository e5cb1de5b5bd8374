"""Programs of dynamic sizes: windows, padding and convolutions that depend on them, as JAX exports them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze.imports import StableHLOError

N = "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
N += "%v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
N += "%one = stablehlo.constant dense<1> : tensor<1xi32>\n"
N += "%zero = stablehlo.constant dense<0> : tensor<1xi32>\n"
N += "%less = stablehlo.subtract %v, %one : tensor<1xi32>\n"


def both(function: Any, *arguments: np.ndarray) -> list[np.ndarray]:
    """Results of the function, and of the program compiled for named sizes."""
    compiled = adze.trace(function, *function.specs).lower("cpu").compile()
    return [np.asarray(f(*arguments)) for f in (function, compiled)]


def window(region: str, first: str, last: str, start: str = "0.0") -> Any:
    return adze.from_stablehlo(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        f"{N}%s = stablehlo.constant dense<{start}> : tensor<f32>\n"
        f"%p = stablehlo.concatenate %{first}, %{last}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) "
        "-> tensor<2xi32>\n%pads = stablehlo.reshape %p : (tensor<2xi32>) -> tensor<1x2xi32>\n"
        "%y = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %s, %v, %one, %one, %one, %pads) "
        "{called_computations = [@combine]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, "
        "tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>\nreturn %y : tensor<?xf32>\n}\n"
        "func.func private @combine(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
        f"{region}return %c : tensor<f32>\n}}"
    )


@pytest.mark.parametrize("size", [0, 1, 5])
def test_running_reductions(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    add = "%c = stablehlo.add %a, %b : tensor<f32>\n"
    for result in both(window(add, "less", "zero"), x):
        np.testing.assert_allclose(result, np.cumsum(x), rtol=1e-6)
    for result in both(window(add, "zero", "less", "1.5"), x):
        np.testing.assert_allclose(result, 1.5 + np.cumsum(x[::-1])[::-1], rtol=1e-5)
    either = "%d = stablehlo.maximum %a, %b : tensor<f32>\n%c = stablehlo.abs %d : tensor<f32>\n"
    for result in both(window(either, "less", "zero", "-1.0"), np.abs(x)):
        np.testing.assert_array_equal(result, np.maximum.accumulate(np.abs(x)))


def test_windows_of_unknown_size_that_are_no_running_reductions() -> None:
    with pytest.raises(StableHLOError, match="must have a size that is known while tracing"):
        function = window("%c = stablehlo.add %a, %b : tensor<f32>\n", "zero", "zero")
        adze.trace(function, *function.specs)


def test_padding_by_sizes() -> None:
    """In front as many zeros as there are elements, less one; behind one element is cut off."""
    function = adze.from_stablehlo(
        f"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{\n{N}"
        "%s = stablehlo.constant dense<7.0> : tensor<f32>\n%minus = stablehlo.negate %one : tensor<1xi32>\n"
        "%y = stablehlo.dynamic_pad %x, %s, %less, %minus, %zero : (tensor<?xf32>, tensor<f32>, "
        "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>\nreturn %y : tensor<?xf32>\n}"
    )
    for size in (1, 2, 4):
        x = np.arange(size, dtype=np.float32)
        for result in both(function, x):
            np.testing.assert_array_equal(result, np.float32([7] * (size - 1) + list(x[:-1])))


def test_a_convolution_padded_by_sizes() -> None:
    """A kernel of ones over the array with as many zeros on both sides."""
    function = adze.from_stablehlo(
        "func.func @main(%x: tensor<1x?x1xf32>) -> tensor<1x?x1xf32> {\n"
        "%n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<1x?x1xf32>) -> tensor<i32>\n"
        "%v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
        "%w = stablehlo.concatenate %v, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
        "%p = stablehlo.reshape %w : (tensor<2xi32>) -> tensor<1x2xi32>\n"
        "%k = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>\n"
        '%y = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, '
        "feature_group_count = 1 : i64, dimension_numbers = "
        "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}> : "
        "(tensor<1x?x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>\n"
        "return %y : tensor<1x?x1xf32>\n}"
    )
    x = np.float32([1, 2, 4])
    for result in both(function, x.reshape(1, 3, 1)):
        np.testing.assert_array_equal(result.ravel(), np.convolve(np.pad(x, 3), [1, 1], "valid"))


def test_a_comparator_whose_constants_are_outside_of_it() -> None:
    """`jax.export` puts them in front of the sort: it is still a sort by keys, of any size."""
    zero, nan = "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n", "dense<0x7FC00000> : tensor<f32>\n"
    key = (
        "%e{0} = stablehlo.compare EQ, %{0}, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "%s{0} = stablehlo.select %e{0}, %zero, %{0} : tensor<i1>, tensor<f32>\n"
        "%n{0} = stablehlo.compare NE, %{0}, %{0} : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "%k{0} = stablehlo.select %n{0}, %nan, %s{0} : tensor<i1>, tensor<f32>\n"
    )
    function = adze.from_stablehlo(
        f"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{\n{zero}%nan = stablehlo.constant {nan}"
        '%y = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({\n'
        f"^bb0(%a: tensor<f32>, %b: tensor<f32>):\n{key.format('a')}{key.format('b')}"
        "%r = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %r : tensor<i1>\n}) : (tensor<?xf32>) -> tensor<?xf32>\n"
        "return %y : tensor<?xf32>\n}"
    )
    x = np.float32([3, np.nan, -0.0, 0, -np.inf, 1, np.inf, -7, 2])
    for result in both(function, x):
        np.testing.assert_array_equal(result, np.sort(x))


def test_quotients_by_sizes() -> None:
    """`-1 mod n`, as `jnp.roll` has it."""
    function = adze.from_stablehlo(
        f"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{\n{N}"
        "%minus = stablehlo.negate %one : tensor<1xi32>\n"
        "%r = stablehlo.remainder %minus, %v : tensor<1xi32>\n%m = stablehlo.add %r, %v : tensor<1xi32>\n"
        "%y = stablehlo.real_dynamic_slice %x, %m, %v, %one : "
        "(tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>\n"
        "return %y : tensor<?xf32>\n}"
    )
    for result in both(function, np.float32([5, 6, 7])):
        np.testing.assert_array_equal(result, np.float32([7]))
