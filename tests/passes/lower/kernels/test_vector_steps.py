"""Inner loops of kernels as loops over vectors: which are, what is left over, and values at every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects import mlir
from adze.passes.lower.kernels.loops.vector_steps import LONGEST, step_in_vectors
from adze.passes.lower.kernels.loops.walk import operations_inside

from .reductions import AVX2

LOOPS = """func.func @kernel(%x: memref<9x{size}xf32>, %y: memref<9x{size}xf32>, %z: memref<9x{size}xf32>,
    %k: memref<9x{size}xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %n = arith.constant {count} : index
  scf.for %i = %c0 to %c7 step %c1 {{
    scf.for %j = %c0 to %n step %c1 {{
      {step}
    }}
  }}
  return
}}"""

SUM = """%j2 = arith.addi %j, %c2 : index
      %a = memref.load %x[%i, %j2] : memref<9x{size}xf32>
      %b = memref.load %x[%i, %j] : memref<9x{size}xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i, %j] : memref<9x{size}xf32>"""


def after(step: str, count: int) -> tuple[int, list[str]]:
    """How many loops become vectors, and the types of the vectors that are stored, in their order."""
    code = LOOPS.format(step=step.format(size=count + 2), size=count + 2, count=count)
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(code)
        mlir.load_dialects(module.context)
        changed = step_in_vectors(module, AVX2)
        assert module.operation.verify()
        stored = [o.operands[0].type for o in operations_inside(module) if o.name.endswith(".store")]
        return changed, [str(type_) for type_ in stored]


@pytest.mark.parametrize(
    ("count", "stored"),
    [
        (3, ["f32"]),  # no vector
        (4, ["vector<4xf32>"]),  # a short one
        (5, ["vector<4xf32>", "vector<1xf32>"]),
        (7, ["vector<4xf32>", "vector<4xf32>"]),
        (8, ["vector<8xf32>"]),
        (9, ["vector<8xf32>", "vector<1xf32>"]),
        (12, ["vector<8xf32>", "vector<4xf32>"]),
        (13, ["vector<8xf32>", "vector<8xf32>"]),  # which overlap
        (8 * LONGEST, ["vector<8xf32>"]),
        (8 * LONGEST + 1, ["f32"]),
    ],
)
def test_what_is_left_over(count: int, stored: list[str]) -> None:
    assert after(SUM, count) == (int(stored != ["f32"]), stored)


LOAD = "%a = memref.load %x[%i, %j] : memref<9x{size}xf32>\n"
STORE = "memref.store %s, %y[%i, %j] : memref<9x{size}xf32>"
DOUBLE = "%s = arith.addf %a, %a : f32\n"


@pytest.mark.parametrize(
    ("step", "becomes"),
    [
        (LOAD + DOUBLE + STORE, True),
        (LOAD + DOUBLE + STORE.replace("%y", "%x"), False),  # what another step may read
        (LOAD + DOUBLE + STORE + "\n" + STORE.replace("%y", "%z"), True),
        (LOAD + DOUBLE + STORE + "\n" + STORE.replace("%j", "%c1"), False),  # two stores to one buffer
        (LOAD + DOUBLE + STORE.replace("[%i, %j]", "[%j, %i]"), False),
        (LOAD.replace("%j", "%c1") + DOUBLE + STORE, True),  # a number for all steps
        (LOAD + STORE.replace("%s", "%a"), True),  # a copy
        ("%d = arith.muli %j, %c1 : index\n" + LOAD.replace("%j", "%d") + DOUBLE + STORE, False),
        ("%d = arith.subi %n, %j : index\n" + LOAD.replace("%j", "%d") + DOUBLE + STORE, False),  # backwards
        (
            "%d = arith.addi %c2, %j : index\n%f = arith.subi %d, %c1 : index\n"
            + LOAD.replace("%j", "%f")
            + DOUBLE
            + STORE,
            True,
        ),
        (
            "%q = arith.index_cast %j : index to i32\n%a = arith.sitofp %q : i32 to f32\n" + DOUBLE + STORE,
            False,
        ),  # the number of the step as one of its numbers
        (
            "%p = memref.load %k[%i, %j] : memref<9x{size}xi32>\n%r = arith.remsi %p, %p : i32\n"
            "%a = arith.sitofp %r : i32 to f32\n" + DOUBLE + STORE,
            False,
        ),  # which processors do one by one
        (LOAD + "%s = math.exp %a : f32\n" + STORE, False),
        (LOAD + "%s = math.absf %a : f32\n" + STORE, True),  # one instruction
        (
            "%p = arith.cmpi ne, %j, %i : index\nscf.if %p {{\n" + LOAD + DOUBLE + STORE + "\n}}\n",
            False,
        ),  # a branch
        (
            "%z0 = arith.constant 0.0 : f32\n%p = arith.cmpi ne, %j, %i : index\nscf.if %p {{\n"
            + STORE.replace("%s", "%z0")
            + "\n}}\n"
            + STORE.replace("%s", "%z0").replace("%y", "%z"),
            False,
        ),
    ],
)
def test_which_loops_are_vectors(step: str, becomes: bool) -> None:
    assert bool(after(step, 20)[0]) is becomes


def test_a_loop_of_its_own_stays() -> None:
    """Workgroups share the outermost loops, whose bounds they have to know."""
    code = """func.func @kernel(%x: memref<64xf32>, %y: memref<64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 64 : index
      scf.for %j = %c0 to %n step %c1 {
        %a = memref.load %x[%j] : memref<64xf32>
        %s = arith.addf %a, %a : f32
        memref.store %s, %y[%j] : memref<64xf32>
      }
      return
    }"""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        assert step_in_vectors(mlir.ir.Module.parse(code), AVX2) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.uint64, np.float16])
def test_steps_of_every_width(dtype: Any) -> None:
    """Rows of each length, in steps of a loop that reads what it has just stored; bools and NaN in them."""
    widths = (3, 6, 7, 8, 9, 15, 16, 17, 33, 39)

    def relaxed(x: Any) -> Any:
        def step(_: Any, x: Any) -> Any:
            inner = x[1:-1, 2:] - x[1:-1, :-2] + x[2:, 1:-1]
            return x.at[1:-1, 1:-1].set(np.where(inner > x[1:-1, 1:-1], inner, x[:-2, 1:-1]))

        return lax.fori_loop(0, 5, step, x)

    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 9, (6, width)).astype(dtype) for width in widths]
    if np.dtype(dtype).kind == "f":
        for x in arrays:
            x[2, 1] = np.nan
    got = adze.jit(lambda *arrays: [relaxed(x) for x in arrays])(*arrays)
    for x, result in zip(arrays, got, strict=True):
        want = x.copy()
        for _ in range(5):
            inner = want[1:-1, 2:] - want[1:-1, :-2] + want[2:, 1:-1]
            want[1:-1, 1:-1] = np.where(inner > want[1:-1, 1:-1], inner, want[:-2, 1:-1])
        np.testing.assert_array_equal(result, want)
