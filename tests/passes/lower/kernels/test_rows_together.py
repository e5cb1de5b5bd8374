"""Two rows of a stencil at once: where they are, how much they load, and values at every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects import mlir
from adze.passes.lower.kernels.loops.build import TIDY, upstream
from adze.passes.lower.kernels.loops.vector_steps import step_in_vectors
from adze.passes.lower.kernels.loops.walk import operations_inside

from .reductions import AVX2

ROWS = """func.func @kernel(%x: memref<9x18xf32>, %y: memref<9x18xf32>, %w: memref<9xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = arith.constant {rows} : index
  %n = arith.constant 16 : index
  scf.for %i = %c0 to %rows step %c1 {{
    %i1 = arith.addi %i, %c1 : index
    %i2 = arith.addi %i, %c2 : index
    {beside}
    scf.for %j = %c0 to %n step %c1 {{
      %j1 = arith.addi %j, %c1 : index
      %j2 = arith.addi %j, %c2 : index
      {step}
    }}
  }}
  return
}}"""


def load(*places: str) -> str:
    """A step that stores the sum of elements of `x` in the middle one of `y`."""
    lines = [f"%a{k} = memref.load %x[{place}] : memref<9x18xf32>" for k, place in enumerate(places)]
    sums = [
        f"%s{k} = arith.addf %{'a0' if k == 1 else f's{k - 1}'}, %a{k} : f32" for k in range(1, len(places))
    ]
    store = f"memref.store %s{len(places) - 1}, %y[%i1, %j1] : memref<9x18xf32>"
    return "\n".join((*lines, *sums, store))


FIVE_POINTS = load("%i1, %j1", "%i, %j1", "%i2, %j1", "%i1, %j", "%i1, %j2")
SIX_OF_TWO_ROWS = load("%i, %j", "%i, %j1", "%i, %j2", "%i1, %j", "%i1, %j1", "%i1, %j2")


def after(step: str, rows: int = 6, beside: str = "") -> list[tuple[str, int]]:
    """The loops over rows: how many at once, and how often vectors are loaded for them."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(ROWS.format(step=step, rows=rows, beside=beside))
        mlir.load_dialects(module.context)
        assert step_in_vectors(module, AVX2) == 1
        upstream(module, TIDY)
        assert module.operation.verify()
        found = []
        for operation in operations_inside(module):
            if operation.name == "scf.for" and operation.parent.name == "func.func":
                step_of = operation.operands[2].owner.attributes["value"].value
                loads = sum(
                    str(each).count("vector.load") for each in operation.regions[0].blocks[0].operations
                )
                found.append((step_of, loads))
            elif operation.name == "vector.load" and operation.parent.name == "func.func":
                found.append((0, 1))
        return found


def test_rows_at_once_load_what_they_share_once() -> None:
    assert after(FIVE_POINTS) == [(2, 8)]
    assert after(SIX_OF_TWO_ROWS) == [(2, 9)]


def test_a_last_row_has_code_of_its_own() -> None:
    (pair, alone) = after(FIVE_POINTS, rows=7)[0], after(FIVE_POINTS, rows=7)[1:]
    assert pair == (2, 8)
    assert sum(loads for _, loads in alone) == 5


@pytest.mark.parametrize(
    ("step", "beside"),
    [
        (load("%i1, %j1", "%i1, %j", "%i1, %j2"), ""),  # which share nothing
        (load("%i1, %j1", "%i1, %j", "%i1, %j2", "%i2, %j1"), ""),  # which share one load of four
        (FIVE_POINTS.replace("%y[%i1", "%y[%c1"), ""),  # all rows store to one
        (FIVE_POINTS, "memref.store %w0, %w[%i] : memref<9xf32>".replace("%w0", "%f") + "\n"),
    ],
)
def test_other_rows_stay_one_by_one(step: str, beside: str) -> None:
    beside = "%f = arith.constant 1.0 : f32\n" + beside if beside else beside
    assert [steps for steps, _ in after(step, beside=beside)] == [1]


def test_numbers_of_a_row_are_loaded_for_each() -> None:
    step = FIVE_POINTS.replace("memref.store %s4", "%m = arith.mulf %s4, %f : f32\nmemref.store %m")
    assert after(step, beside="%f = memref.load %w[%i1] : memref<9xf32>\n") == [(2, 8)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int32, np.uint8])
def test_values_of_every_number_of_rows_and_columns(dtype: Any) -> None:
    """Steps of loops with windows of two and of three axes, and a number for each row."""
    sizes = [(rows, columns) for rows in (3, 4, 5, 8, 9) for columns in (6, 10, 17, 18, 35)]

    def smoothed(x: Any) -> Any:
        return x[1:-1, 1:-1] + x[:-2, 1:-1] - x[2:, 1:-1] + x[1:-1, :-2] - x[1:-1, 2:]

    def after_steps(x: Any, xs: Any, rows: Any, step: Any) -> Any:
        return step(step(step((x, xs), rows), rows), rows)

    def step(state: Any, rows: Any) -> Any:
        x, y = state
        y = y.at[1:-1, 1:-1].set(smoothed(x) * rows[1:-1, None])
        return x.at[1:-1, 1:-1].set(smoothed(y)), y

    def numpys(state: Any, rows: Any) -> Any:
        x, y = state[0].copy(), state[1].copy()
        y[1:-1, 1:-1] = smoothed(x) * rows[1:-1, None]
        x[1:-1, 1:-1] = smoothed(y)
        return x, y

    rng = np.random.default_rng(3)
    arrays = [tuple(rng.integers(0, 3, size).astype(dtype) for _ in range(2)) for size in sizes]
    numbers = [rng.integers(0, 3, rows).astype(dtype) for rows, _ in sizes]

    def looped(arrays: Any, numbers: Any) -> Any:
        return [
            lax.fori_loop(0, 3, lambda _, c, rows=rows: step(c, rows), pair)
            for pair, rows in zip(arrays, numbers, strict=True)
        ]

    got = adze.jit(looped)(arrays, numbers)
    for pair, rows, results in zip(arrays, numbers, got, strict=True):
        for result, want in zip(results, after_steps(*pair, rows, numpys), strict=True):
            np.testing.assert_array_equal(result, want)


def test_a_loop_over_planes_does_two_rows_of_each() -> None:
    x = np.random.default_rng(1).integers(0, 9, (5, 9, 20)).astype(np.float32)

    def step(x: Any) -> Any:
        rows = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
        return rows[:, :, :-2] + rows[:, :, 2:] - rows[:, :, 1:-1]

    got = adze.jit(lambda x: lax.fori_loop(0, 2, lambda _, x: x.at[:, 1:-1, 1:-1].set(step(x)), x))(x)
    want = x.copy()
    for _ in range(2):
        want[:, 1:-1, 1:-1] = step(want)
    np.testing.assert_array_equal(got, want)
