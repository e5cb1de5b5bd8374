"""Primitives as objects, under JAX's names: `add_p.bind(x, y)` applies the op.

Input: the name of a function of `adze.lax`. Output: an object with `name` and `bind`, which takes operands as
the function does, and attributes as keywords under JAX's names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from . import elementwise, elementwise_pairs
from .attributed_primitives import FUNCTIONS
from .routine_primitives import LINEAR_ALGEBRA, NAMED_AXES

_WITH_LISTS: Final = (
    *("eig", "eigh", "hessenberg", "lu", "qr", "svd"),
    *("optimization_barrier", "sort", "split", "top_k", "unstack"),
    *("pmax", "pmin", "ppermute", "psum"),
)
"""The primitives whose `bind` returns a list."""


class Primitive:
    """An op by its name: `bind` applies it, and returns a list where it has `multiple_results`."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.multiple_results = name in _WITH_LISTS
        self._function = function

    def bind(self, *operands: Any, **attributes: Any) -> Any:
        """The op of the operands, with these attributes."""
        return self._function(*operands, **attributes)

    def __repr__(self) -> str:
        return self.name


_NAMES: Final = (
    *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh"),
    *("cbrt", "ceil", "clamp", "clz", "complex", "conj", "cos", "cosh", "digamma"),
    *("div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor"),
    *("ge", "gt", "imag", "is_finite", "le", "lgamma", "log", "log1p", "logistic"),
    *("lt", "max", "min", "mul", "ne", "neg", "nextafter", "population_count", "pow"),
    *("real", "rem", "round", "rsqrt", "shift_left"),
    *("shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan"),
    *("tanh",),
)
_OTHERS: Final = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "not": "bitwise_not"}


def _elementwise() -> dict[str, Callable[..., Any]]:
    functions = vars(elementwise) | vars(elementwise_pairs)
    return {name: functions[_OTHERS.get(name, name)] for name in [*_NAMES, *_OTHERS]}


PRIMITIVES: Final[dict[str, Primitive]] = {
    f"{name}_p": Primitive(name, function)
    for name, function in {**_elementwise(), **FUNCTIONS, **NAMED_AXES}.items()
}
"""The primitives by their names in `jax.lax`."""

LINEAR_ALGEBRA_PRIMITIVES: Final[dict[str, Primitive]] = {
    f"{name}_p": Primitive(name, function) for name, function in LINEAR_ALGEBRA.items()
}
"""The primitives by their names in `jax.lax.linalg`."""
