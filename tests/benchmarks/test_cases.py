"""Each benchmark case still computes: at tiny sizes, without a compile, beside NumPy where NumPy has it."""

from typing import Any

import numpy as np
import pytest
from _agreement import disagreement
from _case import Agreement, Case
from _peers import adze_peer, leaves, numpy_peer
from families import FAMILIES

import adze.numpy


def distinct_cases() -> list[Any]:
    """One of the cases that run the same function on arrays of the same shapes when they are tiny."""
    seen: dict[Any, Any] = {}
    for family, cases in FAMILIES.items():
        for case in cases:
            arrays = case.arrays(tiny=True)
            kinds = tuple((np.shape(array), np.asarray(array).dtype.kind) for array in arrays)
            key = (case.function, kinds)
            seen.setdefault(key, pytest.param(case, id=f"{family}: {case.name}"))
    return list(seen.values())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", distinct_cases())
def test_a_case_computes(case: Case) -> None:
    pytest.importorskip("scipy", reason="NumPy's side of some cases is SciPy's")
    arrays = case.arrays(tiny=True)
    result = case.function(adze_peer(), *(adze.numpy.asarray(array) for array in arrays))
    for leaf in leaves(result):
        assert np.isfinite(np.asarray(leaf)).all()
    if case.numpy is not None:
        expected = case.call_on(numpy_peer(), arrays)()
        assert disagreement(result, expected, case.agreement, case.tolerance) <= 1.0


@pytest.mark.one_in(6)
@pytest.mark.parametrize("case", FAMILIES["named_sizes"], ids=lambda case: case.name)
def test_a_case_of_named_sizes_is_compiled_for_any(case: Case) -> None:
    arrays = case.arrays(tiny=True)
    assert any(isinstance(size, str) for shape in case.shapes(arrays) for size in shape)
    expected = case.function(adze_peer(), *(adze.numpy.asarray(array) for array in arrays))
    result = case.call_on(adze_peer(), arrays)()
    assert disagreement(result, expected, case.agreement, case.tolerance) <= 1.0


def test_names_are_unique() -> None:
    for family, cases in FAMILIES.items():
        names = [case.name for case in cases]
        assert len(set(names)) == len(names), family


def test_the_quick_selection_has_every_family_and_is_small() -> None:
    quick = {family: [case for case in cases if case.quick] for family, cases in FAMILIES.items()}
    assert all(quick.values())
    assert sum(map(len, quick.values())) <= 35


def test_measured_inputs_are_the_same_in_each_run() -> None:
    case = FAMILIES["loops"][0]
    for one, other in zip(case.arrays(), case.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


WRONG = np.array([1.0, 2.0, 3.1], np.float32)
RIGHT = np.array([1.0, 2.0, 3.0], np.float32)


@pytest.mark.parametrize(
    ("one", "other", "agreement", "agree"),
    [
        (RIGHT, RIGHT, Agreement.CLOSE, True),
        (WRONG, RIGHT, Agreement.CLOSE, False),
        (RIGHT[:2], RIGHT, Agreement.CLOSE, False),
        ((RIGHT,), (RIGHT, RIGHT), Agreement.CLOSE, False),
        (RIGHT * np.float32(np.nan), RIGHT, Agreement.CLOSE, False),
        (np.float32([np.inf, 1]), np.float32([np.inf, 1]), Agreement.CLOSE, True),
        (np.float32([np.inf, 1]), np.float32([-np.inf, 1]), Agreement.CLOSE, False),
        (np.arange(3), np.array([0, 1, 3]), Agreement.CLOSE, False),
        (np.arange(3) == 1, np.arange(3) == 2, Agreement.CLOSE, False),
        (RIGHT * 1j, RIGHT * 1j + 0.1, Agreement.CLOSE, False),
        (-RIGHT, RIGHT, Agreement.MAGNITUDES, True),
        (-WRONG, RIGHT, Agreement.MAGNITUDES, False),
        ((RIGHT, WRONG), (RIGHT, RIGHT), Agreement.FIRST, True),
        ((WRONG, RIGHT), (RIGHT, RIGHT), Agreement.FIRST, False),
        (RIGHT[::-1], RIGHT, Agreement.MOMENTS, True),
        (np.linspace(0, 1, 1000), np.linspace(0.5, 1.5, 1000), Agreement.MOMENTS, False),
    ],
)
def test_agreement(one: Any, other: Any, agreement: Agreement, agree: bool) -> None:
    assert (disagreement(one, other, agreement) <= 1.0) is agree
