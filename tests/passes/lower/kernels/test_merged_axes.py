"""Loops over many axes become few where arrays are runs of memory; what is computed stays the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects import mlir
from adze.passes.lower.kernels.loops.merged_axes import merge_axes

DIMS = ", ".join(f"d{k}" for k in range(8))


def merged(operands: list[str], maps: list[str], kinds: list[str], body: str = "") -> str:
    """A sum over the loops of `kinds`, after `merge_axes`."""
    names = [f"%m{k}" for k in range(len(operands))]
    arguments = ", ".join(f"{name}: memref<{each}>" for name, each in zip(names, operands, strict=True))
    ins = f"{', '.join(names[:-1])} : {', '.join(f'memref<{each}>' for each in operands[:-1])}"
    listed = ", ".join(f"affine_map<({DIMS}) -> ({each})>" for each in maps)
    iterators = ", ".join(f'"{each}"' for each in kinds)
    numbers = ", ".join(f"%x{k}: f32" for k in range(len(operands)))
    text = f"""func.func @kernel({arguments}) {{
      linalg.generic {{indexing_maps = [{listed}], iterator_types = [{iterators}]}}
          ins({ins}) outs({names[-1]} : memref<{operands[-1]}>) {{
      ^bb0({numbers}):
        {body}
        %y = arith.addf %x0, %x{len(operands) - 1} : f32
        linalg.yield %y : f32
      }}
      return
    }}"""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(text)
        merge_axes(module)
        assert module.operation.verify()
        return str(module)


def loops_of(text: str) -> list[str]:
    (kinds,) = re.findall(r"iterator_types = \[(.*?)\]", text)
    return re.findall(r"\w+", kinds)


PARALLEL = ["parallel"] * 8
ARRAY = "3x2x5x2x7x2x4x8xf32"


def test_a_whole_array_is_one_loop_outside_of_the_innermost() -> None:
    text = merged([ARRAY, ARRAY], [DIMS, DIMS], PARALLEL)
    assert text.count("memref.collapse_shape") == 2
    assert "memref<3360x8xf32>" in text
    assert loops_of(text) == ["parallel"] * 2


def test_axes_that_another_operand_takes_elsewhere_stay_apart() -> None:
    turned = "2x5x2x7x2x4x3x8xf32"
    text = merged([turned, ARRAY], ["d1, d2, d3, d4, d5, d6, d0, d7", DIMS], PARALLEL)
    assert "memref<1120x3x8xf32>" in text
    assert "memref<3x1120x8xf32>" in text
    assert loops_of(text) == ["parallel"] * 3


def test_axes_with_gaps_between_them_stay_apart() -> None:
    gaps = "3x2x5x2x7x2x4x8xf32, strided<[20000, 8960, 1792, 448, 64, 32, 8, 1], offset: 5>"
    text = merged([gaps, ARRAY], [DIMS, DIMS], PARALLEL)
    assert "memref<3x10x112x8xf32, strided<[20000, 1792, 8, 1], offset: 5>>" in text


def test_sums_keep_their_order() -> None:
    kinds = ["parallel", "reduction", "parallel", "reduction", "reduction", *["parallel"] * 3]
    text = merged([ARRAY, "3x5x2x4x8xf32"], [DIMS, "d0, d2, d5, d6, d7"], kinds)
    assert loops_of(text) == ["parallel", "reduction", "parallel", "reduction", "parallel", "parallel"]


@pytest.mark.parametrize(
    ("operands", "maps", "body"),
    [
        ([ARRAY.replace("5x2", "?x2"), ARRAY.replace("5x2", "?x2")], [DIMS] * 2, ""),
        ([ARRAY, ARRAY], [DIMS] * 2, "%i = linalg.index 0 : index"),
        (["3x2x5x2x7x2x4x1xf32", ARRAY], [DIMS.replace("d7", "0"), DIMS], ""),
    ],
    ids=["unknown sizes", "places", "one element"],
)
def test_what_is_not_known_stays(operands: list[str], maps: list[str], body: str) -> None:
    text = merged(operands, maps, PARALLEL, body)
    assert "collapse_shape" not in text
    assert loops_of(text) == PARALLEL


def test_a_fill_is_one_loop() -> None:
    text = f"""func.func @kernel(%m: memref<{ARRAY}>, %few: memref<3x5xf32>, %x: f32) {{
      linalg.fill ins(%x : f32) outs(%m : memref<{ARRAY}>)
      linalg.fill ins(%x : f32) outs(%few : memref<3x5xf32>)
      return
    }}"""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(text)
        merge_axes(module)
        assert module.operation.verify()
        assert re.findall(r"outs\(\S+ : memref<(\S+)>\)", str(module)) == ["26880xf32", "3x5xf32"]


def gates(lib: Any, state: Any, angles: Any) -> Any:
    """A rotation of every bit, and a conditional one of every pair of neighbours."""
    bits = len(state.shape)
    for k in range(bits):
        c, s = lib.cos(angles[k]), lib.sin(angles[k])
        gate = lib.stack([lib.stack([c, -s]), lib.stack([s, c])])
        state = lib.moveaxis(lib.tensordot(gate, state, axes=([1], [k])), 0, k)
    for k in range(bits - 1):
        state = lib.moveaxis(state, (k, k + 1), (0, 1))
        state = lib.stack([state[0], state[1, ::-1]])
        state = lib.moveaxis(state, (0, 1), (k, k + 1))
    return state


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(2,) * 8, (2, 2, 2, 2, 2, 2, 2)])
def test_gates_on_quantum_bits(shape: tuple[int, ...], dtype: Any) -> None:
    r = np.random.default_rng(0)
    state = r.normal(size=shape) + (1j * r.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    state = state.astype(dtype)
    angles = r.uniform(size=len(shape)).astype(state.real.dtype)
    actual = np.asarray(adze.jit(lambda *a: gates(anp, *a))(state, angles))
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, gates(np, state, angles), rtol=1e-5, atol=1e-5)


def test_gradients_of_gates() -> None:
    """A rotation of the last bit changes the energy by the parameter-shift rule (Mitarai et al., 2018)."""
    weights = np.linspace(-1, 1, 2**8)
    state = np.zeros((2,) * 8)
    state[(0,) * 8] = 1
    angles = np.random.default_rng(1).uniform(size=8)

    def energy(angles: Any, lib: Any = anp) -> Any:
        return (gates(lib, state, angles).reshape(-1) ** 2 * weights).sum()

    actual = adze.jit(adze.grad(energy))(angles)
    shifts = np.eye(8) * np.pi / 4
    expected = [energy(angles + s, np) - energy(angles - s, np) for s in shifts]
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)
