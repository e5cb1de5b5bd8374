"""What does not change in a loop of a kernel is computed before it; what is written into is not shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects import mlir
from adze.passes.lower.kernels.loops.computed_once import compute_once
from adze.passes.lower.kernels.loops.walk import operations_inside

LOOP = """func.func @kernel(%x: tensor<6xf32>, %m: tensor<6xf32>) -> tensor<6xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x) -> tensor<6xf32> {{
    {body}
    scf.yield %last : tensor<6xf32>
  }}
  return %r : tensor<6xf32>
}}"""
SAME = 'indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]'
NEGATED = f"""%e = tensor.empty() : tensor<6xf32>
    %n = linalg.generic {{{SAME}}} ins(SOURCE : tensor<6xf32>) outs(%e : tensor<6xf32>) {{
    ^bb0(%a: f32, %b: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    }} -> tensor<6xf32>
"""
ADDED = f"""%f = tensor.empty() : tensor<6xf32>
    %last = linalg.generic {{{SAME.replace("[affine", "[affine_map<(d) -> (d)>, affine", 1)}}}
        ins(READ, %y : tensor<6xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) {{
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    }} -> tensor<6xf32>"""
TWICE = """%t = tensor.empty() : tensor<12xf32>
    %h = tensor.insert_slice %n into %t[0] [6] [1] : tensor<6xf32> into tensor<12xf32>
    %w = tensor.insert_slice %n into %h[6] [6] [1] : tensor<6xf32> into tensor<12xf32>
    %s = tensor.extract_slice %w[%i] [6] [1] : tensor<12xf32> to tensor<6xf32>
"""
WRITTEN = """%w = tensor.insert %zero into %n[%i] : tensor<6xf32>
"""


def inside(body: str) -> list[str]:
    """The names of the ops that stay in the loop."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(LOOP.format(body=body))
        compute_once(module)
        assert module.operation.verify()
        return [
            o.name
            for o in operations_inside(module)
            if o.parent.name == "scf.for" and o.name not in ("scf.yield", "tensor.empty")
        ]


@pytest.mark.parametrize(
    ("body", "stay"),
    [
        (NEGATED.replace("SOURCE", "%m") + ADDED.replace("READ", "%n"), ["linalg.generic"]),
        (NEGATED.replace("SOURCE", "%y") + ADDED.replace("READ", "%n"), ["linalg.generic"] * 2),
        (
            NEGATED.replace("SOURCE", "%m") + WRITTEN + ADDED.replace("READ", "%w"),
            ["linalg.generic", "tensor.insert", "linalg.generic"],
        ),  # a step writes into its own
        (
            NEGATED.replace("SOURCE", "%m") + TWICE + ADDED.replace("READ", "%s"),
            ["tensor.extract_slice", "linalg.generic"],
        ),
        (
            NEGATED.replace("SOURCE", "%y") + TWICE + ADDED.replace("READ", "%s"),
            ["linalg.generic", *["tensor.insert_slice"] * 2, "tensor.extract_slice", "linalg.generic"],
        ),
    ],
)
def test_what_stays_in_a_loop(body: str, stay: list[str]) -> None:
    assert inside(body) == stay


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_values(steps: int) -> None:
    """Rolled, masked and reduced arrays that no step changes, in loops in loops of any number of steps."""
    rng = np.random.default_rng(1)
    x, m = rng.standard_normal(9), rng.standard_normal((9, 9))

    def loops(np_: Any, roll: Any, x: Any, m: Any, repeat: Any) -> Any:
        def outer(i: Any, x: Any) -> Any:
            def inner(j: Any, x: Any) -> Any:
                mask = np_.arange(9) < j
                return x / 2 + np_.where(mask, roll(np_.flip(m[0]), i + j), (m * 2).sum(axis=1)) / 50

            return repeat(3, inner, x)

        return repeat(steps, outer, x)

    def repeat(count: int, step: Any, x: Any) -> Any:
        for i in range(count):
            x = step(i, x)
        return x

    def looped(count: int, step: Any, x: Any) -> Any:
        return lax.fori_loop(0, count, step, x)

    got = adze.jit(lambda x, m: loops(xp, xp.roll, x, m, looped))(x, m)
    np.testing.assert_allclose(got, loops(np, np.roll, x, m, repeat), rtol=1e-13)
