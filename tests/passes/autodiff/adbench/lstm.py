"""LSTM: the loss of a character model with diagonal gates over a sequence (ADBench).

`main` holds weights and biases of the four gates for each layer, `extra` scales the input, the output, and
shifts the output. The prediction at each step is compared with the next character.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Library, Problem, sigmoid


def step(xp: Any, weights: Any, biases: Any, hidden: Any, cell: Any, given: Any) -> tuple[Any, Any]:
    """One cell: gates of what is given and of what is hidden."""
    forget = sigmoid(xp, given * weights[0] + biases[0])
    enter = sigmoid(xp, hidden * weights[1] + biases[1])
    leave = sigmoid(xp, given * weights[2] + biases[2])
    change = xp.tanh(hidden * weights[3] + biases[3])
    cell = cell * forget + enter * change
    return leave * xp.tanh(cell), cell


def loss(library: Library, main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    xp = library.xp
    layers, length = main.shape[0], sequence.shape[0]
    states = [(state[k, 0], state[k, 1]) for k in range(layers)]
    total = 0.0
    for t in range(length - 1):
        flowing = sequence[t] * extra[0]
        for k in range(layers):
            states[k] = step(xp, main[k, 0], main[k, 1], *states[k], flowing)
            flowing = states[k][0]
        predicted = flowing * extra[1] + extra[2]
        normalised = predicted - xp.log(xp.sum(xp.exp(predicted)) + 2)
        total = total + xp.sum(sequence[t + 1] * normalised)
    return -total / ((length - 1) * sequence.shape[1])


def problem() -> Problem:
    rng = np.random.default_rng(2)
    layers, width, length = 2, 5, 6
    return Problem(
        "LSTM",
        loss,
        (
            rng.standard_normal((layers, 2, 4, width)),
            rng.standard_normal((3, width)),
            rng.standard_normal((layers, 2, width)),
            np.eye(width)[rng.integers(0, width, length)],
        ),
        active=2,
    )
