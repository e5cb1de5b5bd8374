"""Arrays whose class says more than their elements are refused wherever values enter, with the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.errors import MeaningLostError
from adze.runtime.execute.array import from_host

MASKED = np.ma.MaskedArray(np.float32([1, 2]), mask=[True, False])


class Metres(np.ndarray):
    """Numbers with a unit, whose arithmetic is its own."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented


ARRAYS = {
    "masked": (MASKED, "a masked array would lose its mask: adze has no masks", "fill it (x.filled(0))"),
    "unit": (
        np.float32([1, 2]).view(Metres),
        "an array of class Metres would lose what its class adds to its elements",
        "pass numpy.asarray(x), if the elements alone are meant",
    ),
}
PROGRAM = adze.trace(lambda x: x + 1, adze.ShapeDtype((2,))).lower().compile()


def loaded(x: Any) -> Any:
    return LOADED[0](x)


LOADED: list[Any] = []


@pytest.fixture(scope="module", autouse=True)
def saved(tmp_path_factory: pytest.TempPathFactory) -> None:
    path: Path = PROGRAM.save(tmp_path_factory.mktemp("classes") / "f.vmfb")
    LOADED.append(adze.load(path))


WAYS_IN: dict[str, Callable[[Any], Any]] = {
    "asarray": anp.asarray,
    "array": anp.array,
    "in a list": lambda x: anp.asarray([x, x]),
    "in lists of lists": lambda x: anp.stack([anp.sin(1.0), [x]]),
    "function": anp.sin,
    "operator": lambda x: anp.ones(2) + x,
    "operator while tracing": lambda x: adze.trace(lambda y: y + x, adze.ShapeDtype((2,))),
    "argument of jit": adze.jit(lambda x: x + 1),
    "argument of trace": lambda x: adze.trace(lambda y: y, x),
    "result of jit": lambda x: adze.jit(lambda y: (y, x))(1.0),
    "argument of grad": lambda x: adze.grad(lambda y: y.sum())(x),
    "argument of a compiled program": PROGRAM,
    "argument of a loaded program": loaded,
    "device_put": adze.device_put,
    "from_host": from_host,
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("way", WAYS_IN)
def test_class_of_an_array_is_not_lost(way: str, kind: str) -> None:
    x, message, hint = ARRAYS[kind]
    with pytest.raises(adze.AdzeError) as caught:
        WAYS_IN[way](x)
    assert message in str(caught.value)
    assert hint in str(caught.value)


def test_masked_array_that_computes_itself_keeps_its_mask() -> None:
    total = MASKED + anp.ones(2)
    assert isinstance(total, np.ma.MaskedArray)
    assert total.mask.tolist() == [True, False]


def test_matrices_are_refused() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0]])
    with pytest.raises(MeaningLostError, match=r"a numpy.matrix would lose its meaning of \*"):
        anp.asarray(matrix)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(2, [("a", "f4"), ("b", "i4")]),
        np.zeros(2, [("a", "f4")]).view(np.recarray),
        np.array([1, None]),
        np.array(["a", "b"]),
        np.array([b"a"]),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([3], "timedelta64[s]"),
        np.zeros(2, np.longdouble),
    ],
    ids=lambda x: str(x.dtype),
)
@pytest.mark.parametrize("way", ["asarray", "function", "argument of jit", "argument of a compiled program"])
def test_dtypes_that_are_no_numbers_of_adze_are_errors(way: str, x: np.ndarray) -> None:
    with pytest.raises(adze.AdzeError):
        WAYS_IN[way](x)


def test_arrays_in_files_are_plain(tmp_path: Path) -> None:
    x = np.memmap(tmp_path / "x", np.float32, "w+", shape=(2,))
    x[:] = 3
    np.testing.assert_array_equal(PROGRAM(x), [4, 4])
    np.testing.assert_array_equal(anp.asarray(x), [3, 3])
