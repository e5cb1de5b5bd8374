"""`out_sharding=`: how the result of a function lies, where its operands do not say it.

Input: a function of `jax.numpy`, `jax.lax` or `jax.random`. Output: the same with one keyword more. Idea: ops
whose operands disagree pass while it runs; the result is then put where the keyword says. Without the
keyword the function is called as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from ..sharding.constraints import lying_as
from .wide_defaults import MAKERS, OF_WHOLE_NUMBERS, SAMPLERS, of_wide_defaults

OF_NUMPY: Final = frozenset(
    (
        *(
            "arange",
            "array",
            "asarray",
            "broadcast_to",
            "dot",
            "einsum",
            "empty",
            "full",
            "full_like",
            "matmul",
        ),
        *(
            "ones",
            "ones_like",
            "percentile",
            "ravel",
            "repeat",
            "reshape",
            "tensordot",
            "zeros",
            "zeros_like",
        ),
        "bincount",
    )
)
OF_LAX: Final = frozenset(
    (
        *("broadcast", "broadcast_in_dim", "broadcasted_iota", "conv_general_dilated", "dot", "dot_general"),
        *(
            "empty",
            "full",
            "full_like",
            "ragged_dot",
            "ragged_dot_general",
            "reduce",
            "reduce_sum",
            "reshape",
        ),
    )
)
OF_RANDOM: Final = frozenset(
    (
        *(
            "ball",
            "bernoulli",
            "beta",
            "bits",
            "categorical",
            "cauchy",
            "chisquare",
            "dirichlet",
            "exponential",
        ),
        *("f", "gamma", "generalized_normal", "geometric", "gumbel", "laplace", "loggamma", "logistic"),
        *("lognormal", "maxwell", "multivariate_normal", "normal", "orthogonal", "pareto", "permutation"),
        *("poisson", "rademacher", "randint", "rayleigh", "t", "triangular", "truncated_normal", "uniform"),
        "wald",
    )
)


SAMPLED: Final = SAMPLERS | OF_WHOLE_NUMBERS.keys() | {"bernoulli"}
OUT_SHARDINGS: Final = {"numpy": OF_NUMPY, "lax": OF_LAX, "random": OF_RANDOM}


def taking_out_sharding(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with the keyword `out_sharding`, a sharding or a `PartitionSpec` over the mesh in force."""
    named = "sharding" if function.__name__ in ("full", "full_like") else "out_sharding"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        stated = kwargs.pop("out_sharding", None)
        if named in kwargs:
            stated = kwargs.pop(named)
        if stated is None:
            return function(*args, **kwargs)
        return lying_as(stated, lambda: function(*args, **kwargs))

    parameters = inspect.signature(function).parameters
    if "out_sharding" not in parameters:
        added = inspect.Parameter("out_sharding", inspect.Parameter.KEYWORD_ONLY, default=None)
        own = [p for p in parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        rest = [p for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
        call.__signature__ = inspect.Signature([*own, added, *rest])  # type: ignore[attr-defined]
    return call


@functools.cache
def function_of(module: str, name: str) -> Callable[..., Any]:
    """The function of a module of adze's, with the keyword."""
    import importlib

    package = __name__.partition(".")[0]
    function = getattr(importlib.import_module(f"{package}.{module}"), name)
    if name in MAKERS if module != "random" else name in SAMPLED:
        function = of_wide_defaults(function, name)
    return taking_out_sharding(function) if name in OUT_SHARDINGS[module] else function
