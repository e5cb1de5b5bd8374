"""What arrays do where adze is installed without its library: that of NumPy, and nothing that would differ.

Input: the results of a loaded program. Output: elements, views and NumPy's own functions of them.

Idea: indexing and the other movements are those of NumPy in both. Arithmetic is not, since adze promotes
dtypes by rules of its own; so `x + y` is an error here that says how to ask NumPy for it. A NumPy function
that is called by its name, `numpy.add(x, y)`, computes as NumPy does and returns a NumPy array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ...runtime.errors import MissingCompilerError
from .array import Array
from .deleted import copied, delete


def _plain(value: Any) -> Any:
    """`value` with NumPy arrays in place of those of adze, in lists, tuples and dicts too."""
    if isinstance(value, Array):
        return value.numpy()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return getattr(ufunc, method)(*_plain(inputs), **_plain(kwargs))


def _call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*_plain(args), **_plain(kwargs))


def _view(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(array: Array, *args: Any, **kwargs: Any) -> Array:
        return Array(function(array.numpy(), *_plain(args), **kwargs))

    return call


_SAME: Final[dict[str, Callable[..., Any]]] = {
    "call_function": _call_function,
    "call_ufunc": _call_ufunc,
    "copy_array": copied,
    "delete_array": delete,
    "has_function": lambda module, name: False,
    "get_index": _view(lambda array, index: array[index]),
    "imag": _view(np.imag),
    "matrix_transpose": _view(lambda array: np.swapaxes(array, -1, -2)),
    "ravel": _view(np.ravel),
    "real": _view(np.real),
    "reshape": _view(np.reshape),
    "squeeze": _view(np.squeeze),
    "swapaxes": _view(np.swapaxes),
    "transpose": _view(np.transpose),
}


class _Table(Mapping[str, Callable[..., Any]]):
    """The functions above; any other is an error when it is asked for."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        function = _SAME.get(name)
        if function is None:
            raise MissingCompilerError(
                f"{name!r} of adze's arrays", hint="let NumPy compute: numpy.asarray(x), which copies nothing"
            )
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(_SAME)

    def __len__(self) -> int:
        return len(_SAME)


TABLE: Final[Mapping[str, Callable[..., Any]]] = _Table()
