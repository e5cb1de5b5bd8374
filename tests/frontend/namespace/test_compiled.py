"""Selected calls compiled give what NumPy gives: few modules of many calls, since each compile costs."""

import zlib
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

from .array_calls import ALL_CALLS
from .elementwise_calls import ELEMENTWISE
from .running import Call, assert_same, flat
from .test_calls import by_numpy

# Compiled sums run in another order, and transcendental functions round elsewhere.
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-11, "complex64": 2e-5, "complex128": 1e-11}
GROUPS = 4


def traced_arrays(call: Call) -> list[int]:
    return [k for k, a in enumerate(call.args) if isinstance(a, np.ndarray)]


def chosen_calls() -> list[Call]:
    """One call of every function (of elementwise ones the float32 and int32 ones), with arrays to trace."""
    first: dict[str, Call] = {}
    for call in ALL_CALLS:
        if traced_arrays(call) and call.name not in ("allclose", "array_equal", "array_equiv"):
            first.setdefault(call.name, call)
    plain = [
        call
        for call in ELEMENTWISE
        if all(isinstance(a, np.ndarray) and a.dtype in (np.float32, np.int32) for a in call.args)
    ]
    return [*first.values(), *plain]


def group_of(call: Call) -> int:
    return zlib.crc32(call.name.encode()) % GROUPS


@pytest.mark.parametrize("group", range(GROUPS))
def test_compiled_calls_give_what_numpy_gives(group: int) -> None:
    calls = [call for call in chosen_calls() if group_of(call) == group]
    assert calls

    @adze.jit
    def together(inputs: dict[str, list[Any]]) -> dict[str, list[Any]]:
        results = {}
        for key, call in named.items():
            args = list(call.args)
            for place, value in zip(traced_arrays(call), inputs[key], strict=True):
                args[place] = value
            results[key] = flat(call.of(anp)(*args, **call.kwargs))
        return results

    named = {f"{k:03}": call for k, call in enumerate(calls)}
    inputs = {key: [call.args[k] for k in traced_arrays(call)] for key, call in named.items()}
    results = together(inputs)
    wrong = []
    for key, call in named.items():
        expected = by_numpy(call)
        for got, wanted in zip(results[key], expected, strict=True):
            try:
                assert_same(np.asarray(got), wanted, TOLERANCE.get(np.asarray(wanted).dtype.name, 0.0))
            except AssertionError as error:
                wrong.append(f"{call}: {error}")
    assert not wrong, "\n".join(wrong)
