"""Functions that take their arguments in another order from JAX than from NumPy.

Input: a function of adze, whose order is NumPy's. Output: the same with JAX's order of positional arguments.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any, Final

HISTOGRAM: Final = ("bins", "range", "weights", "density")
ORDERS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "jax.numpy": {
        "concatenate": ("arrays", "axis", "dtype"),
        "histogram": ("a", *HISTOGRAM),
        "histogram2d": ("x", "y", *HISTOGRAM),
        "histogramdd": ("sample", *HISTOGRAM),
    },
    "jax.numpy.linalg": {"matrix_rank": ("M", "rtol"), "pinv": ("a", "rtol", "hermitian")},
}
"""Module of JAX -> function -> the names of its positional parameters."""


def in_jax_order(module: str, name: str, value: Any) -> Any:
    """A name of JAX's module: a function of `ORDERS` with the positional parameters that JAX's has."""
    order = ORDERS.get(module, {}).get(name)
    return value if order is None else _reordered(value, order)


def _reordered(function: Callable[..., Any], order: tuple[str, ...]) -> Callable[..., Any]:
    own = inspect.signature(function).parameters
    positional = [own[n].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in order]
    rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for n, p in own.items() if n not in order]
    signature = inspect.Signature([*positional, *rest])
    alike = sum(
        1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(order, own, strict=False))
    )

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > alike:
            kwargs, args = signature.bind(*args, **kwargs).arguments, ()
        return function(*args, **kwargs)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
