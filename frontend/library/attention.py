"""Scaled dot-product attention in the layout of `jax.nn`: batch, length, heads, features.

Input: queries `[B, T, N, H]`, keys and values `[B, S, K, H]`, `B` in all or none. Output: as the queries.
Idea: query heads are grouped by the key head they share, so grouped and multi-query attention (`K < N`) need
no repeated keys. Every mask, whatever says it, is one array of booleans; what it hides has a large negative
score, so that a query which may look at nothing weighs all keys equally, as in JAX.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...dialects.routine_arrays import attention_name
from ..tracing.interpreter import ops
from ..tracing.sizes import Dim
from . import numpy as xp
from .numpy.arguments import argument_error, dtype_error, shape_error
from .numpy.promotion import promote, type_text
from .routines import routine
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
    absent queries are 0. `implementation="cudnn"` lets the weights of half precision be rounded to it, as
    fused kernels do: without `bias` and residual, on CUDA, that is one kernel for 16 to 128 features and
    lengths of at least 16, best where 32 divides `T` and 16 divides `S`. Others are ignored. With
    `return_residual` the logarithms of the sums of exponentials `[B, T, N]` come too. Half precision is
    computed in float32 otherwise, and rounded once, at the end.
    """
    if implementation not in (None, "xla", "cudnn"):
        raise argument_error(
            f"dot_product_attention: implementation is {implementation!r}, expected None, 'xla' or 'cudnn'"
        )
    q, k, v = promote(query, key, value)
    dtype, rank = q.dtype, q.ndim
    if dtype.kind in "bui":
        raise dtype_error(f"dot_product_attention: the arrays are {dtype}, expected floating ones")
    q, k, v = (_with_batch(name, x, rank) for name, x in (("query", q), ("key", k), ("value", v)))
    _check_shapes(q, k, v)
    batch, length, heads, features = q.shape
    keys = k.shape[2]
    factor = 1 / math.sqrt(features) if scale is None else scale
    lengths = (query_seq_lengths, key_value_seq_lengths)
    plane = (batch, keys, heads // keys, length, k.shape[1])
    visible = _visible(plane, keys, heads, mask, is_causal, local_window_size, *lengths)
    is_half, scores = dtype in (np.dtype(np.float16), xp.bfloat16), None
    if implementation == "cudnn" and is_half and bias is None and not return_residual:
        # Of causal attention alone each query sees a key.
        may_be_blind = any(each is not None for each in (mask, local_window_size, *lengths))
        result = _with_rounded_weights(q, k, v, factor, visible, may_be_blind)
    else:
        if is_half:
            q, k, v = (xp.astype(x, np.float32) for x in (q, k, v))
        scores = _scores(q, k, factor, None if bias is None else _grouped("bias", bias, keys, heads), visible)
        result = xp.einsum("bkgts,bskh->btkgh", softmax(scores, -1), v)
    result = xp.reshape(result, (batch, length, heads, v.shape[-1]))
    result = xp.astype(_without_batch(_of_present(result, query_seq_lengths), rank), dtype)
    if not return_residual:
        return result
    sums = xp.reshape(xp.moveaxis(logsumexp(scores, -1), 3, 1), (batch, length, heads))
    return result, xp.astype(_without_batch(sums, rank), dtype)


def _of_present(result: Any, lengths: Any) -> Any:
    """The results `[B, T, N, H]`, 0 for queries beyond the `lengths`, if there are any."""
    if lengths is None:
        return result
    present = _positions(result.shape[:2], 1) < _lengths("query_seq_lengths", lengths, 2)
    return xp.where(present[:, :, None, None], result, 0)


def _scores(q: Any, k: Any, factor: float, bias: Any, visible: Any) -> Any:
    """What the softmax is of, `[B, K, G, T, S]`."""
    batch, length, heads, features = q.shape
    keys = k.shape[2]
    grouped = xp.reshape(q, (batch, length, keys, heads // keys, features))
    scores = xp.einsum("btkgh,bskh->bkgts", grouped, k) * factor
    if bias is not None:
        scores = xp.astype(scores + bias, scores.dtype)
    return scores if visible is None else xp.where(visible, scores, _hidden(scores))


def _hidden(scores: Any) -> float:
    """The score of what a query does not see."""
    return -0.7 * float(np.finfo(scores.dtype).max)


def _with_rounded_weights(q: Any, k: Any, v: Any, factor: float, visible: Any, may_be_blind: bool) -> Any:
    """Attention `[B, T, K, G, H]` of halves whose weights are rounded to their dtype.

    Queries of one key head are rows of one matrix. A query that sees no key sees all in the routine, whose
    kernel has no number for it, and has their mean.
    """
    batch, length, heads, features = q.shape
    keys, width = k.shape[2], k.shape[1]
    groups = heads // keys
    grouped = xp.reshape(q, (batch, length, keys, groups, features))
    rows = (batch, keys, groups * length)
    q = xp.reshape(xp.transpose(grouped, (0, 2, 3, 1, 4)), (*rows, features))
    k, v = (xp.transpose(x, (0, 2, 1, 3)) for x in (k, v))
    arrays, sees = [q, k, v], None
    if visible is not None:
        every = xp.broadcast_to(visible, (batch, keys, groups, length, width))
        mask = xp.reshape(every, (*rows, width))
        sees = xp.any(mask, axis=-1, keepdims=True) if may_be_blind else None
        arrays.append(mask if sees is None else mask | ~sees)
    result = routine(attention_name(factor), partial(_rounded, factor), *arrays)
    if sees is not None:
        result = xp.where(sees, result, xp.mean(v, axis=-2, keepdims=True))
    return xp.transpose(xp.reshape(result, (batch, keys, groups, length, features)), (0, 3, 1, 2, 4))


def _rounded(factor: float, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """The ops of the routine `attention`."""
    dtype = q.dtype
    q, k, v = (xp.astype(x, np.float32) for x in (q, k, v))
    scores = xp.einsum("bkth,bksh->bkts", q, k) * factor
    if mask is not None:
        scores = xp.where(mask, scores, _hidden(scores))
    weights = xp.astype(xp.astype(softmax(scores, -1), dtype), np.float32)
    return xp.astype(xp.einsum("bkts,bksh->bkth", weights, v), dtype)


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
