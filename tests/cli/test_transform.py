"""`adze build --grad` and its like, and `adze transform`: derivatives and batches as programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import adze as api

from .conftest import Adze

MODEL = """\
from adze import numpy as np

def loss(w, x):
    return (np.tanh(x @ w["a"]) ** 2).sum() + w["b"]

def rows(x, y):
    return {"sum": x + y, "count": 3 * y}

def counts(x):
    return x.astype("int32")
"""
LOSS = ("--in", "{a: f32[3], b: f32[]}", "--in", "f32[n,3]")
W = {"a": np.array([1, -2, 0.5], np.float32), "b": np.float32(0.25)}
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    path = Path("model_of_the_transform_tests.py")
    path.write_text(MODEL)
    yield path
    for name in [name for name in sys.modules if name.startswith(path.stem)]:
        del sys.modules[name]


def gradient(w: dict[str, np.ndarray], x: np.ndarray) -> dict[str, np.ndarray]:
    """The gradient by `w`, by hand."""
    t = np.tanh(x @ w["a"])
    return {"a": (2 * t * (1 - t * t)) @ x, "b": np.ones((), np.float32)}


def same(actual: object, expected: object) -> None:
    for a, b in zip(api.tree.leaves(actual), api.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_program_is_transformed_without_its_source(adze: Adze, model: Path) -> None:
    built = adze("build", f"{model}:loss", *LOSS, "--keep-ir", "-o", "loss.vmfb")
    assert built.exit_code == 0, built.stderr
    model.unlink()
    assert "kept" in adze("inspect", "loss.vmfb").stdout
    done = adze("transform", "loss.vmfb", "--grad", "--keep-ir", "-o", "grad.vmfb")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0] == (
        "loss_grad(w['a']: f32[3], w['b']: f32[], x: f32[n,3]) -> (result['a']: f32[3], result['b']: f32[])"
    )
    same(api.load("grad.vmfb")(W, X), gradient(W, X))
    done = adze("transform", "grad.vmfb", "--vmap", "b", "--in-axes", "None,0", "-o", "batch.vmfb", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["function"].startswith("loss_grad_batch(w['a']: f32[3], ")
    xs = np.stack([X, 2 * X, -X])
    each = [gradient(W, x) for x in xs]
    same(api.load("batch.vmfb")(W, xs), {k: np.stack([g[k] for g in each]) for k in W})


@pytest.mark.thorough
def test_derivatives_are_built_from_source(adze: Adze, model: Path) -> None:
    for option, output in (("--value-and-grad", "v.vmfb"), ("--vjp", "p.vmfb"), ("--jvp", "t.vmfb")):
        built = adze("build", f"{model}:loss", *LOSS, option, "--argnums", "0,1", "-o", output)
        assert built.exit_code == 0, built.stderr
    value, (dw, dx) = api.load("v.vmfb")(W, X)
    same(dw, gradient(W, X))
    same(api.load("p.vmfb")(w=W, x=X, cotangents=2.0), (value, (api.tree.map(lambda g: 2 * g, (dw, dx)))))
    primal, tangent = api.load("t.vmfb")(W, X, tangents=(W, X))
    same(primal, value)
    same(
        tangent,
        sum((g * d).sum() for g, d in zip(api.tree.leaves((dw, dx)), [W["a"], W["b"], X], strict=True)),
    )


def test_a_program_is_compiled_again_for_another_target(adze: Adze, model: Path) -> None:
    adze("build", f"{model}:rows", "--in", "f32[2]", "--in", "f32[2]", "--keep-ir", "-o", "rows.vmfb")
    done = adze("transform", "rows.vmfb", "-t", "cpu:aarch64", "-o", "arm.vmfb")
    assert done.exit_code == 0, done.stderr
    told = json.loads(adze("inspect", "arm.vmfb", "--json").stdout)
    assert (told["manifest"]["target"], told["ir_bytes"]) == ("cpu:aarch64", 0)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--grad", "--vjp"), 2, "error: --grad, --vjp: one derivative at a time"),
        (("--in-axes", "0"), 2, "error: --in-axes: there is no batch"),
        (("--vmap", "8", "--in-axes", "x"), 2, "error: --in-axes: 'x' is no axis"),
        (("--vmap", "-3"), 2, "error: --vmap: '-3' is no size"),
        (("--grad", "--argnums", "one"), 2, "error: --argnums: 'one' is no list of argument numbers"),
        (("--vjp", "--argnums", "7"), 1, "error: vjp of rows by arguments 7: it has 2 positional arguments"),
        (("--vmap", "8", "--in-axes", "0"), 1, "error: 1 axes for a batch of rows, which has 2 positional"),
        (
            ("--vmap", "8", "--in-axes", "2,0"),
            1,
            "error: f32[2] has no place 2 for the axis of a batch: 0 to 1",
        ),
        (("--grad",), 1, "error: grad"),
    ],
)
def test_what_cannot_be_derived(
    adze: Adze, model: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = adze("build", f"{model}:rows", "--in", "f32[2]", "--in", "f32[2]", *options, "-o", "x.vmfb")
    assert done.exit_code == code and done.stderr.startswith(message), done.stderr
    assert not Path("x.vmfb").exists()


def test_integers_have_no_cotangents(adze: Adze, model: Path) -> None:
    done = adze("build", f"{model}:rows", "--in", "i32[2]", "--in", "i32[2]", "--vjp", "-o", "x.vmfb")
    assert done.exit_code == 1 and done.stderr.startswith("error: i32[2] has no derivative"), done.stderr
    done = adze("build", f"{model}:counts", "--in", "f32[2]", "--vjp", "-o", "x.vmfb")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: i32[2] has no derivative: an argument or result of integers")


def test_a_program_without_ir_is_refused(adze: Adze, program: Path, tmp_path: Path) -> None:
    done = adze("transform", program, "--grad", "-o", tmp_path / "x.vmfb")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == "error: the file keeps no adze IR of add_row()"
    assert "unknown" not in done.stderr  # no line of the user's runs here
    assert adze("transform", "none.vmfb", "-o", tmp_path / "x.vmfb").exit_code == 2
    assert adze("transform", program, "-o", program).exit_code == 2


EXPRESSIONS = """\
from adze import numpy as np

