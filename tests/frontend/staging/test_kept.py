"""Programs that keep their adze IR: differentiated, batched and compiled with the Python source gone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze import numpy as xp
from adze.frontend.staging.derived import Derivation, Specified
from adze.frontend.staging.kept import KeptFunction
from adze.runtime.artifact import artifact
from adze.runtime.errors import ArtifactError

W = {"a": np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)}
X = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
TWO = np.float32(2)


@adze.custom_jvp
def cube(x: Any) -> Any:
    return x**3


cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 5 * tangents[0]))  # wrong, so that it is seen


def loss(w: Any, x: Any, *, scale: Any) -> Any:
    """A tree, a product, a loop of dynamic length, and a user's own derivative."""
    total, ys = lax.scan(lambda c, row: (c + cube(row).sum(), c), np.float32(0), xp.tanh(x @ w["a"]))
    return total * scale, {"ys": ys}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = {"a": ShapeDtype((3, 2))}, ShapeDtype(("n", 3))
    compiled = adze.trace(loss, *specs, scale=ShapeDtype(())).lower().compile()
    return compiled.save(tmp_path_factory.mktemp("kept") / "loss.vmfb", keep_ir=True)


@pytest.fixture(scope="module")
def kept(path: Path) -> Callable[..., Any]:
    return adze.load(path).differentiable()


def same(actual: Any, expected: Any) -> None:
    for a, b in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_it_is_the_function(kept: Callable[..., Any], path: Path) -> None:
    same(kept(W, X, scale=2.0), loss(W, X, scale=TWO))
    same(kept(W, X[:1], scale=TWO), loss(W, X[:1], scale=TWO))
    same(adze.load(path)(W, X, scale=2.0), loss(W, X, scale=TWO))
    assert str(inspect.signature(kept)) == "(w, x, *, scale)" and kept.__name__ == "loss"
    assert repr(kept).startswith("<loss(w['a']: f32[3,2], x: f32[n,3], scale: f32[]) -> (")


def gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return adze.grad(lambda w, x: f(w, x, scale=TWO)[0], argnums=(0, 1))


