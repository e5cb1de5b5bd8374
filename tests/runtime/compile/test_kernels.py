"""Kernels that IREE would compute wrongly are found and then compiled right; others are let be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import nn
from adze import numpy as xp
from adze.frontend.staging.lowered import Lowered
from adze.passes.lower.tuning import configuration
from adze.runtime.compile import compiler
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.compile.strategy import SEPARATED
from adze.runtime.errors import ArtifactError, CompileError, FailedCallError
from adze.runtime.execute.program import Executable

from ...selection import part


@pytest.fixture(autouse=True)
def of_iree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the small programs here to IREE: they would be kernels of ours."""
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "off")


def rows(y: Any) -> Any:
    """Sums of squares, which a second sum depends on and another result reads too."""
    t = xp.sum(y * y, axis=-1)
    w = y * t[:, None]
    return w * t[:, None] + y * xp.sum(w * y, axis=-1)[:, None], xp.sum(w)


def columns(y: Any) -> Any:
    t = xp.sum(y, axis=0)
    w = y * t
    u = xp.sum(w * y, axis=0)
    return w * u, w, t, u


def planes(x: Any) -> Any:
    """The same over two axes at once."""
    s = xp.sum(x, axis=1)
    y = s[None, :, None] * x[:, None, :]
    t = xp.sum(y * y, axis=(1, 2))
    w = y * t[:, None, None]
    g = w * t[:, None, None] + y * xp.sum(w * y, axis=(1, 2))[:, None, None]
    return xp.sum(g * s[None, :, None], axis=1)


def variant(lowered: Lowered) -> tuple[str, list[str]]:
    """The form of the module that was compiled in the end, and why others were not."""
    options = lowered.options()
    _, record = lowered._build(lowered.canonical(), options, None)
    return record["variant"], record["rejected"]


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]], ...] = (
    (rows, (65, 129), (65, 129)),
    (planes, ("n", "m"), (7, 3)),
    *part(
        [
            (columns, (65, 129), (65, 129)),
            (columns, ("n", "m"), (70, 3)),
            (planes, ("n", 3), (7, 3)),
        ],
        [],
    ),
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("function", "spec", "shape"), CASES)
def test_folds_that_depend_on_folds(
    function: Callable[..., Any], spec: tuple[Any, ...], shape: tuple[int, ...]
) -> None:
    lowered = adze.trace(function, adze.ShapeDtype(spec, np.float64)).lower()
    x = np.random.default_rng(0).standard_normal(shape)
    results, expected = lowered.compile(cache=False)(x), function(x)
    pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
    for have, want in pairs:
        np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=1e-11, atol=1e-10)


def test_a_fold_that_would_be_computed_again_is_named() -> None:
    lowered = adze.trace(rows, adze.ShapeDtype((65, 129), np.float64)).lower()
    with pytest.raises(CompileError, match="would compute one reduction again in each step of another"):
        compile_bytecode(lowered.bytecode(), lowered.target, lowered.options(), is_checked=True)
    assert variant(lowered)[0] == "separate reductions"


def test_wrong_sizes_of_joined_axes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # Reductions that compute their operands themselves are other kernels.
    monkeypatch.setattr(configuration, "recomputes_operands", lambda target: False)
    lowered = adze.trace(planes, adze.ShapeDtype(("n", "m"), np.float64)).lower()
    with pytest.raises(CompileError, match="would store a result with other sizes than it has"):
        compile_bytecode(
            lowered.form(SEPARATED, lowered.options()),
            lowered.target,
            lowered.options(),
            is_checked=True,
        )
    assert variant(lowered)[0] == "fewer operands"


@pytest.mark.parametrize(
    ("function", "shape", "size"),
    [
        (lambda x: xp.var(x, axis=0), ("n", "m"), (70, 3)),
        (lambda x: xp.var(x, axis=0), ("n", 30), (70, 30)),
        (nn.layer_norm, ("n", "m"), (3, 70)),
    ],
)
def test_reductions_that_would_be_repeated_are_named(
    function: Callable[..., Any], shape: tuple[int | str, ...], size: tuple[int, ...]
) -> None:
    """When this fails, IREE has them in kernels of their own, and needs no watching."""
    lowered = adze.trace(function, adze.ShapeDtype(shape, np.float64)).lower()
    with pytest.raises(CompileError, match="would compute one reduction anew in each step of another"):
        compile_bytecode(lowered.bytecode(), lowered.target, lowered.options(), is_checked=True)
    assert variant(lowered) == ("tuned", [])  # for kernels of ours stand in their place
    x = np.random.default_rng(0).standard_normal(size)
    np.testing.assert_allclose(lowered.compile()(x), adze.jit(function)(x), rtol=1e-12)


