"""Corners of the standard that its own tests leave out, and models that would grow without bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze.dialects.errors import AdzeError
from adze.imports import ModelError, ModelUnsupportedError

from .models import BOOL, INT64, graph, helper, info, model, onnx, weight

X = np.float32([1, 2])


def loop(go_on: Any, steps: int) -> Any:
    """`v` doubled in each step, and the stack of the steps."""
    nodes = [
        helper.make_node("Add", ["v", "v"], ["w"]),
        helper.make_node("Identity", ["go"], ["again"]),
        helper.make_node("Identity", ["i"], ["s"]),
    ]
    inputs = [info("i", [], INT64), info("go", [], BOOL), info("v", [2])]
    body = graph(nodes, inputs, [info("again", [], BOOL), info("w", [2]), info("s", [], INT64)])
    node = helper.make_node("Loop", ["n", "c", "x"], ["y", "s"], body=body)
    outputs = [info("y", [2]), info("s", [None], INT64)]
    weights = [weight("n", np.int64(steps)), weight("c", np.bool_(go_on))]
    return adze.from_onnx(model([node], [info("x", [2])], outputs, weights))


def test_loops_that_do_not_begin() -> None:
    for f in (loop(False, 3), loop(True, 0)):
        for run in (f, adze.jit(f)):
            value, steps = run(X)
            assert np.asarray(value).tolist() == [1, 2]
            assert steps.shape == (0,) and steps.dtype == np.int64
    assert np.asarray(adze.jit(loop(True, 3))(X)[0]).tolist() == [8, 16]


def test_a_branch_that_fits_other_inputs_needs_a_known_predicate() -> None:
    """Silero's voice detector has a network for each of two sampling rates."""
    w = {"narrow": np.ones((2, 3), np.float32), "wide": np.ones((4, 3), np.float32)}
    graphs = {
        branch: graph(
            [helper.make_node("MatMul", ["x", name], [f"{name}_y"], name=name)], [], [info(f"{name}_y", None)]
        )
        for branch, name in (("then_branch", "narrow"), ("else_branch", "wide"))
    }
    node = helper.make_node("If", ["p"], ["y"], name="the_node", **graphs)
    weights = [weight(name, value) for name, value in w.items()]
    f = adze.from_onnx(
        model([node], [info("x", ["n", "k"]), info("p", [], BOOL)], [info("y", None)], weights)
    )
    x = np.ones((1, 2), np.float32)
    assert np.asarray(f(x, np.bool_(True))).tolist() == [[2, 2, 2]]
    assert np.asarray(adze.jit(lambda x: f(x, np.bool_(True)))(x)).tolist() == [[2, 2, 2]]
    with pytest.raises(
        ModelError, match=r"node 'the_node'.*else branch fits no inputs of these shapes"
    ) as raised:
        adze.jit(f)(x, np.bool_(True))
    assert "call the model with a NumPy number" in str(raised.value)
    with pytest.raises(AdzeError, match="node 'wide'"):
        f(x, np.bool_(False))


def test_a_scan_of_op_set_8_that_runs_backwards_is_refused() -> None:
    nodes = [helper.make_node("Add", ["s", "r"], ["t"]), helper.make_node("Identity", ["t"], ["o"])]
    body = graph(nodes, [info("s", [2]), info("r", [2])], [info("t", [2]), info("o", [2])])
    node = helper.make_node("Scan", ["", "s", "x"], ["t", "o"], body=body, num_scan_inputs=1, directions=[1])
    inputs, outputs = [info("s", [1, 2]), info("x", [1, 3, 2])], [info("t", None), info("o", None)]
    f = adze.from_onnx(model([node], inputs, outputs, opset=8))
    with pytest.raises(ModelUnsupportedError, match="runs backwards"):
        f(np.zeros((1, 2), np.float32), np.ones((1, 3, 2), np.float32))


