"""Forms of contractions: large static products in every layout, dynamic sizes, and their run-time checks."""

from __future__ import annotations

import itertools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects.errors import AdzeError, TypeCheckError
from adze.dialects.ops.contraction.dot_general import DotGeneral
from adze.dialects.types import COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT32, TensorType

from ....selection import part
from ..programs import Compiled, lowered_text

PLAIN, RIGHT, LEFT = ((1,), (0,)), ((1,), (1,)), ((0,), (0,))
NONE: Any = ((), ())


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def product(contracting: Any, batch: Any = NONE) -> Any:
    return lambda b, x, y: b.dot_general(
        x, y, contracting=contracting, batch=batch, dtype=b.tensor_type(x).dtype
    )


def biased(b: Any, x: Any, y: Any, bias: Any) -> Any:
    z = product(PLAIN)(b, x, y)
    z = b.add(z, b.broadcast_in_dim(bias, shape=b.tensor_type(z).shape, dimensions=(1,)))
    return b.max(z, b.zeros_like(z))


EVERY: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], str]] = {
    "plain": (PLAIN, (64, 96), (96, 128), "mk,kn->mn"),
    "right": (RIGHT, (64, 96), (128, 96), "mk,nk->mn"),
    "left": (LEFT, (96, 64), (96, 128), "km,kn->mn"),
    "both": (((0,), (1,)), (96, 64), (128, 96), "km,nk->mn"),
    "few_rows": (PLAIN, (3, 640), (640, 256), "mk,kn->mn"),
    "odd_rows": (PLAIN, (97, 64), (64, 64), "mk,kn->mn"),
    "ten_columns": (PLAIN, (64, 512), (512, 10), "mk,kn->mn"),
    "odd_columns": (PLAIN, (64, 96), (96, 100), "mk,kn->mn"),
    "odd_everything": (LEFT, (99, 97), (99, 101), "km,kn->mn"),
    "odd_right": (RIGHT, (97, 99), (101, 99), "mk,nk->mn"),
    "panels_odd": (PLAIN, (64, 768), (768, 1000), "mk,kn->mn"),
    "panels": (PLAIN, (64, 768), (768, 1024), "mk,kn->mn"),
    "panels_right": (RIGHT, (64, 768), (1024, 768), "mk,nk->mn"),
    "matvec": (PLAIN, (512, 256), (256,), "mk,k->m"),
    "matvec_turned": (LEFT, (256, 512), (256,), "km,k->m"),
    "vecmat": (LEFT, (256,), (256, 512), "k,kn->n"),
    "vecdot": (LEFT, (40000,), (40000,), "k,k->"),
    "outer": (((), ()), (300,), (200,), "m,n->mn"),
}
# What these show, others show too: "odd_right" is a product from the right, "panels_odd" one of panels, ...
TWICE = {
    *("plain", "right", "both", "odd_rows", "odd_columns", "odd_everything", "panels", "panels_right"),
    *("matvec_turned", "vecmat", "outer"),
}
STATIC = {name: EVERY[name] for name in part([*EVERY], [name for name in EVERY if name not in TWICE])}
BATCHED: dict[str, Any] = {
    "batched": (product(((2,), (1,)), ((0,), (0,))), (f32(6, 64, 32), f32(6, 32, 96))),
    "batched_right": (product(((3,), (3,)), ((0, 1), (0, 1))), (f32(2, 3, 64, 32), f32(2, 3, 96, 32))),
}
run = Compiled(
    {name: (product(axes), (f32(*left), f32(*right))) for name, (axes, left, right, _) in STATIC.items()}
    | dict(part([*BATCHED.items()], []))
    | {
        "batched_odd": (product(((2,), (1,)), ((0,), (0,))), (f32(5, 67, 33), f32(5, 33, 50))),
        "biased": (biased, (f32(64, 96), f32(96, 128), f32(128))),
        "f64": (product(PLAIN), (TensorType((64, 96), FLOAT64), TensorType((96, 64), FLOAT64))),
        "f16": (product(PLAIN), (TensorType((64, 96), FLOAT16), TensorType((96, 64), FLOAT16))),
        "i32": (product(PLAIN), (TensorType((64, 96), INT32), TensorType((96, 64), INT32))),
        "c64": (product(PLAIN), (TensorType((33, 40), COMPLEX64), TensorType((40, 21), COMPLEX64))),
        "c128": (
            product(((1,), (2,)), ((0,), (0,))),
            (TensorType((3, 17, 19), COMPLEX128), TensorType((3, 18, 17), COMPLEX128)),
        ),
    }
)
dynamic = Compiled(
    {
        "plain": (product(PLAIN), (f32(None, None), f32(None, None))),
        "batched": (product(((2,), (2,)), ((0,), (0,))), (f32(None, None, 32), f32(None, 96, 32))),
    }
)
RNG = np.random.default_rng(6)


