"""Optimizers: their published update rules written out in NumPy, and training as one compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import optim

PARAMS = {"w": np.array([1.0, -2.0]), "b": np.array(0.5)}
GRADIENTS = [{"w": np.array([0.1, -0.3]) * k, "b": np.array(0.2) / k} for k in (1, 2, 3)]


def run(optimizer: Any, params: Any = PARAMS, compiled: bool = False) -> list[Any]:
    """The parameters after each of three steps."""

    def step(params: Any, state: Any, gradients: Any) -> Any:
        updates, state = optimizer.update(gradients, state, params)
        return optim.apply_updates(params, updates), state

    if compiled:
        step = adze.jit(step)
    state, trail = optimizer.init(params), []
    for gradients in GRADIENTS:
        params, state = step(params, state, gradients)
        trail.append(params)
    return trail


def sgd(rate: float, momentum: float, nesterov: bool) -> list[Any]:
    """The rule of Sutskever et al. 2013."""
    params, trace, trail = dict(PARAMS), {"w": np.zeros(2), "b": np.zeros(())}, []
    for g in GRADIENTS:
        trace = {k: momentum * trace[k] + g[k] for k in g}
        direction = {k: momentum * trace[k] + g[k] for k in g} if nesterov else trace
        params = {k: params[k] - rate * direction[k] for k in g}
        trail.append(params)
    return trail


def adam(rate: float, decay: float = 0.0, b1: float = 0.9, b2: float = 0.999) -> list[Any]:
    """Algorithm 1 of Kingma and Ba 2015; with `decay` that of Loshchilov and Hutter 2019."""
    params, trail = dict(PARAMS), []
    m = v = {"w": np.zeros(2), "b": np.zeros(())}
    for t, g in enumerate(GRADIENTS, 1):
        m = {k: b1 * m[k] + (1 - b1) * g[k] for k in g}
        v = {k: b2 * v[k] + (1 - b2) * g[k] ** 2 for k in g}
        hat = {k: m[k] / (1 - b1**t) / (np.sqrt(v[k] / (1 - b2**t)) + 1e-8) for k in g}
        params = {k: params[k] - rate * (hat[k] + decay * params[k]) for k in g}
        trail.append(params)
    return trail


RULES = {
    "sgd": (optim.sgd(0.1), sgd(0.1, 0.0, False)),
    "momentum": (optim.sgd(0.1, momentum=0.9), sgd(0.1, 0.9, False)),
    "nesterov": (optim.sgd(0.1, momentum=0.9, nesterov=True), sgd(0.1, 0.9, True)),
    "adam": (optim.adam(0.1), adam(0.1)),
    "adamw": (optim.adamw(0.1, weight_decay=0.01), adam(0.1, decay=0.01)),
}


@pytest.mark.each_value(lambda name, compiled: ("any" if compiled else name, compiled))
@pytest.mark.parametrize("compiled", [False, True], ids=["evaluated", "compiled"])
@pytest.mark.parametrize("name", RULES)
def test_an_optimizer_follows_its_published_rule(name: str, compiled: bool) -> None:
    optimizer, expected = RULES[name]
    for result, wanted in zip(run(optimizer, compiled=compiled), expected, strict=True):
        for key in wanted:
            assert result[key].dtype == np.float64
            np.testing.assert_allclose(result[key], wanted[key], rtol=1e-6)


def test_parameters_keep_their_dtype() -> None:
    params = {k: v.astype(np.float32) for k, v in PARAMS.items()}
    gradients = {k: v.astype(np.float32) for k, v in GRADIENTS[0].items()}
    for optimizer in (optim.sgd(0.1, momentum=0.9), optim.adam(0.1), optim.adamw(0.1)):
        updates, _ = optimizer.update(gradients, optimizer.init(params), params)
        assert {u.dtype for u in updates.values()} == {np.dtype(np.float32)}


def test_gradients_are_clipped_by_their_norm_over_the_tree() -> None:
    norm = np.sqrt(sum(float((g**2).sum()) for g in GRADIENTS[0].values()))
    assert float(optim.global_norm(GRADIENTS[0])) == pytest.approx(norm)
    for bound in (norm / 2, norm * 2):
        clip = optim.clip_by_global_norm(bound)
        clipped, _ = clip.update(GRADIENTS[0], clip.init(PARAMS), PARAMS)
        for key, g in GRADIENTS[0].items():
            np.testing.assert_allclose(clipped[key], g * min(1, bound / norm), rtol=1e-6)


def test_stages_are_chained_in_order() -> None:
    chained = optim.chain(optim.clip_by_global_norm(0.1), optim.sgd(0.5))
    updates, state = chained.update(GRADIENTS[0], chained.init(PARAMS), PARAMS)
    assert float(optim.global_norm(updates)) == pytest.approx(0.05)
    assert len(state) == 2


def test_a_learning_rate_may_follow_the_step() -> None:
    rate = optim.cosine_decay(0.2, 4, final_fraction=0.5)
    assert [round(float(rate(np.int32(n))), 4) for n in (0, 2, 4, 9)] == [0.2, 0.15, 0.1, 0.1]
    params, trail = PARAMS["b"], []
    for k, g in enumerate(GRADIENTS):
        params = params - 0.1 * (1 + (1 + np.cos(np.pi * k / 4)) / 2) * g["b"]
        trail.append(params)
    np.testing.assert_allclose([p["b"] for p in run(optim.sgd(rate))], trail, rtol=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("optimizer", [optim.sgd(0.1, momentum=0.9), optim.adam(0.05)], ids=["sgd", "adam"])
def test_a_compiled_training_step_is_one_function(optimizer: Any) -> None:
    x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    truth = np.array([1.0, -2.0, 0.5], np.float32)

    def loss(weights: Any) -> Any:
        return ((x @ weights - x @ truth) ** 2).mean()

    @adze.jit
    def step(weights: Any, state: Any) -> Any:
        value, gradient = adze.value_and_grad(loss)(weights)
        updates, state = optimizer.update(gradient, state, weights)
        return optim.apply_updates(weights, updates), state, value

    weights = np.zeros(3, np.float32)
    state = optimizer.init(weights)
    for _ in range(200):
        weights, state, value = step(weights, state)
    assert step.cache_size() == 1 and weights.dtype == np.float32
    assert float(value) < 1e-3
    np.testing.assert_allclose(weights, truth, atol=0.03)