def tangents(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: adze.jvp(lambda x: f(w, x, scale=TWO), (x,), (X * X,))


def rows(f: Callable[..., Any]) -> Callable[..., Any]:
    return adze.vmap(lambda w, x: f(w, x[:, None] * X, scale=TWO), in_axes=(None, 1))


def hessian(f: Callable[..., Any]) -> Callable[..., Any]:
    return adze.vmap(adze.hessian(lambda x: f(W, x, scale=TWO)[0]), in_axes=0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("transform", [gradient, tangents, rows])
def test_transforms_go_through_it(kept: Callable[..., Any], transform: Callable[..., Any]) -> None:
    expected = transform(loss)(W, X)
    same(transform(kept)(W, X), expected)
    same(adze.jit(transform(kept))(W, X), expected)


def test_second_derivatives_in_a_batch(kept: Callable[..., Any]) -> None:
    batch = np.stack([X[:2], -X[:2]])
    same(hessian(kept)(batch), hessian(loss)(batch))


@pytest.mark.thorough
def test_it_is_traced_with_named_sizes_and_kept_again(kept: Callable[..., Any], tmp_path: Path) -> None:
    spec = {"a": ShapeDtype((3, 2))}, ShapeDtype(("m", 3))
    traced = adze.trace(gradient(kept), *spec)
    again = adze.load(traced.lower().compile().save(tmp_path / "g.vmfb", keep_ir=True))
    assert [s.shape for s in again.manifest.signatures[0].outputs] == [(3, 2), ("m", 3)]
    for x in (X, X[:0], X[:3]):
        same(again(W, x), gradient(loss)(W, x))
    same(again.differentiable()(W, X), gradient(loss)(W, X))


def test_the_ir_is_the_same_wherever_it_was_traced(path: Path) -> None:
    def other_line(w: Any, x: Any, *, scale: Any) -> Any:
        return loss(w, x, scale=scale)

    other_line.__name__ = "loss"
    specs = {"a": ShapeDtype((3, 2))}, ShapeDtype(("n", 3))
    compiled = adze.trace(loss, *specs, scale=ShapeDtype(())).lower().compile()
    whole = path.read_bytes()
    assert compiled.save(path.parent / "again.vmfb", keep_ir=True).read_bytes() == whole
    assert str(Path(__file__).parent).encode() not in whole


def test_a_plain_program_keeps_none(path: Path, tmp_path: Path) -> None:
    contents = artifact.read(path)
    plain = artifact.save(tmp_path / "plain.vmfb", artifact.Contents(contents.module, contents.manifest))
    assert artifact.inspect(plain).ir_bytes == 0 < artifact.inspect(path).ir_bytes
    with pytest.raises(adze.AdzeError, match=r"the file keeps no adze IR of loss\(\)") as caught:
        adze.load(plain).differentiable()
    assert caught.value.hint == "build it with adze build --keep-ir, or save it with keep_ir=True"


@pytest.mark.parametrize(
    ("ir", "message"),
    [
        (b"nonsense", r"the kept IR of loss\(\), written by adze .*, cannot be read"),
        (b"module {}", r"the kept IR has no function 'loss'"),
        (b"func.func @loss(%x: i3) -> i3 { return %x : i3 }", "cannot be read"),
    ],
)
def test_other_ir_is_refused(path: Path, tmp_path: Path, ir: bytes, message: str) -> None:
    contents = artifact.read(path)
    changed = artifact.Contents(contents.module, contents.manifest, ir)
    with pytest.raises(adze.AdzeError, match=message):
        adze.load(artifact.save(tmp_path / "changed.vmfb", changed)).differentiable()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((W, X.astype(np.float64)), "loss() takes x: f32[n,3], got f64[4,3]"),
        ((W, X[0]), "loss() takes x: f32[n,3], got f32[3]"),
        ((W, X[:, :2]), "loss() takes x: f32[n,3], got f32[4,2]"),
        ((X, X), "loss() takes arguments ({'a': *}, *, scale=*), got (*, *, scale=*)"),
    ],
)
def test_wrong_arguments_are_refused(
    kept: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(adze.AdzeError) as caught:
        kept(*arguments, scale=TWO)
    assert caught.value.message == message
    assert caught.value.where is not None and caught.value.where.startswith(__file__)


def test_one_name_is_one_size(tmp_path: Path) -> None:
    spec = ShapeDtype(("n",))
    compiled = adze.trace(lambda x, y: x + y, spec, spec).lower().compile()
    added = adze.load(compiled.save(tmp_path / "add.vmfb", keep_ir=True)).differentiable()
    assert np.array_equal(added(X[0], X[1]), X[0] + X[1])
    message = "one size for dimension 'n': axis 0 of 'x' is 3, axis 0 of 'y' is 2"
    with pytest.raises(adze.AdzeError, match=message):
        added(X[0], X[1, :2])


def test_the_ir_of_the_first_version_can_be_read() -> None:
    """What `docs/command_line.md` promises. The file is never written again: add one a version instead."""
    kept = KeptFunction(artifact.read(Path(__file__).with_name("kept_by_0_1_0.bin")))
    assert kept.specs == (({"a": ShapeDtype((3, 2))}, ShapeDtype(("n", 3))), {"scale": ShapeDtype(())})
    same(kept(W, X, scale=TWO), loss(W, X, scale=TWO))
    same(gradient(kept)(W, X), gradient(loss)(W, X))


def test_a_program_of_another_version_is_compiled_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "runtime_version", lambda: "3.99.0")
    monkeypatch.setattr("adze.runtime.artifact.manifest._installed_versions", lambda: NEWER)
    with pytest.warns(RuntimeWarning, match=r"runtime here is 3\.99\.0.*compiled again from its adze IR"):
        program = adze.load(path)
    assert program.manifest.versions["iree_compiler"] == "3.99.0"
    same(program(W, X, scale=2.0), loss(W, X, scale=TWO))
    with pytest.raises(ArtifactError, match="runs only programs of its own minor version") as caught:
        adze.load(path, recompile=False)
    assert "adze transform FILE -o NEW compiles it again" in str(caught.value.hint)
    with pytest.raises(ArtifactError, match="has no variant for cuda"):
        adze.load(path, "cuda")


NEWER = (("adze", "0.1.0"), ("iree_compiler", "3.99.0"), ("iree_runtime", "3.99.0"))


def test_derivatives_by_a_state_with_integers_are_by_its_floats() -> None:
    def loss(state: Any, x: Any) -> Any:
        return (state["w"] * x).sum()

    state, x = {"n": np.int32(1), "w": np.ones(3, np.float32)}, np.arange(3, dtype=np.float32)
    specs = {"n": ShapeDtype((), np.int32), "w": ShapeDtype((3,))}, ShapeDtype((3,))
    function = Specified(loss, specs, {})
    slope = function.derived(Derivation("grad")).function(state, x)
    assert slope.keys() == {"w"}
    assert slope["w"].tolist() == [0, 1, 2]
    by_both = function.derived(Derivation("value_and_grad", (0, 1))).function(state, x)
    assert float(by_both[0]) == 3
    assert by_both[1][0].keys() == {"w"}
    assert by_both[1][1].tolist() == [1, 1, 1]
    value, (back,) = function.derived(Derivation("vjp")).function(state, x, cotangents=np.float32(2))
    assert (float(value), back["w"].tolist()) == (3, [0, 2, 4])
    tangents = ({"w": np.float32([0, 0, 1])},)
    moved = function.derived(Derivation("jvp")).function(state, x, tangents=tangents)
    assert [float(v) for v in moved] == [3, 2]
