"""Pytrees: what is a node, how leaves are named, and what survives a file."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
from typing import Any

import pytest

import adze
from adze.frontend import tree, written_trees

Pair = collections.namedtuple("Pair", "left right")


@adze.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any = None


@adze.tree_util.register_dataclass
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


@dataclasses.dataclass
class Plain:
    value: Any


@adze.tree_util.register_dataclass
@dataclasses.dataclass
class Scaled:
    value: Any
    unit: str = tree.static(default="m")


@adze.tree_util.register_pytree_with_keys_class
class Keyed:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Any]], None]:
        return [(tree.GetAttrKey(f"part{i}"), part) for i, part in enumerate(self.parts)], None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> Keyed:
        return cls(*children)


def test_a_plain_dataclass_is_a_leaf() -> None:
    plain = Plain(1)
    assert tree.leaves([plain]) == [plain] and not adze.tree_util.is_tree_node(Plain)
    assert all(map(adze.tree_util.is_tree_node, (list, dict, type(None), Scaled)))
    with pytest.raises(adze.AdzeError, match=r"Plain"):
        adze.jit(lambda x: x.value)(plain)


def test_static_fields_are_part_of_the_structure() -> None:
    assert tree.leaves(Scaled(3)) == [3]
    assert tree.structure(Scaled(3, "s")) != tree.structure(Scaled(3)) == tree.structure(Scaled(4))
    double = adze.jit(lambda s: dataclasses.replace(s, value=s.value * (2 if s.unit == "m" else 3)))
    assert [double(Scaled(5, unit)).value.item() for unit in "ms"] == [10, 15]
    with pytest.raises(adze.AdzeError, match=r"must be all fields of Plain, which are \['value'\]"):
        adze.tree_util.register_dataclass(Plain, data_fields=["other"], meta_fields=[])
    with pytest.raises(TypeError, match="belong together"):
        adze.tree_util.register_dataclass(Plain, data_fields=["value"])
    with pytest.raises(ValueError, match="is a node of trees already"):
        adze.tree_util.register_dataclass(Scaled)


def test_paths_are_of_keys() -> None:
    nodes = {"a": [1, Pair(2, None)], "b": Scaled(3), "c": Keyed(4, (5,))}
    pairs, structure = tree.flatten_with_path(nodes)
    assert [adze.tree_util.keystr(path) for path, _ in pairs] == [
        "['a'][0]",
        "['a'][1].left",
        "['b'].value",
        "['c'].part0",
        "['c'].part1[0]",
    ]
    assert tree.paths(structure) == [adze.tree_util.keystr(path) for path, _ in pairs]
    assert adze.tree_util.keystr(pairs[-1][0], simple=True, separator="/") == "c/part1/0"
    assert pairs[1][0] == (tree.DictKey("a"), tree.SequenceKey(1), tree.GetAttrKey("left"))
    mapped = tree.map_with_path(lambda path, x, y: (len(path), x + y), {"a": [1]}, {"a": [2]})
    assert mapped == {"a": [(2, 3)]}
    by_path = tree.leaves_with_path(
        nodes, is_leaf=lambda path, x: path == (tree.DictKey("a"),), is_leaf_takes_path=True
    )
    assert by_path[0] == ((tree.DictKey("a"),), nodes["a"])
    assert tree.flatten_one_level_with_keys(nodes["c"])[0] == [
        (tree.GetAttrKey("part0"), 4),
        (tree.GetAttrKey("part1"), (5,)),
    ]


def test_the_functions_of_jax_tree() -> None:
    is_none = lambda x: x is None  # noqa: E731
    assert tree.leaves([1, None], is_leaf=is_none) == [1, None]
    assert tree.map(lambda x, y: (x, y), [1, 2], [None, [3, 4]]) == [(1, None), (2, [3, 4])]
    assert tree.reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]}) == 6
    assert tree.reduce(lambda a, b: [*a, b], (1, 2), []) == [1, 2]
    assert tree.reduce_associative(lambda a, b: f"({a}{b})", list("abcde")) == "(((ab)(cd))e)"
    assert tree.reduce_associative(max, [], identity=7) == 7
    assert tree.all([True, {"a": 1}]) and not tree.all([True, 0])
    outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": 0})
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert tree.transpose(outer, inner, rows) == {"a": [1, 3], "b": [2, 4]}
    assert tree.transpose(outer, None, rows) == {"a": [1, 3], "b": [2, 4]}
    assert tree.broadcast([1, 2], [{"a": 0, "b": 0}, (0,)]) == [{"a": 1, "b": 1}, (2,)]
    assert adze.tree_util.treedef_tuple([outer, inner]) == tree.structure(([0, 0], {"a": 0, "b": 0}))
    assert adze.tree_util.all_leaves([1, 2]) and not adze.tree_util.all_leaves([1, (2,)])
    assert tree.flatten_one_level({"a": 1, "b": (2,)})[0] == (1, (2,))
    with pytest.raises(ValueError, match="is a leaf of trees"):
        tree.flatten_one_level(3)


def test_partial_is_a_node() -> None:
    add = adze.tree_util.Partial(lambda x, y, z: x + 2 * y + 3 * z, 1, z=10)
    assert tree.leaves(add) == [1, 10] and tree.map(lambda x: x * 2, add)(0) == 62
    assert adze.jit(lambda f, x: f(x))(add, 5).item() == 41
    nested = adze.tree_util.Partial(functools.partial(pow, 2), 3)
    assert tree.leaves(nested) == [3] and nested() == 8
