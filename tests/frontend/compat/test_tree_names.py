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


@pytest.mark.parametrize("library", [jax, ajax], ids=["jax", "adze"])
def test_an_array_of_keys_is_a_leaf(library: Any) -> None:
    keys = library.random.split(library.random.key(0), 5)
    tree = {"keys": keys, "x": library.numpy.ones(2)}
    trees, util = library.tree, library.tree_util
    assert str(trees.structure(tree)) == "PyTreeDef({'keys': *, 'x': *})"
    assert trees.leaves(tree)[0] is keys and trees.flatten(tree)[0][0] is keys
    assert trees.map(lambda x: x.shape, tree) == {"keys": (5,), "x": (2,)}
    assert trees.map(library.numpy.shape, tree) == trees.map(np.shape, tree)
    assert trees.map(lambda x: isinstance(x, library.Array), tree) == {"keys": True, "x": True}
    assert trees.reduce(lambda n, x: n + x.size, tree, 0) == 7
    assert trees.reduce_associative(lambda n, m: n + m, trees.map(np.ndim, tree)) == 2
    assert trees.all(trees.map(lambda x: x.ndim == 1, tree)) and trees.all(tree, is_leaf=lambda x: True)
    assert [util.keystr(path) for path, _ in trees.leaves_with_path(tree)] == ["['keys']", "['x']"]
    by_path = trees.map_with_path(lambda path, x: (len(path), x.ndim), tree)
    assert by_path == {"keys": (1, 1), "x": (1, 1)}
    chosen = trees.map_with_path(
        lambda path, x: len(path), [tree], is_leaf=lambda path, x: len(path) == 1, is_leaf_takes_path=True
    )
    assert chosen == [1]
    assert trees.broadcast({"a": 1}, {"a": tree}) == {"a": {"keys": 1, "x": 1}}
    assert util.all_leaves([keys, 1]) and util.tree_leaves(keys) == [keys]
    specs = trees.map(lambda x: library.ShapeDtypeStruct(x.shape, x.dtype), tree)
    drawn = library.eval_shape(lambda t: library.random.normal(t["keys"][0], t["x"].shape), specs)
    assert (drawn.shape, drawn.dtype) == ((2,), np.float32)
    assert specs["keys"].shape == (5,) and specs["keys"].dtype == keys.dtype
    axes = trees.map(lambda x: 0, tree)
    drawn = library.vmap(lambda t: library.random.normal(t["keys"]), in_axes=(axes,))(
        {"keys": keys, "x": np.ones(5)}
    )
    assert drawn.shape == (5,)
    assert library.jit(lambda k: isinstance(k, library.core.Tracer))(keys)


def test_an_array_of_keys_has_no_children() -> None:
    with pytest.raises(ValueError, match="an array of keys is a leaf of trees, it has no children"):
        tree_util.flatten_one_level(ajax.random.key(0))
    assert not tree_util.is_tree_node(type(ajax.random.key(0)))


def test_jaxprs_take_arrays_of_keys_as_their_words() -> None:
    tree = {"key": ajax.random.key(0), "x": 1.0}
    draw = lambda t: ajax.random.normal(t["key"]) + t["x"]  # noqa: E731
    jaxpr = ajax.make_jaxpr(draw)(tree)
    (found,) = ajax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *ajax.tree.leaves(tree))
    assert found.item() == draw(tree).item()


@pytest.mark.parametrize("library", [jax, ajax], ids=["jax", "adze"])
def test_a_rule_may_return_zeros_for_an_array_of_keys(library: Any) -> None:
    key, normal = library.random.key(0), library.random.normal
    scaled = library.custom_vjp(lambda key, x: normal(key) * x)
    zeros = lambda key: np.zeros(key.shape, library.dtypes.float0)  # noqa: E731
    scaled.defvjp(
        lambda key, x: (normal(key) * x, key),
        lambda key, ct: (library.tree.map(zeros, key), normal(key) * ct),
    )
    np.testing.assert_allclose(library.grad(scaled, 1)(key, 2.0), normal(key), rtol=1e-5)
    keys = library.random.split(key, 3)
    gradient = library.grad(lambda t: normal(t["keys"][0]) * t["x"], allow_int=True)({"keys": keys, "x": 2.0})
    assert gradient["keys"].shape == (3,) and gradient["keys"].dtype == library.dtypes.float0
