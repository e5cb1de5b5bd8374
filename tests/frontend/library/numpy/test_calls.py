"""Functions of whole arrays return what NumPy returns, dtypes exact, outside a trace and traced."""

import warnings

import numpy as np
import pytest

import adze.numpy as anp

from .array_calls import ALL_CALLS
from .running import Call, assert_same, flat, numpy_result, run_traced

PARAMETERS = [pytest.param(call, id=str(call)) for call in ALL_CALLS]


def by_numpy(call: Call) -> list[np.ndarray]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing, all-NaN slices
        result = numpy_result(call)
    # Predicates of whole arrays are Python booleans in NumPy and 0-d arrays in adze.
    return [np.asarray(r) for r in flat(result)]


@pytest.mark.parametrize("call", PARAMETERS)
def test_eager_call_gives_what_numpy_gives(call: Call) -> None:
    assert_same(call.of(anp)(*call.args, **call.kwargs), by_numpy(call), call.tolerance)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("call", PARAMETERS)
def test_traced_call_gives_what_numpy_gives(call: Call) -> None:
    assert_same(run_traced(call), by_numpy(call), call.tolerance)
