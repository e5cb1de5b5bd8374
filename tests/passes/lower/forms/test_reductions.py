"""Forms of reductions and running values: large arrays, dynamic sizes, and the conventions of jax.lax."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects import mlir
from adze.dialects.dialect import BY_NAME
from adze.dialects.errors import TypeCheckError
from adze.dialects.types import FLOAT32, INT32, TensorType
from adze.passes.lower.forms import reduction_operands
from adze.passes.lower.kernels.tensor_sizes import kinds_of
from adze.runtime.targets import parse_target

from ....selection import part
from ..programs import Compiled, lowered_text


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def total(axes: tuple[int, ...]) -> Any:
    return lambda b, x: b.reduce_sum(x, axes=axes)


def greatest(axes: tuple[int, ...]) -> Any:
    return lambda b, x: b.reduce_max(x, axes=axes)


def running(axis: int, reverse: bool = False) -> Any:
    return lambda b, x: b.cumsum(x, axis=axis, reverse=reverse)


def softmax(b: Any, x: Any) -> Any:
    shape = b.tensor_type(x).shape
    top = b.broadcast_in_dim(b.reduce_max(x, axes=(1,)), shape=shape, dimensions=(0,))
    e = b.exp(b.sub(x, top))
    return b.div(e, b.broadcast_in_dim(b.reduce_sum(e, axes=(1,)), shape=shape, dimensions=(0,)))


EVERY: dict[str, Any] = {
    "rows": (total((1,)), (f32(96, 2048),)),
    "columns": (total((0,)), (f32(96, 512),)),
    "middle": (total((1,)), (f32(5, 40, 256),)),
    "outer": (total((0, 2)), (f32(8, 24, 128),)),
    "all": (total((0, 1)), (f32(128, 512),)),
    "all_in_another_order": (total((2, 0, 1)), (f32(40, 70, 90),)),
    "narrow": (total((0, 1)), (f32(10007, 3),)),
    "vector": (total((0,)), (f32(2500009),)),
    "dynamic": (total((0,)), (f32(None),)),
    "dynamic_greatest": (greatest((0,)), (f32(None),)),
    "dynamic_position": (lambda b, x: b.argmax(x, axis=0, index_dtype=INT32), (f32(None),)),
    "softmax": (softmax, (f32(64, 1024),)),
    "running_rows": (running(1), (f32(100, 300),)),
    "running_columns": (running(0), (f32(300, 40),)),
    "running_vector": (running(0), (f32(20000),)),
    "running_back": (running(0, True), (f32(20000),)),
    "running_few": (running(1), (f32(3, 1200),)),
}
# What these show, others show too: "middle" has rows and columns, "vector" is all of an array, ...
TWICE = {"rows", "columns", "all", "narrow", "running_rows"}
NAMES = part([*EVERY], [name for name in EVERY if name not in TWICE])
run = Compiled({name: EVERY[name] for name in NAMES})
RNG = np.random.default_rng(5)


def sample(*shape: int) -> np.ndarray:
    """The same numbers whatever ran before."""
    return np.random.default_rng((5, *shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "shape", "axes"),
    [
        row
        for row in [
            ("rows", (96, 2048), 1),
            ("columns", (96, 512), 0),
            ("middle", (5, 40, 256), 1),
            ("outer", (8, 24, 128), (0, 2)),
            ("all", (128, 512), None),
            ("all_in_another_order", (40, 70, 90), None),
            ("narrow", (10007, 3), None),
            ("vector", (2500009,), None),
            ("dynamic", (1,), None),
            ("dynamic", (1024,), None),
            ("dynamic", (100001,), None),
            ("dynamic", (0,), None),
        ]
        if row[0] in NAMES
    ],
)
def test_sums_of_large_arrays(name: str, shape: tuple[int, ...], axes: Any) -> None:
    x = sample(*shape)
    (got,) = run(name, x)
    want = x.astype(np.float64).sum(axis=axes)
    scale = np.sqrt(x.size / max(np.size(want), 1)) if x.size else 1.0
    # Of a dynamic size IREE adds one element after the other; kernels of rows, which are not here, do not.
    atol = 2e-5 if name == "dynamic" else 4e-6
    assert np.allclose(got, want, rtol=0, atol=atol * scale)


def test_a_sum_with_a_rest_of_what_another_op_takes_too() -> None:
    """IREE computed all of it again on the stack, which it refused for its size."""
    x = np.random.default_rng(0).standard_normal(100_003).astype(np.float32)

    def places(x: Any) -> Any:
        return xp.nonzero(x > 2, size=4000)[0], xp.unique(xp.round(x * 3), size=40)

    found, values = adze.jit(places)(x)
    wanted = np.nonzero(x > 2)[0]
    np.testing.assert_array_equal(found[: len(wanted)], wanted)
    distinct = np.unique(np.round(x * 3))
    np.testing.assert_array_equal(values[: len(distinct)], distinct)


def test_a_dynamic_axis_that_is_empty_has_the_least_value_at_position_0() -> None:
    empty = np.zeros(0, np.float32)
    assert run("dynamic_greatest", empty)[0] == -np.inf
    assert run("dynamic_position", empty)[0] == 0


def test_a_nan_is_the_greatest_wherever_it_is() -> None:
    for at in (0, 1000, 2999):
        x = sample(3000)
        x[at] = np.nan
        assert np.isnan(run("dynamic_greatest", x)[0])
        assert run("dynamic_position", x)[0] == at


def test_softmax_has_tiles_on_its_sum_alone() -> None:
    x = sample(64, 1024) * 10
    assert np.allclose(run("softmax", x)[0], jax.nn.softmax(x, axis=1), rtol=2e-6, atol=1e-9)
    assert lowered_text(softmax, f32(64, 1024)).count("compilation_info =") == 1


@pytest.mark.parametrize(
    ("name", "shape", "axis"),
    [
        row
        for row in [
            ("running_rows", (100, 300), 1),
            ("running_columns", (300, 40), 0),
            ("running_vector", (20000,), 0),
            ("running_few", (3, 1200), 1),
        ]
        if row[0] in NAMES
    ],
)
def test_running_sums_by_blocks(name: str, shape: tuple[int, ...], axis: int) -> None:
    x = sample(*shape)
    want = np.cumsum(x.astype(np.float64), axis)
    assert np.allclose(run(name, x)[0], want, rtol=0, atol=2e-6 * shape[axis] ** 0.75)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_running_sums_by_blocks(dtype: type) -> None:
    x = (sample(4, 300) + 1j * sample(4, 300)[::-1]).astype(dtype)
    running_sum = adze.jit(lambda x: xp.cumsum(x, 1))(x)
    assert np.allclose(
        running_sum, np.cumsum(x, 1, np.complex128), rtol=0, atol=1e-3 if dtype is np.complex64 else 1e-12
    )


def test_an_infinity_reaches_only_the_running_sums_after_it() -> None:
    x = sample(20000)
    x[777] = np.inf
    (forward,), (backward,) = run("running_vector", x), run("running_back", x)
    assert np.isfinite(forward[:777]).all() and np.isinf(forward[777:]).all()
    assert np.isinf(backward[:778]).all() and np.isfinite(backward[778:]).all()


@pytest.mark.parametrize(
    ("name", "attributes", "peer"),
    [
        ("reduce_sum", {"axes": (0, 2)}, lambda x: jnp.sum(x, (0, 2))),
        ("reduce_prod", {"axes": (1,)}, lambda x: jnp.prod(x, 1)),
        ("reduce_max", {"axes": (2,)}, lambda x: jnp.max(x, 2)),
        ("reduce_min", {"axes": (0,)}, lambda x: jnp.min(x, 0)),
        ("argmax", {"axis": 1, "index_dtype": INT32}, lambda x: jax.lax.argmax(x, 1, jnp.int32)),
        ("argmin", {"axis": 2, "index_dtype": INT32}, lambda x: jax.lax.argmin(x, 2, jnp.int32)),
        ("cumsum", {"axis": 1, "reverse": True}, lambda x: jax.lax.cumsum(x, 1, reverse=True)),
        ("cumprod", {"axis": 2, "reverse": False}, lambda x: jax.lax.cumprod(x, 2)),
        ("cummax", {"axis": 0, "reverse": True}, lambda x: jax.lax.cummax(x, 0, reverse=True)),
        ("cummin", {"axis": 0, "reverse": False}, lambda x: jax.lax.cummin(x, 0)),
    ],
)
def test_conventions_are_those_of_jax(name: str, attributes: dict[str, Any], peer: Any) -> None:
    x = sample(4, 5, 6)
    x[1, 2] = x[1, 3]
    want = np.asarray(peer(x))
    got = BY_NAME[name].evaluate(x, **attributes)
    assert got.dtype == want.dtype
    assert np.allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "attributes", "text"),
    [
        ("reduce_sum", {"axes": (2,)}, "reduce_sum: axes 2 is out of range for an array of rank 2"),
        ("reduce_sum", {"axes": (0, 0)}, "reduce_sum: axes (0, 0) names an axis twice"),
        (
            "reduce_max",
            {"axes": (1,)},
            "reduce_max: axis 1 of f32[3,0] is empty, and no elements have no extremum",
        ),
        (
            "argmax",
            {"axis": 0, "index_dtype": FLOAT32},
            "argmax: index_dtype must be an integer dtype, got f32",
        ),
        (
            "argmin",
            {"axis": 1, "index_dtype": INT32},
            "argmin: axis 1 of f32[3,0] is empty, and has no extremum",
        ),
        ("cumsum", {"axis": -1, "reverse": False}, "cumsum: axis -1 is out of range for an array of rank 2"),
    ],
)
def test_what_is_not_a_reduction_is_refused(name: str, attributes: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeCheckError) as caught:
        BY_NAME[name].infer(f32(3, 0), **attributes)
    assert str(caught.value) == text


@pytest.mark.parametrize("shape", [(1, 40003), (40003, 1), (1, 40003, 1)])
def test_the_only_row_is_summed_as_a_vector(shape: tuple[int, ...]) -> None:
    """One partial sum of 40,003 elements would be off by 1e-4."""
    x = np.random.default_rng(30).integers(-8, 9, shape).astype(np.float32)
    axis = int(np.argmax(shape))
    got = adze.jit(lambda x: xp.var(x, axis=axis))(x)
    np.testing.assert_allclose(got, x.astype(np.float64).var(axis), rtol=2e-6)


JOINED: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "points": ((20001, 3), (0,)),
    "pixels": ((4, 80, 50, 3), (1, 2)),
    "twenty": ((3000, 20), (0,)),
    "ahead": ((2, 2000, 5, 2), (1,)),
}
"""Narrow columns, some rows of which become one: shapes and axes."""


@pytest.mark.parametrize("name", JOINED)
def test_narrow_columns(name: str) -> None:
    shape, axes = JOINED[name]
    x = sample(*shape)
    x.flat[x.size // 2], x.flat[-1] = np.nan, 5.0

    def reduced(x: Any) -> Any:
        return xp.sum(x, axes), xp.max(x, axes), xp.sum(x * x, axes), xp.any(x > 4.0, axes)

    total, greatest, squares, exceeds = adze.jit(reduced)(x)
    wide = x.astype(np.float64)
    scale = np.sqrt(np.prod([shape[axis] for axis in axes]))
    np.testing.assert_allclose(total, wide.sum(axes), rtol=1e-5, atol=4e-6 * scale)
    np.testing.assert_array_equal(greatest, x.max(axes))
    np.testing.assert_allclose(squares, (wide * wide).sum(axes), rtol=4e-6)  # of up to 20,001 of one sign
    np.testing.assert_array_equal(exceeds, (x > 4.0).any(axes))


def test_integers_and_bools_in_narrow_columns() -> None:
    counts = RNG.integers(-100, 100, (5003, 6))
    for dtype in (np.int8, np.int64, np.uint16, np.bool_):
        x = (counts > 0) if dtype is np.bool_ else counts.astype(dtype)
        np.testing.assert_array_equal(adze.jit(lambda x: xp.max(x, axis=0))(x), x.max(0))
        np.testing.assert_array_equal(adze.jit(lambda x: xp.sum(x, axis=0))(x), x.sum(0))
        np.testing.assert_array_equal(adze.jit(lambda x: xp.all(x, axis=0))(x), x.all(0))


def bools() -> list[tuple[str, np.ndarray]]:
    """Arrays of bools in which one element decides, and all of one kind."""
    shape = 70, 333
    sparse, dense = np.zeros(shape, bool), np.ones(shape, bool)
    sparse[3, 332] = sparse[69, 0] = True
    dense[0, 0] = dense[41, 332] = False
    return [
        ("sparse", sparse),
        ("dense", dense),
        ("none", np.zeros(shape, bool)),
        ("all", np.ones(shape, bool)),
    ]


@pytest.mark.parametrize(("name", "x"), bools())
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_bools(name: str, x: np.ndarray, axis: int | None) -> None:
    for function in ("any", "all", "max", "min"):
        got = getattr(xp, function)(x, axis=axis)
        assert np.asarray(got).dtype == np.bool_
        np.testing.assert_array_equal(got, getattr(np, function)(x, axis=axis), err_msg=function)
    got = adze.jit(lambda x: xp.any(xp.isnan(xp.where(x, xp.nan, 1.0)), axis=axis))(x)
    np.testing.assert_array_equal(got, np.any(x, axis=axis))


def test_rows_of_squares_are_no_scalar_code() -> None:
    """A step that divides the row made a vector of single elements of it, and 15 s of compile."""
    lowered = adze.trace(lambda x: xp.sum(x * x, axis=1), adze.ShapeDtype((64, 2000))).at_stage(
        "kernels", parse_target("cpu:x86-64-v4")
    )
    assert "vector_reduction = [0, 2000]" not in lowered


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_reductions_of_complex_numbers(dtype: Any) -> None:
    """IREE would do them number by number: their parts, or what is computed of them, are stored first."""
    rng = np.random.default_rng(3)
    z = (rng.standard_normal((53, 257)) + 1j * rng.standard_normal((53, 257))).astype(dtype)
    z[3, 4], z[7] = complex(np.inf, 1), 0

    def reduced(lib: Any, z: Any) -> Any:
        power = abs(z) ** 2
        return (
            *(z.sum(axis) for axis in (None, 0, 1)),
            *(power.sum(axis) for axis in (None, 0, 1)),
            abs(z).max(1),
            (z.real * 2).sum(1),
            z[:3].mean(),
            lib.linalg.norm(z[9:]),
        )

    for got, want in zip(adze.jit(lambda z: reduced(xp, z))(z), reduced(np, z), strict=True):
        assert got.dtype == want.dtype
        for part_of in (np.real, np.imag):
            np.testing.assert_allclose(part_of(np.asarray(got)), part_of(want), rtol=2e-5, atol=1e-5)


def test_products_with_arrays_that_copies_put_together_are_summed_at_once() -> None:
    def related(x: Any) -> Any:
        centred = x - np.float32(0.25)
        return xp.stack([(centred * xp.roll(centred, lag)).sum() for lag in (0, 1, 5)])

    traced = adze.trace(related, adze.ShapeDtype(("n",), np.float32))
    assert traced.mlir("kernels").count("flow.dispatch @") == 5  # three sums, what is centred, the stack
    compiled = traced.lower().compile()
    for n in (1, 3, 5, 100, 3000):
        x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
        centred = x.astype(np.float64) - 0.25
        expected = [(centred * np.roll(centred, lag)).sum() for lag in (0, 1, 5)]
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-4, atol=1e-4)


def test_powers_of_spectra_are_stored_as_floats() -> None:
    z = np.ones((100, 100), np.complex64)
    text = adze.trace(lambda z: (abs(z) ** 2).sum(), z).mlir("kernels")
    assert len(re.findall(r"flow.dispatch @.*complex<f32>", text)) == 1
    assert "tensor<100x100xf32>" in text or "tensor<10000xf32>" in text


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_reductions_of_halves(dtype: Any) -> None:
    """Of long vectors whose length nothing divides, rows and columns; extrema are exact, and see NaN."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((331, 157)).astype(dtype)
    with_nan = x.copy()
    with_nan[5, 6] = np.nan

    def reduced(x: Any, y: Any) -> Any:
        flat = x.reshape(-1)
        sums = flat.sum(), x.sum(0), x.sum(1), (flat * flat).sum(), xp.sqrt((x * x).sum(1)), flat.mean()
        return sums, (flat.max(), x.min(1), x.max(0), y.max(), y.min(0), xp.argmax(flat), (x > 0).sum())

    sums, exact = adze.jit(reduced)(x, with_nan)
    wide = x.astype(np.float32)
    squares = (x * x).astype(np.float32)
    expected = (
        *(wide.sum(), wide.sum(0), wide.sum(1), squares.sum()),
        *(np.sqrt(squares.sum(1)), wide.mean()),
    )
    for got, want in zip(sums, expected, strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(np.asarray(got, np.float32), want, rtol=2e-2, atol=1e-1)
    most = x.max(), x.min(1), x.max(0), np.float32(np.nan), with_nan.astype(np.float32).min(0)
    for got, want in zip(exact, (*most, x.argmax(), (x > 0).sum()), strict=True):
        np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(want, np.float64))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "int8", "bool"])
