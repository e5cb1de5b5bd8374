"""Layers as pairs of functions, as `jax.example_libraries.stax` has them.

Input: sizes and initializers. Output: `init(key, input_shape) -> (output_shape, params)` and `apply(params,
inputs, **keywords)`; `serial` and `parallel` compose them. Images are NHWC, kernels HWIO unless dimension
numbers say else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xp
from ..initializers import glorot_normal, normal, ones, zeros
from ..lax.contractions import conv_general_dilated
from ..lax.elementwise_pairs import add
from ..lax.elementwise_pairs import max as greatest
from ..lax.padding import window_padding
from ..lax.reduce_window import conv_transpose, reduce_window
from ..nn import elu, gelu, leaky_relu, relu, selu, sigmoid, softplus
from ..numpy.arguments import argument_error
from ..random.keys import split
from ..random.uniform import bernoulli
from ..softmax import log_softmax, softmax, standardize

Shape = tuple[Any, ...]
Layer = tuple[Callable[..., Any], Callable[..., Any]]
_GLOROT, _NORMAL, _SMALL = glorot_normal(), normal(), normal(1e-6)


def Dense(out_dim: int, W_init: Any = _GLOROT, b_init: Any = _NORMAL) -> Layer:
    """A dense layer: `inputs @ W + b`."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
        k1, k2 = split(rng)
        parameters = W_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,))
        return (*input_shape[:-1], out_dim), parameters

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return xp.dot(inputs, w) + b

    return init_fun, apply_fun


def _conv_layer(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    W_init: Any,
    b_init: Any,
    spatial_shape: Callable[[Sequence[int]], Sequence[int]],
    apply: Callable[[Any, Any], Any],
) -> Layer:
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    w_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
        sizes = iter(filter_shape)
        inputs = input_shape[lhs_spec.index("C")]
        kernel = tuple(out_chan if c == "O" else inputs if c == "I" else next(sizes) for c in rhs_spec)
        spatial = iter(
            spatial_shape([n for n, c in zip(input_shape, lhs_spec, strict=True) if c not in "NC"])
        )
        batch = input_shape[lhs_spec.index("N")]
        output = tuple(out_chan if c == "C" else batch if c == "N" else next(spatial) for c in out_spec)
        k1, k2 = split(rng)
        bias = tuple(out_chan if c == "C" else 1 for c in out_spec)
        return output, (w_init(k1, kernel), b_init(k2, bias))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return apply(inputs, w) + b

    return init_fun, apply_fun


def GeneralConv(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = _SMALL,
) -> Layer:
    """A convolution."""
    steps = tuple(strides or (1,) * len(filter_shape))

    def spatial(sizes: Sequence[int]) -> list[int]:
        pads = window_padding("conv", padding, tuple(sizes), tuple(filter_shape), steps)
        windows = zip(sizes, pads, filter_shape, steps, strict=True)
        return [(n + low + high - k) // s + 1 for n, (low, high), k, s in windows]

    def apply(inputs: Any, w: Any) -> Any:
        return conv_general_dilated(inputs, w, steps, padding, dimension_numbers=dimension_numbers)

    return _conv_layer(dimension_numbers, out_chan, filter_shape, W_init, b_init, spatial, apply)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))


def GeneralConvTranspose(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str = "VALID",
    W_init: Any = None,
    b_init: Any = _SMALL,
) -> Layer:
    """A transposed convolution, `padding` 'VALID' or 'SAME'."""
    steps = tuple(strides or (1,) * len(filter_shape))
    if padding not in ("VALID", "SAME"):
        raise argument_error(f"GeneralConvTranspose: padding is {padding!r}, expected 'VALID' or 'SAME'")

    def spatial(sizes: Sequence[int]) -> list[int]:
        extra = 0 if padding == "SAME" else 1
        return [n * s + extra * max(k - s, 0) for n, k, s in zip(sizes, filter_shape, steps, strict=True)]

    def apply(inputs: Any, w: Any) -> Any:
        return conv_transpose(inputs, w, steps, padding, dimension_numbers=dimension_numbers)

    return _conv_layer(dimension_numbers, out_chan, filter_shape, W_init, b_init, spatial, apply)


Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Batch normalisation over `axis`, with the statistics of the batch."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axes)
        k1, k2 = split(rng)
        return input_shape, (beta_init(k1, shape) if center else (), gamma_init(k2, shape) if scale else ())

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        place = tuple(None if i in axes else slice(None) for i in range(xp.ndim(x)))
        result = standardize(x, axes, epsilon=epsilon)
        result = gamma[place] * result if scale else result
        return result + beta[place] if center else result

    return init_fun, apply_fun


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer without parameters that applies a function of arrays."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return init_fun, apply_fun


