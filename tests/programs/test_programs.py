"""Traces NumPy programs unchanged, compiles them, and compares with NumPy's own results.

`make test` evaluates what it traces, but for one program: other tests compile the ops and forms.
In: the table of `cases.py`. A group's programs are compiled as one module, because each compile has a
fixed cost; when that fails, each program of the group is compiled alone, so that one defect shows as one
failing test and not as a failing group.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy
from adze.dialects.errors import AdzeError
from adze.frontend.tracing.trace import trace_program
from adze.passes.analysis.evaluate import evaluate

from .cases import ARRAY_API_CASES, NUMPY_GROUPS, TOLERANCE, Case
from .not_traceable import INPUTS, NOT_TRACEABLE

Results = dict[str, Any]

GROUPS: dict[str, list[Case]] = {**NUMPY_GROUPS, "array_api": ARRAY_API_CASES}
ALL = [pytest.param(group, case, id=case.name) for group, cases in GROUPS.items() for case in cases]


def as_numpy(case: Case) -> tuple[Any, ...]:
    """What plain NumPy says."""
    namespace = (np,) if case in ARRAY_API_CASES else ()
    return as_tuple(case.kernel(*namespace, *case.arrays, **case.settings))


def call_of(case: Case) -> Callable[..., Any]:
    """The program as a function of its arrays alone."""
    if case in ARRAY_API_CASES:
        return lambda *arrays: case.kernel(adze.numpy, *arrays, **case.settings)
    return lambda *arrays: case.kernel(*arrays, **case.settings)


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.fixture(scope="module")
def results_of(thorough: bool) -> Callable[[str], Results]:
    """Runs a group once: from a program's name to its results, or to what stopped it."""
    finished: dict[str, Results] = {}

    def run(group: str) -> Results:
        if group not in finished:
            finished[group] = (run_group if thorough else evaluate_group)(GROUPS[group])
        return finished[group]

    return run


def run_group(cases: list[Case]) -> Results:
    traceable = [case for case in cases if is_traceable(case)]

    @adze.jit
    def all_programs(inputs: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        return {case.name: as_tuple(call_of(case)(*inputs[case.name])) for case in traceable}

    try:
        return dict(all_programs({case.name: case.arrays for case in traceable}))
    except Exception:
        # Which one it was: every program alone, and its error kept for its own test.
        return {case.name: run_alone(case) for case in cases}


def evaluate_group(cases: list[Case]) -> Results:
    """What the traced programs give when they are evaluated op by op; their traces are tested one by one."""
    return {case.name: evaluated(case) for case in cases if is_traceable(case)}


def evaluated(case: Case) -> Any:
    program = trace_program(lambda *arrays: as_tuple(call_of(case)(*arrays)), case.arrays, {})
    return tuple(evaluate(program.module, program.symbol, [np.asarray(a) for a in case.arrays]))


def is_traceable(case: Case) -> bool:
    try:
        adze.trace(call_of(case), *case.arrays)
    except Exception:
        return False
    return True


def run_alone(case: Case) -> Any:
    try:
        return as_tuple(adze.jit(call_of(case))(*case.arrays))
    except Exception as error:
        return error


@pytest.mark.parametrize(("group", "case"), ALL)
def test_program_gives_what_numpy_gives(group: str, case: Case, results_of: Callable[[str], Results]) -> None:
    adze.trace(call_of(case), *case.arrays)
    results = results_of(group)
    actual = results[case.name]
    if isinstance(actual, Exception):
        raise actual
    expected = as_numpy(case)
    assert len(actual) == len(expected)
    tolerance = TOLERANCE[case.tolerance]
    for got, wanted in zip(actual, expected, strict=True):
        got = np.asarray(got)
        wanted = np.asarray(wanted)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        scale = tolerance * max(1.0, float(np.max(np.abs(wanted), initial=0.0))) if tolerance else 0.0
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=scale)


def test_settings_may_be_named_as_static_arguments() -> None:
    case = next(case for case in NUMPY_GROUPS["stencils"] if case.settings)
    compiled = adze.jit(case.kernel, static_argnames=tuple(case.settings))
    for got, wanted in zip(compiled(*case.arrays, **case.settings), as_numpy(case), strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=TOLERANCE[case.tolerance])


@pytest.mark.parametrize(("program", "reason", "mention"), NOT_TRACEABLE)
def test_untraceable_program_is_told_what_to_write_instead(
    program: Callable[..., Any], reason: str, mention: str
) -> None:
    assert reason
    with pytest.raises(AdzeError) as raised:
        adze.trace(program, *INPUTS[program.__name__])
    assert mention in str(raised.value)
