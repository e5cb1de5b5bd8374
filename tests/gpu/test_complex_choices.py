"""Choices between complex numbers for Metal, which compile part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.iree.complex_choices import ComplexChoices
from adze.runtime.errors import CompileError

pytestmark = pytest.mark.gpu


def chosen(mask: Any, x: Any, y: Any) -> Any:
    return xp.where(mask, x, y)


COMPLEX_CHOICE = (ShapeDtype((8,), np.dtype(np.bool_)), *[ShapeDtype((8,), np.dtype(np.complex64))] * 2)


def test_choices_of_complex_numbers_compile_for_metal() -> None:
    """Also of an update, whose rows are chosen by their places, and in a kernel of a loop."""

    def updated(mask: Any, x: Any, y: Any) -> Any:
        steps = lax.fori_loop(0, 4, lambda _, v: xp.where(abs(v) < 2, v * v + x, v), y)
        return chosen(mask, x, y), lax.dynamic_update_slice(x, y[:2], (mask.sum(),)), steps

    assert adze.trace(updated, *COMPLEX_CHOICE).lower("metal").compile(cache=False).vmfb


def test_iree_still_refuses_choices_of_complex_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ComplexChoices, "run", lambda self, module: False)
    with pytest.raises(CompileError, match=r"failed to legalize operation 'arith\.select'"):
        adze.trace(chosen, *COMPLEX_CHOICE).lower("metal").compile(cache=False)
