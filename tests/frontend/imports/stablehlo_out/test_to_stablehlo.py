"""Whole programs as StableHLO: what JAX computes from the text, and what comes back."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.imports import ModelUnsupportedError

from .jax_runs import run_with_jax

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(4, 3)).astype(np.float32), RNG.normal(size=(3, 3)).astype(np.float32)


def loss(w: Any, x: Any) -> Any:
    h = adze.nn.gelu(x @ w)
    _, steps = adze.lax.scan(lambda c, row: (xp.tanh(c @ w + row), xp.sum(c)), x[0], h)
    return xp.sum(steps**2) + xp.max(xp.sort(h, axis=1)) + xp.log(xp.sum(xp.exp(h)))


def everything(w: Any, x: Any, index: Any) -> Any:
    """A gradient, a batch, control flow, linear algebra, random numbers, indexing."""
    value, gradient = adze.value_and_grad(loss)(w, x)
    batched = adze.vmap(lambda row: adze.cond(row[0] > 0, xp.sin, xp.cos, row))(x)
    root = adze.while_loop(lambda s: xp.abs(s * s - 7) > 1e-4, lambda s: (s + 7 / s) / 2, xp.float32(7))
    chosen = adze.lax.switch(index, [lambda v: v, lambda v: v * 2, lambda v: -v], x)
    spd = w @ w.T + 3 * xp.eye(3, dtype="float32")
    solved = xp.linalg.solve(spd, x.T)
    drawn = adze.random.normal(adze.random.key(3), (4,))
    taken = (x[xp.asarray([2, 0])], xp.asarray(x).at[1].add(1.0), xp.argmax(x, axis=1), xp.cumsum(x, axis=0))
    return value, gradient, batched, root, chosen, solved, xp.linalg.cholesky(spd), drawn, taken


@pytest.fixture(scope="module")
def text() -> str:
    return adze.to_stablehlo(everything)(W, X, np.int32(2))


@pytest.fixture(scope="module")
def expected() -> list[np.ndarray]:
    return [np.asarray(v) for v in adze.tree.leaves(everything(W, X, np.int32(2)))]


@pytest.mark.parametrize(("size", "pads"), [(4, (0, 0)), (2, (1, 1))])
def test_iree_takes_one_window_that_does_not_see_all(
    size: int, pads: tuple[int, int], tmp_path: Path
) -> None:
    """It refuses such a convolution (docs/iree_notes.md): what is behind the window is cut."""
    x, k = (RNG.normal(size=shape).astype(np.float32) for shape in ((1, 3, size), (2, 3, 3)))
    source = tmp_path / "convolution.mlir"
    source.write_text(adze.to_stablehlo(lambda x, k: adze.lax.conv_general_dilated(x, k, (2,), [pads]))(x, k))
    flags = ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
    flags += ["--iree-input-type=stablehlo", "-o", str(tmp_path / "convolution.vmfb")]
    command = [Path(sys.executable).parent / "iree-compile", str(source), *flags]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr


@pytest.mark.parametrize("pads", [(0, 0), (1, 2), (0, 3), (2, -1), (-1, 0), (5, 0)], ids=str)
@pytest.mark.parametrize("dilation", [1, 2])
def test_convolutions_see_all_of_their_image(pads: tuple[int, int], dilation: int) -> None:
    """Images and padding are cut behind the last window; the results are the same."""
    for n, taps, stride in itertools.product((1, 4, 9), (2, 3), (2, 3)):
        x, k = (RNG.normal(size=shape).astype(np.float32) for shape in ((1, 2, n), (3, 2, taps)))
        free = n + sum(pads) - dilation * (taps - 1) - 1
        if n + sum(pads) < 1 or free < 0:
            continue

        def convolved(x: Any, k: Any, stride: int = stride) -> Any:
            return adze.lax.conv_general_dilated(x, k, (stride,), [pads], rhs_dilation=(dilation,))

        text = adze.to_stablehlo(convolved)(x, k)
        check(run_with_jax(text, (x, k)), [np.asarray(convolved(x, k))])
        check([adze.from_stablehlo(text)(x, k)], [np.asarray(convolved(x, k))])


def check(results: Any, expected: list[np.ndarray]) -> None:
    arrays = [np.asarray(v) for v in results]
    assert [(a.shape, a.dtype) for a in arrays] == [(e.shape, e.dtype) for e in expected]
    for array, value in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(array, value, rtol=2e-4, atol=2e-5)


def test_jax_computes_the_same(text: str, expected: list[np.ndarray]) -> None:
    check(run_with_jax(text, (W, X, np.int32(2))), expected)


@pytest.mark.thorough  # IREE's own pipelines take six seconds
def test_iree_computes_the_same(text: str, expected: list[np.ndarray], tmp_path: Path) -> None:
    """`iree-compile` takes the text, and IREE's own runtime runs what comes of it."""
    source, program = tmp_path / "everything.mlir", tmp_path / "everything.vmfb"
    source.write_text(text)
    flags = ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
    flags += ["--iree-input-type=stablehlo", "--iree-input-demote-f64-to-f32=false", "-o", str(program)]
    tools = Path(sys.executable).parent
    subprocess.run([tools / "iree-compile", str(source), *flags], check=True, capture_output=True)
    command = [tools / "iree-run-module", f"--module={program}", "--device=local-sync", "--function=main"]
    for i, array in enumerate((W, X, np.int32(2))):
        np.save(tmp_path / f"in{i}.npy", array)
        command.append(f"--input=@{tmp_path / f'in{i}.npy'}")
    outputs = [tmp_path / f"out{i}.npy" for i in range(len(expected))]
    subprocess.run([*command, *(f"--output=@{path}" for path in outputs)], check=True, capture_output=True)
    check([np.load(path) for path in outputs], expected)