def test_quantized_products_have_scales_of_rows() -> None:
    a, b = (np.random.default_rng(i).integers(0, 255, (3, 3)).astype(np.uint8) for i in range(2))
    scales, zeros = np.float32([0.1, 0.2, 0.4]), np.uint8([1, 2, 3])
    values = {"sa": scales, "za": zeros, "sb": np.float32(0.05), "zb": np.uint8(7)}
    values |= {"sy": np.float32(30), "zy": np.uint8(100)}
    node = helper.make_node("QLinearMatMul", ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"], ["y"])
    weights = [weight(name, value) for name, value in values.items()]
    f = adze.from_onnx(
        model([node], [info("a", [3, 3], 2), info("b", [3, 3], 2)], [info("y", None)], weights)
    )
    exact = (a.astype(int) - zeros[:, None].astype(int)) @ (b.astype(int) - 7)
    want = np.clip(np.rint(exact * scales[:, None] * 0.05 / 30) + 100, 0, 255)
    np.testing.assert_array_equal(np.asarray(f(a, b)), want)


def functions(calls: dict[str, list[str]], overload: str = "") -> Any:
    """A model of functions of one number, each of which applies others one after the other."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    made = []
    for name, called in calls.items():
        names = ["a", *(f"v{i}" for i in range(len(called) - 1)), "b"]
        nodes = [
            helper.make_node(op, [names[i]], [names[i + 1]], domain="" if op == "Abs" else "own")
            for i, op in enumerate(called)
        ]
        made.append(helper.make_function("own", name, ["a"], ["b"], nodes, opsets))
    if overload:
        made.append(onnx.FunctionProto.FromString(made[0].SerializeToString()))
        made[-1].overload = overload
    main = graph(
        [helper.make_node(made[0].name, ["x"], ["y"], domain="own")], [info("x", [2])], [info("y", [2])]
    )
    return helper.make_model(main, functions=made, opset_imports=opsets)


def test_functions_that_are_overloaded_or_double_at_each_level_are_refused() -> None:
    assert np.asarray(adze.from_onnx(functions({"F": ["Abs"]}))(-X)).tolist() == [1, 2]
    with pytest.raises(ModelUnsupportedError, match="several functions of one name"):
        adze.from_onnx(functions({"F": ["Abs"]}, "other"))
    doubling = {f"F{i}": [f"F{i + 1}"] * 2 for i in range(40)} | {"F40": ["Abs"]}
    f = adze.from_onnx(functions(doubling))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adze.frontend.imports.onnx.evaluation.Evaluation.MOST_CALLS", 200)
        with pytest.raises(ModelError, match="called more than 200 times"):
            f(X)


def test_sizes_that_no_model_has_are_refused() -> None:
    cases = {
        "RandomUniform": ([], {"shape": [2**20, 2**20], "seed": 1.0}),
        "RandomNormal": ([], {"shape": [-1], "seed": 1.0}),
        "OneHot": (["i", "depth", "x"], {}),
        "MaxPool": (["image"], {"kernel_shape": [2**20, 2**20], "pads": [2**20] * 4}),
    }
    weights = [weight("i", np.zeros((2**10, 2), np.int64)), weight("depth", np.int64(2**40))]
    weights.append(weight("image", np.zeros((1, 1, 4, 4), np.float32)))
    for op, (inputs, attributes) in cases.items():
        node = helper.make_node(op, inputs, ["y"], **attributes)
        with pytest.raises(ModelError, match=r"no array of a model has|at most 262144 elements"):
            adze.from_onnx(model([node], [info("x", [2])], [info("y", None)], weights))(X)


def test_names_that_python_has_not() -> None:
    for name in ("x²", "½", "class", "self", "0", "a.b"):
        f = adze.from_onnx(
            model([helper.make_node("Neg", [name], ["y"])], [info(name, [2])], [info("y", [2])])
        )
        (argument,) = f.argument_names
        assert argument.isidentifier() and np.asarray(f(**{argument: X})).tolist() == [-1, -2]
    both = [helper.make_node("Sub", ["ﬁ", "fi"], ["y"])]
    f = adze.from_onnx(model(both, [info("ﬁ", [2]), info("fi", [2])], [info("y", [2])]))
    assert f.argument_names == ("fi", "fi_2")
