"""Initial values of parameters under the names of `jax.nn.initializers`: functions that make initializers.

Input: scales and axes. Output: `init(key, shape, dtype=float32)`, an array of random numbers; for equal keys
those of JAX. The rules of fans (Glorot and Bengio 2010, LeCun et al. 2012, He et al. 2015) are
`variance_scaling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..tracing.default_dtypes import floating
from . import numpy as xp
from .linalg.qr import qr
from .numpy.arguments import argument_error, shape_error
from .random.inverse_transforms import normal as normal_numbers
from .random.inverse_transforms import truncated_normal as truncated_numbers
from .random.keys import split
from .random.uniform import uniform as uniform_numbers

Initializer = Callable[..., Any]
Axes = int | Sequence[int]
_TRUNCATED: Final = 0.87962566103423978  # the deviation of a standard normal truncated to [-2, 2]
_TRUNCATED_COMPLEX: Final = 0.95311164380491208  # that of complex ones whose modulus is at most 2
_MODES: Final = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
_DISTRIBUTIONS: Final = ("truncated_normal", "normal", "uniform")


def zeros(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
    """An array of zeros."""
    return xp.zeros(shape, dtype or floating())


def ones(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
    """An array of ones."""
    return xp.ones(shape, dtype or floating())


def constant(value: Any, dtype: Any = None) -> Initializer:
    """An initializer of arrays full of `value`."""
    default = dtype

    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
        return xp.full(tuple(shape), value, dtype=dtype or default or floating())

    return init


def _of_numbers(draw: Callable[[Any, Any, Any], Any], scale: Any, default: Any) -> Initializer:
    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
        kind = np.dtype(dtype or default or floating())
        return draw(key, tuple(shape), kind) * xp.asarray(scale, dtype=kind)

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of numbers that are uniform on `[0, scale)`."""
    return _of_numbers(uniform_numbers, scale, dtype)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of normal numbers of deviation `stddev`."""
    return _of_numbers(normal_numbers, stddev, dtype)


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer of normal numbers between `lower` and `upper`, times `stddev`."""
    return _of_numbers(
        lambda key, shape, kind: truncated_numbers(key, lower, upper, shape, kind), stddev, dtype
    )


def _axes(axes: Axes, rank: int) -> list[int]:
    return [a % rank for a in ([axes] if isinstance(axes, int) else axes)]


def _fans(shape: Sequence[int], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """How many inputs and outputs an element of a kernel has; axes that are none of the three are a
    window."""
    rank = len(shape)
    if rank < 2:
        raise shape_error(
            f"variance_scaling: shape {tuple(shape)} has no fans: at least 2 dimensions expected"
        )
    sizes = [math.prod(shape[a] for a in _axes(axes, rank)) for axes in (in_axis, out_axis, batch_axis)]
    window = math.prod(shape) / math.prod(sizes)
    return sizes[0] * window, sizes[1] * window


def _in_disk(key: Any, shape: tuple[int, ...], dtype: np.dtype, is_normal: bool) -> Any:
    """Complex numbers of mean 0: normal ones of modulus at most 2, or uniform ones of variance 1."""
    of_modulus, of_angle = split(key)
    real = np.dtype(f"f{dtype.itemsize // 2}")
    share = uniform_numbers(of_modulus, shape, real)
    modulus = -xp.log(1 - (1 - math.exp(-4)) * share) if is_normal else 2 * share
    angle = 2 * math.pi * uniform_numbers(of_angle, shape, real)
    return xp.astype(xp.sqrt(modulus), dtype) * xp.exp(1j * angle)


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """An initializer of numbers of variance `scale / fan`, the fan being that of inputs, of outputs, their
    mean or their geometric mean (`mode`), from the `distribution`.

    Raises `ArgumentError` for an unknown mode or distribution, `ShapeError` for shapes of less than 2
    dimensions.
    """
    if mode not in _MODES:
        raise argument_error(f"variance_scaling: mode is {mode!r}, expected one of {', '.join(_MODES)}")
    if distribution not in _DISTRIBUTIONS:
        raise argument_error(
            f"variance_scaling: distribution is {distribution!r}, expected one of {', '.join(_DISTRIBUTIONS)}"
        )
    default = dtype

    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
        kind = np.dtype(dtype or default or floating())
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        variance = scale / fans.get(mode, math.sqrt(fan_in * fan_out))
        if kind.kind == "c" and distribution != "normal":
            is_cut = distribution == "truncated_normal"
            root = math.sqrt(variance) / (_TRUNCATED_COMPLEX if is_cut else 1)
            return _in_disk(key, tuple(shape), kind, is_cut) * xp.asarray(root, dtype=kind)
        if distribution == "uniform":
            root = xp.asarray(math.sqrt(3 * variance), dtype=kind)
            return uniform_numbers(key, tuple(shape), kind, -1) * root
        if distribution == "normal":
            return normal_numbers(key, tuple(shape), kind) * xp.asarray(math.sqrt(variance), dtype=kind)
        root = xp.asarray(math.sqrt(variance) / _TRUNCATED, dtype=kind)
        return truncated_numbers(key, -2, 2, tuple(shape), kind) * root

    return init


def _fan_rule(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def rule(
        in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = f"`variance_scaling({scale}, {mode!r}, {distribution!r}, ...)`."
    return rule


glorot_uniform = xavier_uniform = _fan_rule("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _fan_rule("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _fan_rule("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _fan_rule("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _fan_rule("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _fan_rule("he_normal", 2.0, "fan_in", "truncated_normal")


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of matrices with orthonormal columns (or rows), times `scale`; other axes are one."""
    default = dtype

    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
        kind = np.dtype(dtype or default or floating())
        if len(shape) < 2:
            raise shape_error(f"orthogonal: shape {tuple(shape)} has less than 2 dimensions")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        tall = (columns, rows) if rows < columns else (rows, columns)
        q, r = qr(normal_numbers(key, tall, kind))
        q = q * xp.sign(xp.diag(r))
        q = xp.transpose(q) if rows < columns else q
        rest = [n for axis, n in enumerate(shape) if axis != column_axis % len(shape)]
        return xp.asarray(scale, dtype=kind) * xp.moveaxis(xp.reshape(q, (*rest, columns)), -1, column_axis)

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of kernels that are 0 but in the middle, where they are `orthogonal` (Xiao et al.
    2018)."""
    default = dtype

    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: None = None) -> Any:
        kind = np.dtype(dtype or default or floating())
        if len(shape) not in (3, 4, 5):
            raise shape_error(f"delta_orthogonal: shape {tuple(shape)}, expected 3 to 5 dimensions")
        if shape[-1] < shape[-2]:
            raise shape_error(f"delta_orthogonal: shape {tuple(shape)} has fewer outputs than inputs")
        matrix = orthogonal(scale, column_axis, kind)(key, shape[-2:])
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return xp.zeros(tuple(shape), dtype=kind).at[middle].set(matrix)

    return init
