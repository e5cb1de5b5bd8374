"""Optimizers as triples of functions, as `jax.example_libraries.optimizers` has them.

Input: step sizes (numbers, or functions of the step). Output: `init(params) -> state`, `update(step,
gradients, state) -> state` and `params_of(state)`, over trees: a decorator makes them of functions of one
array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import tree
from ...errors import ArgumentTypeError
from ...tree import leaves as leaves_of
from .. import numpy as xp
from ..numpy.arguments import argument_error

Schedule = Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """The state of each array as leaves, and what puts them together: a node whose structures are static."""

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


tree.register(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda static, children: _state(static, *children),
)


def _state(static: tuple[Any, Any], packed: Any) -> OptimizerState:
    return OptimizerState(packed, *static)


class Optimizer(NamedTuple):
    """An optimizer: see the module docstring."""

    init_fn: Callable[[Any], Any]
    update_fn: Callable[[Any, Any, Any], Any]
    params_fn: Callable[[Any], Any]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """A maker of optimizers of trees from one of optimizers of single arrays."""

    @functools.wraps(opt_maker)
    def make(*args: Any, **keywords: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **keywords)

        def tree_init(x0_tree: Any) -> OptimizerState:
            leaves, structure = tree.flatten(x0_tree)
            return _packed([init(leaf) for leaf in leaves], structure)

        def tree_update(i: Any, grad_tree: Any, opt_state: OptimizerState) -> OptimizerState:
            gradients, structure = tree.flatten(grad_tree)
            if structure != opt_state.tree_def:
                raise ArgumentTypeError(
                    f"the gradients are a tree {tree.describe(structure)}, the parameters were "
                    f"{tree.describe(opt_state.tree_def)}"
                )
            states = _unpacked(opt_state)
            return _packed([update(i, g, s) for g, s in zip(gradients, states, strict=True)], structure)

        def tree_get_params(opt_state: OptimizerState) -> Any:
            return tree.unflatten(opt_state.tree_def, map(get_params, _unpacked(opt_state)))

        return Optimizer(tree_init, tree_update, tree_get_params)

    return make


def _packed(states: Sequence[Any], structure: Any) -> OptimizerState:
    pairs = [tree.flatten(state) for state in states]
    return OptimizerState([leaves for leaves, _ in pairs], structure, tuple(spec for _, spec in pairs))


def _unpacked(state: OptimizerState) -> list[Any]:
    pairs = zip(state.subtree_defs, state.packed_state, strict=True)
    return [tree.unflatten(spec, leaves) for spec, leaves in pairs]


def _first(state: Any) -> Any:
    return state[0]


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent."""
    rate = make_schedule(step_size)
    return (lambda x: x), (lambda i, g, x: x - rate(i) * g), (lambda x: x)


def _with_velocity(step_size: Any, mass: Any, direction: Callable[[Any, Any], Any]) -> Any:
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * direction(velocity, g), velocity

    return (lambda x: (x, xp.zeros_like(x))), update, _first


@optimizer
def momentum(step_size: Any, mass: Any) -> Any:
    """Gradient descent with momentum `mass`."""
    return _with_velocity(step_size, mass, lambda velocity, g: velocity)


@optimizer
def nesterov(step_size: Any, mass: Any) -> Any:
    """Gradient descent with Nesterov's momentum `mass`."""
    return _with_velocity(step_size, mass, lambda velocity, g: mass * velocity + g)


