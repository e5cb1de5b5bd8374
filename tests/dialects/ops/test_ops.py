"""Every row of the table of op cases through every check.

All instances of an op (its cases, for each dtype, static and dynamic) are functions of one module that
is built and compiled once. A new check is one function of a module of instances, called by one test.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from functools import cache

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME, OPS
from adze.dialects.types import FLOAT32, FLOAT64, FLOATS, SIZE, TensorType, ValueType
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module

from ...op_cases import BY_OP
from ...selection import cover
from ...support import iree_opt
from .cases import Instance, instances
from .execution import compile_cases
from .programs import ModuleOfCases, dynamic_sizes, evaluated, inferred
from .tolerances import TOLERANCES, difference

# `undefined_value` has no value to compare: tests/passes has its errors.
NAMES = [op.name for op in OPS if op.name != "undefined_value"]
for_each_op = pytest.mark.parametrize("name", NAMES)


@cache
def all_instances(name: str) -> tuple[Instance, ...]:
    if name not in BY_OP:
        pytest.fail(f"op '{name}' has no row in tests/op_cases.py")
    return tuple(instances(BY_OP[name]))


@cache
def module_of(name: str) -> ModuleOfCases:
    """The module of all instances; not for tests that change it."""
    return ModuleOfCases.of(all_instances(name))


@for_each_op
def test_every_op_has_a_row_with_instances(name: str) -> None:
    assert all_instances(name)


@for_each_op
def test_inferred_type_is_the_evaluated_one(name: str) -> None:
    for instance in all_instances(name):
        for type_, value in zip(inferred(instance), evaluated(instance), strict=True):
            if type_ == SIZE:
                assert isinstance(value, int), instance
                continue
            assert isinstance(type_, TensorType)
            assert isinstance(value, np.ndarray), f"{instance} evaluates to a {type(value)}"
            assert value.dtype == type_.dtype, instance
            pairs = zip(type_.shape, value.shape, strict=True)
            assert all(n is None or n == m for n, m in pairs), (str(instance), str(type_), value.shape)


@for_each_op
def test_module_verifies_and_parses_back_unchanged(name: str) -> None:
    program = module_of(name)
    verify(program.module)
    text = str(program.module)
    parsed = parse_module(text)
    verify(parsed)
    assert str(parsed) == text


@for_each_op
def test_printed_ir_is_accepted_by_iree_opt(name: str) -> None:
    expressible = [i for i in all_instances(name) if is_expressible_in_irdl(i)]
    assert expressible, f"no instance of '{name}' can be checked against the IRDL file"
    text = str(ModuleOfCases.of(expressible).module)
    done = iree_opt(text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == text.strip()


def is_expressible_in_irdl(instance: Instance) -> bool:
    """IRDL wants one type in a variadic group, which sizes join where an op has both."""
    fixed = sum(not o.variadic for o in instance.op.operands)
    group: set[ValueType] = set(instance.types[fixed:])
    if fixed < len(instance.op.operands) and dynamic_sizes(instance):
        group.add(SIZE)
    return len(group) <= 1


@for_each_op
def test_module_evaluates_as_its_op_does(name: str) -> None:
    program = module_of(name)
    for function in program.functions:
        results = evaluate(program.module, function.name, function.arguments)
        for want, got in zip(function.expected, results, strict=True):
            assert not difference(want, got, TOLERANCES["exact"]), str(function.instance)


def quick_instances(name: str) -> list[Instance]:
    """Each class of dtypes, each case with static and with dynamic sizes, or one of them if there are many.

    Which dtype of a class it is differs from op to op: over the table each is compiled many times. So do
    half floats, which elementwise ops compute in float32: one op of three has them.
    """
    shuffled = sorted(all_instances(name), key=lambda i: zlib.crc32(f"{name} {i.dtype}".encode()))
    has_many = len({id(i.case) for i in shuffled}) > 10 or BY_NAME[name].is_elementwise
    has_halves = not BY_NAME[name].is_elementwise or zlib.crc32(name.encode()) % 3 == 0

    def goals(i: Instance) -> set[Hashable]:
        sizes = {("case", id(i.case)), i.dynamic} if has_many else {("case", id(i.case), i.dynamic)}
        kind = class_of(i.dtype)
        return sizes if kind == "half" and not has_halves else {kind, *sizes}

    chosen = cover([goals(i) for i in shuffled])
    return [i for i, is_chosen in zip(shuffled, chosen, strict=True) if is_chosen]


def class_of(dtype: np.dtype | None) -> str | None:
    """Dtypes of one class have one form of compiled code, but for widths."""
    if dtype is None or dtype in (FLOAT32, FLOAT64):
        return dtype and dtype.name
    return "half" if dtype in FLOATS else dtype.kind


@for_each_op
def test_compiled_result_is_the_evaluated_one(name: str, device: str, thorough: bool) -> None:
    program = ModuleOfCases.of(all_instances(name) if thorough else quick_instances(name))
    tolerance = TOLERANCES[BY_OP[name].tolerance]
    call = compile_cases(program, device)
    failures = []
    for function in program.functions:
        for want, got in zip(function.expected, call(function), strict=True):
            message = difference(want, got, tolerance)
            if message:
                failures.append(f"{function.instance}: {message}")
    assert not failures, "\n".join(failures)
