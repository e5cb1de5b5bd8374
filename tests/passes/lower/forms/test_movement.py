"""Forms that move elements: what they become, and what they refuse when a program runs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from iree.compiler.tools import compile_str

import adze
from adze import numpy as xp
from adze.dialects.dialect import BY_NAME
from adze.dialects.errors import AdzeError, TypeCheckError
from adze.dialects.types import FLOAT32, FLOAT64, TensorType
from adze.passes.lower.forms.reassociation import matching_groups
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ..programs import Compiled, build, lowered_text


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def reshape_to_rows_of(b: Any, x: Any, like: Any) -> Any:
    return b.reshape(x, shape=(b.dim(like, axis=0), 3))


def first_elements(b: Any, x: Any, count: Any) -> Any:
    return b.slice(x, start=(0,), limit=(b.dim(count, axis=0),), strides=(1,))


def cut_from_end(b: Any, x: Any, count: Any) -> Any:
    cut = b.size_sub(b.size_constant(value=0), b.dim(count, axis=0))
    return b.pad(x, b.scalar(0, FLOAT32), low=(0,), high=(cut,), interior=(0,))


def beside(b: Any, x: Any, y: Any) -> Any:
    return b.concatenate(x, y, axis=1)


def padded_twice(b: Any, x: Any, value: Any) -> Any:
    return b.pad(x, value, low=(-1,), high=(3,), interior=(2,))


run = Compiled(
    {
        "reshape": (reshape_to_rows_of, (f32(None), f32(None))),
        "slice": (first_elements, (f32(None), f32(None))),
        "pad": (cut_from_end, (f32(None), f32(None))),
        "concatenate": (beside, (f32(None, None), f32(None, None))),
        "padded_twice": (padded_twice, (TensorType((4,), FLOAT64), TensorType((), FLOAT64))),
    }
)
ONES = np.ones


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("reshape", (ONES(7), ONES(2)), "reshape to a shape with another number of elements"),
        ("slice", (ONES(3), ONES(4)), "slice of axis 0 ends beyond the array"),
        ("pad", (ONES(3), ONES(4)), "pad leaves a negative size of axis 0"),
        ("concatenate", (ONES((2, 3)), ONES((4, 3))), "sizes of axis 0 differ in concatenate"),
    ],
)
def test_sizes_that_do_not_fit_stop_the_program(name: str, arguments: Any, text: str) -> None:
    with pytest.raises(AdzeError, match=text):
        run(name, *(a.astype(np.float32) for a in arguments))


def test_dynamic_sizes_that_fit_run() -> None:
    x = np.arange(6, dtype=np.float32)
    assert run("reshape", x, x[:2])[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert run("slice", x, x[:4])[0].tolist() == [0, 1, 2, 3]
    assert run("pad", x, x[:4])[0].tolist() == [0, 1]
    assert run("concatenate", x[None], x[None, :2])[0].tolist() == [[0, 1, 2, 3, 4, 5, 0, 1]]


def test_padding_of_64_bit_elements_by_a_value_from_outside() -> None:
    """A `tensor.pad` here makes IREE 3.13 fail with "stream.yield ... not listed in explicit captures"."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    expected = BY_NAME["pad"].evaluate(x, np.asarray(9.0), low=(-1,), high=(3,), interior=(2,))
    assert run("padded_twice", x, np.asarray(9.0))[0].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("source", "target", "groups", "is_certain"),
    [
        ((4, 6), (2, 12), [([0, 1], [0, 1])], True),
        ((2, 3, 4), (6, 2, 2), [([0, 1], [0]), ([2], [1, 2])], True),
        ((5,), (1, 5, 1), [([0], [0, 1, 2])], True),
        ((1, 5, 1), (5,), [([0, 1, 2], [0])], True),
        (("n", 4), ("n", 2, 2), [([0], [0]), ([1], [1, 2])], True),
        (("n", 4), (4, "n"), [([0, 1], [0, 1])], True),
        ((3, "n"), ("m",), [([0, 1], [0])], False),
        ((), (1, 1), [], True),
    ],
)
def test_axes_that_correspond_are_found(source: Any, target: Any, groups: Any, is_certain: bool) -> None:
    assert matching_groups(source, target) == (groups, is_certain)


