"""Loops whose elements run by themselves compute what the evaluator and the loops of the host compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.passes.lower.kernels.loops.pointwise import single

from . import loops_of_rows
from .loops import GROUPS, floats
from .loops_of_elements import ELEMENTS, TOGETHER
from .loops_of_rows import ROWS
from .test_loops import arguments_of, decisions, program, remarks, same


def are_of_elements(traced: Any) -> list[bool]:
    return [form.startswith("kernel: each of its") for form in remarks(traced)]


@pytest.mark.parametrize("group", [*ELEMENTS, *ROWS])
def test_elements_compute_what_is_evaluated(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADZE_LOOP_KERNELS", raising=False)
    loops = (ELEMENTS | ROWS)[group]
    traced = adze.trace(program(loops), arguments_of(loops))
    assert all(are_of_elements(traced)), remarks(traced)
    given = arguments_of(loops)
    result = traced.lower().compile()(given)
    for (loop, arguments), got in zip(loops, result, strict=True):
        with np.errstate(all="ignore"):
            same(got, loop(*arguments), f"{loop.__name__}{[np.asarray(a).dtype for a in arguments]}")
    for before, after in zip(adze.tree.leaves(arguments_of(loops)), adze.tree.leaves(given), strict=True):
        assert np.asarray(before).tobytes() == np.asarray(after).tobytes(), "an argument has changed"


@pytest.mark.parametrize("together", [TOGETHER, loops_of_rows.TOGETHER], ids=["elements", "rows"])
def test_elements_that_depend_on_each_other_do_not_run_by_themselves(together: Any) -> None:
    traced = adze.trace(program(together), arguments_of(together))
    assert not any(are_of_elements(traced)), remarks(traced)
    result = traced.lower().compile()(arguments_of(together))
    for (loop, arguments), got in zip(together, result, strict=True):
        same(got, loop(*arguments), loop.__name__)


@pytest.mark.thorough
@pytest.mark.parametrize("group", GROUPS)
def test_small_loops_of_every_kind(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two elements as the least number, whatever can be of elements is."""
    monkeypatch.setattr(single, "FEWEST", 2)
    loops = [loop for loop in GROUPS[group] if loop[0].__name__ != "many_steps"]
    traced = adze.trace(program(loops), arguments_of(loops))
    assert set(decisions(traced)) == {"kernel"}
    result = traced.lower().compile()(arguments_of(loops))
    for (loop, arguments), got in zip(loops, result, strict=True):
        same(got, loop(*arguments), loop.__name__)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("count", [16, 17, 31, 33, 1000])
def test_the_last_vector_overlaps_the_one_before(count: int) -> None:
    x = floats(count)
    f = lambda x: lax.fori_loop(0, 3, lambda i, x: x * 0.5 + 1, x)  # noqa: E731
    traced = adze.trace(f, x)
    assert are_of_elements(traced) == [True]
    same(traced.lower().compile()(x), f(x), str(count))


def test_a_loop_of_more_arrays_than_a_dispatch_has_is_compiled() -> None:
    """IREE loads no program with a dispatch of more than 32."""

    def roots(xs: list[Any]) -> Any:
        step = lambda _, ys: [0.5 * (y + x / y) for x, y in zip(xs, ys, strict=True)]  # noqa: E731
        return adze.lax.fori_loop(0, 6, step, [x * 0 + 1 for x in xs])

    xs = [np.linspace(1, 4, 500, dtype=np.float32) + k for k in range(24)]
    for seen, x in zip(adze.jit(roots)(xs), xs, strict=True):
        np.testing.assert_allclose(seen, np.sqrt(x), rtol=1e-3)
