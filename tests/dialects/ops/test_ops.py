"""Every row of the table of op cases through every check.

All instances of an op (its cases, for each dtype, static and dynamic) are functions of one module that
is built and compiled once. A new check is one function of a module of instances, called by one test.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Sequence
from functools import cache

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME, OPS
from adze.dialects.errors import AdzeError
from adze.dialects.types import FLOAT32, FLOAT64, FLOATS, SIZE, TensorType, ValueType
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module

from ...op_cases import BY_OP
from ...selection import cover, quick_first, some
from ...support import iree_opt
from .cases import Array, Instance, instances
from .execution import compile_cases
from .programs import Function, ModuleOfCases, dynamic_sizes, evaluated, inferred
from .tolerances import LOOSER_ON_GPUS, TOLERANCES, Tolerance, difference

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


@pytest.mark.one_in(2)
@for_each_op
def test_printed_ir_is_accepted_by_iree_opt(name: str, thorough: bool) -> None:
    expressible = [i for i in all_instances(name) if is_expressible_in_irdl(i)]
    assert expressible, f"no instance of '{name}' can be checked against the IRDL file"
    chosen = some(expressible, lambda i: (id(i.case), i.dtype, i.dynamic), thorough)
    text = str(ModuleOfCases.of(chosen).module)
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
    """Some of its forms, of its classes of dtypes, and static and dynamic sizes; the next op has others.

    Of an elementwise op whose scalar code has tests of its own one class is compiled, and one of its
    special sizes. Of another op four classes are, and half of its forms if it has more than two, but no
    more than four: `tests/passes/lower/forms/` compiles them one by one. Over the table each class, and
    each dtype of one, is compiled many times.
    """
    op = BY_NAME[name]
    shuffled = sorted(all_instances(name), key=lambda i: order(name, i.dtype))
    forms = {form_of(i) for i in shuffled}
    kinds = set().union(*map(classes_of, shuffled))
    if op.is_elementwise and name not in OF_MANY_KINDS:
        usual, *special = dict.fromkeys(form_of(i) for i in all_instances(name))
        forms = {usual, *sorted(special, key=lambda form: order(name, form))[:1]}
        kinds = set(sorted(kinds, key=lambda kind: order(name, kind))[:1])
    elif name not in OF_MANY_KINDS:
        kinds = set(sorted(kinds, key=lambda kind: order(name, kind))[:4])
        if len(forms) > 2:
            forms = set(sorted(forms, key=lambda form: order(name, form))[: min((len(forms) + 1) // 2, 4)])

    def goals(i: Instance) -> set[Hashable]:
        form = form_of(i)
        return ({("form", form), i.dynamic} if form in forms else set()) | (classes_of(i) & kinds)

    chosen = cover([goals(i) for i in shuffled])
    return [i for i, is_chosen in zip(shuffled, chosen, strict=True) if is_chosen]


OF_MANY_KINDS = {"convert", "bitcast_convert", "compare"}
"""Elementwise ops whose attributes are about dtypes, or choose another op."""


def order(name: str, choice: object) -> int:
    """A number that orders the choices of an op, otherwise than those of the next op."""
    return zlib.crc32(f"{name} {choice}".encode())


def form_of(i: Instance) -> Hashable:
    """What is the same for cases that differ in the dtype, or in the values of constants, only."""
    operands = tuple((o.shape, o.fixed) if isinstance(o, Array) else o for o in i.case.operands)
    attributes = {
        key: value.shape if isinstance(value, np.ndarray) else value
        for key, value in i.case.attributes.items()
        if not isinstance(value, np.dtype)
    }
    return str((operands, attributes))


def classes_of(i: Instance) -> set[Hashable]:
    """The class of its dtype, and that of one that an attribute states."""
    stated = [value for value in i.attributes.values() if isinstance(value, np.dtype)]
    return {(_class_of(i.dtype), "dtype"), *((_class_of(dtype), "stated") for dtype in stated)}


def _class_of(dtype: np.dtype | None) -> str | None:
    """Dtypes of one class have one form of compiled code, but for widths."""
    if dtype is None or dtype in (FLOAT32, FLOAT64):
        return dtype and dtype.name
    return "half" if dtype in FLOATS else dtype.kind


Run = Callable[[Function], list[np.ndarray]]
TOGETHER = 8
"""So many ops are compiled in one module: half of the time of a small module is IREE's own."""


@cache
def compiled(names: tuple[str, ...], device: str, loop_kernels: bool) -> tuple[Sequence[Function], Run]:
    """The functions of the quick instances of some ops, and what runs one."""
    program = ModuleOfCases.of([i for name in names for i in quick_instances(name)])
    return program.functions, compile_cases(program.functions, device, loop_kernels)


def compiled_op(
    name: str, device: str, thorough: bool, loop_kernels: bool = True
) -> tuple[Sequence[Function], Run]:
    """The functions of an op, and what runs one; what cannot be compiled with other ops is compiled alone."""
    if thorough:
        program = ModuleOfCases.of(all_instances(name))
        return program.functions, compile_cases(program.functions, device, loop_kernels)
    like = [other for other in NAMES if BY_NAME[other].is_elementwise == BY_NAME[name].is_elementwise]
    start = like.index(name) // TOGETHER * TOGETHER
    try:
        functions, run = compiled(tuple(like[start : start + TOGETHER]), device, loop_kernels)
    except AdzeError:
        return compiled((name,), device, loop_kernels)
    return [f for f in functions if f.instance.row.op == name], run


LOOPS = ("scan", "while")


@for_each_op
def test_compiled_result_is_the_evaluated_one(name: str, device: str, thorough: bool) -> None:
    """As IREE compiles it, on a CPU, where one kernel of our own may compute small arrays of known sizes."""
    tolerance = None if device == "cpu" else LOOSER_ON_GPUS.get(name)
    check_results(name, *compiled_op(name, device, thorough, device != "cpu"), tolerance)


@pytest.mark.parametrize("name", quick_first([*LOOPS, *(n for n in NAMES if n not in LOOPS)], len(LOOPS)))
def test_result_of_a_kernel_of_our_own_is_the_evaluated_one(name: str, device: str, thorough: bool) -> None:
    """Where what was compiled may be one: loops, and small arrays of known sizes."""
    tolerance = None if device == "cpu" else LOOSER_ON_GPUS.get(name)
    check_results(name, *compiled_op(name, device, thorough), tolerance)


def check_results(
    name: str, functions: Sequence[Function], run: Run, tolerance: Tolerance | None = None
) -> None:
    """What the functions of an op return is what its `evaluate` rule does."""
    assert functions
    tolerance = tolerance or TOLERANCES[BY_OP[name].tolerance]
    failures = []
    for function in functions:
        for want, got in zip(function.expected, run(function), strict=True):
            message = difference(want, got, tolerance)
            if message:
                failures.append(f"{function.instance}: {message}")
    assert not failures, "\n".join(failures)
