"""What `bind` of primitives with attributes does: JAX's names of attributes for the functions of `adze.lax`.

Input: operands as positional arguments, JAX's attributes as keywords. Output: the function's result. Those
about several devices (`sharding`, `out_sharding`) are accepted and mean nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...transforms.checkpoints import stop_gradient
from .. import numpy as xp
from ..fft.lax_fft import fft
from ..special import incomplete, scipy_names, zeta
from . import (
    contractions,
    elementwise,
    hints,
    indexing,
    ordering,
    reduce_window,
    reductions,
    scatter_apply,
    shapes,
)

_HINTS: Final = {"sharding", "out_sharding", "weak_type", "out_type"}
Function = Callable[..., Any]


def _as_is(function: Function) -> Function:
    """A function whose keywords are the primitive's attributes."""
    return lambda *xs, **attributes: function(*xs, **{k: v for k, v in attributes.items() if k not in _HINTS})


def _several(function: Function, **names: str) -> Function:
    """A function of one sequence; `names` are its keywords by the attribute's names."""
    return lambda *xs, **attributes: function(
        xs, **{names.get(k, k): v for k, v in attributes.items() if k not in _HINTS}
    )


def _position(function: Function) -> Function:
    return lambda x, *, axes, index_dtype: function(x, axes[0], index_dtype)


def _window(name: str) -> Function:
    starts = {"add": 0, "max": None, "min": None}

    def bind(
        x: Any,
        *,
        window_dimensions: Any,
        window_strides: Any,
        padding: Any,
        base_dilation: Any,
        window_dilation: Any,
    ) -> Any:
        start = starts[name]
        if start is None:
            lowest, highest = _extremes(xp.asarray(x).dtype)
            start = lowest if name == "max" else highest
        combine = {"add": xp.add, "max": xp.maximum, "min": xp.minimum}[name]
        return reduce_window.reduce_window(
            x,
            xp.asarray(start).astype(xp.asarray(x).dtype),
            combine,
            window_dimensions,
            window_strides,
            padding,
            base_dilation,
            window_dilation,
        )

    return bind


def _extremes(dtype: Any) -> tuple[Any, Any]:
    if dtype.kind == "b":
        return False, True
    if dtype.kind in "iu":
        return xp.iinfo(dtype).min, xp.iinfo(dtype).max
    return -xp.inf, xp.inf


def _scatter(function: Function) -> Function:
    def bind(
        operand: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: Any,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: Any,
        update_jaxpr: Any = None,
        update_consts: Any = None,
    ) -> Any:
        del update_jaxpr, update_consts
        return function(
            operand,
            indices,
            updates,
            dimension_numbers,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
        )

    return bind


FUNCTIONS: Final[dict[str, Function]] = {
    "argmax": _position(reductions.argmax),
    "argmin": _position(reductions.argmin),
    "bessel_i0e": scipy_names.i0e,
    "bessel_i1e": scipy_names.i1e,
    "bitcast_convert_type": _as_is(elementwise.bitcast_convert_type),
    "broadcast_in_dim": _as_is(shapes.broadcast_in_dim),
    "concatenate": _several(shapes.concatenate),
    "conv_general_dilated": _as_is(contractions.conv_general_dilated),
    "convert_element_type": _as_is(elementwise.convert_element_type),
    "copy": xp.copy,
    "cumlogsumexp": reductions.cumlogsumexp,
    "cummax": reductions.cummax,
    "cummin": reductions.cummin,
    "cumprod": reductions.cumprod,
    "cumsum": reductions.cumsum,
    "dot_general": _as_is(contractions.dot_general),
    "dynamic_slice": lambda x, *starts, slice_sizes: indexing.dynamic_slice(x, starts, slice_sizes),
    "dynamic_update_slice": lambda x, update, *starts: indexing.dynamic_update_slice(x, update, starts),
    "fft": fft,
    "gather": _as_is(indexing.gather),
    "igamma": incomplete.gammainc,
    "igamma_grad_a": incomplete.gammainc_slope,
    "igammac": incomplete.gammaincc,
    "integer_pow": elementwise.integer_pow,
    "iota": lambda *, dtype, shape, dimension, sharding=None: shapes.broadcasted_iota(
        dtype, shape, dimension
    ),
    "mulhi": hints.mulhi,
    "optimization_barrier": lambda *xs: shapes.optimization_barrier(list(xs)),
    "pad": shapes.pad,
    "polygamma": zeta.polygamma,
    "reduce_and": _as_is(reductions.reduce_and),
    "reduce_max": _as_is(reductions.reduce_max),
    "reduce_min": _as_is(reductions.reduce_min),
    "reduce_or": _as_is(reductions.reduce_or),
    "reduce_precision": reduce_window.reduce_precision,
    "reduce_prod": _as_is(reductions.reduce_prod),
    "reduce_sum": _as_is(reductions.reduce_sum),
    "reduce_window_max": _window("max"),
    "reduce_window_min": _window("min"),
    "reduce_window_sum": _window("add"),
    "reduce_xor": _as_is(scatter_apply.reduce_xor),
    "regularized_incomplete_beta": incomplete.betainc,
    "reshape": _as_is(shapes.reshape),
    "rev": shapes.rev,
    "scatter": _scatter(indexing.scatter),
    "scatter_add": _scatter(indexing.scatter_add),
    "scatter_max": _scatter(indexing.scatter_max),
    "scatter_min": _scatter(indexing.scatter_min),
    "scatter_mul": _scatter(indexing.scatter_mul),
    "scatter_sub": _scatter(indexing.scatter_sub),
    "select_n": elementwise.select_n,
    "slice": shapes.slice,
    "sort": lambda *xs, **attributes: [*ordering.sort(xs, **attributes)],
    "split": shapes.split,
    "squeeze": shapes.squeeze,
    "stack": _several(shapes.stack),
    "stop_gradient": stop_gradient,
    "tile": shapes.tile,
    "top_k": lambda x, *, k, axis=-1, **_: [*ordering.top_k(x, k, axis=axis)],
    "transpose": shapes.transpose,
    "unstack": lambda x, *, axis: [*shapes.unstack(x, axis)],
    "zeta": zeta.zeta,
}
"""The functions by the names of JAX's primitives."""
