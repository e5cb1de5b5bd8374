"""Recurrent layers: RNN, GRU, LSTM, forward, in reverse and in both directions.

Idea: what a step takes of its input, a product, is computed for all steps before the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ....control.scans import scan
from ....library import nn
from ....library import numpy as xp
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call
from .activations import softplus, softsign

_SMALL: Final = 1 << 15  # elements of weights that are transposed
Activation = Callable[[Any], Any]
Step = Callable[[Any, Any], Any]


class Cell(NamedTuple):
    """The weights and biases of the inputs, and the step from a state and `x @ weights.T + bias`."""

    weights: Any
    bias: Any
    step: Step


def rnn(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    """`h = f(x W^T + h R^T + b)`."""

    def cell(d: int, functions: Sequence[Activation]) -> Cell:
        wb, rb = _biases(b, d, w)
        by_weights = _by(r[d])

        def step(state: Any, row: Any) -> Any:
            return (functions[0](row + by_weights(state[0])),)

        return Cell(w[d], wb + rb, step)

    return _layer(call, x, [h], lengths, cell, ["Tanh"], r.shape[-1])


def gru(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    """Gates z, r and the hidden one, in this order (Cho et al. 2014)."""
    before = call.flag("linear_before_reset")
    size = r.shape[-1]

    def cell(d: int, functions: Sequence[Activation]) -> Cell:
        f, g = functions
        by_all, by_gates, by_hidden = (_by(m) for m in (r[d], r[d][: 2 * size], r[d][2 * size :]))
        first, second = _biases(b, d, w)
        inner_bias = second[2 * size :]
        shared = xp.concatenate([second[: 2 * size], xp.zeros_like(inner_bias)])

        def step(state: Any, row: Any) -> Any:
            (old,) = state
            of_gates, of_hidden = row[..., : 2 * size], row[..., 2 * size :]
            if before:
                product = by_all(old)
                z, reset = xp.split(f(of_gates + product[..., : 2 * size]), 2, axis=-1)
                inner = reset * (product[..., 2 * size :] + inner_bias)
            else:
                z, reset = xp.split(f(of_gates + by_gates(old)), 2, axis=-1)
                inner = by_hidden(reset * old) + inner_bias
            return ((1 - z) * g(of_hidden + inner) + z * old,)

        return Cell(w[d], first + shared, step)

    return _layer(call, x, [h], lengths, cell, ["Sigmoid", "Tanh"], size)


def lstm(
    call: Call,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h: Any = None,
    c: Any = None,
    peepholes: Any = None,
) -> Any:
    """Gates i, o, f and the cell, in this order (Hochreiter and Schmidhuber 1997; peepholes: Gers 2000)."""
    couples = call.flag("input_forget")

    def cell(d: int, functions: Sequence[Activation]) -> Cell:
        f, g, out = functions
        wb, rb = _biases(b, d, w)
        by_weights = _by(r[d])
        holes = [None] * 3 if peepholes is None else xp.split(peepholes[d], 3)

        def seeing(gate: Any, hole: Any, memory: Any) -> Any:
            return gate if hole is None else gate + hole * memory

        def step(state: Any, row: Any) -> Any:
            old, memory = state
            i, o, forget, new = xp.split(row + by_weights(old), 4, axis=-1)
            i = f(seeing(i, holes[0], memory))
            keep = 1 - i if couples else f(seeing(forget, holes[2], memory))
            memory = keep * memory + i * g(new)
            return f(seeing(o, holes[1], memory)) * out(memory), memory

        return Cell(w[d], wb + rb, step)

    return _layer(call, x, [h, c], lengths, cell, ["Sigmoid", "Tanh", "Tanh"], r.shape[-1])


def _by(weights: Any) -> Activation:
    """The product of a state and the transposed weights.

    Small weights are transposed before the loop: in its kernel a vector of outputs then stays in a register,
    and its elements are not added up. Of many outputs the sums would go through memory.
    """
    if math.prod(weights.shape) > _SMALL:
        return lambda state: state @ weights.T
    turned = xp.transpose(weights)
    return lambda state: state @ turned


def _layer(
    call: Call,
    x: Any,
    states: Sequence[Any],
    lengths: Any,
    cell: Callable[[int, Sequence[Activation]], Cell],
    names: list[str],
    hidden: int,
) -> Any:
    """All directions of a layer: every hidden state, and the last states."""
    direction = call.choice("direction", "forward", ("forward", "reverse", "bidirectional"))
    backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    steps = xp.moveaxis(x, 1, 0) if call.flag("layout") else x
    batch = steps.shape[1]
    functions = _activations(call, names, len(backwards))
    every, last = [], []
    for d, back in enumerate(backwards):
        first = tuple(_first(s, d, batch, hidden, x, call.flag("layout")) for s in states)
        ys, final = _direction(steps, first, lengths, cell(d, functions[d]), back)
        every.append(ys)
        last.append(final)
    outputs = [xp.stack(every, axis=1), *(xp.stack(list(s)) for s in zip(*last, strict=True))]
    if call.flag("layout"):
        outputs = [xp.transpose(outputs[0], (2, 0, 1, 3)), *(xp.swapaxes(s, 0, 1) for s in outputs[1:])]
    return outputs


def _direction(steps: Any, first: Any, lengths: Any, cell: Cell, back: bool) -> Any:
    rows = steps @ cell.weights.T  # biases are added in the loop, where a step of them is in the cache
    if lengths is None:

        def step(state: Any, row: Any) -> Any:
            new = cell.step(state, row + cell.bias)
            return new, new[0]

        return _states(scan(step, first, rows, reverse=back))

    def masked(state: Any, item: Any) -> Any:
        row, i = item
        new = cell.step(state, row + cell.bias)
        alive = (i < lengths)[:, None]
        kept = tuple(xp.where(alive, n, o) for n, o in zip(new, state, strict=True))
        return kept, xp.where(alive, new[0], xp.zeros_like(new[0]))

    return _states(scan(masked, first, (rows, xp.arange(steps.shape[0])), reverse=back))


def _states(result: tuple[Any, Any]) -> tuple[Any, Any]:
    """Every hidden state, and the last state."""
    final, every = result
    return every, final


def _first(state: Any, d: int, batch: Any, hidden: int, x: Any, batch_first: bool) -> Any:
    if state is None:
        return xp.zeros((batch, hidden), dtype=x.dtype)
    return state[:, d] if batch_first else state[d]


def _biases(b: Any, d: int, w: Any) -> tuple[Any, Any]:
    if b is None:
        zero = xp.zeros(w.shape[1], dtype=w.dtype)
        return zero, zero
    first, second = xp.split(b[d], 2)
    return first, second


def _activations(call: Call, names: list[str], directions: int) -> list[list[Activation]]:
    given = [n.decode() if isinstance(n, bytes) else n for n in call.get("activations", ())]
    given = given or names * directions
    if len(given) != len(names) * directions:
        raise ModelError(f"expected {len(names) * directions} activations, got {len(given)}")
    alphas, betas = list(call.get("activation_alpha", ())), list(call.get("activation_beta", ()))
    functions = [_activation(name, alphas, betas) for name in given]
    bounded = [f if i % len(names) == 2 else _clipped(call, f) for i, f in enumerate(functions)]
    return [bounded[i * len(names) : (i + 1) * len(names)] for i in range(directions)]


def _clipped(call: Call, function: Activation) -> Activation:
    """`function` of bounded operands, where the layer has the attribute `clip`.

    Gates only, as in onnxruntime: the memory of an LSTM, whose activation is its third, is not bounded.
    """
    if not call.has("clip"):
        return function
    bound = abs(float(call.get("clip")))
    return lambda x: function(xp.clip(x, -bound, bound))


def _activation(name: str, alphas: list[float], betas: list[float]) -> Activation:
    plain: dict[str, Activation] = {
        "Tanh": xp.tanh,
        "Sigmoid": nn.sigmoid,
        "Relu": nn.relu,
        "Softsign": softsign,
        "Softplus": softplus,
    }
    if name in plain:
        return plain[name]

    def one(values: list[float], default: float) -> float:
        return float(str(np.float32(values.pop(0)))) if values else default

    match name:
        case "LeakyRelu":
            a = one(alphas, 0.01)
            return lambda x: xp.where(x < 0, a * x, x)
        case "Affine":
            a, c = one(alphas, 1.0), one(betas, 0.0)
            return lambda x: a * x + c
        case "ThresholdedRelu":
            a = one(alphas, 1.0)
            return lambda x: xp.where(x > a, x, xp.zeros_like(x))
        case "ScaledTanh":
            a, c = one(alphas, 1.0), one(betas, 1.0)
            return lambda x: a * xp.tanh(c * x)
        case "HardSigmoid":
            a, c = one(alphas, 0.2), one(betas, 0.5)
            return lambda x: xp.clip(a * x + c, 0, 1)
        case "Elu":
            a = one(alphas, 1.0)
            return lambda x: xp.where(x > 0, x, a * xp.expm1(xp.minimum(x, 0)))
    raise ModelUnsupportedError(f"its activation {name!r} is none that adze has")
