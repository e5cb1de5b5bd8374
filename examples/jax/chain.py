"""Optimisers as chains of gradient transformations, in the manner of optax, on Rosenbrock's function."""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from library import jax, run

jnp = jax.numpy


class Transformation(NamedTuple):
    """`init(params)` is a state; `update(gradients, state)` is the updates and the next state."""

    init: Callable[[Any], Any]
    update: Callable[[Any, Any], tuple[Any, Any]]


class Moments(NamedTuple):
    count: Any
    first: Any
    second: Any


def scale(factor):
    return Transformation(
        lambda params: (), lambda updates, state: (jax.tree.map(lambda u: factor * u, updates), state)
    )


def clip_by_global_norm(limit):
    def update(updates, state):
        norm = jnp.sqrt(sum(jnp.vdot(u, u) for u in jax.tree.leaves(updates)))
        factor = jnp.minimum(1.0, limit / norm)
        return jax.tree.map(lambda u: u * factor, updates), state

    return Transformation(lambda params: (), update)


def scale_by_adam(b1=0.9, b2=0.99, eps=1e-8):
    def init(params):
        return Moments(0, *(jax.tree.map(jnp.zeros_like, params) for _ in range(2)))

    def update(updates, state):
        count = state.count + 1
        first = jax.tree.map(lambda m, u: b1 * m + (1 - b1) * u, state.first, updates)
        second = jax.tree.map(lambda m, u: b2 * m + (1 - b2) * u**2, state.second, updates)
        corrected = jax.tree.map(
            lambda m, s: m / (1 - b1**count) / (jnp.sqrt(s / (1 - b2**count)) + eps), first, second
        )
        return corrected, Moments(count, first, second)

    return Transformation(init, update)


def scale_by_schedule(schedule):
    return Transformation(
        lambda params: jnp.zeros((), int),
        lambda updates, count: (jax.tree.map(lambda u: schedule(count) * u, updates), count + 1),
    )


def chain(*parts):
    def update(updates, states):
        def one(carry, part_and_state):
            part, state = part_and_state
            updates, new = part.update(carry[0], state)
            return updates, (*carry[1], new)

        return reduce(one, zip(parts, states, strict=True), (updates, ()))

    return Transformation(lambda params: tuple(part.init(params) for part in parts), update)


def rosenbrock(params):
    return (1 - params["x"]) ** 2 + 100 * (params["y"] - params["x"] ** 2) ** 2


def main(steps):
    optimiser = chain(
        clip_by_global_norm(10.0),
        scale_by_adam(),
        scale_by_schedule(lambda count: 0.5 * (1 + jnp.cos(jnp.pi * count / steps))),
        scale(-0.1),
    )

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(rosenbrock)(params)
        updates, state = optimiser.update(gradient, state)
        return jax.tree.map(jnp.add, params, updates), state, value

    params = {"x": jnp.array(-1.0), "y": jnp.array(1.5)}
    state = optimiser.init(params)
    values = []
    for _ in range(steps):
        params, state, value = step(params, state)
        values.append(float(value))
    return {"first value": values[0], "last value": values[-1], **params}


if __name__ == "__main__":
    run(main, steps=100)
