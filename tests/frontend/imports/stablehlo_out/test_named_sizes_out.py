"""Programs of named sizes as StableHLO: what JAX and IREE compute from the text, and what comes back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp

from .jax_runs import run_export_with_jax

ROWS = adze.ShapeDtype(("n", 3), np.float32)
W = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)


def rows(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)


def loss(w: Any, x: Any) -> Any:
    """A scan over the rows, each of whose results has as many columns as there are rows."""
    h = xp.tanh(x @ w)
    _, steps = adze.lax.scan(lambda c, row: (xp.tanh(c @ w + row), xp.outer(c, h[:, 0])), x[0], h)
    return xp.sum(steps**2) + xp.mean(xp.sort(h, axis=0)[1:])


def everything(w: Any, x: Any, index: Any) -> Any:
    """A gradient, a batch, control flow, linear algebra, random numbers, indexing."""
    value, gradient = adze.value_and_grad(loss)(w, x)
    batched = adze.vmap(lambda row: adze.cond(row[0] > 0, xp.sin, xp.cos, row))(x)
    root = adze.while_loop(
        lambda s: xp.max(xp.abs(s * s - 7)) > 1e-4, lambda s: (s + 7 / s) / 2, xp.abs(x) + 1
    )
    chosen = adze.lax.switch(index, [lambda v: v, lambda v: v * 2, lambda v: -v], x)
    spd = w @ w.T + 3 * xp.eye(3, dtype="float32")
    drawn = adze.random.normal(adze.random.key(3), x.shape)
    window = adze.lax.dynamic_slice(x, (index, 0), (x.shape[0] - 1, 2))
    order = xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0)
    moved = (
        xp.reshape(x, -1),
        x[::2],
        xp.roll(x, 1, 0),
        adze.lax.pad(x, xp.float32(0), ((1, x.shape[0], 0), (0, 0, 0))),
    )
    counted = (xp.cumsum(x, axis=0), xp.argmax(x, axis=1), x.shape[0] // 2 + xp.arange(x.shape[0]))
    return (
        value,
        gradient,
        batched,
        root,
        chosen,
        xp.linalg.solve(spd, x.T),
        drawn,
        window,
        order,
        moved,
        counted,
    )


def check(results: Any, expected: list[np.ndarray]) -> None:
    arrays = [np.asarray(v) for v in results]
    assert [(a.shape, a.dtype) for a in arrays] == [(e.shape, e.dtype) for e in expected]
    for array, value in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(array, value, rtol=1e-3, atol=1e-4)


@pytest.fixture(scope="module")
def text() -> str:
    spec = adze.ShapeDtype((3, 3), np.float32)
    return adze.to_stablehlo(everything)(spec, ROWS, adze.ShapeDtype((), np.int32))


@pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.thorough)])
def test_jax_computes_the_same_and_it_comes_back(text: str, n: int) -> None:
    arguments = (W, rows(n), np.int32(2))
    expected = [np.asarray(v) for v in adze.tree.leaves(everything(*arguments))]
    check(run_export_with_jax(text, arguments, expected), expected)
    check(adze.from_stablehlo(text)(*arguments), expected)


@pytest.mark.thorough  # compiling takes ten seconds
def test_what_comes_back_is_compiled_for_all_sizes(text: str) -> None:
    function = adze.from_stablehlo(text)
    compiled = adze.trace(function, *function.specs).lower("cpu").compile()
    for n in (4, 5, 9):
        arguments = (W, rows(n), np.int32(2))
        expected = [np.asarray(v) for v in adze.tree.leaves(everything(*arguments))]
        check(compiled(*arguments), expected)


def test_what_comes_back_is_differentiated() -> None:
    """Loops that count to a size are scans again."""
    again = adze.from_stablehlo(adze.to_stablehlo(loss)(W, ROWS))
    for n in (2, 5):
        expected = [np.asarray(g) for g in adze.grad(loss, argnums=(0, 1))(W, rows(n))]
        check(adze.grad(again, argnums=(0, 1))(W, rows(n)), expected)
    gradient = adze.trace(adze.grad(again), W, ROWS)
    assert '"adze.scan"' in gradient.mlir("simplified")
    assert '"adze.while"' not in gradient.mlir("simplified")


def test_the_text() -> None:
    """As exports of JAX: shapes are arrays that follow from sizes of arguments."""
    text = adze.to_stablehlo(lambda x: xp.reshape(x, (-1,)))(ROWS)
    assert (
        re.sub(r"module @\w+", "module @f", text).strip()
        == """\
