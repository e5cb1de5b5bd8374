"""Kernels through SPIR-V whose lanes would share a reduction wrongly: each row has a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.dialects.mlir import ir, new_context
from adze.runtime.compile import compiler, strategy
from adze.runtime.compile.faults.repeated_rows import kernels_of
from adze.runtime.compile.unshared_rows import with_unshared_rows

from .drivers import needs_vulkan

pytestmark = pytest.mark.gpu

PIPELINE: Final = "translation_info"
WAYS: Final = ["vulkan:lavapipe", "vulkan:ampere", "metal"]


def gradient_of_kron(x: Any) -> Any:
    """Of its columns, squared: two reductions along two axes at once, each of 64 terms."""
    return adze.grad(lambda x: (xp.kron(x, x).sum(0) ** 2).sum())(x)


def doubled_and_summed(x: Any) -> Any:
    """Stored and reduced by one kernel."""
    return x * 2, xp.sum(x * 2, axis=0)


def with_norms_of_rows(x: Any) -> Any:
    """Rows of a transposed array that is stored, and of their squares."""
    y = xp.tanh(x)
    return y, xp.sqrt((y * y).sum(0))


def transposed_triangle(x: Any) -> Any:
    """And its greatest element: a reduction along both axes."""
    kept = xp.where(x >= 0, x, 0).T
    return kept, xp.max(abs(kept))


PROGRAMS: Final[dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]]] = {
    "columns": (doubled_and_summed, (64, 3)),
    "more columns": (doubled_and_summed, (128, 10)),
    "columns of matrices": (doubled_and_summed, (16, 8, 5)),
    "norms": (with_norms_of_rows, (64, 6)),
    "all elements": (transposed_triangle, (8, 8)),
    "kron": (gradient_of_kron, (8, 8)),
}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The pipelines of the kernels that were changed, for each form of the program compiled."""
    forms: list[list[str]] = []

    def noted(chosen: bytes, *, only_cheap: bool) -> bytes:
        unshared = with_unshared_rows(chosen, only_cheap=only_cheap)
        before, after = pipelines(chosen), pipelines(unshared)
        forms.append([after[name] for name in after if after[name] != before[name]])
        return unshared

    monkeypatch.setattr(compiler, "with_unshared_rows", noted)
    monkeypatch.setenv("ADZE_CACHE", "0")
    return forms


def pipelines(program: bytes) -> dict[str, str]:
    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        kernels = list(kernels_of(ir.Module.parse(program, context).operation))
        return {
            str(each.attributes["sym_name"]): str(each.attributes["translation_info"]) for each in kernels
        }


@pytest.mark.parametrize("target", WAYS)
def test_short_rows_get_a_thread_each_in_the_first_form(target: str, seen: list[list[str]]) -> None:
    adze.trace(gradient_of_kron, np.ones((8, 8), np.float32)).lower(target).compile(cache=False)
    (kernels,) = seen
    assert len(kernels) == 2
    assert all("BaseDistribute> workgroup_size = [8, 1, 1]" in each for each in kernels)


@pytest.mark.parametrize("target", WAYS)
def test_what_is_stored_too_is_left_to_another_form(target: str, seen: list[list[str]]) -> None:
    adze.trace(doubled_and_summed, np.ones((64, 3), np.float32)).lower(target).compile(cache=False)
    assert len(seen) > 1
    assert not any(seen)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_form_computes_what_others_refuse(
    name: str, seen: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategy, "FORMS", tuple(form for form in strategy.FORMS if form.name == "tuned"))
    function, shape = PROGRAMS[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    got = adze.tree.leaves(adze.jit(function, device="vulkan")(x))
    assert any(seen), "its lanes share rightly: it tests nothing"
    for one, other in zip(got, adze.tree.leaves(adze.jit(function, device="cpu")(x)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