def test_it_comes_back(text: str, expected: list[np.ndarray]) -> None:
    check(adze.from_stablehlo(text)(W, X, np.int32(2)), expected)


def test_what_comes_back_is_differentiated() -> None:
    again = adze.from_stablehlo(adze.to_stablehlo(loss)(W, X))
    check([adze.grad(again)(W, X)], [np.asarray(adze.grad(loss)(W, X))])


def test_specs_trees_and_names() -> None:
    def scaled(params: dict[str, Any], *, by: Any) -> Any:
        return {"y": params["a"] * by, "z": params["b"]}

    spec = adze.ShapeDtype((2,), np.float64)
    text = adze.to_stablehlo(scaled)({"a": spec, "b": spec}, by=adze.ShapeDtype((), np.float64))
    assert text.startswith("module @scaled")
    assert "@main(%arg0: tensor<2xf64>, %arg1: tensor<2xf64>, %arg2: tensor<f64>)" in text
    traced = adze.trace(scaled, {"a": spec, "b": spec}, by=np.float64(2))
    assert adze.to_stablehlo(traced)().count("func.func") == 1


def test_checks_are_dropped_where_that_is_asked_for() -> None:
    def root(x: Any) -> Any:
        return adze.while_loop(lambda s: xp.abs(s * s - x) > 1e-4, lambda s: (s + x / s) / 2, x, max_steps=20)

    with pytest.raises(ModelUnsupportedError, match=r"check cannot be written(.|\n)*drop_effects=True"):
        adze.to_stablehlo(root)(np.float32(7))
    text = adze.to_stablehlo(adze.grad(root), drop_effects=True)(np.float32(7))
    result = adze.from_stablehlo(text)(np.float32(7))
    np.testing.assert_allclose(result, 0.5 / np.sqrt(7), rtol=1e-4)


def test_the_backward_pass_of_a_loop_of_unknown_length() -> None:
    def root(x: Any, a: Any) -> Any:
        return adze.while_loop(
            lambda s: xp.sum(xp.abs(s * s - x)) > 1e-4,
            lambda s: (s + a * x / s) / 2,
            xp.ones_like(x),
            saved_states=3,
        )

    gradient = adze.grad(lambda x, a: xp.sum(root(x, a) ** 3), argnums=(0, 1))
    x, a = np.float32([7, 9, 2]), np.float32(1)
    text, expected = adze.to_stablehlo(gradient)(x, a), [np.asarray(v) for v in gradient(x, a)]
    np.testing.assert_allclose(expected[0], 1.5 * np.sqrt(x), rtol=1e-4)
    check(run_with_jax(text, (x, a)), expected)
    check(adze.from_stablehlo(text)(x, a), expected)


def test_the_program_of_a_rank() -> None:
    """Collectives name replicas, and come back as collectives over named axes."""
    lax, spec = adze.lax, adze.sharding.PartitionSpec

    def program() -> tuple[str, list[np.ndarray]]:
        def on_rank(x: Any) -> Any:
            place = xp.astype(lax.axis_index("a") * 10 + lax.axis_index("b"), "float32")
            scattered = lax.psum_scatter(x, "b", scatter_dimension=1, tiled=True)
            exchanged = lax.all_to_all(x, "b", 1, 0, tiled=True)
            sent = lax.ppermute(x + place, "a", [(0, 1)])
            return lax.psum(x * place, "b"), lax.pmax(x * place, "a"), scattered, exchanged, sent

        own, mesh = spec(("a", "b")), adze.make_mesh((2, 2), ("a", "b"))
        specs = (spec("a"), spec("b"), own, own, own)

        def loss(x: Any) -> Any:
            results = adze.shard_map(on_rank, mesh=mesh, in_specs=own, out_specs=specs)(x)
            return sum(xp.sum(xp.sin(v)) for v in results)

        f = adze.value_and_grad(loss)
        return adze.to_stablehlo(f)(x), [np.asarray(v) for v in f(x)]

    x = RNG.normal(size=(4, 8)).astype(np.float32)
    text, expected = adze.distributed.run(program, 4)[0]
    assert "attributes {mhlo.num_replicas = 4 : i32}" in text
    function = adze.from_stablehlo(text)
    for axis, size in (("b", 2), ("a", 2)):
        function = adze.vmap(function, axis_name=axis, in_axes=None, axis_size=size)
    for result, value in zip(function(x), expected, strict=True):
        for i in np.ndindex(2, 2):
            np.testing.assert_allclose(np.asarray(result)[i], value, rtol=1e-4, atol=1e-5)


def test_a_platform_is_a_cpu_and_prefixes_are_a_tree() -> None:
    def f(x: Any) -> Any:
        sums = adze.lax.associative_scan(np.add, x)
        return adze.lax.platform_dependent(sums, cuda=np.sin, cpu=np.cos)

    text = adze.to_stablehlo(f)(adze.ShapeDtype((9,)))
    assert "stablehlo.cosine" in text
    assert "stablehlo.sine" not in text
    assert "stablehlo.while" not in text
    assert "stablehlo.case" not in text
