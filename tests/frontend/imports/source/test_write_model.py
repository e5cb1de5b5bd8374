"""`adze import`: the Python file computes what the model does, to the bit, eagerly."""

from __future__ import annotations

import importlib.util
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


def imported(function: Any, specs: dict[str, Any], folder: Path) -> Any:
    """The function of the file that is written of `function`."""
    written = write_model(function, specs, "model", "model.onnx", "model.npz")
    (folder / "model.py").write_text(written.source)
    (folder / "model.npz").write_bytes(written.weights)
    specification = importlib.util.spec_from_file_location("written_model", folder / "model.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.model


def same(got: Any, want: Any) -> None:
    got, want = (v if isinstance(v, tuple) else (v,) for v in (got, want))
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_models_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[4] / "examples" / "models"))
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


def test_ops_without_a_name_are_refused() -> None:
    def shown(x: Any) -> Any:
        adze.debug.print("x is {}", x)
        return x

    with pytest.raises(adze.imports.ModelUnsupportedError, match="cannot write the op 'host_effect'"):
        write_model(shown, {"x": ShapeDtype((2,))}, "model", "m.onnx", "m.npz")