def sample(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def close(got: np.ndarray, want: np.ndarray, depth: int) -> bool:
    return bool(np.allclose(got, want, rtol=0, atol=3e-6 * depth**0.5 * 4))


@pytest.mark.parametrize("name", STATIC)
def test_static_products_in_every_layout(name: str) -> None:
    _, left, right, text = STATIC[name]
    x, y = sample(*left), sample(*right)
    want = np.einsum(text, x.astype(np.float64), y.astype(np.float64))
    assert close(run(name, x, y)[0], want, x.size)


def test_batched_products_of_odd_sizes() -> None:
    x, y = sample(5, 67, 33), sample(5, 33, 50)
    assert close(run("batched_odd", x, y)[0], x @ y, 33)


@pytest.mark.thorough
def test_batched_products() -> None:
    x, y = sample(6, 64, 32), sample(6, 32, 96)
    assert close(run("batched", x, y)[0], x @ y, 32)
    x, y = sample(2, 3, 64, 32), sample(2, 3, 96, 32)
    assert close(run("batched_right", x, y)[0], x @ y.swapaxes(2, 3), 32)


def test_complex_products_are_products_of_their_parts() -> None:
    x, y = (sample(*s) + 1j * sample(*s) for s in ((33, 40), (40, 21)))
    assert close(run("c64", x, y)[0], x @ y, 40)
    x[3, 7], y[5, 2] = np.inf, 1j * np.nan
    with np.errstate(invalid="ignore"):
        want = x.astype(complex) @ y
    assert np.array_equal(np.isfinite(run("c64", x, y)[0]), np.isfinite(want))
    x, y = (sample(*s) + 1j * sample(*s).astype(float) for s in ((3, 17, 19), (3, 18, 17)))
    assert np.allclose(run("c128", x, y)[0], np.einsum("bkm,bnk->bmn", x, y), rtol=0, atol=1e-13)


def test_what_follows_a_product_is_computed_with_it() -> None:
    x, y, bias = sample(64, 96), sample(96, 128), sample(128)
    assert close(run("biased", x, y, bias)[0], np.maximum(x @ y + bias, 0), 96)


def test_rounding_a_product_up_lets_no_infinity_out() -> None:
    """Rows and columns are added, never terms: a zero beside an infinity would make a NaN."""
    x, y = np.ones((97, 99), np.float32), np.ones((101, 99), np.float32)
    x[96, 98], y[100, 98] = np.inf, -np.inf
    (got,) = run("odd_right", x, y)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, x @ y.T)


def test_other_dtypes() -> None:
    x, y = RNG.standard_normal((64, 96)), RNG.standard_normal((96, 64))
    assert np.allclose(run("f64", x, y)[0], x @ y, rtol=0, atol=1e-13)
    short = x.astype(np.float16), y.astype(np.float16)
    want = short[0].astype(np.float32) @ short[1].astype(np.float32)
    assert np.allclose(run("f16", *short)[0].astype(np.float32), want, rtol=1e-3, atol=1e-2)
    i, j = (RNG.integers(-(2**31), 2**31, s).astype(np.int32) for s in ((64, 96), (96, 64)))
    with np.errstate(over="ignore"):
        assert (run("i32", i, j)[0] == i @ j).all()