Tanh, Relu, Exp = elementwise(xp.tanh), elementwise(relu), elementwise(xp.exp)
LogSoftmax, Softmax = elementwise(log_softmax, axis=-1), elementwise(softmax, axis=-1)
Softplus, Sigmoid, Elu = elementwise(softplus), elementwise(sigmoid), elementwise(elu)
LeakyRelu, Selu, Gelu = elementwise(leaky_relu), elementwise(selu), elementwise(gelu)
Identity = elementwise(lambda inputs: inputs)
Flatten: Layer = (
    lambda rng, input_shape: ((input_shape[0], math.prod(input_shape[1:])), ()),
    lambda params, inputs, **kwargs: xp.reshape(inputs, (inputs.shape[0], -1)),
)


def _pooling(reducer: Callable[..., Any], start: float, is_mean: bool = False) -> Callable[..., Layer]:
    def layer(
        window_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: Any = "VALID",
        spec: str | None = None,
    ) -> Layer:
        """A pooling layer over the spatial axes, which `spec` (`NHWC` by default) names."""
        sizes, steps = list(window_shape), list(strides or (1,) * len(window_shape))
        plain = (0, len(sizes) + 1) if spec is None else tuple(sorted((spec.index("N"), spec.index("C"))))
        for place in plain:
            sizes.insert(place, 1)
            steps.insert(place, 1)
        window, moves = tuple(sizes), tuple(steps)

        def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
            pads = window_padding("pooling", padding, tuple(input_shape), window, moves)
            each = zip(input_shape, pads, window, moves, strict=True)
            return tuple((n + low + high - k) // s + 1 for n, (low, high), k, s in each), ()

        def pooled(x: Any) -> Any:
            return reduce_window(x, np.asarray(start, x.dtype), reducer, window, moves, padding)

        def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
            value = xp.asarray(inputs)
            return pooled(value) / pooled(xp.ones_like(value)) if is_mean else pooled(value)

        return init_fun, apply_fun

    return layer


MaxPool = _pooling(greatest, -math.inf)
SumPool = _pooling(add, 0.0)
AvgPool = _pooling(add, 0.0, is_mean=True)


def FanOut(num: int) -> Layer:
    """The inputs `num` times."""
    return lambda rng, shape: ([shape] * num, ()), lambda params, inputs, **kwargs: [inputs] * num


FanInSum: Layer = (
    lambda rng, input_shape: (input_shape[0], ()),
    lambda params, inputs, **kwargs: sum(inputs),
)


def FanInConcat(axis: int = -1) -> Layer:
    """Several inputs along one axis."""

    def init_fun(rng: Any, input_shape: Sequence[Shape]) -> tuple[Shape, Any]:
        place, first = axis % len(input_shape[0]), input_shape[0]
        return (*first[:place], sum(shape[place] for shape in input_shape), *first[place + 1 :]), ()

    return init_fun, lambda params, inputs, **kwargs: xp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Keeps an element with probability `rate` in mode 'train'; `apply` needs `rng=`."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple[Shape, Any]:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise argument_error("Dropout: apply needs a random key: apply(params, inputs, rng=key)")
        if mode != "train":
            return inputs
        return xp.where(bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return init_fun, apply_fun


def serial(*layers: Layer) -> Layer:
    """Layers one after the other."""

    def init_fun(rng: Any, input_shape: Any) -> tuple[Any, list[Any]]:
        params = []
        for init, _ in layers:
            rng, layer_rng = split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        for (_, apply), param, rng in zip(layers, params, _keys(kwargs, len(layers)), strict=True):
            inputs = apply(param, inputs, rng=rng, **kwargs)
        return inputs

    return init_fun, apply_fun


def _keys(kwargs: dict[str, Any], count: int) -> Any:
    """A key for each layer from `rng`, which leaves the keywords; None without one."""
    rng = kwargs.pop("rng", None)
    return split(rng, count) if rng is not None else (None,) * count


def parallel(*layers: Layer) -> Layer:
    """Layers of their own input each."""

    def init_fun(rng: Any, input_shape: Sequence[Shape]) -> Any:
        each = zip(layers, split(rng, len(layers)), input_shape, strict=True)
        return zip(*[init(key, shape) for (init, _), key, shape in each], strict=True)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> list[Any]:
        each = zip(layers, params, inputs, _keys(kwargs, len(layers)), strict=True)
        return [apply(p, x, rng=key, **kwargs) for (_, apply), p, x, key in each]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Shape], Layer]) -> Layer:
    """The layer that `make_layer` returns for the shape of its input, which is known when it is used."""
    return (
        lambda rng, input_shape: make_layer(input_shape)[0](rng, input_shape),
        lambda params, inputs, **kwargs: make_layer(inputs.shape)[1](params, inputs, **kwargs),
    )
