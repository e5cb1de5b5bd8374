"""The array functions that the spine calls by name: operators and methods of arrays, indexing, stacking.

Input: the table of these functions, which the package root registers; it comes from
`frontend/library/operators.py`. Output: functions that look themselves up in it.

Idea: arrays have operators, and operators are compositions of the library, which is written in terms of
arrays. So nothing here imports the library: the root of the package, which Python imports before any module
of it, says where the table is, and the first call of an operator loads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

Table = Mapping[str, Callable[..., Any]]

NAMES: set[str] = set()
"""Every name that is called: what a table must have."""

_load_table: Callable[[], Table]
_table: Table | None = None


def register(load_table: Callable[[], Table]) -> None:
    """Let the functions be those of the table that `load_table` returns; it is called once, when needed."""
    global _load_table, _table
    _load_table, _table = load_table, None


def library_function(name: str) -> Callable[..., Any]:
    """The function `name` of the table."""
    NAMES.add(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        global _table
        if _table is None:
            _table = _load_table()
        return _table[name](*args, **kwargs)

    return call


def binary(name: str) -> Any:
    """An operator method that is the function `name` of the array and the other operand."""
    function = library_function(name)

    reflection = _REFLECTED.get(name, "__rsub__")

    def method(self: Any, other: Any) -> Any:
        return function(self, other) if _is_operand(other, reflection) else NotImplemented

    return method


def reflected(name: str) -> Any:
    """An operator method that is the function `name` of the other operand and the array."""
    function = library_function(name)

    def method(self: Any, other: Any) -> Any:
        return function(other, self) if _is_operand(other, "__rsub__") else NotImplemented

    return method


def method(name: str) -> Any:
    """A method that is the function `name` with the array as first argument."""
    function = library_function(name)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"`adze.numpy.{name}` of this array."
    return call


_ARRAY_LIKE: Final = ("__array__", "__dlpack__", "__float__", "__int__", "__index__", "__jax_array__")
_REFLECTED: Final = {
    "add": "__radd__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "divmod": "__rdivmod__",
    "pow": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
}
"""What another class defines that answers an operator of an array itself; `__rsub__` says so of all."""


def _is_operand(other: Any, reflection: str) -> bool:
    return _are_operands(type(other), reflection)  # type: ignore[arg-type]  # classes have a hash


@lru_cache(maxsize=1024)
def _are_operands(kind: type, reflection: str) -> bool:
    """Whether arrays answer an operator with an object of a class."""
    if kind is type(None) or getattr(kind, "__array_ufunc__", kind) is None:
        return False  # NumPy's sign of objects that want to answer themselves, such as pytest.approx
    answers = hasattr(kind, "__rsub__") or (hasattr(kind, reflection) and not issubclass(kind, (list, tuple)))
    if answers and not any(hasattr(kind, name) for name in _ARRAY_LIKE):
        return kind is complex  # others have operators of their own and are no arrays
    return not issubclass(kind, (str, bytes, dict, set, type))