module @f {
  func.func public @main(%arg0: tensor<?x3xf32>) -> tensor<?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %c = stablehlo.constant dense<3> : tensor<i64>
    %2 = stablehlo.multiply %1, %c : tensor<i64>
    %3 = stablehlo.reshape %2 : (tensor<i64>) -> tensor<1xi64>
    %4 = stablehlo.dynamic_reshape %arg0, %3 : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<?xf32>
    return %4 : tensor<?xf32>
  }
}"""
    )


def test_sizes_of_one_name_are_checked() -> None:
    """JAX resolves the check where it knows the sizes; without effects there is none."""
    add = adze.to_stablehlo(lambda x, y: xp.sum(x) + xp.sum(y))(ROWS, ROWS)
    assert "shape_assertion" in add
    x, y = rows(2), rows(3)
    with pytest.raises(ValueError, match="Error refining shapes") as refused:
        run_export_with_jax(add, (x, y), [np.float32(0)])
    cause = str(refused.value.__cause__)
    assert "dimension 'n' must have one size" in cause and "sizes 2 and 3" in cause
    with pytest.raises(adze.AdzeError, match="dimension 'n' must have one size"):
        adze.from_stablehlo(add)(x, y)
    free = adze.to_stablehlo(lambda x, y: xp.sum(x) + xp.sum(y), drop_effects=True)(ROWS, ROWS)
    assert "shape_assertion" not in free
    np.testing.assert_allclose(
        run_export_with_jax(free, (x, y), [np.float32(0)])[0], x.sum() + y.sum(), rtol=1e-5
    )


def compile_with_iree(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "program.mlir"
    source.write_text(text)
    flags = ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
    flags += [
        "--iree-input-type=stablehlo",
        "--iree-input-demote-i64-to-i32=false",
        "-o",
        str(tmp_path / "f.vmfb"),
    ]
    command = [str(Path(sys.executable).parent / "iree-compile"), str(source), *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_iree_computes_the_same(tmp_path: Path) -> None:
    """What IREE's own conversion takes: broadcasts, products, reductions, sorts, slices, loops."""

    def program(w: Any, x: Any) -> Any:
        h = adze.nn.softmax(x @ w, axis=0)
        last, _ = adze.lax.scan(lambda c, row: (xp.tanh(c @ w + row), None), x[0], h)
        far = xp.sum(xp.abs(x[:, None, :] - x[None]), axis=(1, 2))
        ordered = xp.sort(x, axis=0)[1:]
        return last, far, xp.mean(h, axis=0), ordered, xp.concatenate([x, h]), xp.argmax(x, axis=0)

    text = adze.to_stablehlo(program)(W, ROWS)
    built = compile_with_iree(text, tmp_path)
    assert not built.returncode, built.stderr
    x = rows(5)
    expected = [np.asarray(v) for v in program(W, x)]
    command = [str(Path(sys.executable).parent / "iree-run-module"), f"--module={tmp_path / 'f.vmfb'}"]
    command += ["--device=local-sync", "--function=main"]
    for i, array in enumerate((W, x)):
        np.save(tmp_path / f"in{i}.npy", array)
        command.append(f"--input=@{tmp_path / f'in{i}.npy'}")
    outputs = [tmp_path / f"out{i}.npy" for i in range(len(expected))]
    subprocess.run([*command, *(f"--output=@{path}" for path in outputs)], check=True, capture_output=True)
    check([np.load(path) for path in outputs], expected)


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: xp.reshape(x, -1), "dynamic_reshape"),
        (lambda x: adze.lax.pad(x, xp.float32(0), ((0, x.shape[0], 0), (0, 0, 0))), "dynamic_pad"),
        (lambda x: x.at[1].set(0), "scatter|dynamic_update_slice"),
        (lambda x: xp.cumsum(x, axis=0), "dynamic_reduce_window"),
        (lambda x: xp.cumsum(x, axis=1), "reduce_window"),
    ],
)
def test_what_iree_does_not_compile(function: Any, op: str, tmp_path: Path) -> None:
    """docs/imports.md says so; when IREE compiles one of these, that page has a line less."""
    built = compile_with_iree(adze.to_stablehlo(function)(ROWS), tmp_path)
    assert built.returncode
    assert re.search(op, built.stderr)
