"""Small ONNX models for the tests, written by onnx.helper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")
helper = onnx.helper

FLOAT, INT64, BOOL = 1, 7, 9


def info(name: str, shape: Sequence[Any] | None, kind: int = FLOAT) -> Any:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name: str, value: Any) -> Any:
    """An initializer."""
    return onnx.numpy_helper.from_array(np.asarray(value), name)


def graph(
    nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], weights: Sequence[Any] = ()
) -> Any:
    return helper.make_graph(nodes, "g", inputs, outputs, weights)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Sequence[Any] = (),
    opset: int = 21,
) -> Any:
    """A model of one graph."""
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph(nodes, inputs, outputs, weights), opset_imports=opsets)


def mlp() -> Any:
    """`mean(relu(x w + b))` of a batch of any size."""
    draws = np.random.default_rng(0)
    w, b = draws.standard_normal((4, 3)).astype(np.float32), np.float32([0.1, -0.2, 0.3])
    nodes = [
        helper.make_node("Gemm", ["x", "dense.w", "dense.b"], ["h"], name="dense"),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("ReduceMean", ["r"], ["y"], keepdims=0),
    ]
    return model(nodes, [info("x", ["n", 4])], [info("y", [])], [weight("dense.w", w), weight("dense.b", b)])