@pytest.mark.parametrize("sizes", [(5, 7, 6), (1, 1, 1), (0, 7, 6), (5, 0, 6), (130, 300, 70)])
def test_dynamic_products(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    x, y = sample(m, k), sample(k, n)
    assert close(dynamic("plain", x, y)[0], x @ y, max(k, 1))


def test_dynamic_batches() -> None:
    x, y = sample(3, 11, 32), sample(3, 96, 32)
    assert close(dynamic("batched", x, y)[0], x @ y.swapaxes(1, 2), 32)


@pytest.mark.parametrize(
    ("name", "left", "right"), [("plain", (4, 5), (6, 4)), ("batched", (3, 4, 32), (2, 96, 32))]
)
def test_sizes_that_differ_when_the_program_runs_are_an_error(
    name: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    with pytest.raises(AdzeError, match=re.escape("contracted or batch axes differ in size")):
        dynamic(name, sample(*left), sample(*right))


def test_neighbouring_axes_are_merged_without_a_copy() -> None:
    text = lowered_text(product(((1, 2), (0, 1))), f32(12, 4, 16), f32(4, 16, 16))
    assert "tensor.collapse_shape" in text
    assert text.count("linalg.generic") == 1


@pytest.mark.parametrize("is_computed", [False, True])
def test_iree_computes_the_matrix_of_a_product_with_a_vector_where_it_loads_it(is_computed: bool) -> None:
    def by_vector(axes: Any) -> Any:
        return lambda b, x, y: product(axes)(b, b.exp(x) if is_computed else x, y)

    text = lowered_text(by_vector(PLAIN), f32(1500, 1500), f32(1500))
    assert ("flow.dispatch" in text) != is_computed


@pytest.mark.parametrize(
    ("left", "right", "contracting", "batch"),
    [
        ((2, 3, 4), (2, 4, 5), ((2,), (1,)), ((0,), (0,))),
        ((3, 2, 4), (5, 4, 2), ((2,), (1,)), ((1,), (2,))),
        ((2, 3, 4), (4, 3, 5), ((1, 2), (1, 0)), ((), ())),
    ],
)
def test_conventions_are_those_of_jax(left: Any, right: Any, contracting: Any, batch: Any) -> None:
    x, y = sample(*left), sample(*right)
    want = jax.lax.dot_general(jnp.asarray(x), jnp.asarray(y), (contracting, batch))
    got = DotGeneral.evaluate(x, y, contracting=contracting, batch=batch, dtype=FLOAT32)
    assert got.shape == want.shape
    assert np.allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("right", "contracting", "dtype", "text"),
    [
        (f32(4, 6), PLAIN, FLOAT32, "contracting axis 1 of f32[3,5] and axis 0 of f32[4,6] differ in size"),
        (f32(5, 6), ((1,), ()), FLOAT32, "contracting must be two rows of equally many axes, got ((1,), ())"),
        (f32(5, 6), PLAIN, INT32, "cannot accumulate f32 products in i32"),
        (f32(5, 6), PLAIN, FLOAT16, "cannot accumulate f32 products in f16"),
        (
            TensorType((5, 6), FLOAT64),
            PLAIN,
            FLOAT64,
            "operands must have equal dtypes, got f32[3,5], f64[5,6]",
        ),
        (f32(5, 6), ((2,), (0,)), FLOAT32, "contracting and batch 2 is out of range for an array of rank 2"),
    ],
)
def test_what_is_not_a_product_is_refused(right: TensorType, contracting: Any, dtype: Any, text: str) -> None:
    with pytest.raises(TypeCheckError) as caught:
        DotGeneral.infer(f32(3, 5), right, contracting=contracting, batch=NONE, dtype=dtype)
    assert str(caught.value) == f"dot_general: {text}"


ORDERS = [
    (left, right)
    for left in map("".join, itertools.permutations("bmk"))
    for right in map("".join, itertools.permutations("bnk"))
]
OTHERS = [("mbck", "bnck"), ("bmkj", "bnkj"), ("mkbj", "bnkj"), ("mbpk", "knb"), ("km", "nk")]
LENGTHS = [(8, 64, 32, 64), (3, 70, 45, 33), (4, 1, 50, 60), (4, 50, 1, 60)]
"""Of the batch, of the rows, of the columns, of the sum."""


@pytest.mark.each_value
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_axes_in_any_order(lengths: tuple[int, ...], dtype: Any) -> None:
    """The operands of kernels, whose batches, rows and sums are not where the kernels have them."""
    sizes = {**dict(zip("bmnk", lengths, strict=True)), "c": 2, "j": 3, "p": 2}
    rng = np.random.default_rng(len(lengths))
    orders = [*ORDERS, *OTHERS]

    def array(axes: str) -> np.ndarray:
        return rng.standard_normal([sizes[axis] for axis in axes]).astype(dtype)

    operands = [(array(left), array(right)) for left, right in orders]
    if np.dtype(dtype).kind == "c":
        operands = [(x + 1j * x[::-1], y - 2j * y) for x, y in operands]
    texts = []
    for left, right in orders:
        batch = [axis for axis in left if axis in right and axis in "bc"]
        free = [axis for axis in left + right if axis in "mnp"]
        texts.append(f"{left},{right}->{''.join(batch + free)}")

    def products(operands: Any) -> Any:
        return [xp.einsum(text, x, y) for text, (x, y) in zip(texts, operands, strict=True)]

    for text, got, (x, y) in zip(texts, adze.jit(products)(operands), operands, strict=True):
        want = np.einsum(text, x.astype(np.complex128), y.astype(np.complex128))
        error = np.abs(np.asarray(got) - want).max() / np.abs(want).max()
        assert error < (1e-4 if dtype != np.float64 else 1e-11), text