def halves(x):
    return np.concatenate([x[::2], x, x])
"""


def test_results_keep_the_expressions_of_named_sizes(adze: Adze, model: Path) -> None:
    model.write_text(EXPRESSIONS)
    options = ("--in", "f32[n]", "--keep-ir", "-o")
    built = adze("build", f"{model}:halves", *options, "halves.vmfb")
    assert "-> (result: f32[2*n + (n + 1)//2])" in built.stdout, built.stderr
    size = "f32[{}2*n + (n + 1)//2]"
    for derivative, shown in [
        (("--vmap", "b"), f"-> (result: {size.format('b,')})"),
        (("--vmap",), f"(x: f32[batch,n]) -> (result: {size.format('batch,')})"),
        (("--vmap", "3"), f"-> (result: {size.format('3,')})"),
        (("--jvp",), f"-> (result[0]: {size.format('')}, result[1]: {size.format('')})"),
        (("--vjp",), f"cotangents: f32[?]) -> (result[0]: {size.format('')}, result[1][0]: f32[n])"),
    ]:
        transformed = adze("transform", "halves.vmfb", *derivative, "-o", "other.vmfb")
        assert shown in transformed.stdout, transformed.stderr
    rebuilt = adze("build", f"{model}:halves", *options, "again.vmfb", "--vjp")
    assert shown in rebuilt.stdout, rebuilt.stderr
    ran = adze("run", "other.vmfb", "--in", "x=[1, 2, 3]", "--in", "cotangents=[1, 2, 3, 4, 5, 6, 7, 8, 9]")
    assert ran.exit_code == 1
    assert "the cotangent of 'result 0' must have the shape of its primal: axis 0 differs" in ran.stderr
