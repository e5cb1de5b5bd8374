"""Recurrent layers: RNN, GRU, LSTM, forward, in reverse and in both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....control.scans import scan
from ....library import nn
from ....library import numpy as xp
from ...errors import ModelUnsupportedError
from ..calls import Call
from .activations import softplus, softsign

Activation = Callable[[Any], Any]
Cell = Callable[[Any, Any], Any]


def rnn(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    """`h = f(x W^T + h R^T + b)`."""

    def cell(d: int, functions: Sequence[Activation]) -> Cell:
        wb, rb = _biases(b, d, w)

        def step(state: Any, row: Any) -> Any:
            return (functions[0](row @ w[d].T + state[0] @ r[d].T + wb + rb),)

        return step

    return _layer(call, x, [h], lengths, cell, ["Tanh"], r.shape[-1])


def gru(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    """Gates z, r and the hidden one, in this order (Cho et al. 2014)."""
    before = call.flag("linear_before_reset")

    def cell(d: int, functions: Sequence[Activation]) -> Cell:
        f, g = functions
        wz, wr, wh = xp.split(w[d], 3)
        rz, rr, rh = xp.split(r[d], 3)
        (bz, br, bh), (cz, cr, ch) = (xp.split(v, 3) for v in _biases(b, d, w))

        def step(state: Any, row: Any) -> Any:
            (old,) = state
            z = f(row @ wz.T + old @ rz.T + bz + cz)
            reset = f(row @ wr.T + old @ rr.T + br + cr)
            inner = reset * (old @ rh.T + ch) if before else (reset * old) @ rh.T + ch
            return ((1 - z) * g(row @ wh.T + inner + bh) + z * old,)

        return step

    return _layer(call, x, [h], lengths, cell, ["Sigmoid", "Tanh"], r.shape[-1])


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
        pi, po, pf = (0, 0, 0) if peepholes is None else xp.split(peepholes[d], 3)

        def step(state: Any, row: Any) -> Any:
            old, memory = state
            i, o, forget, new = xp.split(row @ w[d].T + old @ r[d].T + wb + rb, 4, axis=-1)
            i = f(i + pi * memory)
            keep = 1 - i if couples else f(forget + pf * memory)
            memory = keep * memory + i * g(new)
            return f(o + po * memory) * out(memory), memory

        return step

    return _layer(call, x, [h, c], lengths, cell, ["Sigmoid", "Tanh", "Tanh"], r.shape[-1])


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
    if call.has("clip"):
        raise ModelUnsupportedError("it clips its gates", hint="export it without the attribute clip")
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
    count = steps.shape[0]

    def step(state: Any, item: Any) -> Any:
        row, i = item
        new = cell(state, row)
        if lengths is None:
            return new, new[0]
        alive = (i < lengths)[:, None]
        kept = tuple(xp.where(alive, n, o) for n, o in zip(new, state, strict=True))
        return kept, xp.where(alive, new[0], xp.zeros_like(new[0]))

    final, ys = scan(step, first, (steps, xp.arange(count)), reverse=back)
    return ys, final


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
    alphas, betas = list(call.get("activation_alpha", ())), list(call.get("activation_beta", ()))
    functions = [_activation(name, alphas, betas) for name in given]
    return [functions[i * len(names) : (i + 1) * len(names)] for i in range(directions)]


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
