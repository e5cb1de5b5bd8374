"""Ensembles of decision trees of ai.onnx.ml: all rows go down all trees together, one level a step.

Input: nodes as lists, one for each of their properties. Output: the votes of the leaves, added up.
Idea: the node of each row and tree is an index; a leaf is its own child, so that after as many steps as the
deepest tree has levels all are at leaves (Hummingbird: Nakandala et al. 2020, a tensor compiler for unified
machine learning prediction serving, "tree traversal").
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .....dialects.dataclass import dataclass
from ....control.while_loops import fori_loop
from ....library import numpy as xp
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call, computed_here
from .features import features_of, labels_of, transform, transformed

MODES: Final = (
    *("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"),
    "BRANCH_MEMBER",
)
MEMBER: Final = MODES.index("BRANCH_MEMBER")
LEAF: Final = len(MODES)
AGGREGATES: Final = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS: Final = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


COMPARE: Final = (xp.less_equal, xp.less, xp.greater_equal, xp.greater, xp.equal, xp.not_equal)


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees: `modes` are indices of `MODES`, children of leaves the leaves themselves.

    `members`: the set that each node looks its feature up in, filled with NaN.
    """

    roots: np.ndarray
    features: np.ndarray
    values: np.ndarray
    modes: np.ndarray
    when_true: np.ndarray
    when_false: np.ndarray
    missing_is_true: np.ndarray
    members: np.ndarray | None = None

    def depth(self) -> int:
        """The levels of branches; a node that is reached twice is no tree."""
        level, levels, seen = self.roots, 0, 0
        while True:
            branches = level[self.modes[level] != LEAF]
            seen += branches.size
            if seen > self.modes.size:
                raise ModelError("its nodes are no trees: some are reached twice")
            if not branches.size:
                return levels
            level, levels = np.concatenate([self.when_true[branches], self.when_false[branches]]), levels + 1

    def leaves(self, x: Any) -> Any:
        """The leaf `[n, trees]` that each row of `x` reaches in each tree."""
        if self.features.size and not 0 <= self.features.min() <= self.features.max() < features_of(x):
            raise ModelError(f"it splits features that its input of {features_of(x)} features has not")
        start = xp.broadcast_to(xp.asarray(self.roots), (x.shape[0], self.roots.size))
        kinds = sorted({int(mode) for mode in self.modes} - {LEAF})

        def compare(kind: int, at: Any, value: Any, split: Any) -> Any:
            if kind == MEMBER:
                return xp.any(value[..., None] == xp.take(self.members, at, axis=0), axis=-1)
            return COMPARE[kind](value, split)

        def step(_: Any, at: Any) -> Any:
            value = xp.take_along_axis(x, xp.take(self.features, at), axis=1)
            split = xp.take(self.values, at)
            goes = compare(kinds[0], at, value, split)
            for kind in kinds[1:]:
                goes = xp.where(xp.take(self.modes, at) == kind, compare(kind, at, value, split), goes)
            if self.missing_is_true.any():
                goes = goes | (xp.isnan(value) & xp.take(self.missing_is_true, at))
            return xp.where(goes, xp.take(self.when_true, at), xp.take(self.when_false, at))

        depth = self.depth()
        return fori_loop(0, depth, step, start) if depth else start


def _column(call: Call, name: str, count: int, dtype: Any) -> np.ndarray:
    """A property of each node: an attribute of numbers, or of a tensor where those are doubles."""
    values = call.get(f"{name}_as_tensor")
    values = np.asarray(call.get(name, ()) if values is None else values)
    if values.size == 0 and name == "nodes_missing_value_tracks_true":
        values = np.zeros(count, bool)
    if values.size != count:
        raise ModelError(f"the attribute {name!r} has {values.size} elements, expected {count}")
    is_double = isinstance(call.get(f"{name}_as_tensor"), np.ndarray) and values.dtype == np.float64
    return values.reshape(-1).astype(np.float64 if is_double else dtype)


