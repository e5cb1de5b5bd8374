"""What scikit-learn's models are in ONNX (ai.onnx.ml): features, linear models, support vectors, trees.

Expected values are written down in NumPy, row by row; where ONNX says nothing (two classes by one score) they
are what onnxruntime 1.32 computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze.imports import ModelError, ModelUnsupportedError

from .models import FLOAT, INT64, graph, helper, info

ROWS = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)
NAN = float("nan")


def model(
    op: str, count: int = 3, outputs: str = "y", kind: int = FLOAT, version: int = 3, **attributes: Any
) -> Any:
    node = helper.make_node(op, ["x"], outputs.split(), domain="ai.onnx.ml", name="the_node", **attributes)
    g = graph([node], [info("x", ["n", count], kind)], [info(name, None) for name in outputs.split()])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(g, opset_imports=opsets)


def results(proto: Any, x: np.ndarray) -> list[np.ndarray]:
    """What a model computes, eagerly and compiled for rows of any number, which must agree."""
    f = adze.from_onnx(proto)
    eager = f(x)
    eager = list(eager) if isinstance(eager, tuple) else [eager]
    compiled = adze.jit(f).trace(adze.ShapeDtype(("n", x.shape[1]), x.dtype)).lower("cpu").compile()(x)
    compiled = list(compiled) if isinstance(compiled, tuple) else [compiled]
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    return [np.asarray(value) for value in eager]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


GAPS = np.where(ROWS > 0.5, np.float32(NAN), ROWS)
ZERO = np.where(ROWS[:, :1] > 0, ROWS, 0)
FEATURES: dict[str, tuple[Any, np.ndarray, Any]] = {
    "Scaler": (
        model("Scaler", offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, -1.0]),
        ROWS,
        (ROWS - [1, 2, 3]) * [0.5, 2, -1],
    ),
    "Scaler of one": (model("Scaler", offset=[1.0], scale=[2.0]), ROWS, (ROWS - 1) * 2),
    "L1": (model("Normalizer", norm="L1"), ROWS, ROWS / np.abs(ROWS).sum(1, keepdims=True)),
    "L2": (model("Normalizer", norm="L2"), ROWS, ROWS / np.sqrt((ROWS**2).sum(1, keepdims=True))),
    "zero rows": (
        model("Normalizer", norm="L2"),
        ZERO,
        ZERO / np.maximum(np.sqrt((ZERO**2).sum(1, keepdims=True)), 1e-30),
    ),
    "MAX": (model("Normalizer", norm="MAX"), np.abs(ROWS), np.abs(ROWS) / np.abs(ROWS).max(1, keepdims=True)),
    "Imputer": (
        model("Imputer", imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=NAN),
        GAPS,
        np.where(np.isnan(GAPS), [1, 2, 3], GAPS),
    ),
    "Imputer of integers": (
        model("Imputer", kind=INT64, imputed_value_int64s=[9], replaced_value_int64=-1),
        np.array([[1, -1, 2]]),
        [[1, 9, 2]],
    ),
    "OneHotEncoder": (
        model("OneHotEncoder", kind=INT64, cats_int64s=[4, 6]),
        np.array([[4, 6, 5]]),
        [[[1, 0], [0, 1], [0, 0]]],
    ),
    "LabelEncoder": (
        model(
            "LabelEncoder",
            kind=INT64,
            version=4,
            keys_int64s=[3, 5],
            values_floats=[0.5, 1.5],
            default_float=-2.0,
        ),
        np.array([[5, 3, 4]]),
        [[1.5, 0.5, -2]],
    ),
    "LabelEncoder of NaN": (
        model("LabelEncoder", version=4, keys_floats=[NAN, 1.0], values_int64s=[7, 8]),
        np.float32([[1, NAN, 2]]),
        [[8, 7, -1]],
    ),
    "FeatureVectorizer": (
        model("FeatureVectorizer", inputdimensions=[4]),
        ROWS,
        np.concatenate([ROWS, np.zeros((7, 1))], 1),
    ),
    "LinearRegressor": (
        model(
            "LinearRegressor", coefficients=[1.0, 2.0, 3.0, -1.0, 0.0, 1.0], intercepts=[0.5, 1.0], targets=2
        ),
        ROWS,
        ROWS @ np.array([[1, 2, 3], [-1, 0, 1]]).T + [0.5, 1],
    ),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str) -> None:
    proto, x, want = FEATURES[name]
    (got,) = results(proto, x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "applied"), [("NONE", lambda s: s), ("SOFTMAX", softmax), ("LOGISTIC", sigmoid)]
)
def test_linear_classifiers(kind: str, applied: Callable[[np.ndarray], np.ndarray]) -> None:
    w = np.random.default_rng(1).standard_normal((3, 3)).astype(np.float32)
    options = {"intercepts": [0.1, 0.2, 0.3], "classlabels_ints": [5, 6, 9], "post_transform": kind}
    labels, scores = results(
        model("LinearClassifier", outputs="l s", coefficients=w.ravel().tolist(), **options), ROWS
    )
    want = ROWS @ w.T + [0.1, 0.2, 0.3]
    np.testing.assert_allclose(scores, applied(want), rtol=1e-4, atol=1e-5)
    assert labels.dtype == np.int64
    assert labels.tolist() == np.array([5, 6, 9])[want.argmax(1)].tolist()


def test_two_classes_by_one_score() -> None:
    x = np.float32([[-2, 0, 0], [0, 0, 0], [0.3, 0, 0]])
    for kind, want in (
        ("NONE", [[3, -2], [1, 0], [0.7, 0.3]]),
        ("LOGISTIC", [[0.880797, 0.119203], [0.5, 0.5], [0.4255575, 0.5744425]]),
    ):
        options = {"intercepts": [0.0], "classlabels_ints": [5, 7], "post_transform": kind}
        labels, scores = results(
            model("LinearClassifier", outputs="l s", coefficients=[1.0, 0.0, 0.0], **options), x
        )
        assert labels.tolist() == [5, 5, 7]
        np.testing.assert_allclose(scores, want, rtol=1e-6)


KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "LINEAR": lambda x, v: x @ v,
    "POLY": lambda x, v: (0.5 * (x @ v) + 1) ** 3,
    "RBF": lambda x, v: np.exp(-0.5 * ((x - v) ** 2).sum()),
    "SIGMOID": lambda x, v: np.tanh(0.5 * (x @ v) + 1),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_support_vectors(kind: str) -> None:
    draws = np.random.default_rng(2)
    vectors, weights = draws.standard_normal((5, 3)), draws.standard_normal((2, 5))
    kernel = np.array([[KERNELS[kind](x, v) for v in vectors] for x in ROWS])
    options = {
        "support_vectors": vectors.ravel().tolist(),
        "kernel_type": kind,
        "kernel_params": [0.5, 1.0, 3.0],
    }
    regressor = {"coefficients": weights[0].tolist(), "rho": [0.25], "n_supports": 5}
    (got,) = results(model("SVMRegressor", **regressor, **options), ROWS)
    np.testing.assert_allclose(got[:, 0], kernel @ weights[0] + 0.25, rtol=1e-4, atol=1e-5)
    (got,) = results(model("SVMRegressor", **regressor, **options, one_class=1), ROWS)
    assert got[:, 0].tolist() == np.where(kernel @ weights[0] + 0.25 > 0, 1, -1).tolist()
    each, rho = [2, 1, 2], [0.1, -0.2, 0.3]
    classes = {"coefficients": weights.ravel().tolist(), "rho": rho, "vectors_per_class": each}
    labels, scores = results(
        model("SVMClassifier", outputs="l s", classlabels_ints=[3, 4, 8], **classes, **options), ROWS
    )
    parts = [slice(0, 2), slice(2, 3), slice(3, 5)]
    want, votes = np.zeros((7, 3)), np.zeros((7, 3))
    for number, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        s = kernel[:, parts[i]] @ weights[j - 1, parts[i]] + kernel[:, parts[j]] @ weights[i, parts[j]]
        want[:, number] = s + rho[number]
        votes[want[:, number] > 0, i] += 1
        votes[want[:, number] <= 0, j] += 1
    np.testing.assert_allclose(scores, want, rtol=1e-4, atol=1e-5)
    assert labels.tolist() == np.array([3, 4, 8])[votes.argmax(1)].tolist()


def forest(seed: int, trees: int, depth: int, modes: list[str]) -> dict[str, list[Any]]:
    """Nodes of trees of random shape; a node's number is its place in a heap, and others are between."""
    draws, nodes = np.random.default_rng(seed), []
    for tree in range(trees):
        open_nodes = [(1, 0)]
        while open_nodes:
            number, level = open_nodes.pop(0)
            is_leaf = level == depth or (level > 0 and draws.random() < 0.3)
            mode = "LEAF" if is_leaf else str(draws.choice(modes))
            value = float(np.float32(round(draws.standard_normal(), 1)))
            nodes.append((tree, number, mode, int(draws.integers(3)), value, int(draws.integers(2))))
            open_nodes += [] if is_leaf else [(2 * number, level + 1), (2 * number + 1, level + 1)]
    draws.shuffle(nodes)
    first = {tree: next(n for n in nodes if n[0] == tree and n[1] == 1) for tree in range(trees)}
    nodes = [*first.values(), *(n for n in nodes if n[1] != 1)]
    names = ("treeids", "nodeids", "modes", "featureids", "values", "missing_value_tracks_true")
    columns = {
        f"nodes_{name}": list(column) for name, column in zip(names, zip(*nodes, strict=True), strict=True)
    }
    for side, more in (("true", 0), ("false", 1)):
        columns[f"nodes_{side}nodeids"] = [0 if n[2] == "LEAF" else 2 * n[1] + more for n in nodes]
    return columns


