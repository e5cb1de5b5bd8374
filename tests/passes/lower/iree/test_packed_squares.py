"""Products of square matrices in batches of dynamic sizes: IREE packs all of them, not yet by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import nn
from adze.dialects import mlir
from adze.frontend.staging import kernels
from adze.passes.lower.iree.packed_squares import DistinctSizes
from adze.passes.pipeline import AFTER_FLOW
from adze.runtime.compile.compiler import divided_into_kernels
from adze.runtime.compile.kernels import fault_of_kernels


def twice(x: Any) -> Any:
    """The square of a matrix in each place of the batch, and its product with the matrix."""
    return (x @ anp.swapaxes(x, 1, 2)) @ x


def attention(x: Any) -> Any:
    scores = nn.softmax(x @ anp.swapaxes(x, -1, -2) / 8)
    return scores @ x


def cubes(x: Any) -> Any:
    """Matrices whose sizes and batch are one size."""
    square = x[:, :, None] * x[:, None, :]
    return (square @ square) @ square


def of(function: Any, *sizes: int | str) -> Any:
    return adze.trace(function, adze.ShapeDtype(sizes, np.float32)).lower()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16])
@pytest.mark.parametrize("shape", [(2, 65, 64), (1, 200, 64), (3, 7, 64), (2, 0, 64)])
def test_every_row_of_a_square_is_summed(shape: tuple[int, ...], dtype: Any) -> None:
    """Of float32 by a kernel of ours, of the others by IREE's."""
    x = np.random.default_rng(0).integers(-1, 2, shape).astype(dtype)
    got = adze.trace(twice, adze.ShapeDtype(("b", "s", 64), dtype)).lower().compile()(x)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(got, (wide @ wide.swapaxes(1, 2)) @ wide)


@pytest.fixture
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of float32 as of dtypes that have no kernel of ours."""
    monkeypatch.setattr("adze.passes.lower.forms.products.product_tiles", lambda *sizes: None)


@pytest.mark.parametrize("sizes", [("b", "s", 32), ("b", "s", "d"), ("b", "h", "s", 32)])
def test_attention_of_named_sizes_is_that_of_known_ones(sizes: tuple[int | str, ...]) -> None:
    shape = (2, 130, 32) if len(sizes) == 3 else (2, 3, 130, 32)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(
        of(attention, *sizes).compile()(x), adze.jit(attention)(x), rtol=1e-4, atol=1e-5
    )


def test_sizes_that_are_all_equal() -> None:
    x = np.random.default_rng(2).standard_normal((70, 70)).astype(np.float32)
    s = x[:, :, None].astype(np.float64) * x[:, None, :]
    np.testing.assert_allclose(of(cubes, "n", 70).compile()(x), (s @ s) @ s, rtol=1e-4, atol=1e-2)


@pytest.mark.usefixtures("no_kernels")
def test_squares_are_still_packed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE", "off")
    monkeypatch.setattr("adze.runtime.compile.compiler.fault_of_kernels", lambda program: None)
    monkeypatch.setattr(kernels.tune_kernels, "__defaults__", (_without_the_pass(),))
    x = np.ones((1, 200, 64), np.float32)
    got = np.asarray(of(twice, "b", "s", 64).compile()(x))
    assert not (got == 200 * 64).all()


def _without_the_pass() -> tuple[Any, ...]:
    return tuple(step for step in AFTER_FLOW if not isinstance(step, DistinctSizes))


@pytest.mark.usefixtures("no_kernels")
def test_without_the_pass_they_are_named() -> None:
    lowered = of(twice, "b", "s", 64)
    program = divided_into_kernels(lowered.bytecode(), lowered.target, lowered.options())
    assert fault_of_kernels(program) == "an array with equal sizes would be packed in part"
    with mlir.new_context(foreign_ops=False, is_light=True) as context, mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(program, context)
        assert DistinctSizes().run(module)
        assert not DistinctSizes().run(module)
        assert fault_of_kernels(str(module).encode()) is None


@pytest.mark.usefixtures("no_kernels")
def test_without_the_pass_the_program_is_compiled_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE", "off")
    monkeypatch.setattr(kernels.tune_kernels, "__defaults__", (_without_the_pass(),))
    lowered = of(twice, "b", "s", 64)
    _, record = lowered._build(lowered.canonical(), lowered.options(), None)
    assert record["variant"] == "plain"
    x = np.ones((1, 200, 64), np.float32)
    assert (np.asarray(lowered.compile()(x)) == 200 * 64).all()