def test_reshape_copies_nothing() -> None:
    for types, shape in ((f32(4, 6), (2, 12)), (f32(2, 3, 4), (6, 4)), (f32(), (1, 1))):
        text = lowered_text(lambda b, x, shape=shape: b.reshape(x, shape=shape), types)
        assert "shape" in text and not re.search(r"linalg|insert|extract|assert", text), text


def test_transposing_axes_of_size_one_is_a_reshape() -> None:
    text = lowered_text(lambda b, x: b.transpose(x, permutation=(1, 0, 2)), f32(1, 3, 4))
    assert "linalg" not in text


def test_elementwise_chains_fuse_through_movement() -> None:
    """One kernel each: IREE moves reshapes out of the way, and transposes and broadcasts are read through."""
    square = f32(64, 64)
    row = {"start": (0, 0), "limit": (1, 64), "strides": (1, 1)}
    programs: dict[str, Any] = {
        "reshape": (lambda b, x: b.exp(b.reshape(b.neg(x), shape=(4096,))), (square,)),
        "transpose": (lambda b, x: b.add(b.transpose(b.exp(x), permutation=(1, 0)), x), (square,)),
        "broadcast": (
            lambda b, x: b.add(
                b.broadcast_in_dim(
                    b.reshape(b.slice(b.exp(x), **row), shape=(64,)), shape=(64, 64), dimensions=(1,)
                ),
                x,
            ),
            (square,),
        ),
        "reshape_twice": (
            lambda b, x: b.exp(b.reshape(b.exp(b.reshape(b.exp(x), shape=(64, 8, 8))), shape=(512, 8))),
            (square,),
        ),
    }
    module, _ = build(programs)
    lower(module, parse_target("cpu"))
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    flags += ["--iree-llvmcpu-target-cpu=x86-64-v3", "--iree-opt-level=O3", "--compile-to=flow"]
    flow = compile_str(str(module), extra_args=flags).decode()
    bodies = flow.split("util.func public @")[1:]
    assert {body.split("(")[0]: body.count("flow.dispatch @") for body in bodies} == dict.fromkeys(
        programs, 1
    )


@pytest.mark.parametrize(
    ("infer", "text"),
    [
        (
            lambda: BY_NAME["reshape"].infer(f32(2, 3), shape=(4,)),
            r"f32\[2,3\] has 6 elements, the shape \(4,\) has 4",
        ),
        (
            lambda: BY_NAME["transpose"].infer(f32(2, 3), permutation=(0, 0)),
            r"permutation \(0, 0\) must order the 2 axes",
        ),
        (
            lambda: BY_NAME["slice"].infer(f32(3), start=(0,), limit=(4,), strides=(1,)),
            "beyond the end of f32",
        ),
        (
            lambda: BY_NAME["slice"].infer(f32(3), start=(2,), limit=(1,), strides=(1,)),
            "start 2 .* after its limit 1",
        ),
        (lambda: BY_NAME["slice"].infer(f32(3), start=(0,), limit=(1,), strides=(0,)), "stride 0 of axis 0"),
        (
            lambda: BY_NAME["pad"].infer(f32(3), f32(), low=(-2,), high=(-2,), interior=(0,)),
            "negative size of axis 0",
        ),
        (lambda: BY_NAME["pad"].infer(f32(3), f32(1), low=(0,), high=(0,), interior=(0,)), "must be 0-d"),
        (lambda: BY_NAME["concatenate"].infer(f32(2, 3), f32(2, 4), axis=0), "must agree in all axes but 0"),
        (lambda: BY_NAME["concatenate"].infer(f32(2), f32(2, 4), axis=0), "must agree in all axes but 0"),
        (lambda: BY_NAME["concatenate"].infer(axis=0), "at least one operand"),
    ],
)
def test_what_types_forbid_is_said(infer: Any, text: str) -> None:
    with pytest.raises(TypeCheckError, match=text):
        infer()


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_columns_are_woven(dtype: str) -> None:
    rng = np.random.default_rng(0)
    columns = [(rng.integers(0, 2, (60, 70)) * 3).astype(dtype) for _ in range(5)]

    def woven(columns: Any) -> Any:
        return [xp.stack(columns[:n], axis=-1) for n in (1, 2, 3, 4, 5)]

    for n, got in enumerate(adze.jit(woven)(columns), 1):
        np.testing.assert_array_equal(got, np.stack(columns[:n], axis=-1))
    text = adze.trace(woven, columns).mlir("linalg")
    assert "tensor.insert_slice" not in text


