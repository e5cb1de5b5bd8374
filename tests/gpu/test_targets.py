"""Every target for GPUs compiles a network and its gradient: most of these programs were never run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.dialects.errors import AdzeError
from adze.runtime.compile import compiler
from adze.runtime.errors import CompileError
from adze.runtime.targets import Target, parse_target, target_names

pytestmark = pytest.mark.gpu

TARGETS = [name for name in target_names() if not name.startswith("cpu") and name != "vulkan"]


def loss(w: Any, x: Any, classes: Any) -> Any:
    hidden = xp.tanh(x @ w)
    scores = hidden - xp.max(hidden, axis=1, keepdims=True)
    return -xp.mean(xp.take_along_axis(adze.nn.log_softmax(scores), classes[:, None], axis=1))


@pytest.mark.parametrize("name", ["rocm:gfx1100", "metal"])
def test_a_product_compiles(name: str) -> None:
    lowered = adze.trace(lambda x, w: xp.tanh(x @ w), ShapeDtype((16, 64)), ShapeDtype((64, 32))).lower(name)
    assert lowered.compile().vmfb
    with pytest.raises(AdzeError, match=f"no devices of the kind {name.partition(':')[0]}: it compiles"):
        lowered.compile()(np.ones((16, 64), np.float32), np.ones((64, 32), np.float32))


def test_products_of_narrow_integers_compile_for_metal() -> None:
    """IREE makes dot products of four of them, which Metal lacks."""
    for dtype in (np.int8, np.uint8):
        specs = [ShapeDtype((64, 64), dtype)] * 2
        lowered = adze.trace(lambda x, y: lax.dot(x, y, preferred_element_type=np.int32), *specs).lower(
            "metal"
        )
        assert lowered.compile().vmfb
        assert adze.trace(lambda x, y: x @ y, *specs).lower("metal").compile().vmfb


@pytest.mark.parametrize(
    ("function", "dtypes"),
    [
        (lambda x, y: x < y, (np.float32, np.float32)),
        (lambda mask, x: xp.where(mask, x, -x), (np.bool_, np.float32)),
        (lambda x: (x + x, xp.sum(x, axis=1, dtype=np.int32)), (np.int8,)),
        (lambda x: x @ x, (np.uint8,)),
    ],
)
def test_arrays_of_bytes_compile_for_adreno(function: Any, dtypes: tuple[Any, ...]) -> None:
    """IREE's own description of it has no such arrays, and no code for four elements of a thread."""
    specs = [ShapeDtype((64, 64), dtype) for dtype in dtypes]
    assert adze.trace(function, *specs).lower("vulkan:adreno").compile(cache=False).vmfb


@pytest.mark.thorough
@pytest.mark.parametrize("name", TARGETS)
def test_a_gradient_compiles(name: str) -> None:
    specs = ShapeDtype((64, 32)), ShapeDtype((16, 64)), ShapeDtype((16,), np.int32)
    compiled = adze.trace(adze.grad(loss), *specs).lower(name).compile()
    assert compiled.manifest.target == parse_target(name).name
    assert compiled.vmfb


@pytest.mark.parametrize(
    ("dtype", "name", "lacking"),
    [
        (np.float64, "vulkan:adreno", "vulkan:adreno has no such arithmetic (the feature shaderFloat64)"),
        (np.float64, "metal", "metal has no such arithmetic"),
    ],
)
def test_a_family_that_lacks_a_dtype_is_named(dtype: Any, name: str, lacking: str) -> None:
    lowered = adze.trace(lambda x: xp.sum(x * x), ShapeDtype((64,), dtype)).lower(name)
    with pytest.raises(CompileError) as caught:
        lowered.compile(cache=False)
    kind = "f64[64]"
    assert caught.value.message == f"adze.mul cannot be compiled: it computes {kind}, and {lacking}"
    assert caught.value.where is not None and "test_targets.py" in caught.value.where
    assert caught.value.op == "adze.mul"


@pytest.mark.parametrize("name", ["vulkan:adreno", "metal"])
def test_no_other_form_is_tried_without_float64(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Target] = []

    def noted(module: bytes, target: Target, *rest: Any, **options: Any) -> compiler.CompiledModule:
        tried.append(target)
        return compile_bytecode(module, target, *rest, **options)

    compile_bytecode = compiler.compile_bytecode
    monkeypatch.setattr(compiler, "compile_bytecode", noted)
    lowered = adze.trace(lambda x: xp.linalg.eigh(x)[0], ShapeDtype((8, 8), np.float64)).lower(name)
    with pytest.raises(CompileError, match="has no such arithmetic"):
        lowered.compile(cache=False)
    assert len(tried) == 1
