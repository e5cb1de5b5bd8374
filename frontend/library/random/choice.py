"""Drawing from what is there: permutations, choices with and without replacement, categories.

A shuffle sorts by random keys, more than once where the keys may collide; weights are drawn by the Gumbel
trick or from their running sum. The steps are those of `jax.random`, so that the results are equal.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32, FLOATS, INTEGERS, short_name
from ...errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ...tracing.array import Array
from ...tracing.default_dtypes import counting
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim, product
from .. import numpy as xp
from ..lax.scalar_operands import axis_of
from .arguments import as_key, as_shape, probabilities
from .inverse_transforms import gumbel_floats
from .keys import parts
from .often import compiled_if_often
from .older_order import random_bits
from .uniform import checked_mode, integers, uniform_floats

LARGEST: Final = 2**32 - 1


@compiled_if_often
def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """`x` with its slices along `axis` in random order; of an integer, `0 ... x - 1` in random order.

    With `independent` each vector along the axis has an order of its own.
    """
    value = as_key("permutation", key)
    counted = _count("permutation", x)
    if counted is not None:
        axis_of(axis, 1)
        return shuffled(value, _range(counted), 0)
    array = as_value(x)
    place = axis_of(axis, array.ndim)
    if independent or array.ndim == 1:
        return shuffled(value, array, place)
    order = shuffled(value, _range(array.shape[place]), 0)
    return xp.take(array, order, axis=place)


def shuffle(key: Any, x: Any, axis: int = 0) -> Any:
    """`permutation` of each vector along `axis` on its own."""
    value = as_key("shuffle", key)
    array = as_value(x)
    return shuffled(value, array, axis_of(axis, array.ndim))


def _range(n: Any) -> Any:
    return xp.arange(n, dtype=counting())


def _count(function: str, x: Any) -> Any:
    """The size that `x` stands for, None when it is an array with axes."""
    if isinstance(x, Dim):
        return x
    array = None if isinstance(x, int) else as_value(x)
    if array is not None and array.ndim:
        return None
    if array is not None and (array.dtype not in INTEGERS or not isinstance(array, Array)):
        seen = f"{short_name(array.dtype)} of shape ()"
        raise ArgumentTypeError(
            f"{function}: got {seen}, expected an integer known while tracing, or an array with an axis",
            where=user_location_text(),
            hint="pass a traced count through static_argnums",
        )
    n = int(x)
    if n < 0:
        raise ArgumentError(f"{function}: cannot draw from {n} elements", where=user_location_text())
    return n


def shuffled(key: Any, x: Any, axis: int) -> Any:
    """`x` shuffled along an axis, each vector on its own, for arguments that have been checked."""
    count = product(x.shape)
    if not isinstance(count, Dim):
        for _ in range(_rounds(count)):
            key, x = _sorted_at_random(key, x, axis)
        return x
    # As many rounds as a static size has: each is made, and kept where the size asks for it.
    number = ops.size_to_array(count, dtype=np.dtype(np.int64))
    for done in range(_rounds(LARGEST)):
        key, mixed = _sorted_at_random(key, x, axis)
        x = xp.where(number > _greatest_for(done), mixed, x)
    return x


def _rounds(count: int) -> int:
    """How many sorts make collisions of 32-bit keys unlikely enough (the rule of XLA and JAX)."""
    return math.ceil(3 * math.log(max(1, count)) / math.log(LARGEST))


def _greatest_for(rounds: int) -> int:
    """The greatest count that needs no more than `rounds` sorts."""
    guess = int(LARGEST ** (rounds / 3))
    while _rounds(guess + 1) <= rounds:
        guess += 1
    while _rounds(guess) > rounds:
        guess -= 1
    return guess


def _sorted_at_random(key: Any, x: Any, axis: int) -> tuple[Any, Any]:
    key, used = parts(key, 2)
    order = random_bits(used, shape=tuple(x.shape), width=32)
    _, mixed = ops.sort(order, x, axis=axis, num_keys=1, is_stable=True)
    return key, mixed


@compiled_if_often
def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Any:
    """Elements of `a` (of `0 ... a - 1` for an integer) at random, with weights `p` where given.

    `shape` takes the place of `axis` in the result. Without replacement no element is drawn twice.
    """
    value = as_key("choice", key)
    checked_mode("choice", mode)
    drawn = as_shape("choice", shape)
    counted = _count("choice", a)
    array = None if counted is not None else as_value(a)
    place = 0 if array is None else axis_of(axis, array.ndim)
    available = counted if array is None else array.shape[place]
    if any(isinstance(n, Dim) for n in (*drawn, available)):
        raise ShapeError(
            "choice: how many are drawn and from how many must be known while tracing",
            where=user_location_text(),
        )
    count = math.prod(drawn)
    _check_count(count, available, replace)
    weights = None if p is None else _weights(p, available)
    if count == 0:
        indices = xp.zeros(drawn, dtype=counting())
    elif weights is not None:
        indices = _weighted(value, weights, drawn, replace, mode)
    elif replace:
        low, high = (Array(np.asarray(n, np.int64)) for n in (0, available))
        indices = integers(value, drawn, low, high, counting())
    else:
        return _first_of_permutation(value, array, available, count, drawn, place)
    return indices if array is None else xp.take(array, indices, axis=place)


def _check_count(count: int, available: int, replace: bool) -> None:
    if count and not available:
        raise ArgumentError(f"choice: cannot draw {count} from no elements", where=user_location_text())
    if not replace and count > available:
        raise ArgumentError(
            f"choice: cannot draw {count} of {available} elements without replacement",
            where=user_location_text(),
            hint="draw fewer, or pass replace=True",
        )


def _weights(p: Any, available: int) -> Any:
    weights = as_value(p)
    if weights.dtype not in FLOATS:
        weights = weights.astype(FLOAT32)
    if tuple(weights.shape) != (available,):
        raise ShapeError(
            f"choice: p has shape {tuple(weights.shape)}, expected ({available},)",
            where=user_location_text(),
        )
    probabilities("choice", weights)
    return weights


def _weighted(key: Any, p: Any, shape: tuple[int, ...], replace: bool, mode: str | None) -> Any:
    if not replace:
        noise = gumbel_floats(key, tuple(p.shape), p.dtype, mode) + xp.log(p)
        _, indices = ops.top_k(noise, k=math.prod(shape))
        return indices.astype(counting()).reshape(shape)
    sums = xp.cumsum(p)
    wanted = sums[-1] * (1 - uniform_floats(key, shape, p.dtype))
    return xp.searchsorted(sums, wanted).astype(counting())


def _first_of_permutation(
    key: Any, array: Any, available: int, count: int, shape: tuple[int, ...], axis: int
) -> Any:
    order = shuffled(key, _range(available) if array is None or array.ndim > 1 else array, 0)
    chosen = order[:count].reshape(shape)
    return xp.take(array, chosen, axis=axis) if array is not None and array.ndim > 1 else chosen


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: str | None = None
) -> Any:
    """Positions along `axis` drawn with probabilities `softmax(logits)`.

    `shape` is that of the result: axes of more samples in front of the other axes of `logits`. Without
    replacement those samples are different for each distribution.
    """
    value = as_key("categorical", key)
    checked_mode("categorical", mode)
    scores = as_value(logits)
    if scores.dtype not in FLOATS:
        raise DtypeError(
            f"categorical: logits are {short_name(scores.dtype)}, expected a float dtype",
            where=user_location_text(),
        )
    place = axis_of(axis, scores.ndim)
    batch = tuple(n for i, n in enumerate(scores.shape) if i != place)
    wanted = batch if shape is None else as_shape("categorical", shape)
    _check_ending(wanted, batch)
    prefix = wanted[: len(wanted) - len(batch)]
    if not replace:
        return _categories_without(value, scores, place, prefix, batch, mode)
    drawn = list(wanted[len(prefix) :])
    drawn.insert(place, scores.shape[place])
    noise = gumbel_floats(value, (*prefix, *drawn), scores.dtype, mode)
    return ops.argmax(noise + scores, axis=place + len(prefix), index_dtype=counting())


def _check_ending(wanted: tuple[Any, ...], batch: tuple[Any, ...]) -> None:
    ending = wanted[len(wanted) - len(batch) :]
    fits = len(ending) == len(batch) and all(
        isinstance(m, Dim) or isinstance(n, Dim) or m in (1, n) for m, n in zip(batch, ending, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"categorical: the shape {wanted} does not end with {batch}, the other axes of logits",
            where=user_location_text(),
        )


def _categories_without(
    key: Any, scores: Any, axis: int, prefix: tuple[Any, ...], batch: tuple[Any, ...], mode: str | None
) -> Any:
    count, available = math.prod(prefix), scores.shape[axis]
    if not isinstance(available, Dim) and count > available:
        raise ArgumentError(
            f"categorical: cannot draw {count} of {available} categories without replacement",
            where=user_location_text(),
            hint="draw fewer, or pass replace=True",
        )
    noise = scores + gumbel_floats(key, tuple(scores.shape), scores.dtype, mode)
    _, indices = ops.top_k(xp.moveaxis(noise, axis, -1), k=count)
    return xp.moveaxis(indices, -1, 0).reshape((*prefix, *batch))