@optimizer
def adagrad(step_size: Any, momentum: Any = 0.9) -> Any:
    """Adagrad (Duchi et al. 2011) with momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares + xp.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - rate(i) * mean, squares, mean

    return (lambda x: (x, xp.zeros_like(x), xp.zeros_like(x))), update, _first


def _inverse_root(x: Any) -> Any:
    """`1 / sqrt(x)`, 0 where `x` is."""
    return xp.where(x > 0, 1 / xp.sqrt(xp.where(x > 0, x, 1)), 0)


@optimizer
def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Any:
    """RMSProp: steps divided by the root of a running mean of squares."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares = state
        squares = squares * gamma + xp.square(g) * (1 - gamma)
        return x - rate(i) * g / xp.sqrt(squares + eps), squares

    return (lambda x: (x, xp.zeros_like(x))), update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9) -> Any:
    """RMSProp with momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares * gamma + xp.square(g) * (1 - gamma)
        mean = momentum * mean + rate(i) * g / xp.sqrt(squares + eps)
        return x - mean, squares, mean

    return (lambda x: (x, xp.zeros_like(x), xp.zeros_like(x))), update, _first


@optimizer
def sm3(step_size: Any, momentum: Any = 0.9) -> Any:
    """SM3 (Anil et al. 2019): the squares of a row, a column, ... share one accumulator."""
    rate = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, xp.zeros_like(x), [xp.zeros(size, dtype=x.dtype) for size in x.shape or (1,)]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, rows = state
        count = max(g.ndim, 1)
        wide = [xp.reshape(v, (*(1,) * k, -1, *(1,) * (count - k - 1))) for k, v in enumerate(rows)]
        squares = functools.reduce(xp.minimum, wide) + xp.square(xp.atleast_1d(g))
        safe = xp.where(squares > 0, squares, 1)
        scaled = xp.where(squares > 0, xp.atleast_1d(g) / xp.sqrt(safe), 0)
        mean = (1 - momentum) * xp.reshape(scaled, g.shape) + momentum * mean
        axes = range(count)
        rows = [xp.max(squares, axis=tuple(a for a in axes if a != k)) for k in axes]
        return x - rate(i) * mean, mean, rows

    return init, update, _first


@optimizer
def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Adam (Kingma and Ba 2015)."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * xp.square(g) + b2 * v
        mean = m / (1 - xp.asarray(b1, m.dtype) ** (i + 1))
        square = v / (1 - xp.asarray(b2, m.dtype) ** (i + 1))
        return x - rate(i) * mean / (xp.sqrt(square) + eps), m, v

    return (lambda x: (x, xp.zeros_like(x), xp.zeros_like(x))), update, _first


@optimizer
def adamax(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """AdaMax (Kingma and Ba 2015): Adam with the greatest in place of the mean of squares."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, u = state
        m = (1 - b1) * g + b1 * m
        u = xp.maximum(b2 * u, xp.abs(g))
        return x - rate(i) / (1 - xp.asarray(b1, m.dtype) ** (i + 1)) * m / (u + eps), m, u

    return (lambda x: (x, xp.zeros_like(x), xp.zeros_like(x))), update, _first


# -- schedules and gradients -------------------------------------------------------------------


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A function of the step from one, or from a number."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if xp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise ArgumentTypeError(f"a step size is a number or a function of the step, got {scalar_or_schedule!r}")


def constant(step_size: Any) -> Schedule:
    """`step_size` at each step."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """`step_size * decay_rate ** (i / decay_steps)`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """`step_size / (1 + decay_rate * i / decay_steps)`, the quotient rounded down with `staircase`."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * xp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0) -> Schedule:
    """From `step_size` to `final_step_size` in `decay_steps`, along a power of the steps that are left."""

    def schedule(step_num: Any) -> Any:
        left = 1 - xp.minimum(step_num, decay_steps) / decay_steps
        return left**power * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """`values[k]` after `k` of the `boundaries`; raises `ArgumentError` unless there is one value more."""
    limits, levels = xp.asarray(boundaries), xp.asarray(values)
    if limits.ndim != 1 or levels.ndim != 1 or levels.shape[0] != limits.shape[0] + 1:
        raise argument_error(
            f"piecewise_constant: {limits.shape[0]} boundaries need {limits.shape[0] + 1} values"
        )
    return lambda i: levels[xp.sum(i > limits)]


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all leaves of a tree."""
    return xp.sqrt(sum(xp.vdot(x, x) for x in leaves_of(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Gradients scaled to the norm `max_norm` where theirs is greater."""
    norm = l2_norm(grad_tree)
    return tree.map(lambda g: xp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


class JoinPoint:
    """The state of one array in a tree of states: a leaf."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state as a tree like that of the parameters, whose leaves are `JoinPoint`s, for files."""
    return tree.unflatten(opt_state.tree_def, map(JoinPoint, _unpacked(opt_state)))


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state that `unpack_optimizer_state` unpacked."""
    leaves, structure = tree.flatten(marked_pytree)
    if not all(isinstance(leaf, JoinPoint) for leaf in leaves):
        raise ArgumentTypeError("pack_optimizer_state takes a tree whose leaves are JoinPoint")
    return _packed([leaf.subtree for leaf in leaves], structure)