def test_repeated_reductions_that_are_no_kernels_of_ours_are_taken_apart() -> None:
    def spread(z: Any) -> Any:
        return (abs(z - z.mean(-1, keepdims=True)) ** 2).mean(-1)

    lowered = adze.trace(spread, adze.ShapeDtype(("n", "m"), np.complex128)).lower()
    assert variant(lowered)[1][0] == "tuned"
    z = np.random.default_rng(0).standard_normal((3, 140)).view(np.complex128)
    np.testing.assert_allclose(lowered.compile()(z), spread(z), rtol=1e-12)


def test_rows_of_known_sizes_are_in_one_kernel() -> None:
    lowered = adze.trace(nn.layer_norm, adze.ShapeDtype(("n", 512), np.float32)).lower()
    assert variant(lowered) == ("tuned", [])


def test_unchecked_they_are_wrong() -> None:
    """When this fails, IREE computes them right and needs no watching."""
    x = np.random.default_rng(0).standard_normal((65, 129))
    lowered = adze.trace(rows, x).lower()
    vmfb = compile_bytecode(lowered.bytecode(), lowered.target, lowered.options()).vmfb
    results = Executable(vmfb).call("rows", [x])
    assert not np.allclose(np.asarray(results[0]), np.asarray(rows(x)[0]))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: nn.softmax(x, axis=-1),
        nn.layer_norm,
        adze.grad(lambda x: xp.sum(nn.softmax(x, axis=-1) ** 2)),
    ],
)
def test_what_is_done_in_one_step_is_let_be(function: Callable[..., Any]) -> None:
    lowered = adze.trace(function, adze.ShapeDtype((64, 256), np.float32)).lower()
    assert variant(lowered) == ("tuned", [])


def total(*arrays: Any) -> Any:
    """A sum of as many arrays as are given."""
    sums = arrays[0]
    for x in arrays[1:]:
        sums = sums + x * 2
    return sums


def windows(x: Any, size: int) -> Any:
    """A weighted sum of all places of a window."""
    rows, columns = x.shape
    sums = None
    for i in range(size):
        for j in range(size):
            part = xp.exp(x[i : rows - size + 1 + i, j : columns - size + 1 + j]) * (i + 2.0 * j)
            sums = part if sums is None else sums + part
    return sums


def shifted(x: Any, count: int) -> Any:
    """A weighted sum of parts of a vector, each one element further on."""
    (size,) = x.shape
    parts = [x[k : size - count + k] * (k + 1.0) for k in range(count)]
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize(
    ("function", "count", "shape", "message"),
    [
        (total, 80, (30, 400), r"binding count \d+ > 32"),
        (total, 80, ("n", "m"), r"binding count \d+ > 32"),
        (lambda x: windows(x, 9), 1, ("n", "m"), r"requiring \d+ constants exceeds limit of 64"),
    ],
    ids=["arrays", "arrays of unknown sizes", "parts"],
)
def test_the_runtime_still_takes_few_operands(
    function: Callable[..., Any],
    count: int,
    shape: tuple[Any, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When this fails, kernels may be passed more arrays, or sizes, and the form of fewer can go."""
    monkeypatch.setattr(compiler, "passes_too_many", lambda program: None)
    lowered = adze.trace(function, *[adze.ShapeDtype(shape, np.float32)] * count).lower()
    compiled = lowered.compile(cache=False)
    with pytest.raises((ArtifactError, FailedCallError), match=message):
        compiled(*[np.ones((30, 400), np.float32)] * count)


@pytest.mark.parametrize(
    ("function", "specs", "shapes", "form"),
    [
        (total, [("n", "m")] * 80, [(3, 4)] * 80, "fewer operands"),
        (total, [(30, 400)] * 80, [(30, 400)] * 80, "fewer operands"),
        (lambda x: windows(x, 7), [("n", "m")], [(20, 31)], "fewer operands"),
        (lambda x: windows(x, 5), [("n", "m")], [(20, 31)], "tuned"),
        (lambda x: shifted(x, 70), [("n",)], [(200,)], "tuned"),
    ],
    ids=["arrays of unknown sizes", "arrays", "large windows", "windows", "shifted"],
)
def test_kernels_of_many_arrays_or_parts_of_them(
    function: Callable[..., Any],
    specs: list[tuple[str, ...]],
    shapes: list[tuple[int, ...]],
    form: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADZE_LOOP_KERNELS", "on")
    lowered = adze.trace(function, *(adze.ShapeDtype(spec, np.float64) for spec in specs)).lower(
        "cpu:x86-64-v3"
    )
    name, rejected = variant(lowered)
    assert name == form and rejected == ([] if form == "tuned" else ["tuned"])
    arrays = [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate(shapes)]
    compiled = (
        adze.trace(function, *(adze.ShapeDtype(s, np.float64) for s in specs)).lower().compile(cache=False)
    )
    np.testing.assert_allclose(compiled(*arrays), np.asarray(function(*map(xp.asarray, arrays))), rtol=1e-12)
