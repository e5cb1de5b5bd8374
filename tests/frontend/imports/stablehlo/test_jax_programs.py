"""Programs exported by JAX: called, compiled, differentiated, batched; values as JAX computed them."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.frontend.imports.stablehlo.function import StableHLOFunction
from adze.frontend.imports.stablehlo.narrow import narrow_type, rounded
from adze.imports import StableHLOError

from .jax_programs import FOLDER

NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir") if path.stem != "symbolic")


@cache
def stored() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "values.npz") as values:
        return {name: values[name] for name in values.files}


def arrays(name: str, kind: str) -> list[np.ndarray]:
    """What JAX was called with ("in"), and what it returned ("out")."""
    values, found = stored(), []
    while f"{name}.{kind}.{len(found)}" in values:
        found.append(values[f"{name}.{kind}.{len(found)}"])
    return found


@cache
def function(name: str) -> StableHLOFunction:
    return adze.from_stablehlo(FOLDER / f"{name}.mlir")


def close(result: Any, expected: np.ndarray) -> None:
    array = np.asarray(result)
    assert array.shape == expected.shape
    if array.dtype.kind in "biu":
        np.testing.assert_array_equal(array, expected)
    else:
        wide = np.complex128 if array.dtype.kind == "c" else np.float64
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(array.astype(wide), expected.astype(wide), rtol=2e-5, atol=2e-5 * scale)


LONG = ("drawn", "factors", "running", "cnn_grad")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.thorough) if n in LONG else n for n in NAMES]
)
def test_values_are_those_of_jax(name: str) -> None:
    results = function(name)(*arrays(name, "in"))
    expected = arrays(name, "out")
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        close(result, value)


@pytest.mark.parametrize("element", ["f4E2M1FN", "f8E3M4", "f8E4M3FN", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"])
def test_floats_of_few_bits_are_rounded_as_by_ml_dtypes(element: str) -> None:
    """All of its numbers, the middles between them and the floats beside those, and what is too large."""
    type_ = narrow_type((), element)
    assert type_ is not None
    numbers = np.arange(256, dtype=np.uint8).view(type_.numbers).astype(np.float32)
    finite = np.unique(numbers[np.isfinite(numbers)])
    middles = finite[1:] / 2 + finite[:-1] / 2
    beside = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
    with np.errstate(over="ignore"):
        large = finite[-1] * np.float32([1.01, 1.1, 1.5, 4, np.inf])
    x = np.concatenate([numbers, middles, *beside, large, -large]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(type_.numbers).astype(np.float32)
    result = np.asarray(rounded(x, type_))
    np.testing.assert_array_equal(result, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))


def test_values_of_few_bits() -> None:
    """Integers are taken modulo a power of two; rounding has the derivative of the identity."""
    add = adze.from_stablehlo(
        "func.func @main(%x: tensor<3xi4>) -> tensor<3xi4> {\n"
        "%0 = stablehlo.add %x, %x : tensor<3xi4>\nreturn %0 : tensor<3xi4>\n}"
    )
    assert str(add) == "main(arg0: i4[3]) -> (i4[3])"
    for x in (np.int8([7, -8, 3 + 16]), np.array([7, -8, 3], ml_dtypes.int4)):
        np.testing.assert_array_equal(np.asarray(add(x)), np.int8([-2, 0, 6]))
    round_ = adze.from_stablehlo(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>\n"
        "%1 = stablehlo.convert %0 : (tensor<2xf8E4M3FN>) -> tensor<2xf32>\nreturn %1 : tensor<2xf32>\n}"
    )
    x = np.float32([1.07, -300])
    both = adze.jit(lambda n, v: (add(n), round_(v)))(np.int8([7, -8, 19]), x)
    for result in (both, (add(np.int8([7, -8, 19])), round_(x))):
        np.testing.assert_array_equal(np.asarray(result[0]), np.int8([-2, 0, 6]))
        np.testing.assert_array_equal(np.asarray(result[1]), np.float32([1.125, -288]))
    gradient = adze.vmap(adze.grad(lambda v: xp.sum(round_(v) ** 2)))(x[None])
    np.testing.assert_array_equal(np.asarray(gradient), np.float32([[2.25, -576]]))


def test_compiled_programs_are_right() -> None:
    """Several families in one program: one compile."""
    check_compiled("mlp", "narrow", "newton")


@pytest.mark.thorough
def test_more_compiled_programs_are_right() -> None:
    check_compiled(
        "rnn",
        "indexed",
        "orders",
        "cnn",
        "dense",
        "running",
        "bits",
        "special",
        "extremes",
        "branches",
        "complexes",
        "few_bits",
    )


def check_compiled(*names: str) -> None:
    """All of these programs, jitted as one."""

    def all_of_them(arguments: list[list[Any]]) -> list[Any]:
        return [function(name)(*xs) for name, xs in zip(names, arguments, strict=True)]

    results = adze.jit(all_of_them)([arrays(name, "in") for name in names])
    for name, result in zip(names, results, strict=True):
        for value, expected in zip(adze.tree.leaves(result), arrays(name, "out"), strict=True):
            close(value, expected)


def test_gradients_are_those_that_jax_exported() -> None:
    """`grad` of the imported program against the imported gradient."""
    weights = arrays("mlp", "in")
    first, third = adze.grad(lambda *a: xp.sum(function("mlp")(*a)[:, 0]), argnums=(0, 2))(*weights)
    for result, expected in zip((first, third), arrays("mlp_grad", "out"), strict=True):
        close(result, expected)
    image = arrays("cnn", "in")
    for result, expected in zip(
        adze.grad(lambda *a: xp.sum(function("cnn")(*a) ** 2), argnums=(1, 2))(*image),
        arrays("cnn_grad", "out"),
        strict=True,
    ):
        close(result, expected)


def test_a_counting_while_has_a_gradient() -> None:
    inputs = arrays("rnn", "in")
    assert "stablehlo.while" in (FOLDER / "rnn.mlir").read_text()
    gradient = adze.grad(lambda *a: xp.sum(function("rnn")(*a)), argnums=2)(*inputs)
    close(gradient, arrays("rnn_grad", "out")[0])


def test_other_whiles_have_derivatives_in_forward_mode() -> None:
    x = np.float32(7)
    _, tangent = adze.jvp(function("newton"), (x,), (np.float32(1),))
    np.testing.assert_allclose(tangent, 0.5 / np.sqrt(7), rtol=1e-4)
    with pytest.raises(adze.AdzeError, match="cannot be reversed without a bound"):
        adze.grad(function("newton"))(x)


def test_programs_are_batched() -> None:
    h0, xs, w, u = arrays("rnn", "in")
    batched = adze.vmap(function("rnn"), in_axes=(0, None, None, None))(np.stack([h0, h0 * 2]), xs, w, u)
    close(batched[0], arrays("rnn", "out")[0])
    close(batched[1], np.asarray(function("rnn")(h0 * 2, xs, w, u)))


def test_dynamic_sizes() -> None:
    """Text with symbolic dimensions runs at any size, also traced with a named one."""
    f = adze.from_stablehlo(FOLDER / "symbolic.mlir")
    assert [str(s) for s in f.specs] == ["f32[d0_0,4]", "f32[4,3]"]
    x, w = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 3), np.float32) / 3
    eager = f(x, w)
    assert [v.shape for v in eager] == [(18,), (3, 3)]
    compiled = adze.trace(f, *f.specs).lower("cpu").compile()
    for result, expected in zip(compiled(x, w), eager, strict=True):
        close(result, np.asarray(expected))
    for result, expected in zip(compiled(x[:2], w), f(x[:2], w), strict=True):
        close(result, np.asarray(expected))


def test_rng_draws_by_the_key_of_the_call() -> None:
    draw = (
        "%{r} = stablehlo.rng %a, %b, %n, distribution = {kind} : "
        "(tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<5000xf32>\n"
    )
    lines = "%n = stablehlo.constant dense<5000> : tensor<1xi64>\n"
    lines += (
        draw.format(r="u", kind="UNIFORM")
        + draw.format(r="v", kind="UNIFORM")
        + draw.format(r="z", kind="NORMAL")
    )
    types = ", ".join(["tensor<5000xf32>"] * 3)
    lines += f"return %u, %v, %z : {types}"
    text = f"func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> ({types}) {{\n{lines}\n}}"
    function = adze.from_stablehlo(text)
    low, high, key = np.float32(2), np.float32(6), adze.random.key(0)
    u, v, z = (np.asarray(x) for x in function(low, high, key=key))
    assert u.min() >= 2 and u.max() < 6 and abs(u.mean() - 4) < 0.1 and abs(np.corrcoef(u, v)[0, 1]) < 0.05
    assert abs(z.mean() - 2) < 0.3 and abs(z.std() - 6) < 0.3
    np.testing.assert_array_equal(u, np.asarray(function(low, high, key=key)[0]))
    assert not np.array_equal(u, np.asarray(function(low, high, key=adze.random.key(1))[0]))
    slope = adze.grad(lambda m: xp.sum(function(low, m, key=key)[2]))(high)
    np.testing.assert_allclose(slope, ((z - 2) / 6).sum(), rtol=1e-3)
    with pytest.raises(adze.AdzeError, match=r"missing a required.* argument: 'key'"):
        function(low, high)


def test_rng_in_a_loop_is_refused() -> None:
    body = (
        "%n = stablehlo.constant dense<> : tensor<0xi64>\n"
        "%r = stablehlo.while(%i = %x) : tensor<f32>\n cond {\n"
        "%c = stablehlo.compare LE, %i, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %c : tensor<i1>\n} do {\n"
        "%d = stablehlo.rng %i, %x, %n, distribution = UNIFORM : "
        "(tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>\nstablehlo.return %d : tensor<f32>\n}\n"
    )
    text = f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n{body}return %r : tensor<f32>\n}}"
    with pytest.raises(StableHLOError, match="the same numbers in each iteration"):
        adze.from_stablehlo(text)(np.float32(1), key=adze.random.key(0))


def test_sizes_are_divided_as_the_specification_says() -> None:
    """A quotient of sizes is rounded towards zero; JAX makes floors of it by comparing signs."""
    body = (
        "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
        "%two = stablehlo.constant dense<2> : tensor<i32>\n%one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%minus = stablehlo.negate %one : tensor<i32>\n%m = stablehlo.multiply %n, %minus : tensor<i32>\n"
        "%q = stablehlo.divide %m, %two : tensor<i32>\n%r = stablehlo.remainder %m, %two : tensor<i32>\n"
        "%s = stablehlo.sign %m : tensor<i32>\n%t = stablehlo.sign %two : tensor<i32>\n"
        "%differ = stablehlo.compare NE, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
        "%rest = stablehlo.compare NE, %r, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%both = stablehlo.and %differ, %rest : tensor<i1>\n"
        "%less = stablehlo.subtract %q, %one : tensor<i32>\n"
        "%floor = stablehlo.select %both, %less, %q : tensor<i1>, tensor<i32>\n"
        "%ceil = stablehlo.multiply %floor, %minus : tensor<i32>\n"
        "%shape = stablehlo.reshape %ceil : (tensor<i32>) -> tensor<1xi32>\n"
        "%y = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
        "return %y, %q, %r, %rest : tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i1>"
    )
    results = "tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<i1>"
    function = adze.from_stablehlo(f"func.func @main(%x: tensor<?xf32>) -> ({results}) {{\n{body}\n}}")
    compiled = adze.trace(function, *function.specs).lower("cpu").compile()
    for size in (0, 1, 6, 7):
        x = np.zeros(size, np.float32)
        for y, quotient, rest, has_rest in (function(x), compiled(x)):
            np.testing.assert_array_equal(np.asarray(y), np.arange(-(-size // 2)))
            assert (int(quotient), int(rest)) == (-(size // 2), -(size % 2))
            assert bool(has_rest) == bool(size % 2)
