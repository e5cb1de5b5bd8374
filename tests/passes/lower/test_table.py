"""The table of lowerings: every op of the dialect is in it once, by itself or by its family."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

from adze.dialects.dialect import OPS
from adze.dialects.op import Op
from adze.passes.lower import forms
from adze.passes.lower.forms.elementwise import lower_elementwise
from adze.passes.lower.lowering import lowering_of
from adze.passes.lower.scalars import scalar_code


def test_no_lowering_is_without_an_op() -> None:
    idle = [base.__name__ for base in forms.LOWERINGS if not any(issubclass(op, base) for op in OPS)]
    assert idle == []


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_has_one_lowering(op: type[Op]) -> None:
    bases = [base for base in op.__mro__ if base in forms.LOWERINGS]
    assert bases, f"no function of passes/lower/forms lowers {op.name}"
    unrelated = [base for base in bases if not issubclass(bases[0], base)]
    assert unrelated == [], f"{op.name} is of two families that have a lowering each"


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_lowering_takes_the_operands_and_attributes_of_its_op(op: type[Op]) -> None:
    operands = [object() for operand in op.operands if not operand.variadic]
    inspect.signature(lowering_of(op, forms.LOWERINGS)).bind(
        object(), *operands, **dict.fromkeys(op.attributes)
    )


def test_every_lowering_of_forms_is_in_the_table() -> None:
    """A function `lower_...` with a context that no op reaches would be dead."""
    files = [
        importlib.import_module(f"{forms.__name__}.{m.name}") for m in pkgutil.iter_modules(forms.__path__)
    ]
    lowerings = {f for module in files for name, f in vars(module).items() if _is_lowering(module, name, f)}
    assert lowerings == set(forms.LOWERINGS.values())


def _is_lowering(module: ModuleType, name: str, function: object) -> bool:
    if not name.startswith("lower_") or getattr(function, "__module__", None) != module.__name__:
        return False
    return next(iter(inspect.signature(function).parameters)) == "ctx"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "op", [op for op in OPS if lowering_of(op, forms.LOWERINGS) is lower_elementwise], ids=lambda op: op.name
)
def test_every_elementwise_op_has_scalar_code(op: type[Op]) -> None:
    assert callable(scalar_code(op.name))
    assert scalar_code(op.name) is scalar_code(op.name)