def _forest(call: Call) -> tuple[Forest, dict[tuple[int, int], int]]:
    """The nodes of a classifier or regressor, and their places by tree and number."""
    trees = call.ints("nodes_treeids", ())
    count = len(trees)
    numbers = _column(call, "nodes_nodeids", count, np.int64)
    places = {(tree, int(node)): place for place, (tree, node) in enumerate(zip(trees, numbers, strict=True))}
    if not count or len(places) != count:
        raise ModelError("it has no nodes, or two with one number")
    texts = [mode.decode("utf-8", "replace") for mode in call.get("nodes_modes", ())]
    if len(texts) != count or not set(texts) <= {*MODES[:MEMBER], "LEAF"}:
        raise ModelUnsupportedError(f"the attribute 'nodes_modes' has {sorted(set(texts))}")
    modes = np.array([LEAF if text == "LEAF" else MODES.index(text) for text in texts])
    own = np.arange(count)

    def children(name: str) -> np.ndarray:
        named = _column(call, name, count, np.int64)
        found = [p if modes[p] == LEAF else places.get((trees[p], int(named[p])), -1) for p in own]
        if -1 in found:
            raise ModelError(f"the attribute {name!r} names a node that its tree has not")
        return np.array(found)

    first = {tree: place for place, tree in reversed(list(enumerate(trees)))}
    forest = Forest(
        np.array(sorted(first.values())),
        np.where(modes == LEAF, 0, _column(call, "nodes_featureids", count, np.int64)),
        _column(call, "nodes_values", count, np.float32),
        modes,
        children("nodes_truenodeids"),
        children("nodes_falsenodeids"),
        _column(call, "nodes_missing_value_tracks_true", count, bool),
    )
    return forest, places


def _votes(
    call: Call, places: dict[tuple[int, int], int], kind: str, columns: int, empty: float
) -> np.ndarray:
    """What each node adds to each target `[nodes, columns]`; `empty` where it says nothing."""
    trees = call.ints(f"{kind}_treeids", ())
    numbers, ids = (_column(call, f"{kind}_{n}", len(trees), np.int64) for n in ("nodeids", "ids"))
    weights = _column(call, f"{kind}_weights", len(trees), np.float32)
    computed_here((len(places), columns), "the table of the leaves' votes")
    table = np.full((len(places), columns), empty, np.float32)
    for tree, number, column, weight in zip(trees, numbers, ids, weights, strict=True):
        place = places.get((tree, int(number)))
        if place is None or not 0 <= column < columns:
            raise ModelError(
                f"it has a vote of node {number} of tree {tree} for {column}, which are not there"
            )
        table[place, column] = weight if table[place, column] == empty else table[place, column] + weight
    return table


def _base(call: Call, columns: int) -> np.ndarray:
    values = call.get("base_values_as_tensor")
    base = np.asarray(call.get("base_values", ()) if values is None else values, np.float32).reshape(-1)
    if base.size not in (0, 1, columns):
        raise ModelError(f"the attribute 'base_values' has {base.size} elements, expected {columns}")
    return base if base.size else np.zeros(1, np.float32)


def _rows(x: Any) -> Any:
    x = x if x.ndim > 1 else x[None]
    return x if x.dtype == np.float64 else xp.astype(x, np.float32)


def _empty(how: str) -> float:
    """What a target has that a leaf says nothing about."""
    return {"MIN": np.inf, "MAX": -np.inf}.get(how, 0.0)


def _aggregate(how: str, votes: Any, trees: int) -> Any:
    """The votes `[n, trees, targets]` of all trees as one."""
    match how:
        case "SUM":
            return xp.sum(votes, axis=1)
        case "AVERAGE":
            return xp.sum(votes, axis=1) / trees
    total = xp.min(votes, axis=1) if how == "MIN" else xp.max(votes, axis=1)
    return xp.where(total == _empty(how), 0, total)


def regressor(call: Call, x: Any) -> Any:
    forest, places = _forest(call)
    targets = call.integer("n_targets", 1)
    how = call.choice("aggregate_function", "SUM", AGGREGATES)
    table = _votes(call, places, "target", targets, _empty(how))
    votes = xp.take(table, forest.leaves(_rows(x)), axis=0)
    return transformed(call, _aggregate(how, votes, forest.roots.size) + _base(call, targets))


