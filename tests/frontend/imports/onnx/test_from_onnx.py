"""`adze.from_onnx`: a function like any other; weights as parameters, control flow, named dimensions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import adze
import adze.numpy as xp

from .models import BOOL, INT64, graph, helper, info, mlp, model, onnx, weight

X = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)


def of(f: Any, x: np.ndarray = X) -> float:
    w, b = f.parameters["dense.w"], f.parameters["dense.b"]
    return float(np.maximum(x @ np.asarray(w) + np.asarray(b), 0).mean())


def test_weights_are_parameters_or_constants() -> None:
    f, constant = adze.from_onnx(mlp()), adze.from_onnx(mlp(), trainable=False)
    assert sorted(f.parameters) == ["dense.b", "dense.w"] and constant.parameters == {}
    for each in (f, constant):
        np.testing.assert_allclose(float(each(X)), of(f), rtol=1e-6)
        np.testing.assert_allclose(float(each(x=X)), of(f), rtol=1e-6)
    assert str(f.specs["x"]) == "f32[n,4]"
    doubled = {name: 2 * value for name, value in f.parameters.items()}
    np.testing.assert_allclose(float(f.apply(doubled, X)), 2 * of(f), rtol=1e-6)


def test_it_is_differentiated_and_batched() -> None:
    f = adze.from_onnx(mlp())
    gradient = adze.grad(lambda p: f.apply(p, X))(f.parameters)
    w, b = np.asarray(f.parameters["dense.w"]), np.asarray(f.parameters["dense.b"])
    share = (X @ w + b > 0) / np.float32(15)
    np.testing.assert_allclose(np.asarray(gradient["dense.w"]), X.T @ share, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(gradient["dense.b"]), share.sum(0), rtol=1e-5)
    batch = np.stack([X, -X])
    np.testing.assert_allclose(np.asarray(adze.vmap(f)(batch)), [of(f, X), of(f, -X)], rtol=1e-5)


def control_flow() -> Any:
    """If, Loop and Scan that depend on the input, on shapes that the model computes."""
    total = helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0)
    test = helper.make_node("Greater", ["s", "zero"], ["p"])
    branches = {
        "then_branch": graph([helper.make_node("Neg", ["x"], ["a"])], [], [info("a", None)]),
        "else_branch": graph([helper.make_node("Exp", ["x"], ["a"])], [], [info("a", None)]),
    }
    choice = helper.make_node("If", ["p"], ["c"], **branches)
    halved = [
        helper.make_node("Mul", ["v", "half"], ["w"]),
        helper.make_node("ReduceSum", ["w"], ["t"], keepdims=0),
        helper.make_node("Greater", ["t", "one"], ["again"]),
    ]
    body = graph(
        halved,
        [info("i", [], INT64), info("go", [], BOOL), info("v", None)],
        [info("again", [], BOOL), info("w", None)],
    )
    loop = helper.make_node("Loop", ["", "true", "x2"], ["l"], body=body)
    step = graph(
        [
            helper.make_node("Add", ["carry", "row"], ["next"]),
            helper.make_node("Identity", ["next"], ["seen"]),
        ],
        [info("carry", None), info("row", None)],
        [info("next", None), info("seen", None)],
    )
    scan = helper.make_node("Scan", ["start", "x"], ["last", "all"], body=step, num_scan_inputs=1)
    shape = [
        helper.make_node("Shape", ["x"], ["sh"]),
        helper.make_node("Gather", ["sh", "index"], ["rows"]),
        helper.make_node("Mul", ["rows", "four"], ["size"]),
        helper.make_node("Reshape", ["all", "size"], ["flat"]),
    ]
    square = helper.make_node("Mul", ["x", "x"], ["x2"])
    weights = [weight(n, np.float32(v)) for n, v in (("zero", 0), ("half", 0.5), ("one", 1))]
    weights += [weight("true", np.bool_(True)), weight("start", np.zeros(4, np.float32))]
    weights += [weight("index", np.int64([0])), weight("four", np.int64([4]))]
    outputs = [info(n, None) for n in ("c", "l", "last", "flat")]
    return model([total, test, choice, square, loop, scan, *shape], [info("x", ["n", 4])], outputs, weights)


def expected(x: np.ndarray) -> list[np.ndarray]:
    v = x * x * np.float32(0.5)
    while v.sum() > 1:
        v = v * np.float32(0.5)
    rows = np.cumsum(x, axis=0)
    return [-x if x.sum() > 0 else np.exp(x), v, rows[-1], rows.reshape(-1)]


def test_control_flow_compiled_with_a_named_dimension() -> None:
    """One program for all sizes: branches and loops are its own, and a shape is computed from the batch."""
    f = adze.from_onnx(control_flow())
    compiled = adze.jit(f).trace(*f.specs.values()).lower("cpu").compile()
    for x in (X, -abs(X), X[:2], abs(X)):
        for result, eager, want in zip(compiled(x), f(x), expected(x), strict=True):
            np.testing.assert_allclose(np.asarray(eager), want, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(np.asarray(result), want, rtol=1e-5, atol=1e-6)


def test_functions_of_the_model_with_attributes() -> None:
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    reference = onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    node.attribute.append(reference)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "Leak", ["a"], ["b"], [node], opsets, attributes=["slope"])
    main = graph(
        [helper.make_node("Leak", ["x"], ["y"], domain="own", slope=0.5)], [info("x", [2])], [info("y", [2])]
    )
    f = adze.from_onnx(helper.make_model(main, functions=[function], opset_imports=opsets))
    assert np.asarray(f(np.float32([-2, 2]))).tolist() == [-1.0, 2.0]


def test_functions_of_the_standard_are_expanded() -> None:
    node = helper.make_node("SoftmaxCrossEntropyLoss", ["x", "labels"], ["y"])
    inputs = [info("x", [2, 3]), info("labels", [2], INT64)]
    f = adze.from_onnx(model([node], inputs, [info("y", [])], opset=13))
    x, labels = np.float32([[1, 2, 3], [3, 1, 0]]), np.int64([2, 0])
    wanted = -np.log(np.exp(x)[[0, 1], labels] / np.exp(x).sum(1)).mean()
    np.testing.assert_allclose(float(f(x, labels)), wanted, rtol=1e-6)
    gradient = adze.grad(lambda v: f(v, labels))(x)
    softmax = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(np.asarray(gradient), (softmax - np.eye(3)[labels]) / 2, atol=1e-6)


def test_halves_stay_halves() -> None:
    for kind, dtype in ((10, np.dtype(np.float16)), (16, np.dtype(ml_dtypes.bfloat16))):
        w = np.array([0.5, 2.0], dtype)
        node = helper.make_node("Mul", ["x", "w"], ["y"])
        f = adze.from_onnx(model([node], [info("x", [2], kind)], [info("y", [2], kind)], [weight("w", w)]))
        result = np.asarray(f(np.array([3, 4], dtype)))
        assert result.dtype == dtype and result.astype(float).tolist() == [1.5, 8.0]


def test_what_a_model_computes_of_constants_is_computed_once() -> None:
    """The weights of a branch that no input reaches are one constant of the program."""
    nodes = [helper.make_node("Exp", ["w"], ["e"]), helper.make_node("Add", ["x", "e"], ["y"])]
    proto = model(nodes, [info("x", [2])], [info("y", [2])], [weight("w", np.float32([0, 1]))])
    text = adze.trace(adze.from_onnx(proto, trainable=False), adze.ShapeDtype((2,))).pretty()
    assert "exp(" not in text and "add(" in text
    f = adze.from_onnx(proto)
    assert "exp(" in adze.trace(lambda p, x: f.apply(p, x), f.parameters, xp.zeros(2)).pretty()
