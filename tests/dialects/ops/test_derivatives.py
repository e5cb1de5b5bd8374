"""Every row of the table of op cases through every check of differentiation, and the conventions at kinks.

Forward mode against central differences, reverse against forward mode by the dot identity, both again for
what they make (order 2), for float and complex dtypes, static and dynamic shapes.
"""

from __future__ import annotations

from functools import cache

import pytest

from adze.dialects.dialect import BY_NAME, OPS
from adze.dialects.errors import MissingRuleError
from adze.dialects.types import BFLOAT16, COMPLEX, FLOATS, INEXACT, dtype_name

from ...op_cases import BY_OP
from ...selection import some
from .cases import Instance
from .derivative_checks import (
    COMPLEX128,
    FLOAT64,
    IRREVERSIBLE,
    SUMMED_OVER_AXIS,
    Subject,
    array_dtype,
    compare_modes,
    compare_with_differences,
    pullback,
    pushforward,
    smooth_instances,
    subject_of,
    types_of,
)

DECREED = {"custom_jvp_call", "custom_vjp_call", "custom_vjp_linear", "stop_gradient"}
"""Their derivatives are what the user says, and in the table not the differences of their results."""
NAMES = [op.name for op in OPS if op.name in BY_OP and any(smooth_instances(BY_OP[op.name]))]
for_each_op = pytest.mark.parametrize("name", NAMES)


@cache
def instances_of(name: str) -> tuple[Instance, ...]:
    return tuple(smooth_instances(BY_OP[name]))


def differentiable(name: str) -> list[Instance]:
    """The instances that have float results, if the op has a derivative."""
    if is_undefined(name):
        pytest.skip(f"{name}: {BY_NAME[name].jvp.reason}")
    return list(instances_of(name))


def reversible(name: str) -> list[Instance]:
    """As `differentiable`, if reverse mode exists too."""
    reason = IRREVERSIBLE.get(name) or SUMMED_OVER_AXIS.get(name)
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    return differentiable(name)


def quick(actual: list[Instance], thorough: bool) -> list[Instance]:
    """Each case, each dtype, static and dynamic sizes, but not their product."""
    return some(actual, lambda i: (id(i.case), i.dtype, i.dynamic), thorough)


def is_undefined(name: str) -> bool:
    return hasattr(BY_NAME[name].jvp, "reason")


def is_wide(subject: Subject) -> bool:
    """Whether differences of its results can be measured."""
    return all(
        array_dtype(t) not in INEXACT or array_dtype(t) in (FLOAT64, COMPLEX128) for t in subject.result_types
    ) and all(a.dtype not in INEXACT or a.dtype in (FLOAT64, COMPLEX128) for a in subject.arguments)


@for_each_op
def test_jvp_is_the_central_difference(name: str, thorough: bool) -> None:
    for instance in quick(differentiable(name), thorough):
        subject = subject_of(instance)
        if is_wide(subject) and name not in DECREED:
            compare_with_differences(subject)


@for_each_op
def test_vjp_is_the_transpose_of_jvp(name: str, thorough: bool) -> None:
    for instance in quick(reversible(name), thorough):
        subject = subject_of(instance)
        compare_modes(subject, 1e-9 if is_wide(subject) else 2e-2)


@for_each_op
def test_derivatives_of_order_two(name: str, thorough: bool) -> None:
    """What a rule makes is made of ops that have rows of their own: an op has one case."""
    if name in DECREED:
        return
    static = [i for i in reversible(name) if not i.dynamic]
    subjects = [(i, subject_of(i)) for i in some(static, lambda i: (id(i.case), i.dtype), thorough)]
    usable = [(i, s) for i, s in subjects if is_wide(s) and any(s.active_results)]
    for _, subject in some(usable, lambda pair: (pair[0].dtype,), thorough)[: None if thorough else 1]:
        check_order_two(subject)


def check_order_two(subject: Subject) -> None:
    pushed, _ = pushforward(subject)
    compare_with_differences(pushed)
    pulled = pullback(subject)
    compare_with_differences(pulled)
    compare_modes(pulled, 1e-8)


@for_each_op
def test_derivatives_keep_the_dtype(name: str, thorough: bool) -> None:
    row = BY_OP[name]
    narrow = [d for d in row.dtypes if d in INEXACT - {FLOAT64, COMPLEX128}]
    reversible(name)
    for instance in quick([i for i in smooth_instances(row, narrow) if not i.dynamic], thorough):
        subject = subject_of(instance)
        if FLOAT64 in map(array_dtype, subject.result_types) or COMPLEX128 in map(
            array_dtype, subject.result_types
        ):
            continue  # a conversion to it
        check_dtypes(subject)


def check_dtypes(subject: Subject) -> None:
    pushed, has_tangent = pushforward(subject)
    count = len(subject.result_types)
    expected = [t for t, has in zip(subject.result_types, has_tangent, strict=True) if has]
    assert pushed.result_types[count:] == expected, str(pushed)
    pulled = pullback(subject)
    active = [a for a, on in zip(subject.arguments, subject.active, strict=True) if on]
    assert [array_dtype(t) for t in pulled.result_types] == [a.dtype for a in active], str(pulled)
    for made in (pushed, pulled):
        wide = {array_dtype(t) for t in types_of(made)} & {FLOAT64, COMPLEX128}
        assert not wide, f"{made} computes in {wide}"
        values = made.at(made.arguments)
        assert [v.dtype for v in values] == [array_dtype(t) for t in made.result_types]


@pytest.mark.parametrize("name", [n for n in NAMES if is_undefined(n)])
def test_an_op_without_derivative_says_why(name: str) -> None:
    for instance in instances_of(name):
        subject = subject_of(instance)
        if any(subject.active_results) and any(subject.active):
            with pytest.raises(MissingRuleError, match=f"'{name}' cannot be differentiated: "):
                pushforward(subject)


@for_each_op
def test_halves_are_covered_where_the_op_takes_them(name: str) -> None:
    row = BY_OP[name]
    if BFLOAT16 in row.dtypes and any(i.dtype is not None for i in instances_of(name)):
        assert any(i.dtype == BFLOAT16 for i in smooth_instances(row, [BFLOAT16]))


def test_complex_and_real_rows_are_checked() -> None:
    checked = {i.dtype for name in NAMES for i in instances_of(name)}
    assert {FLOAT64, COMPLEX128} <= checked
    assert {dtype_name(d) for d in FLOATS | COMPLEX} >= {"f64", "complex<f64>"}


@pytest.mark.parametrize("name", sorted(IRREVERSIBLE))
def test_reverse_mode_that_does_not_exist_says_why(name: str) -> None:
    for instance in instances_of(name):
        with pytest.raises(MissingRuleError, match=f"'{name}' cannot be transposed: "):
            pullback(subject_of(instance))
