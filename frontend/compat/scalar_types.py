"""The types of numbers of `jax.numpy`, `jnp.float32` and its like: calls make arrays, not NumPy's scalars.

Input: a number, an array or a traced one. Output: an array of that dtype. Idea: such a type stands for its
dtype wherever one is expected, and is equal to NumPy's type, so that only calls differ: sums of NumPy's
scalars have NumPy's dtypes, and `np.float32(x)` of a traced `x` has no value.
"""

from __future__ import annotations

import copyreg
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..library.numpy import asarray
from ..tracing.default_dtypes import narrowed


class ScalarType(type):
    """The class of these types."""

    dtype: np.dtype

    def __call__(cls, x: Any = 0) -> Any:
        """An array of this dtype with the elements of `x`."""
        return asarray(x, dtype=narrowed(cls.dtype))

    def __eq__(cls, other: object) -> bool:
        return cls is other or other is cls.dtype.type

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'jax.numpy.{cls.__name__}'>"


def _made(name: str, kind: Any) -> ScalarType:
    dtype = np.dtype(kind)
    doc = f"Numbers of the dtype {dtype.name}; a call makes an array."
    return ScalarType(name, (), {"dtype": dtype, "__doc__": doc, "__module__": "jax.numpy"})


_WIDTHS: Final = {
    **{f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{name: name for name in ("float16", "float32", "float64", "complex64", "complex128")},
}
_TYPES: Final = {
    **{name: _made(name, kind) for name, kind in _WIDTHS.items()},
    "bool_": _made("bool_", np.bool_),
    "bfloat16": _made("bfloat16", ml_dtypes.bfloat16),
}
_ALIASES: Final = {
    **{"bool": "bool_", "int_": "int64", "uint": "uint64", "float_": "float64", "complex_": "complex128"},
    **{"single": "float32", "double": "float64", "csingle": "complex64", "cdouble": "complex128"},
}
SCALAR_TYPES: Final[dict[str, Any]] = _TYPES | {alias: _TYPES[name] for alias, name in _ALIASES.items()}


def _type_of(name: str) -> Any:
    """A type that was pickled."""
    return SCALAR_TYPES[name]


copyreg.pickle(ScalarType, lambda kind: (_type_of, (kind.__name__,)))
