"""`adze import`: the Python file computes what the model does, to the bit, eagerly."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax

pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")

from adze.frontend.imports.source.files import write_model


def imported(
    function: Any, specs: dict[str, Any], folder: Path, name: str = "model", origin: str = "model.onnx"
) -> Any:
    """The function of the file that is written of `function`."""
    written = write_model(function, specs, name, origin, "model.npz")
    (folder / "model.py").write_text(written.source)
    (folder / "model.npz").write_bytes(written.weights)
    specification = importlib.util.spec_from_file_location("written_model", folder / "model.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, written.name)


def same(got: Any, want: Any) -> None:
    got, want = (v if isinstance(v, tuple) else (v,) for v in (got, want))
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_models_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[4] / "examples" / "models"))
    monkeypatch.delitem(sys.modules, "networks", raising=False)  # other examples have one too
    import networks  # type: ignore[import-not-found]

    for proto, shape in (
        (networks.resnet((4, 8), 8), (2, 3, 8, 8)),
        (networks.transformer(16, 2, 5, 32), (3, 5, 16)),
    ):
        f = adze.from_onnx(proto)
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        written = imported(f, f.specs, tmp_path)
        same(written(x), f(x))
        changed = {name: np.asarray(w) * np.float32(0.5) for name, w in f.parameters.items()}
        same(written(x, changed), f.apply(changed, x))


def everything(x: Any, n: Any, b: Any) -> Any:
    """Loops, branches, gathers, scatters, sorts, integers, booleans, halves, complex numbers."""
    looped = lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 0.5 + x), (0, x))[1]
    carry, rows = lax.scan(lambda c, row: (c + row, c * row), x[0] * 0, x)
    chosen = lax.cond(x[0, 0] > 0, lambda v: xp.sin(v), lambda v: xp.cos(v) + 2, x)
    table = xp.asarray(np.arange(12.0, dtype=np.float32).reshape(4, 3))
    taken = xp.take(table, n % 4, axis=0).at[0].add(1.0).at[n % 2].set(-1.0)
    ordered = xp.sort(x, axis=1), xp.argsort(x, axis=0), lax.top_k(x, 2)[0]
    whole = (n // 3, n % 3, n << 1, ~n, xp.maximum(n, 2), n.astype(xp.float64) / 7)
    odd = xp.where(x > 0, xp.inf, xp.nan), xp.isnan(x), x.astype(xp.bfloat16) * 3 - 1, b + xp.bfloat16(1)
    turned = xp.pad(xp.flip(x, 0), ((1, 0), (0, 2)))[::2], xp.concat([x, x[:1]]), xp.cumsum(x, axis=1)
    numbers = xp.fft.fft(x, axis=1), xp.prod(x, axis=1), xp.any(x > 1), xp.argmax(x, axis=1)
    return (looped, carry, rows, chosen, taken, *ordered, *whole, *odd, *turned, *numbers)


def test_any_function(tmp_path: Path) -> None:
    specs = {
        "x": ShapeDtype((4, 3)),
        "n": ShapeDtype((5,), np.int32),
        "b": ShapeDtype((2,), ml_dtypes.bfloat16),
    }
    draws = np.random.default_rng(2)
    x, n = draws.standard_normal((4, 3)).astype(np.float32), np.int32([3, 1, 4, 1, 5])
    b = np.array([1.5, -2], ml_dtypes.bfloat16)
    same(imported(everything, specs, tmp_path)(x, n, b), everything(*map(xp.asarray, (x, n, b))))


def test_the_source_is_short(tmp_path: Path) -> None:
    """Numbers are literals, and what broadcasts by itself is not written."""
    f = lambda x, w: xp.maximum(x @ w * 2 + xp.sum(w, axis=0), 0)  # noqa: E731
    specs = {"x": ShapeDtype(("n", 4)), "w": ShapeDtype((4, 3))}
    lines = (
        write_model(f, specs, "model", "m.onnx", "m.npz").source.partition("def model")[2].splitlines()[1:]
    )
    assert [line.strip() for line in lines] == [
        "x = xp.asarray(x)",
        "w = xp.asarray(w)",
        "t1 = x @ w",
        "t2 = t1 * 2.0",
        "t3 = lax.reduce_sum(w, (0,))",
        "t4 = t2 + t3",
        "t5 = xp.maximum(t4, 0.0)",
        "return t5",
    ]


def scanned(carry: Any, items: Any, s: Any, t1: Any, xp: Any, weights: Any, lax_: Any) -> Any:
    """Arguments are called as the written file calls something else."""
    final, rows = lax.scan(lambda c, row: (c + t1, c * row), carry, items)
    looped = lax.while_loop(lambda v: v[0] < s, lambda v: (v[0] + 1, v[1] * weights), (0, xp))[1]
    return final, rows, looped, lax_ - t1


def test_names_of_arguments_and_functions_mean_nothing_else(tmp_path: Path) -> None:
    sizes = {"carry": (), "items": (2,), "s": (), "t1": (), "xp": (2,), "weights": (), "lax_": ()}
    specs = {
        name.removesuffix("_"): ShapeDtype(n, np.int32 if name == "s" else np.float32)
        for name, n in sizes.items()
    }
    values = [xp.asarray(np.full(spec.shape, 3 + i, spec.dtype)) for i, spec in enumerate(specs.values())]
    for name in ("xp", "class", "3d"):
        same(imported(scanned, specs, tmp_path, name)(*values), scanned(*values))


def test_a_file_name_is_no_code(tmp_path: Path) -> None:
    for origin in ('x"""\nraise SystemExit\n"""', "\\N{x}.onnx", "\udc80.onnx", 'x"'):
        assert float(imported(lambda x: x + 1, {"x": ShapeDtype(())}, tmp_path, origin=origin)(1.0)) == 2


def test_weights_of_any_name(tmp_path: Path) -> None:
    from ..onnx.models import helper, info, model, weight

    names = ["file", "allow_pickle", "bfloat16", "a", "a.npy", "constant_9", "a\0b", "quote')", "array_0"]
    parts = [weight(n, np.full(12, i, np.float32)) for i, n in enumerate(names)]
    order = np.arange(0, 108, 9)[::-1].copy()
    nodes = [helper.make_node("Concat", ["x", *names], ["c"], axis=0)]
    nodes.append(helper.make_node("Gather", ["c", "order"], ["y"]))
    f = adze.from_onnx(model(nodes, [info("x", [1])], [info("y", [12])], [*parts, weight("order", order)]))
    x = np.float32([7])
    same(imported(f, f.specs, tmp_path)(x), f(x))


def test_bits_and_complex_numbers(tmp_path: Path) -> None:
    def f(n: Any, z: Any) -> Any:
        factor, term = np.complex64(complex(np.inf, np.nan)), np.complex64(complex(-0.0, -1))
        return lax.reduce_and(n, (0,)), lax.reduce_or(n, (0,)), z * factor, z * term

    n, z = xp.asarray(np.int32([6, 3])), xp.asarray(np.complex64([1 + 2j, -0.0]))
    specs = {"n": ShapeDtype((2,), np.int32), "z": ShapeDtype((2,), np.complex64)}
    same(imported(f, specs, tmp_path)(n, z), f(n, z))


def test_ops_without_a_name_are_refused() -> None:
    def shown(x: Any) -> Any:
        adze.debug.print("x is {}", x)
        return x

    with pytest.raises(adze.imports.ModelUnsupportedError, match="cannot write the op 'host_effect'"):
        write_model(shown, {"x": ShapeDtype((2,))}, "model", "m.onnx", "m.npz")
