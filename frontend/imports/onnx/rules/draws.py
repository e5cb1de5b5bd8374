"""Random numbers, by the node's seed: the same at each call, and other ones than another library draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ....library.random.choice import categorical
from ....library.random.inverse_transforms import normal as _normal_draws
from ....library.random.keys import key
from ....library.random.uniform import uniform as _uniform_draws
from ...errors import ModelUnsupportedError
from ..calls import Call, possible


def _key(call: Call) -> Any:
    if not call.has("seed"):
        raise ModelUnsupportedError(
            "it draws random numbers without a seed: its results could not be computed again",
            hint="give the node a seed, or let the numbers be an input of the model",
        )
    return key(int(np.float32(call.get("seed")).view(np.uint32)))


def _dtype(call: Call, like: Any = None) -> np.dtype:
    return call.dtype("dtype", np.dtype(np.float32) if like is None else like.dtype)


def uniform(call: Call) -> Any:
    return _uniform(call, possible(call.ints("shape")), _dtype(call))


def uniform_like(call: Call, x: Any) -> Any:
    return _uniform(call, x.shape, _dtype(call, x))


def _uniform(call: Call, shape: Any, dtype: np.dtype) -> Any:
    low, high = call.real("low", 0.0), call.real("high", 1.0)
    return _uniform_draws(_key(call), shape, np.float32, low, high).astype(dtype)


def normal(call: Call) -> Any:
    return _normal(call, possible(call.ints("shape")), _dtype(call))


def normal_like(call: Call, x: Any) -> Any:
    return _normal(call, x.shape, _dtype(call, x))


def _normal(call: Call, shape: Any, dtype: np.dtype) -> Any:
    draws = _normal_draws(_key(call), shape, np.float32)
    return (draws * call.real("scale", 1.0) + call.real("mean", 0.0)).astype(dtype)


def bernoulli(call: Call, x: Any) -> Any:
    return (_uniform_draws(_key(call), x.shape, np.float32) < x).astype(_dtype(call, x))


def multinomial(call: Call, x: Any) -> Any:
    count = call.integer("sample_size", 1)
    draws = categorical(_key(call), x[:, None, :], axis=-1, shape=(x.shape[0], count))
    return xp.asarray(draws).astype(call.dtype("dtype", np.dtype(np.int32)))