def test_places_are_not_woven() -> None:
    """Where an array is read or written along two axes, the places stay a row and a column of numbers."""
    x = np.arange(210_000, dtype=np.float32).reshape(300, 700)
    rows, columns = np.arange(299, -1, -2), np.arange(0, 1400, 5) % 700

    def read(x: Any, rows: Any, columns: Any) -> Any:
        return x[rows[:, None], columns], x.at[rows[:, None], columns].add(1.0)

    taken, added = adze.jit(read)(x, rows, columns)
    np.testing.assert_array_equal(taken, x[rows[:, None], columns])
    expected = x.copy()
    np.add.at(expected, (rows[:, None], columns), 1.0)
    np.testing.assert_array_equal(added, expected)
    text = adze.trace(read, x, rows, columns).mlir("kernels")
    assert "150x280x2xi64" not in text


SPREADS = [
    ((5,), ((0, 1, 1),)),
    ((5,), ((3, 0, 1),)),
    ((4, 3), ((0, 2, 2), (1, 0, 0))),
    ((4, 3), ((7, 4, 2), (2, 3, 1))),
    ((2, 3, 4), ((0, 0, 0), (1, 0, 1), (0, 3, 3))),
    ((1, 6), ((2, 0, 2), (0, 0, 0))),
    *(
        ((5000,), ((low, high, k),))
        for low, high, k in ((0, 0, 1), (0, 1, 1), (5, 4, 1), (2, 0, 2), (1, 1, 2))
    ),
]
"""Shapes, and for each axis what is before, behind and between the elements."""


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "complex64", "int8"])
def test_spread_elements_are_chosen_by_their_places(dtype: str) -> None:
    """Where the result is whole groups of places, and where it is not; alone, and used."""
    rng = np.random.default_rng(1)
    arrays = [np.asarray(rng.integers(-4, 5, shape), dtype) for shape, _ in SPREADS]
    around = np.asarray(1, dtype)

    def spread(arrays: Any, around: Any) -> Any:
        padded = [adze.lax.pad(x, around, amounts) for x, (_, amounts) in zip(arrays, SPREADS, strict=True)]
        return padded, [xp.where(y == around, around, y) for y in padded]

    for results in adze.jit(spread)(arrays, around):
        for got, x, (shape, amounts) in zip(results, arrays, SPREADS, strict=True):
            expected = np.full(
                [
                    low + high + (n - 1) * (k + 1) + 1
                    for n, (low, high, k) in zip(shape, amounts, strict=True)
                ],
                around,
            )
            places = [
                slice(low, low + (n - 1) * (k + 1) + 1, k + 1)
                for n, (low, _, k) in zip(shape, amounts, strict=True)
            ]
            expected[tuple(places)] = x
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_spread_elements_beside_a_named_axis(dtype: str) -> None:
    """Only axes with something between or around their elements need a known size."""

    def spread(x: Any) -> Any:
        one = x.sum().astype(x.dtype)
        return adze.lax.pad(x, one, ((0, 0, 0), (1, 2, 1), (0, 0, 2))), adze.lax.pad(
            x, one, ((1, 0, 0), (0, 1, 1), (0, 0, 0))
        )

    compiled = adze.trace(spread, adze.ShapeDtype(("n", 3, 4), dtype)).lower().compile()
    for count in (0, 1, 5):
        x = np.random.default_rng(count).integers(0, 2, (count, 3, 4)).astype(dtype)
        for got, wanted in zip(compiled(x), spread(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


def joined_rows(x: Any) -> Any:
    few = x[:, :2]
    return (
        xp.concatenate([x, xp.tanh(x) * 2], 1),
        xp.concatenate([x, x[:, :5], x], 1),
        xp.concatenate([few, few * 2, few[:, :1]], -1),
        xp.stack([x.sum(1), xp.sin(x[:, 0]), x[:, 1] + 1], -1),
        xp.concatenate([x, xp.zeros((0, 7), x.dtype), x], 0),
    )


def test_rows_of_a_named_number_are_joined() -> None:
    """By their number, by their columns, of uneven lengths, and behind each other."""
    compiled = adze.trace(joined_rows, adze.ShapeDtype(("n", 7), np.float32)).lower().compile()
    for count in (0, 1, 5, 300):
        x = np.random.default_rng(count).standard_normal((count, 7)).astype(np.float32)
        for got, wanted in zip(compiled(x), joined_rows(x), strict=True):
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


def test_rows_of_known_and_of_named_numbers_are_joined() -> None:
    """Whichever comes first; what does not fit is said at the call."""
    specs = adze.ShapeDtype(("n", 7), np.float32), adze.ShapeDtype((3, 7), np.float32)
    function = lambda x, y: (xp.concatenate([x, y], 1), xp.stack([y[:, 0], x[:, 0]], 1))  # noqa: E731
    compiled = adze.trace(function, *specs).lower().compile()
    x, y = (np.arange(21, dtype=np.float32).reshape(3, 7) * k for k in (1, 2))
    np.testing.assert_array_equal(compiled(x, y)[0], np.concatenate([x, y], 1))
    np.testing.assert_array_equal(compiled(x, y)[1], np.stack([y[:, 0], x[:, 0]], 1))
    with pytest.raises(Exception, match="differ in concatenate"):
        compiled(x[:2], y)


def test_joined_columns_are_computed_once() -> None:
    """An expensive column would be computed for each element of a row."""
    traced = adze.trace(lambda x: xp.stack([x, x + 1, xp.sin(x)], -1), adze.ShapeDtype((5000,), np.float32))
    assert traced.mlir("kernels").count("flow.dispatch @") == 2
    cheap = adze.trace(lambda x: xp.stack([x, x + 1, x * 2], -1), adze.ShapeDtype((5000,), np.float32))
    assert cheap.mlir("kernels").count("flow.dispatch @") == 1


@pytest.mark.parametrize("count", [4, "n"])
def test_the_gradient_of_windows_is_one_kernel(count: int | str) -> None:
    def greatest(x: Any) -> Any:
        window = (1, 2, 2, 1)
        return xp.sum(adze.lax.reduce_window(x, -np.inf, adze.lax.max, window, window) ** 2)

    x = np.random.default_rng(2).standard_normal((4, 64, 96, 8)).astype(np.float32)
    traced = adze.trace(adze.grad(greatest), adze.ShapeDtype((count, 64, 96, 8), x.dtype))
    blocks = x.reshape(4, 32, 2, 48, 2, 8)
    expected = np.where(blocks == blocks.max((2, 4), keepdims=True), 2 * blocks, 0).reshape(x.shape)
    np.testing.assert_array_equal(traced.lower().compile()(x), expected)
    assert traced.mlir("kernels").count("flow.dispatch @") == 1


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_arrays_behind_each_other(dtype: str) -> None:
    """Of one size, of few columns, and neither; as they are, computed, and something is computed of them."""
    rng = np.random.default_rng(4)
    shapes = [(20, 9, 5), (20, 9, 5), (20, 9, 3), (20, 2, 5)]
    x, y, narrow, low = ((rng.integers(0, 2, s) * 3).astype(dtype) for s in shapes)

    def joined(lib: Any, x: Any, y: Any, narrow: Any, low: Any) -> Any:
        parts = [
            *(([x, y], axis) for axis in (0, 1, 2)),
            ([x, y, x], 1),
            ([x, y, y, x], 2),
            ([x, narrow], 2),
            ([low, x, low], 1),
            ([lib.exp(abs(x).astype("float32")), abs(y).astype("float32") + 1], 2),
        ]
        whole = [lib.concatenate(arrays, axis=axis) for arrays, axis in parts]
        return (
            whole,
            [lib.where(each == each[0, 0, 0], each, each[::-1]) for each in whole],
            whole[1][:, 4:11],
        )

    got = adze.tree.leaves(adze.jit(lambda *xs: joined(xp, *xs))(x, y, narrow, low))
    for one, want in zip(got, adze.tree.leaves(joined(np, x, y, narrow, low)), strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "complex64", "int8", "float16"])
@pytest.mark.parametrize("rows", [1, 333, "n"])
def test_stacks_of_many_columns(dtype: str, rows: int | str) -> None:
    """As they are, and computed; of up to 16 large ones each element is chosen, of more they are copied."""

    def stacked(lib: Any, *xs: Any) -> Any:
        return [
            *(lib.stack(xs[:count], axis=-1) for count in (9, 16, 17)),
            lib.stack([x + x for x in xs[:10]], axis=1),
            lib.concatenate([lib.stack(xs[:9], axis=-1), lib.stack(xs[9:12], axis=-1)], axis=-1),
        ]

    rng = np.random.default_rng(7)
    traced = adze.trace(lambda *xs: stacked(xp, *xs), *[adze.ShapeDtype((rows,), np.dtype(dtype))] * 17)
    compiled = traced.lower().compile()
    for size in (0, 1, 5, 333) if rows == "n" else (rows,):
        xs = [rng.integers(-3, 4, size).astype(dtype) for _ in range(17)]
        for one, want in zip(compiled(*xs), stacked(np, *xs), strict=True):
            np.testing.assert_array_equal(one, want)


def test_large_columns_that_are_computed_are_joined_in_one_kernel() -> None:
    def powers(x: Any) -> Any:
        return xp.stack([x + k for k in range(9)], axis=-1)

    traced = adze.trace(powers, adze.ShapeDtype((20_000,), np.float32))
    assert traced.mlir("kernels").count("flow.dispatch @") == 1


def test_arrays_behind_each_other_are_computed_in_one_kernel() -> None:
    x, y = (np.ones((8, 16, 16, 32), np.float32) * k for k in (1, 2))

    def rectified(x: Any, y: Any) -> Any:
        return xp.maximum(xp.concatenate([x - 1.5, y * 2], axis=-1), 0)

    def exponentials(x: Any, y: Any) -> Any:
        return xp.concatenate([xp.exp(x), xp.exp(y)], axis=-1)

    assert adze.trace(rectified, x, y).mlir("kernels").count("flow.dispatch @") == 1
    # Each exponential is computed once, not for both parts.
    assert adze.trace(exponentials, x, y).mlir("kernels").count("flow.dispatch @") == 3


ELEMENTS_OF_ROWS: dict[str, tuple[tuple[int, ...], Any]] = {
    "of matrices": ((50, 3, 4), lambda x: x[:, 2, 1] * x[:, 0, 3]),
    "of every second matrix": ((51, 3, 4), lambda x: x[1::2, 1, 2] + x[:50:2, 2, 3]),
    "of batches": ((3, 40, 2, 2), lambda x: x[:, :, 0, 0] * x[:, :, 1, 1] - x[:, :, 0, 1] * x[:, :, 1, 0]),
    "beside an axis of one": ((40, 1, 3), lambda x: x[:, 0, 1] * 2),
    "of few": ((3, 5, 4), lambda x: x[:, 4, 3]),
    "kept axes": ((40, 2, 3), lambda x: x[:, 1:2, 2:3] + 1),
}


@pytest.mark.parametrize("name", ELEMENTS_OF_ROWS)
def test_one_element_of_rows_of_several_axes(name: str) -> None:
    shape, take = ELEMENTS_OF_ROWS[name]
    x = np.random.default_rng(1).integers(-9, 10, shape).astype(np.float32)
    np.testing.assert_array_equal(adze.jit(take)(x), take(x))
    named = tuple("n" if axis == len(shape) - 3 else n for axis, n in enumerate(shape))
    program = adze.trace(take, adze.ShapeDtype(named, np.float32)).lower().compile()
    np.testing.assert_array_equal(program(x), take(x))