def test_sums_of_images_of_narrow_types(dtype: str) -> None:
    """Computed in a wider type, over several axes, of which rows of one length leave a rest."""
    rng = np.random.default_rng(7)
    images = [rng.integers(0, 2, shape).astype(dtype) for shape in ((40, 70, 90), (13, 2, 3, 401))]
    for x in images:
        for got, want in zip(
            adze.jit(lambda x: (xp.sum(x), xp.sum(x * x), x.max(), xp.sum(x, axis=(0, 2))))(x),
            (*(x.astype(float).sum(axis) for axis in (None, None)), x.max(), x.astype(float).sum((0, 2))),
            strict=True,
        ):
            if dtype != "bool":
                np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=1e-2)


SAME = ", ".join(["affine_map<(d) -> (d)>"] * 3)
TWICE = f"""
  %LATER = linalg.generic {{indexing_maps = [{SAME}], iterator_types = ["parallel"]}}
      ins(%BEFORE, %BEFORE : tensor<8xf32>, tensor<8xf32>) outs(%x0 : tensor<8xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  }} -> tensor<8xf32>"""


def test_what_is_used_twice_at_every_level_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the nodes of decision trees, which are taken at places that the nodes above computed."""
    seen = []

    def counted(owner: Any) -> list[str]:
        seen.append(owner)
        return kinds_of(owner)

    monkeypatch.setattr(reduction_operands, "kinds_of", counted)
    levels = [TWICE.replace("LATER", f"x{k + 1}").replace("BEFORE", f"x{k}") for k in range(20)]
    with mlir.new_context(is_light=True):
        module = mlir.ir.Module.parse(f"func.func @f(%x0: tensor<8xf32>) {{ {''.join(levels)}\n return }}")
        *_, last, _ = module.body.operations[0].regions[0].blocks[0].operations
        assert not reduction_operands.is_of_complex(last.results[0])
    assert len(seen) == 20