def leaf(columns: dict[str, list[Any]], tree: int, x: np.ndarray) -> int:
    """The number of the leaf that a row reaches."""
    place, number = (
        {
            (t, n): i
            for i, (t, n) in enumerate(zip(columns["nodes_treeids"], columns["nodes_nodeids"], strict=True))
        },
        1,
    )
    compare = {"LEQ": np.less_equal, "LT": np.less, "GTE": np.greater_equal, "GT": np.greater}
    compare |= {"EQ": np.equal, "NEQ": np.not_equal}
    while True:
        at = place[tree, number]
        if columns["nodes_modes"][at] == "LEAF":
            return number
        value, split = x[columns["nodes_featureids"][at]], np.float32(columns["nodes_values"][at])
        goes = compare[columns["nodes_modes"][at].partition("_")[2]](value, split)
        goes = goes or (np.isnan(value) and columns["nodes_missing_value_tracks_true"][at])
        number = columns[f"nodes_{'true' if goes else 'false'}nodeids"][at]


ALL = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("modes", [ALL[:1], ALL], ids=len)
def test_trees_that_regress(how: str, modes: list[str]) -> None:
    """Two targets, of which some leaves have one or none."""
    columns = forest(3, 4, 5, modes)
    draws = np.random.default_rng(4)
    leaves = [
        (t, n)
        for t, n, m in zip(
            columns["nodes_treeids"], columns["nodes_nodeids"], columns["nodes_modes"], strict=True
        )
        if m == "LEAF"
    ]
    votes = [
        (t, n, k, float(np.float32(draws.standard_normal())))
        for t, n in leaves
        for k in (0, 1)
        if draws.random() < 0.8
    ]
    of_targets = {
        f"target_{n}": list(c)
        for n, c in zip(("treeids", "nodeids", "ids", "weights"), zip(*votes, strict=True), strict=True)
    }
    x = np.round(np.random.default_rng(5).standard_normal((40, 3)), 1).astype(np.float32)
    x[::7, 1] = NAN
    options = {"n_targets": 2, "aggregate_function": how, "base_values": [0.5, -1.0]}
    (got,) = results(model("TreeEnsembleRegressor", **columns, **of_targets, **options), x)
    want = np.zeros((40, 2))
    for row in range(40):
        for target in range(2):
            reached = [(t, leaf(columns, t, x[row]), target) for t in range(4)]
            found = [w for t, n, k, w in votes if (t, n, k) in reached]
            total = (
                {"SUM": sum, "AVERAGE": lambda f: sum(f) / 4, "MIN": min, "MAX": max}[how](found)
                if found
                else 0
            )
            want[row, target] = total + [0.5, -1.0][target]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def stump(ids: list[int], weights: list[float], **options: Any) -> Any:
    """One split of the first feature at 0."""
    nodes = {"treeids": [0] * 3, "nodeids": [0, 1, 2], "featureids": [0] * 3, "values": [0.0] * 3}
    nodes |= {"truenodeids": [1, 0, 0], "falsenodeids": [2, 0, 0], "modes": ["BRANCH_LEQ", "LEAF", "LEAF"]}
    places = [n for n in (1, 2) for _ in range(len(ids) // 2)]
    votes = {
        "class_treeids": [0] * len(ids),
        "class_nodeids": places,
        "class_ids": ids,
        "class_weights": weights,
    }
    attributes = {f"nodes_{name}": value for name, value in nodes.items()} | votes | options
    return model("TreeEnsembleClassifier", outputs="l s", **attributes)


def test_trees_that_classify() -> None:
    """What onnxruntime computes, and the largest score where there are several."""
    x = np.float32([[-1, 0, 0], [1, 0, 0]])
    three = stump([0, 1, 2] * 2, [0.2, 0.3, 0.5, 0.6, 0.3, 0.1], classlabels_int64s=[4, 5, 9])
    labels, scores = results(three, x)
    assert labels.tolist() == [9, 4]
    np.testing.assert_allclose(scores, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    for ids, weights, kind, want in (
        ([0, 0], [-1.0, 0.4], "NONE", [[1, -1], [-0.4, 0.4]]),
        ([0, 0], [-1.0, 0.4], "LOGISTIC", [[0.7310586, 0.2689414], [0.4013123, 0.5986877]]),
        ([0, 0], [0.2, 0.9], "NONE", [[0.8, 0.2], [0.1, 0.9]]),
        ([1, 1], [0.2, 0.9], "NONE", [[0, 0.2], [0, 0.9]]),
        ([1, 1], [-1.0, 0.4], "LOGISTIC", [[0.5, 0.2689414], [0.5, 0.5986877]]),
    ):
        labels, scores = results(stump(ids, weights, classlabels_int64s=[5, 7], post_transform=kind), x)
        assert labels.tolist() == [5, 7]
        np.testing.assert_allclose(scores, want, rtol=1e-6)


def test_what_is_wrong_with_a_model_names_its_node() -> None:
    columns = forest(3, 1, 2, ALL[:1])
    votes = {"target_treeids": [0], "target_nodeids": [1], "target_ids": [0], "target_weights": [1.0]}
    branch = columns["nodes_modes"].index("BRANCH_LEQ")
    circle = {**columns, "nodes_truenodeids": [1] * len(columns["nodes_modes"])}
    nowhere = {**columns, "nodes_falsenodeids": [99] * len(columns["nodes_modes"])}
    far = {
        **columns,
        "nodes_featureids": [3 if i == branch else 0 for i in range(len(columns["nodes_modes"]))],
    }
    for proto, text in (
        (model("TreeEnsembleRegressor", **circle, **votes), "reached twice"),
        (model("TreeEnsembleRegressor", **nowhere, **votes), "names a node that its tree has not"),
        (model("TreeEnsembleRegressor", **far, **votes), "splits features"),
        (model("TreeEnsembleRegressor", **columns, **{**votes, "target_ids": [1]}), "which are not there"),
        (model("TreeEnsembleRegressor", **columns, **votes, n_targets=2**40), "which no model needs"),
        (model("LinearRegressor", coefficients=[1.0, 2.0]), "2 coefficients for 3 features"),
        (model("Scaler", offset=[1.0, 2.0], scale=[1.0]), "expected 1 or 3"),
        (model("OneHotEncoder", kind=INT64, cats_int64s=[1], zeros=0), "does not know"),
        (
            model("SVMClassifier", outputs="l s", vectors_per_class=[1, 1], classlabels_ints=[0, 1]),
            "do not fit",
        ),
    ):
        with pytest.raises(ModelError, match=text) as raised:
            f = adze.from_onnx(proto)
            f(np.zeros((2, 3), f.specs["x"].dtype))
        assert "the_node" in str(raised.value)
    for proto in (
        model("OneHotEncoder", cats_strings=["a"]),
        model("LinearClassifier", outputs="l s", coefficients=[1.0] * 6, classlabels_strings=["a", "b"]),
    ):
        with pytest.raises(ModelUnsupportedError, match="adze has no strings"):
            adze.from_onnx(proto)(ROWS)


def test_a_pipeline_has_a_gradient_in_its_input() -> None:
    """The gradient of a linear regression behind a scaler."""
    nodes = [
        helper.make_node("Scaler", ["x"], ["h"], domain="ai.onnx.ml", offset=[1.0], scale=[2.0]),
        helper.make_node("LinearRegressor", ["h"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0, 3.0]),
    ]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    proto = helper.make_model(graph(nodes, [info("x", ["n", 3])], [info("y", None)]), opset_imports=opsets)
    f = adze.from_onnx(proto)
    gradient = adze.grad(lambda x: f(x).sum())(ROWS)
    np.testing.assert_allclose(gradient, np.broadcast_to([2, 4, 6], (7, 3)))
