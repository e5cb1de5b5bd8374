"""Scaled dot-product attention in the layout of `jax.nn`: batch, length, heads, features.

Input: queries `[B, T, N, H]`, keys and values `[B, S, K, H]`, `B` in all or none. Output: as the queries.
Idea: query heads are grouped by the key head they share, so grouped and multi-query attention (`K < N`) need
no repeated keys. Every mask, whatever says it, is one array of booleans; what it hides has a large negative
score, so that a query which may look at nothing weighs all keys equally, as in JAX.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tracing.interpreter import ops
from ..tracing.sizes import Dim
from . import numpy as xp
from .numpy.arguments import argument_error, dtype_error, shape_error
from .numpy.promotion import promote, type_text
from .softmax import logsumexp, softmax

_INT = np.dtype(np.int32)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Attention (Vaswani et al. 2017): `softmax(query @ key.T * scale + bias) @ value` for each head.

    `query` is `[B, T, N, H]`, `key` and `value` are `[B, S, K, H]` where `K` divides `N`; all three may lack
    `B`. `bias` and the boolean `mask` (true where a query may look at a key) broadcast to `[B, N, T, S]`.
    `scale` is `1 / sqrt(H)` by default. `is_causal` hides keys after the query, `local_window_size` (left and
    right) those far from it, the two `*_seq_lengths` (integers, `[B]`) what lies beyond them; results of
    absent queries are 0. `implementation` is ignored. With `return_residual` the logarithms of the sums of
    exponentials `[B, T, N]` come too. Half precision is computed in float32 and rounded once, at the end.
    """
    if implementation not in (None, "xla", "cudnn"):
        raise argument_error(
            f"dot_product_attention: implementation is {implementation!r}, expected None or 'xla'"
        )
    q, k, v = promote(query, key, value)
    dtype, rank = q.dtype, q.ndim
    if dtype.kind in "bui":
        raise dtype_error(f"dot_product_attention: the arrays are {dtype}, expected floating ones")
    if dtype in (np.dtype(np.float16), xp.bfloat16):
        q, k, v = (xp.astype(x, np.float32) for x in (q, k, v))
    q, k, v = (_with_batch(name, x, rank) for name, x in (("query", q), ("key", k), ("value", v)))
    _check_shapes(q, k, v)
    batch, length, heads, features = q.shape
    keys = k.shape[2]
    grouped = xp.reshape(q, (batch, length, keys, heads // keys, features))
    factor = 1 / math.sqrt(features) if scale is None else scale
    scores = xp.einsum("btkgh,bskh->bkgts", grouped, k) * factor
    if bias is not None:
        scores = xp.astype(scores + _grouped("bias", bias, keys, heads), scores.dtype)
    lengths = (query_seq_lengths, key_value_seq_lengths)
    visible = _visible(scores.shape, keys, heads, mask, is_causal, local_window_size, *lengths)
    if visible is not None:
        scores = xp.where(visible, scores, -0.7 * float(np.finfo(scores.dtype).max))
    result = xp.einsum("bkgts,bskh->btkgh", softmax(scores, -1), v)
    result = xp.reshape(result, (batch, length, heads, v.shape[-1]))
    if query_seq_lengths is not None:
        present = _positions((batch, length), 1) < _lengths("query_seq_lengths", query_seq_lengths, 2)
        result = xp.where(present[:, :, None, None], result, 0)
    result = _without_batch(result, rank)
    result = xp.astype(result, dtype)
    if not return_residual:
        return result
    sums = xp.reshape(xp.moveaxis(logsumexp(scores, -1), 3, 1), (batch, length, heads))
    return result, xp.astype(_without_batch(sums, rank), dtype)


def _without_batch(result: Any, rank: int) -> Any:
    return result if rank == 4 else xp.squeeze(result, axis=0)


def _with_batch(name: str, x: Any, rank: int) -> Any:
    if rank not in (3, 4) or x.ndim != rank:
        raise shape_error(
            f"dot_product_attention: {name} is {type_text(x)}, expected [batch, length, heads, features], "
            "or all three arrays without batch",
            "a single head is x[:, None, :] of [length, features]",
        )
    return x if rank == 4 else xp.expand_dims(x, 0)


def _check_shapes(q: Any, k: Any, v: Any) -> None:
    shown = f"query {type_text(q)}, key {type_text(k)}, value {type_text(v)}"
    heads, keys = q.shape[2], k.shape[2]
    if any(isinstance(n, Dim) for n in (heads, keys, q.shape[3])):
        raise shape_error(f"dot_product_attention: heads and features must be static, got {shown}")
    pairs = [*zip(k.shape, v.shape, strict=True), (q.shape[0], k.shape[0]), (q.shape[3], k.shape[3])]
    if any(a != b for a, b in pairs if not isinstance(a, Dim) and not isinstance(b, Dim)):
        raise shape_error(
            f"dot_product_attention: {shown}: batch and features must be equal, value shaped as key"
        )
    if keys == 0 or heads % keys:
        raise shape_error(
            f"dot_product_attention: {heads} query heads are no multiple of {keys} key heads ({shown})"
        )


def _grouped(name: str, x: Any, keys: int, heads: int) -> Any:
    """A bias or mask that broadcasts to `[B, N, T, S]`, with `N` as key heads and their groups."""
    value = xp.asarray(x)
    if value.ndim > 4:
        raise shape_error(f"dot_product_attention: {name} {type_text(value)} has more than 4 dimensions")
    value = xp.reshape(value, (*(1,) * (4 - value.ndim), *value.shape))
    if value.shape[1] == 1:
        return xp.expand_dims(value, 2)
    if value.shape[1] != heads:
        raise shape_error(f"dot_product_attention: {name} {type_text(value)} does not fit {heads} heads")
    batch, _, length, width = value.shape
    return xp.reshape(value, (batch, keys, heads // keys, length, width))


def _positions(shape: Sequence[Any], axis: int) -> Any:
    return ops.iota(shape=tuple(shape), axis=axis, dtype=_INT)


def _lengths(name: str, lengths: Any, rank: int) -> Any:
    value = xp.asarray(lengths)
    if value.ndim != 1 or value.dtype.kind not in "iu":
        raise dtype_error(f"dot_product_attention: {name} is {type_text(value)}, expected an integer a batch")
    return xp.reshape(value, (-1, *(1,) * (rank - 1)))


def _visible(
    shape: Sequence[Any],
    keys: int,
    heads: int,
    mask: Any,
    is_causal: bool,
    window: int | tuple[int, int] | None,
    query_lengths: Any,
    key_lengths: Any,
) -> Any:
    """Where queries see keys, for scores `[B, K, G, T, S]`; None if everywhere."""
    plane = tuple(shape[-2:])
    masks = []
    if mask is not None:
        given = xp.asarray(mask)
        if given.dtype != np.bool_:
            raise dtype_error(
                f"dot_product_attention: mask is {type_text(given)}, expected booleans",
                "numbers that are added to the scores are the bias",
            )
        masks.append(_grouped("mask", given, keys, heads))
    if is_causal:
        masks.append(_positions(plane, 0) >= _positions(plane, 1))
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        masks.append(_positions(plane, 0) <= _positions(plane, 1) + left)
        masks.append(_positions(plane, 0) >= _positions(plane, 1) - right)
    if query_lengths is not None:
        masks.append(_positions(plane, 0) < _lengths("query_seq_lengths", query_lengths, 5))
    if key_lengths is not None:
        masks.append(_positions(plane, 1) < _lengths("key_value_seq_lengths", key_lengths, 5))
    visible = None
    for one in masks:
        visible = one if visible is None else visible & one
    return visible
