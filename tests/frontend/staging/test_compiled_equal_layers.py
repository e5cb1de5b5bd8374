"""Programs of many equal layers, which IREE divides into kernels once: results, and what is left as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects import mlir
from adze.passes.lower.equal_layers import LEAST_SAVED, equal_regions
from adze.passes.lower.outline_layers import may_have_equal_layers
from adze.runtime.compile.strategy import FORMS

WEIGHTS = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32) / 4
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


def layers(count: int, other: int = 0) -> Any:
    """`count` equal layers, then `other` layers of another kind, an integer and a sum."""

    def function(w: Any, x: Any) -> Any:
        for _ in range(count):
            x = anp.maximum(anp.abs(x @ w) - x, -x) + anp.float32(0.5)
        for _ in range(other):
            x = anp.floor(x @ w * 8) / 8
        return x, anp.sum(x), (x > 0).astype(np.int8)

    return function


def test_equal_layers_are_compiled_once_with_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "off")  # else the layers are one kernel
    traced = adze.trace(layers(150, other=2), WEIGHTS, X)
    lowered = traced.lower()
    assert may_have_equal_layers(lowered.module)
    tried: list[tuple[str, ...]] = []
    form = type(lowered).form

    def recorded(self: Any, passes: Any, options: Any) -> bytes:
        tried.append(tuple(passes))
        return form(self, passes, options)

    monkeypatch.setattr(type(lowered), "form", recorded)
    results = lowered.compile(cache=False)(WEIGHTS, X)
    assert tried == [FORMS[0].passes] and FORMS[0].name == "equal layers once"
    expected = layers(150, other=2)(WEIGHTS, X)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-5)


def test_programs_of_few_layers_are_not_looked_at() -> None:
    lowered = adze.trace(layers(20), WEIGHTS, X).lower()
    assert str(lowered.module).count(" = ") < LEAST_SAVED and not may_have_equal_layers(lowered.module)


def test_what_a_branch_uses_of_a_layer_is_a_result_of_it() -> None:
    ops = [
        f"%v{i}_{k} = arith.mulf %v{i}_{k - 1}, %x : tensor<4xf32>"
        if k
        else f"%v{i}_0 = arith.addf %v{i - 1}_5, %v{i - 1}_5 : tensor<4xf32>"
        for i in range(9)
        for k in range(6)
    ]
    text = "func.func @f(%x: tensor<4xf32>, %b: i1) -> (tensor<4xf32>, tensor<4xf32>) {\n" + "\n".join(ops)
    text += """
    %r = scf.if %b -> tensor<4xf32> {
      %t = arith.negf %v4_2 : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    } else { scf.yield %x : tensor<4xf32> }
    return %r, %v8_5 : tensor<4xf32>, tensor<4xf32>
    }"""
    module = mlir.ir.Module.parse(text.replace("%v-1_5", "%x"), mlir.new_context())
    block = module.body.operations[0].operation.regions[0].blocks[0]
    operations = [child.operation for child in block.operations]
    (regions,) = equal_regions(operations, least_saved=20)
    inside = next(o for o in operations if o.name == "scf.if").regions[0].blocks[0].operations[0]
    used = inside.operation.operands[0]
    outlined = [r for r in regions if any(used in list(o.results) for o in r.operations)]
    assert len(regions) >= 6 and not [r for r in outlined if used not in r.results]
