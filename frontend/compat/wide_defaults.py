"""The default dtypes of programs that set `jax_enable_x64`: float64 and complex128, where they make arrays.

Input: a function of `jax.numpy` or `jax.random` with a parameter `dtype`. Output: the same, whose result is
of 64 bits where neither `dtype` nor an array among the arguments says otherwise. Idea: the function is called
as it is, and again for 64 bits if its result is of a default dtype.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...dialects.types import INEXACT
from .. import tree
from ..library.numpy.promotion import promotion_caches, result_type
from ..staging.jitted import forget_all
from ..tracing.array import Array
from ..tracing.default_dtypes import Floating, floating_of, narrowed
from ..tracing.scalars import WIDE

MAKERS: Final = frozenset(
    (
        *("zeros", "ones", "empty", "full", "eye", "identity", "array", "asarray", "arange"),
        *("linspace", "logspace", "geomspace", "fromfunction", "result_type"),
    )
)
SAMPLERS: Final = frozenset(
    (
        *(
            "ball",
            "beta",
            "binomial",
            "cauchy",
            "chisquare",
            "dirichlet",
            "exponential",
            "f",
            "gamma",
            "gumbel",
            "laplace",
        ),
        *(
            "generalized_normal",
            "loggamma",
            "logistic",
            "lognormal",
            "maxwell",
            "multivariate_normal",
            "normal",
        ),
        *("orthogonal", "pareto", "rayleigh", "t", "triangular", "truncated_normal", "uniform", "wald"),
    )
)


OF_WHOLE_NUMBERS: Final = {
    "geometric": np.int64,
    "randint": np.int64,
    "poisson": np.int64,
    "bits": np.uint64,
    "rademacher": np.int64,
}
"""Samples of whole numbers, and their dtype in a program of 64 bits."""


def set_wide(is_wide: bool) -> None:
    """Let 64 bits be the default, or 32; functions that were compiled before are traced again."""
    if is_wide == (Floating.dtype == np.float64):
        return
    Floating.dtype = np.dtype(np.float64 if is_wide else np.float32)
    forget_dtypes()


def forget_dtypes() -> None:
    """Forget what was traced, and how dtypes met, while other dtypes were the default."""
    for cache in promotion_caches:
        cache.cache_clear()
    forget_all()


def of_wide_defaults(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function`, whose results have 64 bits while `jax_enable_x64` is set and nothing says otherwise."""
    parameters = inspect.signature(function)
    wide = _of_wide_results(function, name, parameters)
    return _weak_numbers(wide, parameters) if name in ("array", "asarray") else wide


def _weak_numbers(function: Callable[..., Any], parameters: inspect.Signature) -> Callable[..., Any]:
    """`array` or `asarray`, whose array of one of Python's numbers is weakly typed as the number is."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        bound = parameters.bind_partial(*args, **kwargs).arguments
        is_number = type(next(iter(bound.values()), None)) in (int, float, complex)
        if is_number and bound.get("dtype") is None and isinstance(result, Array) and result.kind is None:
            result.weak_type = True
        return result

    return call


def _float_of(dtype: np.dtype) -> np.dtype:
    return dtype if dtype in INEXACT else floating_of(dtype)


def _of_wide_results(
    function: Callable[..., Any], name: str, parameters: inspect.Signature
) -> Callable[..., Any]:
    """`function` as `of_wide_defaults` has it."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if Floating.dtype == np.float32:
            result = function(*args, **kwargs)
            return narrowed(result) if name == "result_type" else result
        bound = parameters.bind_partial(*args, **kwargs).arguments
        if bound.get("dtype") is not None:
            return function(*args, **kwargs)
        if name == "result_type":
            result = function(*args)
            return result if any(hasattr(arg, "dtype") for arg in args) else WIDE.get(result, result)
        if name == "bernoulli":
            chance = bound.get("p", 0.5)
            rest = {k: v for k, v in bound.items() if k not in ("key", "p")}
            chance = np.float64(chance) if isinstance(chance, (int, float)) else chance
            return function(bound["key"], chance, **rest)
        if name in OF_WHOLE_NUMBERS:
            return function(*args, **kwargs, dtype=OF_WHOLE_NUMBERS[name])
        if name == "multivariate_normal":
            shaping = [bound[n] for n in ("mean", "cov") if n in bound]
            if all(hasattr(v, "dtype") for v in shaping):
                return function(*args, **kwargs, dtype=_float_of(result_type(*shaping)))
        if name in SAMPLERS:
            return function(*args, **kwargs, dtype=Floating.dtype)
        result = function(*args, **kwargs)
        is_stated = any(hasattr(leaf, "dtype") for leaf in tree.leaves((args, kwargs)))
        if is_stated or getattr(result, "dtype", None) not in WIDE:
            return result
        return function(*args, **kwargs, dtype=WIDE[result.dtype])

    return call
