"""Structures of trees in programs written for JAX: they are equal, and print, as JAX's."""

from __future__ import annotations

import pickle
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import jax
import numpy as np
import pytest

import adze.compat.jax as ajax
from adze.compat.jax import tree_util

Point = namedtuple("Point", ["x", "y"])


class Special:
    def __init__(self, x: Any) -> None:
        self.x = x


TREES = [
    1,
    None,
    [],
    (),
    [1, (2, [3])],
    (1,),
    {"b": 1, "a": (2, None)},
    Point(1, [2]),
    OrderedDict(b=1, a=2),
    Special(3),
    [Special((1, Point(1, 2)))],
]


@pytest.fixture(scope="module", autouse=True)
def special() -> None:
    for library in (jax, ajax):
        returned = library.tree_util.register_pytree_node(
            Special, lambda s: ((s.x,), "static"), lambda _, children: Special(*children)
        )
        assert returned is None


@pytest.mark.parametrize("tree", TREES, ids=[f"tree{n}" for n in range(len(TREES))])
def test_a_structure_is_what_jax_shows(tree: Any) -> None:
    own, known = ajax.tree.structure(tree), jax.tree.structure(tree)
    assert repr(own) == repr(known)
    assert own.node_data() == known.node_data()
    assert (own.num_leaves, own.num_nodes) == (known.num_leaves, known.num_nodes)
    assert [repr(c) for c in own.children()] == [repr(c) for c in known.children()]
    assert own == tree_util.tree_flatten(tree)[1] and hash(own) == hash(tree_util.tree_structure(tree))
    assert own != ajax.tree.structure([tree]) and own != "a"
    assert isinstance(own, tree_util.PyTreeDef)


def test_structures_are_taken_where_they_are_given() -> None:
    tree = {"a": [1, 2], "b": 3}
    leaves, treedef = ajax.tree.flatten(tree)
    assert ajax.tree.unflatten(treedef, leaves) == tree == treedef.unflatten(leaves)
    pairs, with_paths = tree_util.tree_flatten_with_path(tree)
    assert with_paths == treedef and [leaf for _, leaf in pairs] == leaves
    assert treedef.flatten_up_to({"a": ["x", "y"], "b": [4]}) == ["x", "y", [4]]
    assert (
        repr(treedef.compose(ajax.tree.structure((1, 2))))
        == "PyTreeDef({'a': [(*, *), (*, *)], 'b': (*, *)})"
    )
    both = tree_util.treedef_tuple([treedef, ajax.tree.structure(0)])
    assert tree_util.treedef_children(both) == [treedef, ajax.tree.structure(0)]
    assert tree_util.treedef_is_leaf(tree_util.treedef_children(both)[1])
    outer, inner = ajax.tree.structure([0, 0]), ajax.tree.structure((0, 0))
    assert ajax.tree.transpose(outer, inner, [(1, 2), (3, 4)]) == ([1, 3], [2, 4])
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    lowered = ajax.jit(lambda x: x).lower(tree)
    assert lowered.out_tree == treedef and treedef == lowered.out_tree


def test_an_array_of_keys_is_a_leaf_where_another_tree_has_a_leaf() -> None:
    keys = {"a": ajax.random.key(0), "b": ajax.random.key(1)}
    shapes = {"a": ajax.ShapeDtypeStruct((2,), np.float32), "b": ajax.ShapeDtypeStruct((), np.float32)}
    drawn = ajax.tree.map(lambda key, spec: ajax.random.normal(key, spec.shape), keys, shapes)
    assert drawn["a"].tolist() == ajax.random.normal(keys["a"], (2,)).tolist() and drawn["b"].shape == ()
    folded = ajax.tree.map(ajax.random.fold_in, keys, {"a": 1, "b": 2})
    assert folded["b"].dtype == keys["b"].dtype and ajax.tree.structure(folded) == ajax.tree.structure(keys)
    same = ajax.tree.map(lambda x, y: (x == y).all(), keys, keys)
    assert ajax.tree.all(same)
    with pytest.raises(ValueError, match="trees differ in structure"):
        ajax.tree.map(lambda x, y: x, keys, {"a": 1})


def test_the_structure_of_a_defaultdict_is_written_as_jax_writes_it() -> None:
    kept: Any = defaultdict(int, {"q": 1, "a": (2, None)})
    ours, theirs = ajax.tree.structure(kept), jax.tree.structure(kept)
    assert str(ours) == str(theirs) and ours.node_data() == theirs.node_data()


def test_vectorized_functions_take_arrays_of_keys() -> None:
    keys = ajax.random.split(ajax.random.key(0), (3, 1))
    draw = ajax.numpy.vectorize(lambda key, mean: ajax.random.normal(key) + mean, signature="(),()->()")
    drawn = draw(keys, np.float32([[0, 10]]))
    wanted = ajax.random.normal(keys[1, 0]) + np.float32([0, 10])
    assert drawn.shape == (3, 2)
    np.testing.assert_allclose(drawn[1], wanted, rtol=1e-6)
