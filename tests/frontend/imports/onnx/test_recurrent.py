"""Recurrent layers against the standard's formulas, step by step in NumPy: what the node tests leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze.imports import ModelError

from .models import graph, helper, info

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 2, 5
Parts = dict[str, np.ndarray]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def parts(kind: str, directions: int, names: str) -> Parts:
    """Weights and the other operands of a layer that `names` has the letters of."""
    gates, draws = GATES[kind], np.random.default_rng(3)
    shapes = {
        "x": (STEPS, BATCH, INPUTS),
        "W": (directions, gates * HIDDEN, INPUTS),
        "R": (directions, gates * HIDDEN, HIDDEN),
        "B": (directions, 2 * gates * HIDDEN),
        "h": (directions, BATCH, HIDDEN),
        "c": (directions, BATCH, HIDDEN),
        "P": (directions, 3 * HIDDEN),
    }
    arrays = {k: draws.standard_normal(v).astype(np.float32) for k, v in shapes.items() if k in names}
    return arrays | ({"L": np.int32([0, 4, 2])} if "L" in names else {})


def model(kind: str, arrays: Parts, **attributes: Any) -> Any:
    """A model of one layer, all of whose operands are inputs."""
    slots = ["x", "W", "R", "B", "L", "h", *(["c", "P"] if kind == "LSTM" else [])]
    outputs = ["y", "y_h", *(["y_c"] if kind == "LSTM" else [])]
    node = helper.make_node(
        kind, [s if s in arrays else "" for s in slots], outputs, hidden_size=HIDDEN, **attributes
    )
    inputs = [info(k, list(v.shape), helper.np_dtype_to_tensor_dtype(v.dtype)) for k, v in arrays.items()]
    return helper.make_model(graph([node], inputs, [info(name, None) for name in outputs]))


def expected(kind: str, arrays: Parts, directions: list[bool], clip: float, options: set[str]) -> list[Any]:
    """The outputs of a layer, in float64."""
    wide = {k: v if k == "L" else v.astype(np.float64) for k, v in arrays.items()}
    lengths = wide.get("L", np.full(BATCH, STEPS))
    every = np.zeros((STEPS, len(directions), BATCH, HIDDEN))
    last_h, last_c = (np.zeros((len(directions), BATCH, HIDDEN)) for _ in range(2))
    for d, back in enumerate(directions):
        own = {k: wide[k][d] for k in wide if k in "WRBP"}
        for row in range(BATCH):
            h, c = (wide[k][d, row] if k in wide else np.zeros(HIDDEN) for k in "hc")
            steps = range(int(lengths[row]))
            for t in reversed(steps) if back else steps:
                h, c = step(kind, wide["x"][t, row], h, c, own, clip, options)
                every[t, d, row] = h
            last_h[d, row], last_c[d, row] = h, c
    return [every, last_h, *([last_c] if kind == "LSTM" else [])]


def step(
    kind: str, x: Any, h: Any, c: Any, own: Parts, clip: float, options: set[str]
) -> tuple[np.ndarray, np.ndarray]:
    def bounded(function: Callable[[Any], Any], v: Any) -> Any:
        return function(np.clip(v, -clip, clip))

    def gate(i: int) -> slice:
        return slice(i * HIDDEN, (i + 1) * HIDDEN)

    w, r = own["W"], own["R"]
    wb, rb = np.split(own.get("B", np.zeros(2 * len(w))), 2)
    if kind == "RNN":
        return bounded(np.tanh, w @ x + r @ h + wb + rb), c
    sums = w @ x + r @ h + wb + rb
    if kind == "GRU":
        z, reset = bounded(sigmoid, sums[gate(0)]), bounded(sigmoid, sums[gate(1)])
        if "linear_before_reset" in options:
            inner = reset * (r[gate(2)] @ h + rb[gate(2)])
        else:
            inner = r[gate(2)] @ (reset * h) + rb[gate(2)]
        new = bounded(np.tanh, w[gate(2)] @ x + wb[gate(2)] + inner)
        return (1 - z) * new + z * h, c
    pi, po, pf = np.split(own.get("P", np.zeros(3 * HIDDEN)), 3)
    i = bounded(sigmoid, sums[gate(0)] + pi * c)
    forget = 1 - i if "input_forget" in options else bounded(sigmoid, sums[gate(2)] + pf * c)
    memory = forget * c + i * bounded(np.tanh, sums[gate(3)])
    return bounded(sigmoid, sums[gate(1)] + po * memory) * np.tanh(memory), memory


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(
    ("kind", "names", "option"),
    [
        ("RNN", "xWR", ""),
        ("RNN", "xWRBLh", "clip"),
        ("GRU", "xWRB", ""),
        ("GRU", "xWRBLh", "clip"),
        ("GRU", "xWRBh", "linear_before_reset"),
        ("LSTM", "xWRB", ""),
        ("LSTM", "xWRBLhcP", "clip"),
        ("LSTM", "xWRBhc", "input_forget"),
    ],
)
def test_layers(kind: str, names: str, option: str, direction: str) -> None:
    backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    arrays = parts(kind, len(backwards), names)
    clip = 0.3 if option == "clip" else np.inf
    attributes = {} if not option else {option: 0.3 if option == "clip" else 1}
    f = adze.from_onnx(model(kind, arrays, direction=direction, **attributes))
    results = f(*arrays.values())
    for result, want in zip(results, expected(kind, arrays, backwards, clip, {option}), strict=True):
        np.testing.assert_allclose(np.asarray(result), want, rtol=1e-5, atol=1e-6)


def test_a_layer_is_compiled_and_differentiated() -> None:
    arrays = parts("GRU", 1, "xWRBh")
    f = adze.from_onnx(model("GRU", arrays))

    def loss(*operands: Any) -> Any:
        return (f(*operands)[0] ** 2).sum()

    compiled = adze.jit(adze.grad(loss, argnums=(0, 1, 2, 3, 4)))(*arrays.values())
    size = 1e-2
    for i, (name, array) in enumerate(arrays.items()):
        along = np.random.default_rng(i).standard_normal(array.shape).astype(np.float32)
        ends = [loss(*(v + s * along if k == name else v for k, v in arrays.items())) for s in (size, -size)]
        slope = (float(ends[0]) - float(ends[1])) / (2 * size)
        assert float((np.asarray(compiled[i]) * along).sum()) == pytest.approx(slope, rel=2e-2, abs=2e-3)


def test_layers_without_steps() -> None:
    arrays = parts("LSTM", 1, "xWRBhc") | {"x": np.zeros((0, BATCH, INPUTS), np.float32)}
    every, last, memory = adze.from_onnx(model("LSTM", arrays))(*arrays.values())
    assert every.shape == (0, 1, BATCH, HIDDEN)
    assert np.array_equal(last, arrays["h"])
    assert np.array_equal(memory, arrays["c"])


def test_activations_of_another_number() -> None:
    arrays = parts("LSTM", 1, "xWR")
    f = adze.from_onnx(model("LSTM", arrays, activations=["Tanh"]))
    with pytest.raises(ModelError, match="expected 3 activations, got 1"):
        f(*arrays.values())
