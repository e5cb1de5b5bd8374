"""Random programs: compiled = evaluated, simplified = evaluated, and IR printed = parsed.

Hypothesis draws lists of programs; each list is one module, compiled once. The profile is deterministic: a
failure shows the program as Python over a builder and comes again in the next run.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adze.dialects import mlir
from adze.dialects.types import ValueType
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module
from adze.passes.optimize.simplify import simplify

from .execution import compile_functions
from .programs import add_function, new_module
from .random_programs import Program, programs

IN_ONE_MODULE = 25
# No shrinking: it would compile for minutes, and a program has a handful of steps anyway.
DETERMINISTIC = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@settings(DETERMINISTIC, max_examples=4)
@given(st.lists(programs(), min_size=IN_ONE_MODULE, max_size=IN_ONE_MODULE))
def test_compiled_is_evaluated(drawn: list[Program]) -> None:
    module = build(drawn)
    expected = [evaluate(module, f"f{i}", p.arrays) for i, p in enumerate(drawn)]
    signatures = {f"f{i}": signature(p) for i, p in enumerate(drawn)}
    call = compile_functions(module, signatures)
    for i, program in enumerate(drawn):
        compare(program, expected[i], call(f"f{i}", program.arrays), "compiled")


@settings(DETERMINISTIC, max_examples=30)
@given(st.lists(programs(), min_size=4, max_size=4))
def test_simplified_is_evaluated(drawn: list[Program]) -> None:
    module = build(drawn)
    expected = [evaluate(module, f"f{i}", p.arrays) for i, p in enumerate(drawn)]
    simplify(module)
    verify(module)
    for i, program in enumerate(drawn):
        compare(program, expected[i], evaluate(module, f"f{i}", program.arrays), "simplified", exactly=True)


@settings(DETERMINISTIC, max_examples=30)
@given(st.lists(programs(), min_size=4, max_size=4))
def test_printed_is_parsed(drawn: list[Program]) -> None:
    module = build(drawn)
    verify(module)
    text = str(module)
    parsed = parse_module(text)
    verify(parsed)
    assert str(parsed) == text


def build(drawn: list[Program]) -> mlir.ir.Module:
    """A module with one function a program."""
    module, codec = new_module()
    for i, program in enumerate(drawn):
        add_function(module, codec, f"f{i}", signature(program)[0], program.build)
    return module


def signature(program: Program) -> tuple[tuple[ValueType, ...], tuple[ValueType, ...]]:
    """Types of the inputs and of what is returned."""
    types = tuple(v.type for v in program.values)
    return types[: len(program.arrays)], tuple(types[i] for i in program.returned)


def compare(
    program: Program, expected: list[np.ndarray], actual: list[np.ndarray], what: str, exactly: bool = False
) -> None:
    for number, want, got in zip(program.returned, expected, actual, strict=True):
        value = program.values[number]
        assert want.shape == value.shape and want.dtype == value.type.dtype, f"v{number} of\n{program}"
        assert got.shape == want.shape and got.dtype == want.dtype, f"{what} v{number} of\n{program}"
        if not value.is_float or exactly:
            np.testing.assert_array_equal(got, want, f"{what} v{number} of\n{program}")
            continue
        allowed = 4 * value.error * float(np.finfo(want.dtype).eps)
        np.testing.assert_allclose(got, want, rtol=0, atol=allowed, err_msg=f"{what} v{number} of\n{program}")
