"""The table of lowerings: every op of the dialect is in it once, by itself or by its family."""

from __future__ import annotations

import inspect

import pytest

from adze.dialects.dialect import OPS
from adze.dialects.op import Op
from adze.passes.lower import forms, lowering
from adze.passes.lower.forms.elementwise import lower_elementwise, scalar_code


def test_no_lowering_is_without_an_op() -> None:
    idle = [base.__name__ for base in lowering.TABLE if not any(issubclass(op, base) for op in OPS)]
    assert idle == []


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_has_one_lowering(op: type[Op]) -> None:
    bases = [base for base in op.__mro__ if base in lowering.TABLE]
    assert bases, f"no function of passes/lower/forms lowers {op.name}"
    unrelated = [base for base in bases if not issubclass(bases[0], base)]
    assert unrelated == [], f"{op.name} is of two families that have a lowering each"


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_lowering_takes_the_operands_and_attributes_of_its_op(op: type[Op]) -> None:
    operands = [object() for operand in op.operands if not operand.variadic]
    inspect.signature(lowering.lowering_of(op)).bind(object(), *operands, **dict.fromkeys(op.attributes))


def test_a_class_is_registered_once() -> None:
    registered = next(iter(lowering.TABLE))
    with pytest.raises(TypeError, match="has a lowering already"):
        lowering.lowers(registered)(lambda ctx: None)


def test_every_file_of_forms_that_lowers_is_imported() -> None:
    modules = {function.__module__.rsplit(".", 1)[-1] for function in lowering.TABLE.values()}
    assert modules == set(forms.__all__)


@pytest.mark.parametrize(
    "op", [op for op in OPS if lowering.lowering_of(op) is lower_elementwise], ids=lambda op: op.name
)
def test_every_elementwise_op_has_scalar_code(op: type[Op]) -> None:
    assert callable(scalar_code(op.name))
    assert scalar_code(op.name) is scalar_code(op.name)
