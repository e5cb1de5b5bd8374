"""What the class check asks of an op: hooks that exist, rules that are stated, attributes as a record."""

from dataclasses import FrozenInstanceError
from typing import Any, get_type_hints

import numpy as np
import pytest

from adze.dialects.dialect import OPS
from adze.dialects.op import (
    HOOKS,
    NO_BATCH,
    NO_TANGENT,
    Op,
    Operand,
    Record,
    integer,
    ints,
    sizes,
    stated,
    undefined,
)
from adze.dialects.types import TensorType

RULES: dict[str, Any] = {
    "__doc__": "``y = x``.",
    "operands": (Operand("x"),),
    "infer": staticmethod(lambda x: x),
    "evaluate": staticmethod(lambda x: x),
    "jvp": NO_TANGENT,
    "transpose": undefined("it is a test"),
    "batch": NO_BATCH,
}


def declared(**members: Any) -> type[Op]:
    return type("Same", (Op,), {"name": "same", **RULES, **members})


def test_an_op_with_its_rules_is_accepted() -> None:
    assert declared().name == "same"


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("tranpose", "transpose"),
        ("simplfy", "simplify"),
        ("is_aligne", "is_aligned"),
        ("has_efect", "has_effect"),
    ],
)
def test_a_misspelt_hook_is_an_error_that_names_the_nearest(misspelt: str, meant: str) -> None:
    with pytest.raises(TypeError) as error:
        declared(**{misspelt: True})
    assert str(error.value) == (
        f"class Same states '{misspelt}', which is no hook of ops: did you mean '{meant}'? (the hooks are "
        f"listed in dialects/op.py; a family declares what it adds: class Same(Op, adds=('{misspelt}',)))"
    )


def test_a_family_is_checked_too_and_may_add_members_of_its_own() -> None:
    with pytest.raises(TypeError, match="'weight', which is no hook"):
        type("Weighted", (Op,), {"weight": 1})

    class Weighted(Op, adds=("weight",)):
        weight = 1

    member = type("Heavy", (Weighted,), {"name": "heavy", "weight": 2, **RULES})
    assert member.weight == 2
    with pytest.raises(TypeError, match="did you mean 'weight'"):
        type("Light", (Weighted,), {"name": "light", "wieght": 0, **RULES})


def test_what_follows_from_the_declaration_is_no_hook() -> None:
    with pytest.raises(TypeError, match="'refers_to_functions', which is no hook"):
        declared(refers_to_functions=True)


@pytest.mark.parametrize("rule", ["infer", "evaluate", "jvp", "transpose", "batch"])
def test_an_op_without_a_rule_is_an_error(rule: str) -> None:
    members = {name: value for name, value in RULES.items() if name != rule}
    with pytest.raises(TypeError, match=f"op 'same' declares no {rule}: write it or undefined"):
        type("Same", (Op,), {"name": "same", **members})


def test_every_hook_is_stated_by_some_op() -> None:
    stated_names = {name for op in OPS for base in op.__mro__ if base is not Op for name in vars(base)}
    assert sorted(HOOKS - stated_names) == []


class Windowed(Record):
    """Two attributes."""

    axes: tuple[int, ...] = stated(ints("some axes"))
    count: int = stated(integer("how many"))


def test_a_record_is_frozen_and_knows_its_declaration() -> None:
    record = Windowed(axes=(1, 2), count=3)
    assert {name: a.kind for name, a in Windowed.declared.items()} == {"axes": "ints", "count": "int"}
    assert record.keywords == {"axes": (1, 2), "count": 3}
    assert Windowed.of({"axes": (), "count": 0}).keywords == {"axes": (), "count": 0}
    assert record.replaced(count=4).keywords == {"axes": (1, 2), "count": 4}
    assert repr(record) == "Windowed(axes=(1, 2), count=3)"
    with pytest.raises(FrozenInstanceError):
        record.count = 5  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del record.count
    with pytest.raises(TypeError, match="Windowed takes axes, count, and got axes, counts"):
        Windowed(axes=(), counts=3)  # type: ignore[call-arg]


def test_rules_of_an_op_with_a_record_are_called_with_keywords() -> None:
    def infer(x: TensorType, *, attributes: Windowed) -> TensorType:
        return x.with_shape((attributes.count, *attributes.axes))

    op = declared(record=Windowed, infer=staticmethod(infer))
    assert list(op.attributes) == ["axes", "count"]
    x = TensorType((4,), np.dtype(np.float32))
    assert op.result_types([x], {"axes": (7,), "count": 5}) == (x.with_shape((5, 7)),)


KINDS = {
    "int": ("int",),
    "symbol": ("str",),
    "types": ("tuple[TensorType, ...]",),
    "ints": ("tuple[int, ...]", "Layout"),
    "pairs": ("tuple[tuple[int, int], ...]", "Pairs", "Steps"),
    "text": ("str",),
    "sizes": ("tuple[N, ...]",),
    "bool": ("bool",),
    "choice": ("str",),
    "dtype": ("np.dtype",),
    "elements": ("np.ndarray",),
}


@pytest.mark.parametrize("op", [op for op in OPS if op.record is not None], ids=lambda op: op.name)
def test_fields_of_records_have_the_types_of_their_kinds(op: type[Op]) -> None:
    assert op.record is not None
    annotations = op.record.__annotations__
    assert list(annotations) == list(op.attributes)
    for name, attribute in op.attributes.items():
        assert annotations[name] in KINDS[attribute.kind]
    assert get_type_hints(op.record).keys() >= annotations.keys()


def test_an_op_with_more_than_two_attributes_has_a_record() -> None:
    assert not {op for op in OPS if len(op.attributes) > 2 and op.record is None}


def test_a_record_may_have_sizes() -> None:
    (shaped,) = [op for op in OPS if op.name == "iota"]
    assert shaped.size_attributes == ("shape",)
    assert shaped.attributes["shape"] == sizes("the result's shape")
