"""The kernels that multiply matrices: every access within bounds, and products as those of NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects import mlir
from adze.dialects.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, TensorType
from adze.passes.lower.kernels import panels, products
from adze.passes.lower.kernels.executable import Kernels, tensor_sizes
from adze.passes.lower.kernels.mirrored import mirror
from adze.passes.lower.kernels.panels import pack, packed_array
from adze.passes.lower.kernels.products import multiply
from adze.passes.lower.kernels.row_products import multiply_rows
from adze.passes.lower.tuning.product_tiles import (
    ProductSizes,
    ProductTiles,
    RowTiles,
    product_tiles,
    row_tiles,
)
from adze.runtime.targets import parse_target

from ....selection import part
from ..programs import Compiled
from .interpreter import counts_of, run_kernel

RNG = np.random.default_rng(7)


def given(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Whole numbers, whose sums are exact, and a NaN and an infinity."""
    x = RNG.integers(-4, 5, shape).astype(dtype)
    x.flat[0], x.flat[-1] = np.nan, np.inf
    return x


def tiles(**changed: Any) -> ProductTiles:
    """Tiles so small that few sizes are whole multiples of them."""
    usual = {"width": 4, "rows": 3, "vectors": 2, "depth": 6, "block_rows": 6, "block_columns": 16}
    return ProductTiles(**{**usual, **changed})


SIZES = [(1, 3, 8, 6), (1, 1, 1, 1), (2, 7, 21, 13), (1, 6, 16, 24), (1, 14, 35, 5), (3, 2, 3, 40)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sizes", [ProductSizes(*s) for s in SIZES], ids=str)
@pytest.mark.parametrize("order", ["along k", "across k", "across k, packed"])
@pytest.mark.parametrize("form", ["as it lies", "packed", "packed along k"])
def test_all_accesses_are_within_bounds(sizes: ProductSizes, order: str, form: str) -> None:
    left_along_k, packs_left = order == "along k", order.endswith("packed")
    depth = min(6, sizes.k)
    t = tiles(is_packed=form != "as it lies", depth=depth, packed_panels=2, packs_left=packs_left)
    b, m, n, k = sizes.b, sizes.m, sizes.n, sizes.k
    left = given((b, m, k) if left_along_k else (b, k, m))
    along_k = form == "packed along k"
    right = given((b, n, k) if along_k else (b, k, n))
    module = module_of(sizes, t, left_along_k, along_k)
    *packing, product = dispatches_of(module)
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    arrays = dict(zip(main.arguments, (left, right), strict=True))
    wanted = [packed_array(left, t.of_left, along_k=False)] if t.packs_left else []
    wanted += [packed_array(right, t, along_k=along_k)] if t.is_packed else []
    for each, packed in zip(packing, wanted, strict=True):
        (arrays[each.results[0]],) = run_dispatch(module, each, arrays)
        assert np.array_equal(arrays[each.results[0]], packed, equal_nan=True)
    (got,) = run_dispatch(module, product, arrays)
    with np.errstate(all="ignore"):
        want = (left if left_along_k else left.swapaxes(1, 2)) @ (right.swapaxes(1, 2) if along_k else right)
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("b", "m", "k"), [(1, 3, 6), (2, 21, 13), (1, 16, 24), (1, 70, 5)])
@pytest.mark.parametrize("order", ["x @ x.T", "x.T @ x", "x.T @ x, both packed"])
def test_half_of_a_symmetric_product_is_computed_and_copied(b: int, m: int, k: int, order: str) -> None:
    along_k, packs_left = order == "x @ x.T", order.endswith("packed")
    t = tiles(is_packed=along_k or packs_left, packs_left=packs_left, is_symmetric=True, depth=min(6, k))
    x = given((b, m, k) if along_k else (b, k, m))
    module = module_of(ProductSizes(b, m, m, k), t, along_k, along_k)
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    arrays = dict.fromkeys(main.arguments, x)
    for each in dispatches_of(module):  # nothing may be read of what was left out
        (arrays[each.results[0]],) = run_dispatch(module, each, arrays)
    with np.errstate(all="ignore"):
        want = x @ x.swapaxes(1, 2) if along_k else x.swapaxes(1, 2) @ x
    assert np.array_equal(arrays[each.results[0]], want, equal_nan=True)


