"""What bad input of `adze.random` gets: the exact text, with the user's own line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import random

KEY = random.key(0)
KEYS = random.split(KEY, 3)

MISTAKES: dict[str, tuple[Callable[[], Any], str, str | None]] = {
    "an integer as key": (
        lambda: random.normal(0, (3,)),
        "normal: the key is the number 0, expected two uint32 words",
        "make a key of a seed first: adze.random.key(0)",
    ),
    "a key of another dtype": (
        lambda: random.uniform(np.array([1, 2])),
        "uniform: the key is i64 of shape (2,), expected uint32 of shape (2,)",
        "make a key of a seed: adze.random.key(seed)",
    ),
    "a key of another shape": (
        lambda: random.split(np.zeros(3, np.uint32)),
        "split: the key is ui32 of shape (3,), expected uint32 of shape (2,)",
        "make a key of a seed: adze.random.key(seed)",
    ),
    "a key without axes": (
        lambda: random.fold_in(np.uint32(3), 1),
        "fold_in: the key is ui32 of shape (), expected uint32 of shape (2,)",
        "make a key of a seed: adze.random.key(seed)",
    ),
    "an array of keys": (
        lambda: random.gamma(KEYS, 2.0),
        "gamma: got an array of keys, ui32 of shape (3, 2), expected one key of shape (2,)",
        "map over the keys: adze.vmap(lambda key: adze.random.gamma(key, ...))(keys)",
    ),
    "a seed that is no integer": (
        lambda: random.key(1.5),
        "key: the seed is f32 of shape (), expected one integer",
        "adze.vmap(adze.random.key)(seeds) makes a key of each of several seeds",
    ),
    "a seed of several": (
        lambda: random.key(np.arange(3)),
        "key: the seed is i64 of shape (3,), expected one integer",
        "adze.vmap(adze.random.key)(seeds) makes a key of each of several seeds",
    ),
    "a seed too large": (
        lambda: random.key(2**64),
        "key: the seed 18446744073709551616 has more than 64 bits",
        None,
    ),
    "data that is no integer": (
        lambda: random.fold_in(KEY, 1.0),
        "fold_in: data is f32 of shape (), expected one integer",
        "adze.vmap(adze.random.fold_in, in_axes=(None, 0))(key, numbers) folds in several",
    ),
    "words of another shape": (
        lambda: random.wrap_key_data(np.zeros((2, 3), np.uint32)),
        "wrap_key_data: got ui32 of shape (2, 3), expected uint32 of shape (..., 2)",
        None,
    ),
    "an integer as shape": (
        lambda: random.normal(KEY, 3),
        "normal: the shape is 3, expected a tuple",
        "write (3,)",
    ),
    "no shape": (
        lambda: random.normal(KEY, "ab"),
        "normal: the shape is 'ab', expected a tuple",
        "write a tuple of integers",
    ),
    "a negative size": (
        lambda: random.bits(KEY, (2, -1)),
        "bits: the shape (2, -1) has the size -1, expected integers from 0",
        None,
    ),
    "a size that is no integer": (
        lambda: random.bits(KEY, (2.0,)),
        "bits: the shape (2.0,) has the size 2.0, expected integers from 0",
        None,
    ),
    "an integer dtype of floats": (
        lambda: random.exponential(KEY, (2,), np.int32),
        "exponential: the dtype is i32, expected a float dtype",
        "one of float16, bfloat16, float32, float64",
    ),
    "a complex dtype of floats": (
        lambda: random.gumbel(KEY, (2,), np.complex64),
        "gumbel: the dtype is c64, expected a float dtype",
        "one of float16, bfloat16, float32, float64",
    ),
    "no dtype": (
        lambda: random.uniform(KEY, (2,), "float33"),
        "uniform: 'float33' is no dtype of adze",
        None,
    ),
    "a signed dtype of bits": (
        lambda: random.bits(KEY, (2,), np.int32),
        "bits: the dtype is i32, expected an unsigned integer dtype",
        None,
    ),
    "a float dtype of integers": (
        lambda: random.randint(KEY, (2,), 0, 5, np.float32),
        "randint: the dtype is f32, expected an integer dtype",
        None,
    ),
    "a float bound of integers": (
        lambda: random.randint(KEY, (2,), 0, 5.5),
        "randint: maxval is f32, expected integers",
        None,
    ),
    "a bound too large": (
        lambda: random.randint(KEY, (2,), 0, 2**64, np.uint64),
        "randint: maxval 18446744073709551616 has more than 64 bits",
        None,
    ),
    "an integer probability": (
        lambda: random.bernoulli(KEY, 1),
        "bernoulli: p is i64, expected a float dtype",
        None,
    ),
    "a complex parameter": (
        lambda: random.gamma(KEY, 1j),
        "gamma: a is c64, expected real numbers",
        None,
    ),
    "a parameter that does not spread": (
        lambda: random.gamma(KEY, np.ones((2, 2)), (3, 2)),
        "gamma: a of shape (2, 2) does not spread over the shape (3, 2)",
        "the shape is that of all samples: it must end with that of a",
    ),
    "parameters that do not fit": (
        lambda: random.beta(KEY, np.ones(2), np.ones(3)),
        "beta: the parameters' shapes do not fit together: a (2,), b (3,)",
        None,
    ),
    "a mode": (
        lambda: random.gumbel(KEY, mode="medium"),
        "gumbel: mode is 'medium', expected 'low' or 'high'",
        None,
    ),
    "weights that do not match": (
        lambda: random.choice(KEY, 4, (2,), p=np.ones(3, np.float32)),
        "choice: p has shape (3,), expected (4,)",
        None,
    ),
    "a negative weight": (
        lambda: random.choice(KEY, 3, (2,), p=np.array([0.5, 0.75, -0.25], np.float32)),
        "choice: p holds -0.25, expected probabilities from 0",
        None,
    ),
    "a weight that is no number": (
        lambda: random.multinomial(KEY, 5, np.array([0.5, np.nan], np.float32)),
        "multinomial: p holds nan, expected probabilities from 0",
        None,
    ),
    "one probability of several categories": (
        lambda: random.multinomial(KEY, 5, 0.5),
        "multinomial: p is a number, expected at least one axis, that of the categories",
        None,
    ),
    "trials that do not spread": (
        lambda: random.multinomial(KEY, np.ones(2), np.ones((3, 4))),
        "multinomial: n of shape (2,) does not spread over (3,), the axes of p before its last",
        None,
    ),
    "a covariance of another size": (
        lambda: random.multivariate_normal(KEY, np.ones(2), np.ones((3, 3))),
        "multivariate_normal: mean has shape (2,) and cov (3, 3), expected (..., n) and (..., n, n)",
        None,
    ),
    "a method": (
        lambda: random.multivariate_normal(KEY, np.ones(2), np.eye(2), method="qr"),
        "multivariate_normal: method is 'qr', expected one of 'cholesky', 'eigh', 'svd'",
        None,
    ),
    "another generator": (
        lambda: random.key(0, impl="rbg"),
        "key: impl is 'rbg', expected 'threefry2x32'",
        "adze has one generator, JAX's default",
    ),
    "more than there are": (
        lambda: random.choice(KEY, 4, (2, 3), replace=False),
        "choice: cannot draw 6 of 4 elements without replacement",
        "draw fewer, or pass replace=True",
    ),
    "choice from nothing": (
        lambda: random.choice(KEY, 0, (2,)),
        "choice: cannot draw 2 from no elements",
        None,
    ),
    "a negative count": (
        lambda: random.permutation(KEY, -3),
        "permutation: cannot draw from -3 elements",
        None,
    ),
    "a count that is no integer": (
        lambda: random.permutation(KEY, 2.5),
        "permutation: got f32 of shape (), expected an integer known while tracing, or an array with an axis",
        "pass a traced count through static_argnums",
    ),
    "an axis that does not exist": (
        lambda: random.permutation(KEY, np.ones((2, 2)), axis=2),
        "axis 2 is out of range for an array of rank 2",
        None,
    ),
    "integer logits": (
        lambda: random.categorical(KEY, np.ones(3, np.int32)),
        "categorical: logits are i32, expected a float dtype",
        None,
    ),
    "a shape that leaves an axis out": (
        lambda: random.categorical(KEY, np.ones((2, 3), np.float32), shape=(5,)),
        "categorical: the shape (5,) does not end with (2,), the other axes of logits",
        None,
    ),
    "more categories than there are": (
        lambda: random.categorical(KEY, np.ones(3, np.float32), shape=(4,), replace=False),
        "categorical: cannot draw 4 of 3 categories without replacement",
        "draw fewer, or pass replace=True",
    ),
    "dirichlet of a number": (
        lambda: random.dirichlet(KEY, 1.0),
        "dirichlet: alpha is a number, expected at least one axis",
        None,
    ),
    "a ball of several norms": (
        lambda: random.ball(KEY, 2, np.ones(2)),
        "ball: p has shape (2,), expected a number",
        None,
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name: str) -> None:
    call, message, hint = MISTAKES[name]
    code = call.__code__
    lines = range(code.co_firstlineno, code.co_firstlineno + 1)
    for run in (call, lambda: adze.trace(lambda: call())):
        with pytest.raises(adze.AdzeError) as caught:
            run()
        assert caught.value.message == message
        assert caught.value.hint == hint
        assert caught.value.where in [f"{__file__}:{line}" for line in lines]


def test_a_traced_count_is_explained() -> None:
    with pytest.raises(adze.AdzeError, match="expected an integer known while tracing"):
        adze.trace(lambda n: random.permutation(KEY, n), np.int32(3))
