"""Arrays that loops transpose, in square blocks: which blocks, values at every size, and no element twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects import mlir
from adze.passes.lower.kernels.loops.turned_blocks import turn_in_blocks
from adze.passes.lower.kernels.loops.walk import operations_inside

from .reductions import AVX2
from .test_checked_loops import check

CODE = """func.func @kernel(%x: memref<{n}x{m}x{of}>, %y: memref<{m}x{n}x{of}>, %z: memref<{m}xf32>,
    %out: memref<{m}x{n}x{of}>) {{
  linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins({ins}) outs(%out : memref<{m}x{n}x{of}>) {{
    ^bb0({arguments}, %old: {of}):
      linalg.yield %in : {of}
    }}
  return
}}"""
OWN, TURNED = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j, i)>"


def blocks(n: int, m: int, of: str = "f32", inputs: str = "x") -> tuple[int, list[int]]:
    """The shuffles of all blocks, and the elements of the vectors of each, largest first."""
    names = {"x": (f"memref<{n}x{m}x{of}>", TURNED), "y": (f"memref<{m}x{n}x{of}>", OWN)}
    code = CODE.format(
        n=n,
        m=m,
        of=of,
        maps=", ".join([*(names[each][1] for each in inputs), OWN]),
        ins=", ".join(f"%{each}" for each in inputs) + " : " + ", ".join(names[each][0] for each in inputs),
        arguments=", ".join(f"%in{k or ''}: {of}" for k in range(len(inputs))),
    )
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(code)
        mlir.load_dialects(module.context)
        turn_in_blocks(module, AVX2)
        assert module.operation.verify()
        found = list(operations_inside(module))
        stored = [mlir.ir.VectorType(o.operands[0].type).shape[0] for o in found if o.name == "vector.store"]
        return sum(o.name == "vector.shuffle" for o in found), sorted(set(stored), reverse=True)


@pytest.mark.parametrize(
    ("sizes", "of", "shuffles", "widths"),
    [
        ((32, 16), "f32", 24, [8]),
        ((12, 16), "f32", 24 + 8, [8, 4]),  # what is left in narrower blocks
        ((9, 17), "f32", 24, [8, 1]),
        ((12, 8), "f64", 8, [4]),
        ((8, 8), "i32", 24, [8]),
        ((7, 5), "f32", 8, [4, 1]),
        ((3, 8), "f32", 0, []),  # vectors of two gain nothing
        ((16, 16), "f16", 0, []),
    ],
)
def test_blocks_are_as_large_as_sizes_allow(
    sizes: tuple[int, int], of: str, shuffles: int, widths: list[int]
) -> None:
    assert blocks(*sizes, of) == (shuffles, widths)


def test_the_fewest_operands_are_exchanged() -> None:
    """One of two, or the result of two; and what lies as the result does is no reason for blocks."""
    assert blocks(16, 16, inputs="xy") == (24, [8])
    assert blocks(16, 16, inputs="xx") == (24, [8])
    assert blocks(16, 16, inputs="yx") == (24, [8])
    assert blocks(16, 16, inputs="yy") == (0, [])


def turned(x: Any, y: Any, z: Any) -> Any:
    """Both ways: one operand is turned, two are, and one beside a number a row."""

    def step(i: Any, state: Any) -> Any:
        x, y = state
        x = x * 2 - y.T
        y = (x * y[0, 0] + x[0, 0] * 3).T * z[:, None] + i
        return xp.where(x > 0, x, -y.T), y

    return lax.fori_loop(0, 3, step, (x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16", "bool", "complex64"])
@pytest.mark.parametrize("sizes", [(16, 32), (21, 12), (5, 7), (1, 8), (0, 4)])
def test_values_are_those_of_numpy(sizes: tuple[int, int], dtype: str) -> None:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return (rng.integers(-8, 9, shape) / 4).astype(dtype)

    x, y = draw(*sizes), draw(*sizes[::-1])
    if dtype not in ("bool", "complex64") and x.size:
        check(turned, [x, y, draw(sizes[1])], dtype)
    moved = adze.jit(lambda x, y: lax.fori_loop(0, 3, lambda _, s: (s[1].T, s[0].T), (x, y)))(x, y)
    np.testing.assert_array_equal(moved[0], y.T)
    np.testing.assert_array_equal(moved[1], x.T)


def test_special_numbers_stay() -> None:
    x = np.resize(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], np.float32), (16, 16))
    result = np.asarray(adze.jit(lambda x: lax.fori_loop(0, 3, lambda _, x: x.T, x))(x))
    np.testing.assert_array_equal(result, x.T)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(x.T))


def test_axes_beside_those_that_change_places() -> None:
    x = np.arange(3 * 8 * 2 * 16, dtype=np.float32).reshape(3, 8, 2, 16)

    def step(_: Any, x: Any) -> Any:
        return xp.transpose(xp.transpose(x * 2, (2, 3, 0, 1)) + 1, (2, 3, 0, 1))

    assert check(lambda x: lax.fori_loop(0, 2, step, x), [x], "axes") == 1