def test_products_of_a_matrix_and_its_transpose_are_known() -> None:
    """Bit by bit what they are with all of it computed, as of two arrays."""
    x, y = (RNG.standard_normal(s).astype(np.float32) for s in ((3, 150, 70), (3, 70, 150)))

    def products(x: Any, again: Any, y: Any, same: Any) -> Any:
        turned, back = xp.swapaxes(x, -1, -2), xp.swapaxes(again, -1, -2)
        return turned @ x, back @ x, y @ xp.swapaxes(y, -1, -2), y @ xp.swapaxes(same, -1, -2), y @ x

    lowered = adze.trace(products, x, x, y, y).lower("cpu")
    assert lowered.mlir().count("flow.dispatch @kernel_mirror") == 2
    results = [np.asarray(each) for each in lowered.compile()(x, x, y, y)]
    for half, whole in (results[:2], results[2:4]):
        np.testing.assert_array_equal(half, whole)
        np.testing.assert_array_equal(half, half.swapaxes(1, 2))
    np.testing.assert_allclose(results[4], y @ x, rtol=1e-4, atol=1e-4)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("sizes", "known"),
    [
        *itertools.product([*SIZES[2:5], (2, 11, 8, 6)], ["nk", "", "bmn", "bk"]),
        *(((1, 4, 9, 0), known) for known in ("", "bmn")),  # an empty sum of known size is no kernel
    ],
    ids=str,
)
@pytest.mark.parametrize("left_along_k", [True, False])
@pytest.mark.parametrize(
    "form", ["as it lies", "packed", "packed along k", "packed for 3 rows", "packed for 99"]
)
def test_all_accesses_of_sizes_that_show_at_the_call_are_within_bounds(
    sizes: tuple[int, int, int, int],
    known: str,
    left_along_k: bool,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    b, m, n, k = sizes
    *_, least = form.split()
    if least in ("rows", "99"):
        for module in (panels, products):
            monkeypatch.setattr(module, "PACKED_ROWS_OF_CALL", 99 if least == "99" else 3)
    t = tiles(is_packed=form != "as it lies", depth=6, packed_panels=2)
    along_k = form == "packed along k"
    shapes = (b, m, k) if left_along_k else (b, k, m), (b, n, k) if along_k else (b, k, n)
    left, right = (given(shape) if k else np.zeros(shape, np.float32) for shape in shapes)
    names = dict(zip("bmnk", sizes, strict=True))
    spec = ProductSizes(*(size if name in known else None for name, size in names.items()))
    module = module_of(spec, t, left_along_k, along_k, unless_few=least in ("rows", "99"))
    *packing, product = dispatches_of(module)
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    arrays = dict(zip(main.arguments, (left, right), strict=True))
    for each in packing:
        packed = run_dispatch(module, each, arrays)
        assert bool(packed) == (least != "99" or "m" in known)
        # Nothing may be read of what was not packed.
        arrays[each.results[0]] = packed[0] if packed else np.zeros((b, -(-n // t.columns), 0, 0), np.float32)
    (got,) = run_dispatch(module, product, arrays)
    with np.errstate(all="ignore"):
        want = (left if left_along_k else left.swapaxes(1, 2)) @ (right.swapaxes(1, 2) if along_k else right)
    assert np.array_equal(got, want, equal_nan=True)


def dispatches_of(module: Any) -> list[Any]:
    """The dispatches of the last function, in turn."""
    function = module.body.operations[len(module.body.operations) - 1].operation
    operations = [each.operation for each in function.regions[0].blocks[0].operations]
    return [each for each in operations if each.name == "flow.dispatch"]


def run_dispatch(module: Any, dispatch: Any, arrays: dict[Any, np.ndarray]) -> list[np.ndarray]:
    """The results of a dispatch of arrays whose sizes its other operands are."""
    symbol = str(mlir.ir.ArrayAttr(dispatch.attributes["entry_points"])[0]).split("::")[0].strip("@")
    workload, passed, *_ = mlir.ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])
    operands = list(dispatch.operands)
    counts = counts_of(module, symbol, [size_of(v, arrays) for v in operands[:workload]])
    given_ = [
        np.int64(size_of(v, arrays)) if isinstance(v.type, mlir.ir.IndexType) else arrays.get(v)
        for v in operands[workload : workload + passed]
    ]
    return run_kernel(module, symbol, [each for each in given_ if each is not None], counts)


def size_of(value: Any, arrays: dict[Any, np.ndarray]) -> int:
    """A number that the host computes of the sizes of arrays."""
    operation = value.owner.operation
    if operation.name == "arith.constant":
        return int(mlir.ir.IntegerAttr(operation.attributes["value"]).value)
    if operation.name == "tensor.dim":
        source, axis = operation.operands
        return arrays[source].shape[size_of(axis, arrays)]
    *_, x, y = numbers = [size_of(operand, arrays) for operand in operation.operands]
    if operation.name == "arith.select":
        return x if numbers[0] else y
    computed = {"cmpi": x < y, "addi": x + y, "subi": x - y, "muli": x * y, "divui": x // max(y, 1)}
    return computed[operation.name.removeprefix("arith.")]


def test_rows_at_distances_that_show_at_the_call_are_scanned_step_by_step() -> None:
    """Addresses of several steps would need more registers than there are."""

    def loads(left: tuple[int | str, ...], right: tuple[int | str, ...]) -> int:
        specs = (adze.ShapeDtype(shape, np.float32) for shape in (left, right))
        return adze.trace(lambda x, y: x @ y, *specs).lower("cpu:x86-64-v4").mlir().count("memref.load")

    assert loads(("m", "k"), ("k", "n")) < loads(("m", 500), (500, "n"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_of_as_many_rows_as_there_are(dtype: Any) -> None:
    """Layers with weights that are known and given, columns that fill no vector, and products of a batch."""
    rng = np.random.default_rng(3)
    known, narrow, given_ = (rng.standard_normal(s).astype(dtype) for s in ((90, 70), (70, 5), (5, 33)))

    def layers(x: Any, w: Any) -> Any:
        return (
            xp.tanh(xp.tanh(x @ known) @ narrow) @ w,
            x.T @ x,
            adze.grad(lambda w: ((x @ w) ** 2).sum())(known),
        )

    def scores(q: Any, k: Any) -> Any:
        return q @ xp.swapaxes(k, -1, -2)

    program = adze.trace(layers, adze.ShapeDtype(("n", 90), dtype), given_).lower().compile()
    for rows in (0, 1, 2, 3, 7, 12, 13, 23, 63, 64, 97, 200):
        x = rng.standard_normal((rows, 90)).astype(dtype)
        for got, want in zip(program(x, given_), adze.jit(layers)(x, given_), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    spec = adze.ShapeDtype(("b", 4, 40, 32), dtype)
    batched = adze.trace(scores, spec, spec).lower().compile()
    for count in (0, 1, 5):
        q, k = rng.standard_normal((2, count, 4, 40, 32)).astype(dtype)
        np.testing.assert_allclose(batched(q, k), q @ k.swapaxes(-1, -2), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("b", "m", "k"), [(1, 1, 1), (1, 5, 8), (2, 9, 21), (1, 8, 16), (1, 3, 43)])
def test_rows_by_a_vector_stay_within_bounds(b: int, m: int, k: int) -> None:
    t = RowTiles(width=4, rows=2, vectors=2, block_rows=4)
    rows, vector = given((b, m, k)), given((b, k))
    module = module_with(
        [(b, m, k), (b, k)], lambda kernels, values: multiply_rows(kernels, values[0], values[1], t)
    )
    (got,) = run_kernel(module, "kernel_rows_by_vector", [rows, vector], (-(-m // 4), b, 1))
    with np.errstate(all="ignore"):
        want = np.einsum("bmk,bk->bm", rows, vector)
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize(("b", "m", "k"), [(1, 1, 1), (2, 5, 7), (1, 3, 24)])
def test_complex_rows_by_a_vector_stay_within_bounds(b: int, m: int, k: int) -> None:
    t = RowTiles(width=4, rows=2, vectors=2, block_rows=2)
    parts, z = given((b, m, 2 * k)), given((b, 2 * k)).view(np.complex64)
    beside = np.stack([np.stack([z.real, -z.imag], -1), np.stack([z.imag, z.real], -1)], 1)
    module = module_with(
        [(b, m, k), (b, 4 * k)],
        lambda kernels, values: multiply_rows(kernels, values[0], values[1], t),
        ["complex<f32>", "f32"],
    )
    operands = [parts, np.ascontiguousarray(beside).reshape(b, 4 * k)]
    with np.errstate(all="ignore"):
        (got,) = run_kernel(module, "kernel_rows_by_vector", operands, (-(-m // 2), b, 1))
        re, im = (np.einsum("bmk,bk->bm", parts, operands[1].reshape(b, 2, 2 * k)[:, j]) for j in (0, 1))
    assert np.array_equal(got, np.stack([re, im], -1).reshape(b, 2 * m), equal_nan=True)


def module_of(
    sizes: ProductSizes, t: ProductTiles, left_along_k: bool, right_along_k: bool, *, unless_few: bool = False
) -> Any:
    """A module with a function that packs the operands that the tiles name, and multiplies.

    `unless_few`: few rows are multiplied by it as it lies.
    """
    b, m, n, k = sizes.b, sizes.m, sizes.n, sizes.k
    shapes = [(b, m, k) if left_along_k else (b, k, m), (b, n, k) if right_along_k else (b, k, n)]

    def body(kernels: Kernels, values: Sequence[Any]) -> None:
        left, right = values
        unpacked = right if unless_few and m is None else None
        if t.packs_left:
            left = pack(kernels, left, sizes, t.of_left, along_k=False)
        if t.is_packed:
            rows = None if unpacked is None else tensor_sizes(left)[1 if left_along_k else 2]
            right = pack(kernels, right, sizes, t, along_k=right_along_k, rows=rows)
        columns = sizes.n if sizes.n is not None else tensor_sizes(values[1])[1 if right_along_k else 2]
        out = multiply(
            kernels, left, right, sizes, t, left_along_k=left_along_k, columns=columns, unpacked=unpacked
        )
        if t.is_symmetric:
            mirror(kernels, out, t.width)

    return module_with(shapes, body)


def module_with(
    shapes: Sequence[tuple[int | None, ...]],
    body: Callable[[Kernels, Sequence[Any]], Any],
    elements: Sequence[str] | None = None,
) -> Any:
    """A module with a function of tensors, of f32 unless it is said, whose body calls kernels."""
    context = mlir.new_context(foreign_ops=False)
    with context, mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        kinds = [mlir.ir.Type.parse(name) for name in elements or ["f32"] * len(shapes)]
        dynamic = mlir.ir.ShapedType.get_dynamic_size()
        types = [
            mlir.ir.RankedTensorType.get([dynamic if n is None else n for n in shape], kind)
            for shape, kind in zip(shapes, kinds, strict=True)
        ]
        with mlir.ir.InsertionPoint(module.body):
            function = mlir.func.FuncOp("main", mlir.ir.FunctionType.get(types, []))
        with mlir.ir.InsertionPoint(function.add_entry_block()):
            body(Kernels(module), list(function.arguments))
            mlir.func.ReturnOp([])
    return module


def product(left: int, right: int, batch: int) -> Any:
    """A product that sums over the axes `left` and `right` behind those of the batch."""
    axes = tuple(range(batch))
    return lambda b, x, y: b.dot_general(
        x, y, contracting=((batch + left,), (batch + right,)), batch=(axes, axes), dtype=FLOAT32
    )


def double(b: Any, x: Any, y: Any) -> Any:
    return b.dot_general(x, y, contracting=((1,), (0,)), batch=((), ()), dtype=FLOAT64)


def of_complex(left: int, right: int, batch: int, dtype: np.dtype) -> Any:
    axes = tuple(range(batch))
    return lambda b, x, y: b.dot_general(
        x, y, contracting=((batch + left,), (batch + right,)), batch=(axes, axes), dtype=dtype
    )


EVERY: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], np.dtype]] = {
    "many_rows": (product(1, 0, 0), (70, 150), (150, 90), FLOAT32),
    "few_columns": (product(1, 0, 0), (300, 100), (100, 18), FLOAT32),
    "transposed": (product(0, 1, 0), (130, 53), (75, 130), FLOAT32),
    "packed_on_both_sides": (product(0, 0, 1), (2, 70, 83), (2, 70, 201), FLOAT32),
    "deep": (product(1, 1, 0), (33, 1100), (37, 1100), FLOAT32),
    "few_rows": (product(1, 0, 0), (5, 61), (61, 203), FLOAT32),
    "vector": (product(0, 0, 0), (101,), (101, 331), FLOAT32),
    "rows_by_vector": (product(1, 0, 0), (101, 331), (331,), FLOAT32),
    "vector_by_rows": (product(0, 1, 0), (205,), (101, 205), FLOAT32),
    "batch": (product(1, 0, 1), (3, 40, 65), (3, 65, 45), FLOAT32),
    "double": (double, (41, 130), (130, 100), FLOAT64),
    "double_vector": (double, (1, 130), (130, 301), FLOAT64),
    "complex_rows": (of_complex(1, 0, 0, COMPLEX64), (70, 131), (131,), COMPLEX64),
    "vector_by_complex_rows": (of_complex(0, 1, 1, COMPLEX128), (2, 77), (2, 60, 77), COMPLEX128),
}
# "few_rows" and "double_vector" have the code of these.
SAME_CODE = {"many_rows", "vector", "double"}
PRODUCTS = {name: EVERY[name] for name in part([*EVERY], [name for name in EVERY if name not in SAME_CODE])}
run = Compiled(
    {name: (rule, [TensorType(s, dtype) for s in (x, y)]) for name, (rule, x, y, dtype) in PRODUCTS.items()}
)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_numpy(name: str) -> None:
    _, first, second, dtype = PRODUCTS[name]
    x, y = given(first, dtype), given(second, dtype)
    axes = {"transposed": "ji,kj->ik", "deep": "ij,kj->ik", "vector": "j,jk->k", "batch": "bij,bjk->bik"}
    axes |= {"packed_on_both_sides": "bji,bjk->bik"}
    axes |= {"rows_by_vector": "ij,j->i", "vector_by_rows": "j,kj->k"}
    axes |= {"complex_rows": "ij,j->i", "vector_by_complex_rows": "bj,bkj->bk"}
    if "complex" in name:
        x, y = ((RNG.integers(-4, 5, s) + 1j * RNG.integers(-4, 5, s)).astype(dtype) for s in (first, second))
        x.flat[3], y.flat[-2] = np.nan, 1e6j
    with np.errstate(all="ignore"):
        want = np.einsum(axes.get(name, "ij,jk->ik"), x, y)
    assert np.array_equal(run(name, x, y)[0], want, equal_nan=True)


@pytest.mark.parametrize("form", ["a constant", "a transposed one", "one that is used twice"])
@pytest.mark.parametrize("rows", [70, "n"])
def test_constants_are_packed_before_the_program_runs(form: str, rows: int | str) -> None:
    x, w = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((70, 150), (150, 90)))
    turned = np.ascontiguousarray(w.T)

    def f(x: Any) -> Any:
        match form:
            case "a constant":
                return x @ w
            case "a transposed one":
                return x @ adze.numpy.asarray(turned).T
        return x @ w + w[:1, :]

    lowered = adze.trace(f, adze.ShapeDtype((rows, 150), np.float32)).lower("cpu")
    assert "@kernel_product" in lowered.mlir()
    assert "@kernel_pack" not in lowered.mlir()
    want = x @ w + (w[:1] if form == "one that is used twice" else 0)
    np.testing.assert_array_equal(np.asarray(lowered.compile()(x)), want)


@pytest.mark.parametrize("dtype", ["int8", "uint64"])
def test_integers_have_no_kernel_of_floats(dtype: str) -> None:
    x, y = (RNG.integers(0, 100, shape).astype(dtype) for shape in ((256, 130), (130,)))
    of_rows, of_columns = adze.jit(lambda x, y: (x @ y, y @ x.T))(x, y)
    for got in (of_rows, of_columns):
        np.testing.assert_array_equal(np.asarray(got), x @ y)


def chosen(
    target: str, *sizes: int, dtype: np.dtype = FLOAT32, orders: tuple[bool, bool] = (True, False)
) -> Any:
    return product_tiles(parse_target(target), ProductSizes(*sizes), *orders, dtype)


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:generic", "cpu:aarch64"])
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_sums_of_a_tile_fit_the_registers(target: str, dtype: np.dtype) -> None:
    registers = 32 if target in ("cpu:x86-64-v4", "cpu:aarch64") else 16
    for m in (1, 2, 3, 5, 8, 9, 13, 64, 127, 500):
        for n, k in ((100, 333), (64, 512), (1000, 4096)):
            t = chosen(target, 1, m, n, k, dtype=dtype)
            if t is not None:
                assert (t.rows + 1) * t.vectors < registers
                assert t.block_rows % t.rows == 0 and t.block_columns % t.columns == 0
                assert 0 < t.depth <= k


def test_left_operands_across_k_are_packed_from_some_size_on() -> None:
    orders = (False, False)
    for target, sizes, expected in (
        ("cpu:x86-64-v3", (1, 480, 128, 512), True),
        ("cpu:x86-64-v3", (1, 480, 64, 512), False),
        ("cpu:x86-64-v3", (1, 1024, 64, 512), True),  # each step begins a page
        ("cpu:x86-64-v4", (1, 480, 128, 512), False),
        ("cpu:x86-64-v4", (1, 480, 192, 512), True),
        ("cpu:x86-64-v4", (1, 32, 512, 512), False),
    ):
        assert chosen(target, *sizes, orders=orders).packs_left is expected
        assert not chosen(target, *sizes).packs_left


def test_tiles_of_16_registers_have_six_rows_where_few_are_left() -> None:
    for m, rows in ((512, 6), (128, 6), (20, 5), (16, 6), (9, 5), (10, 5), (12, 6), (11, 6)):
        assert chosen("cpu:x86-64-v3", 1, m, 256, 512).rows == rows, m


def test_rows_by_a_vector_have_a_kernel_from_some_size_on() -> None:
    for m, k, expected in ((100, 200, True), (3, 9, False), (0, 1000, False), (100000, 2, False)):
        t = row_tiles(parse_target("cpu:x86-64-v3"), ProductSizes(1, m, 1, k), FLOAT32)
        assert (t is not None) is expected
        assert t is None or t.block_rows % t.rows == 0


def test_some_products_have_no_kernel() -> None:
    assert chosen("cpu", 1, 64, 64, 64) is not None
    assert chosen("cpu", 1, 4, 4, 4) is None, "a small one"
    assert chosen("cpu:x86-64-v3", 1, 64, 64, 32) is None, "tiles of IREE's divide it"
    assert chosen("cpu:x86-64-v3", 1, 41, 43, 47) is not None, "none divides it"
    assert chosen("cpu:x86-64-v3", 1, 62, 64, 32) is not None, "none divides its rows"
    assert chosen("cpu:x86-64-v3", 1, 19, 23, 31) is None, "a small one"
    assert chosen("cpu", 1, 0, 640, 64) is None, "an empty one"
    assert chosen("cpu", 900, 3, 3, 3) is None, "a batch of small ones"
    assert chosen("cpu", 1, 2, 640, 640, orders=(True, True)) is None, "a few sums along rows"
    assert chosen("vulkan:lavapipe", 1, 64, 64, 64) is None
    assert chosen("cpu:riscv64", 1, 64, 64, 64) is None
    assert chosen("cpu", 1, 64, 64, 64, dtype=np.dtype(np.int32)) is None


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:znver4"])
def test_halves_are_multiplied_by_the_kernels_of_float32(dtype: str, target: str) -> None:
    """IREE has scalar code for bfloat16 on most processors."""
    known, named = adze.ShapeDtype((64, 128), dtype), adze.ShapeDtype(("n", 128), dtype)
    weights = adze.ShapeDtype((128, 96), dtype)
    for x in (known, named):
        lowered = adze.trace(lambda x, w: x @ w, x, weights).lower(target)
        assert "kernel_product" in lowered.mlir()
