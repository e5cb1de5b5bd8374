"""Pytrees: what is a node, how leaves are named, and what survives a file."""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any

import pytest

import adze
from adze.frontend import tree, written_trees

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any
    derived: Any = dataclasses.field(default=0, init=False)


def as_dicts(value: Any) -> Any:
    """A tree as it comes back from a file: dataclasses as dictionaries of the fields that make them."""
    if dataclasses.is_dataclass(value):
        return {f.name: as_dicts(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    return value


TREES = [
    1,
    None,
    (),
    [],
    {},
    (1, [2, {"a": 3}]),
    {"b": 1, "a": (2,)},
    Pair(1, [2]),
    Layer(1, Layer(2, 3)),
    Frozen(4),
]


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_trees_come_back(value: Any) -> None:
    leaves, structure = tree.flatten(value)
    assert tree.unflatten(structure, leaves) == value
    assert len(leaves) == structure.num_leaves == len(tree.paths(structure))


def test_dictionaries_are_in_the_order_of_their_keys() -> None:
    assert tree.leaves({"b": 1, "a": 2}) == tree.leaves({"a": 2, "b": 1}) == [2, 1]


def test_paths_are_python_text() -> None:
    value = {"layers": [Layer(1, 2)], "pair": Pair(3, None)}
    assert tree.paths(tree.structure(value)) == [
        "['layers'][0].weight",
        "['layers'][0].bias",
        "['pair'].left",
    ]


def test_none_and_empty_containers_are_nodes_without_leaves() -> None:
    assert tree.leaves([None, (), {}, Layer(None)]) == []


def test_map_takes_trees_of_one_structure() -> None:
    assert adze.tree.map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 10, "y": [20]}) == {"x": 11, "y": [22]}
    with pytest.raises(adze.AdzeError) as caught:
        adze.tree.map(lambda a, b: a, {"x": 1}, {"y": 1})
    assert str(caught.value).startswith("trees differ in structure: {'x': *} and {'y': *}")


def test_children_of_a_node() -> None:
    assert tree.children({"b": 1, "a": [2]}) == {"a": [2], "b": 1}
    assert tree.children([5, 6]) == {0: 5, 1: 6}
    assert tree.children(3) is None


def test_classes_can_be_registered_with_static_data() -> None:
    class Scaled:
        def __init__(self, value: Any, unit: str) -> None:
            self.value, self.unit = value, unit

    tree.register(Scaled, lambda s: ((s.value,), s.unit), lambda unit, children: Scaled(*children, unit))
    double = adze.jit(lambda s: Scaled(s.value * 2, s.unit))
    result = double(Scaled(3, "m"))
    assert result.unit == "m" and result.value.item() == 6
    double(Scaled(3, "s"))
    assert double.cache_size() == 2, "static data is part of the key"


def test_structures_are_described_shortly() -> None:
    assert tree.describe(tree.structure({"w": 1, "b": [2, None]})) == "{'b': [*, None], 'w': *}"
    assert tree.describe_arguments(tree.structure(((1, {"a": 2}), {"k": 3}))) == "(*, {'a': *}, k=*)"


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_structures_survive_a_file(value: Any) -> None:
    leaves, structure = tree.flatten(value)
    data = tree.to_json(structure)
    assert written_trees.from_json(json.loads(json.dumps(data)), leaves) == as_dicts(value)


def test_what_a_file_says_of_a_structure_is_described_shortly() -> None:
    value = ((Layer(1, (2,)), Pair(3, [4, None])), {"k": {"a": 5}})
    assert written_trees.describe_json_arguments(tree.to_json(tree.structure(value))) == (
        "(Layer(weight=*, bias=(*,)), Pair(left=*, right=[*, None]), k={'a': *})"
    )
