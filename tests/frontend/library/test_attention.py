"""Attention in the layout of `jax.nn`: every keyword beside JAX's, derivatives, batches, mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.nn as nn

from ...same_source import Case, SameSource

RNG = np.random.default_rng(3)
Q = RNG.standard_normal((2, 5, 4, 6)).astype(np.float32)
K, V = (RNG.standard_normal((2, 7, 4, 6)).astype(np.float32) for _ in range(2))
FEW_K, FEW_V = K[:, :, :2], V[:, :, :2]
BIAS = RNG.standard_normal((1, 4, 5, 7)).astype(np.float32)
MASK = RNG.random((2, 1, 5, 7)) < 0.6
ONE, TWO = np.int32([3, 5]), np.int32([7, 2])

CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "plain": ((Q, K, V), {}),
    "without batch": ((Q[0], K[0], V[0]), {"scale": 0.3}),
    "bias": ((Q, K, V, BIAS), {}),
    "mask": ((Q, K, V), {"mask": MASK}),
    "nothing visible": ((Q, K, V), {"mask": MASK & (np.arange(5) != 2)[:, None]}),
    "causal": ((Q, K, V), {"is_causal": True}),
    "grouped": ((Q, FEW_K, FEW_V, BIAS), {"mask": np.repeat(MASK, 4, axis=1), "is_causal": True}),
    "multi-query": ((Q, K[:, :, :1], V[:, :, :1]), {"mask": MASK[:1]}),
    "lengths": ((Q, K, V), {"query_seq_lengths": ONE, "key_value_seq_lengths": TWO}),
    "window": ((Q, K, V), {"local_window_size": 1}),
    "two windows": ((Q, K, V), {"local_window_size": (2, 0)}),
}


def attention_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> Case:
    return lambda lib: lib.nn.dot_product_attention(*args, **keywords, return_residual=True)


def gradients_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> Case:
    def gradients(lib: Any) -> Any:
        def loss(*x: Any) -> Any:
            return (lib.nn.dot_product_attention(*x, *args[3:], **keywords) ** 2).sum()

        return lib.grad(loss, (0, 1, 2))(*args[:3])

    return gradients


ORACLE = SameSource(
    Path(__file__).with_name("test_attention.npz"),
    {name: attention_of(*case) for name, case in CASES.items()}
    | {f"gradient, {name}": gradients_of(*CASES[name]) for name in ("grouped", "lengths", "nothing visible")},
)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ORACLE.cases)
def test_attention_is_that_of_jax(name: str) -> None:
    ORACLE.check(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ORACLE.cases)
def test_the_frozen_value_is_that_of_jax(name: str) -> None:
    ORACLE.check_fresh(name)


@pytest.mark.thorough
def test_it_is_compiled_batched_and_of_dynamic_length() -> None:
    causal = lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True)  # noqa: E731
    mapped = adze.vmap(causal, in_axes=(0, 0, 0))(Q, K, V)
    np.testing.assert_allclose(mapped, causal(Q, K, V), rtol=2e-5, atol=1e-6)
    query, other = adze.ShapeDtype((2, "t", 4, 6)), adze.ShapeDtype((2, "s", 4, 6))
    program = adze.trace(causal, query, other, other).lower().compile()
    np.testing.assert_allclose(program(Q, K, V), causal(Q, K, V), rtol=2e-5, atol=1e-6)


WITHOUT_BIAS = [name for name, (args, _) in CASES.items() if len(args) == 3]


@pytest.mark.parametrize("name", WITHOUT_BIAS)
def test_weights_of_halves_may_be_rounded(name: str) -> None:
    """`implementation="cudnn"` is the same up to that, also of a query that sees nothing."""
    args, keywords = CASES[name]
    halves = [x.astype(np.float16) for x in args]

    def rounded(*x: Any) -> Any:
        return nn.dot_product_attention(*x, **keywords, implementation="cudnn")

    got = np.asarray(rounded(*halves), np.float32)
    want = np.asarray(nn.dot_product_attention(*halves, **keywords), np.float32)
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-3 * abs(want).max())
    np.testing.assert_array_equal(adze.jit(rounded)(*halves), got.astype(np.float16))


def test_attention_with_rounded_weights_has_derivatives_and_batches() -> None:
    halves = [x.astype(np.float16) for x in (Q, K, V)]

    def losses(implementation: str | None) -> Callable[..., Any]:
        def loss(*x: Any) -> Any:
            attended = nn.dot_product_attention(*x, is_causal=True, implementation=implementation)
            return (attended.astype(np.float32) ** 2).sum()

        return loss

    for got, want in zip(
        adze.grad(losses("cudnn"), (0, 1, 2))(*halves),
        adze.grad(losses(None), (0, 1, 2))(*halves),
        strict=True,
    ):
        wide = np.asarray(want, np.float32)
        np.testing.assert_allclose(np.asarray(got, np.float32), wide, rtol=0, atol=4e-3 * abs(wide).max())
    mapped = adze.jit(adze.vmap(losses("cudnn")))(*halves)
    each = [losses("cudnn")(*(x[n] for x in halves)) for n in range(2)]
    np.testing.assert_allclose(np.asarray(mapped), np.asarray(each), rtol=2e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(Q[0, 0], K[0, 0], V[0, 0]), "expected \\[batch, length, heads, features\\]"),
        (lambda f: f(Q, K[:, :, :3], V[:, :, :3]), "4 query heads are no multiple of 3"),
        (lambda f: f(Q, K, V[:, :2]), "batch and features must be equal"),
        (lambda f: f(Q, K, V, mask=BIAS), "mask is f32\\[1,4,5,7\\], expected booleans"),
        (lambda f: f(Q, K, V, BIAS[:, :3]), "does not fit 4 heads"),
        (lambda f: f(Q, K, V, query_seq_lengths=3), "an integer a batch"),
    ],
)
def test_what_does_not_fit_is_named(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(adze.AdzeError, match=message) as caught:
        call(nn.dot_product_attention)
    assert f"\n  at {__file__}:" in str(caught.value)
