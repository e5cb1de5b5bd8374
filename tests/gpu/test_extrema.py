"""Reductions of integers on CUDA, of rows of known and of unknown length, run as C: extrema, common bits."""

from __future__ import annotations

import pytest

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
lib = adze.numpy
EXTREMA = {
    "min of rows": lambda x: x.min(1),
    "max of rows": lambda x: x.max(1),
    "min": lambda x: x.min(),
    "argmin": lambda x: lib.argmin(x, 1),
    "argmax": lambda x: lib.argmax(x, 1),
}

def arrays(dtype):
    # Of one sign each, so that a wrong first value wins; at both ends of unsigned integers.
    info, steps = np.iinfo(dtype), (np.arange(36).reshape(4, 9) * 7 % 36).astype(dtype)
    yield 1 + steps
    yield np.asarray(info.max, dtype) - steps
    if info.min:
        yield -1 - steps
        yield np.asarray(info.min, dtype) + steps

def every(x):
    return [function(x) for function in EXTREMA.values()]

for dtype in DTYPES:
    for shape in (("n", "m"), (4, 9)):
        program = adze.trace(every, adze.ShapeDtype(shape, dtype)).lower("cuda:sm_80").compile()
        for x in arrays(dtype):
            wants = [x.min(1), x.max(1), x.min(), x.argmin(1), x.argmax(1)]
            for name, got, want in zip(EXTREMA, program(x), wants):
                if not np.array_equal(np.asarray(got), want):
                    said[f"{name} {dtype}{shape} {x[0, 0]}"] = [str(np.asarray(got)), str(want)]
"""


@needs_compiler
@pytest.mark.parametrize(
    "dtypes",
    [["int64"], ["uint64"], pytest.param(["int32", "uint32", "int8", "uint8"], marks=pytest.mark.thorough)],
    ids=str,
)
def test_extrema_of_integers_of_one_sign(dtypes: list[str]) -> None:
    """Threads and lanes without an element begin with a value that loses."""
    assert on_ptx_machine(f"DTYPES = {dtypes}{MACHINE}") == {}


BITS = """
from adze.passes.lower.iree.started_reductions import StartedReductions

def common(x):
    return [adze.lax.reduce_and(x, axes) for axes in ((0, 1), (0,), (1,))]

if not FENCED:
    StartedReductions.run = lambda self, module: None
for dtype in DTYPES:
    program = adze.trace(common, adze.ShapeDtype(("n", "m"), dtype)).lower("cuda:sm_80").compile()
    for shape in ((1, 1), (3, 4), (20, 37), (300, 5)):
        x = np.random.default_rng(0).integers(0, 127, shape).astype(dtype)
        x |= np.asarray(x > 3 if dtype == "bool" else 0x35, dtype)
        for got, axis in zip(program(x), (None, 0, 1)):
            want = np.bitwise_and.reduce(x, axis=axis)
            if not np.array_equal(np.asarray(got), want):
                said[f"{dtype} {shape} {axis}"] = [str(np.asarray(got)), str(want)]
"""


def wrong_bits(dtypes: list[str], *, is_fenced: bool = True) -> dict[str, list[str]]:
    return on_ptx_machine(f"DTYPES, FENCED = {dtypes}, {is_fenced}{BITS}")


@needs_compiler
@pytest.mark.parametrize(
    "dtypes",
    [["int32", "bool"], pytest.param(["int64", "uint64", "int8", "uint8"], marks=pytest.mark.thorough)],
    ids=str,
)
def test_bits_that_all_integers_have(dtypes: list[str]) -> None:
    assert wrong_bits(dtypes) == {}


@needs_compiler
@pytest.mark.thorough
def test_iree_still_joins_bits_with_a_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert "int32 (3, 4) None" in wrong_bits(["int32"], is_fenced=False)
