"""Elementwise functions as objects: called like functions, with NumPy's ufunc methods as attributes.

`add(x, y)` is the function; `add.outer`, `.reduce`, `.accumulate`, `.reduceat` and `.at` apply it as the
methods of `numpy.add` do, to traced arrays as to concrete ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ...errors import OutArgumentError
from ...tracing.locations import user_location_text
from ...tracing.operators import library_function

# These are loops, which are written in terms of elementwise functions: see `ufunc_methods.py`.
_outer = library_function("ufunc_outer")
_reduce = library_function("ufunc_reduce")
_accumulate = library_function("ufunc_accumulate")
_reduceat = library_function("ufunc_reduceat")
_at = library_function("ufunc_at")


class Ufunc:
    """An elementwise function of `nin` arrays; `function` is what a call does, `like` NumPy's own."""

    DECIDES = ("_function",)
    """The attributes that decide what a call computes: see `tracing/visible.py`."""

    __name__: str

    def __init__(self, function: Callable[..., Any], like: np.ufunc) -> None:
        update_wrapper(self, function)
        self.__module__ = "adze.numpy"
        self._function = function
        self.nin, self.nout, self.nargs = like.nin, like.nout, like.nargs
        self.identity = like.identity
        self.is_reorderable = _is_reorderable(like)
        self.__signature__ = _with_keywords(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs or "where" in kwargs:
            self._refuse(kwargs.pop("out", None), kwargs.pop("where", None))
        if len(args) == self.nin + 1:  # NumPy takes `out` by position too
            self._refuse(args[-1], None)
            args = args[:-1]
        return self._function(*args, **kwargs)

    def _refuse(self, out: Any, where: Any) -> None:
        """NumPy's keywords about what a call leaves as it was, which arrays that are immutable have not."""
        if out is not None or (where is not None and where is not True):
            name = "out" if out is not None else "where"
            raise OutArgumentError(
                f"{self.__name__}: {name}= writes into an array in place, and arrays of adze are immutable",
                where=user_location_text(),
                hint="use the result instead"
                if out is not None
                else f"write adze.numpy.where(mask, {self.__name__}(...), otherwise)",
            )

    def calling(self, function: Callable[..., Any]) -> Ufunc:
        """The same function, whose calls are those of `function`."""
        other = object.__new__(Ufunc)
        other.__dict__ = {**self.__dict__, "_function": function}
        return other

    def __reduce__(self) -> str:
        return self.__name__  # pickled by reference: `adze.numpy` has it under this name

    def __repr__(self) -> str:
        return f"<ufunc adze.numpy.{self.__name__}>"

    def outer(self, a: Any, b: Any, /, *, dtype: Any = None) -> Any:
        """The function of each pair of elements: the axes of `a`, then those of `b`."""
        return _outer(self, a, b, dtype)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """`f(f(x[0], x[1]), x[2])` and so on along `axis` (several, or None for all)."""
        return _reduce(self, array, axis, dtype, out, keepdims, initial, where)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """What `reduce` returns of the first element, of the first two, and so on along `axis`."""
        return _accumulate(self, array, axis, dtype, out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """`reduce` of the parts of `axis` from each of `indices`, known while tracing, up to the next one."""
        return _reduceat(self, array, indices, axis, dtype, out)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """With `inplace=False`: `a` with `a[i] = f(a[i], b)` done for each index, one after the other."""
        return _at(self, a, indices, b, inplace)


def _with_keywords(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function, and NumPy's `out` and `where`."""
    signature = inspect.signature(function)
    kinds = {"out": inspect.Parameter.POSITIONAL_OR_KEYWORD, "where": inspect.Parameter.KEYWORD_ONLY}
    added = [inspect.Parameter(name, kind, default=None) for name, kind in kinds.items()]
    named = [p for p in signature.parameters.values() if p.name not in ("out", "where")]
    last = [p for p in named if p.kind is inspect.Parameter.VAR_KEYWORD]
    return signature.replace(parameters=[p for p in named if p not in last] + added + last)


def _is_reorderable(like: np.ufunc) -> bool:
    """Whether NumPy reduces several axes at once: the order of the elements does not matter."""
    try:
        like.reduce(np.ones((1, 1), bool if like.__name__.startswith("logical") else int), axis=(0, 1))
    except (TypeError, ValueError):
        return False
    return True


def as_ufunc(like: np.ufunc) -> Callable[[Callable[..., Any]], Ufunc]:
    """Make a function of arrays a `Ufunc` in the manner of NumPy's `like`."""
    return lambda function: Ufunc(function, like)


ufunc = Ufunc
"""The class of `add`, `exp` and the like, under NumPy's name."""