def classifier(call: Call, x: Any) -> tuple[Any, Any]:
    """The label of the largest score, and the scores; of two classes one alone may have votes."""
    labels = labels_of(call, "classlabels_int64s", "classlabels_strings")
    forest, places = _forest(call)
    voted = {*call.ints("class_ids", ())}
    votes = _votes(call, places, "class", max(labels.size, 1), 0.0)
    scores = xp.sum(xp.take(votes, forest.leaves(_rows(x)), axis=0), axis=1)
    if labels.size != 2 or len(voted) != 1:
        scores = scores + _base(call, labels.size)
        return xp.take(labels, xp.argmax(scores, axis=1)), transformed(call, scores)
    are_shares = votes.min() >= 0
    (column,) = voted
    score = scores[:, column : column + 1] + _base(call, 1)
    best = xp.astype(score[:, 0] > (0.5 if are_shares else 0), np.int64)
    if column == 1:
        return xp.take(labels, best), transformed(call, xp.concatenate([xp.zeros_like(score), score], axis=1))
    if are_shares:
        return xp.take(labels, best), xp.concatenate([1 - score, score], axis=1)
    kind = call.text("post_transform", "NONE")
    return xp.take(labels, best), transform(kind, xp.concatenate([-score, score], axis=1))


def ensemble(call: Call, x: Any) -> Any:
    """TreeEnsemble of version 5, whose leaves are a list of their own."""
    modes = np.asarray(call.get("nodes_modes"), np.int64).reshape(-1)
    ids, weights = call.ints("leaf_targetids"), np.asarray(call.get("leaf_weights")).reshape(-1)
    nodes, leaves, targets = modes.size, len(ids), call.integer("n_targets", 1)
    if not nodes or weights.size != leaves or not set(modes.tolist()) <= {*range(LEAF)}:
        raise ModelError(f"it has {nodes} nodes, {leaves} leaves and {weights.size} weights")
    if not all(0 <= t < targets for t in ids):
        raise ModelError(f"a leaf votes for a target of {targets} that is not there")

    def children(side: str) -> np.ndarray:
        number = _column(call, f"nodes_{side}nodeids", nodes, np.int64)
        is_leaf = _column(call, f"nodes_{side}leafs", nodes, bool)
        if ((number < 0) | (number >= np.where(is_leaf, leaves, nodes))).any():
            raise ModelError(f"the attribute 'nodes_{side}nodeids' names a node that is not there")
        return np.concatenate([number + nodes * is_leaf, nodes + np.arange(leaves)])

    def all_nodes(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.zeros(leaves, values.dtype)])

    roots = np.asarray(call.ints("tree_roots"))
    if not roots.size or roots.min() < 0 or roots.max() >= nodes:
        raise ModelError("the attribute 'tree_roots' names a node that is not there")
    forest = Forest(
        roots,
        all_nodes(_column(call, "nodes_featureids", nodes, np.int64)),
        all_nodes(np.asarray(call.get("nodes_splits")).reshape(-1)),
        np.concatenate([modes, np.full(leaves, LEAF)]),
        children("true"),
        children("false"),
        all_nodes(_column(call, "nodes_missing_value_tracks_true", nodes, bool)),
        _members(call, modes, leaves),
    )
    how = AGGREGATES[call.integer("aggregate_function", 1)]
    computed_here((nodes + leaves, targets), "the table of the leaves' votes")
    table = np.full((nodes + leaves, targets), _empty(how), weights.dtype)
    table[nodes + np.arange(leaves), list(ids)] = weights
    total = _aggregate(how, xp.take(table, forest.leaves(x), axis=0), roots.size)
    return transform(TRANSFORMS[call.integer("post_transform", 0)], total)


def _members(call: Call, modes: np.ndarray, leaves: int) -> np.ndarray | None:
    """The set of each node: those that look something up have one each, with NaN behind it."""
    values = call.get("membership_values")
    if values is None and MEMBER not in modes:
        return None
    values = np.asarray(() if values is None else values, float).reshape(-1)
    sets = [part[~np.isnan(part)] for part in np.split(values, np.flatnonzero(np.isnan(values)) + 1)]
    places = np.flatnonzero(modes == MEMBER)
    longest = max((part.size for part in sets), default=0)
    if len(sets) < places.size:
        raise ModelError(f"it has {len(sets)} sets for {places.size} nodes that look one up")
    computed_here((modes.size + leaves, longest), "the table of the nodes' sets")
    table = np.full((modes.size + leaves, longest), np.nan, values.dtype)
    for place, part in zip(places, sets, strict=False):
        table[place, : part.size] = part
    return table
