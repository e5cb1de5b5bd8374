"""NumPy's own functions on adze's arrays: what `__array_ufunc__` and `__array_function__` call.

Input: a NumPy function and its arguments, some of them traced. Output: the result of adze's function of the
same name, so that plain NumPy code traces. A function that adze does not have is an error that names it,
the nearest ones, and the user's line.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.errors import AdzeError
from .. import tree
from ..errors import ArgumentTypeError, TraceError, UnsupportedError
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.jax_rules import follows_jax
from ..tracing.locations import user_location_text
from ..tracing.operators import library_function
from .numpy.creation import asarray
from .numpy.ufuncs import Ufunc

_namespace = library_function("array_namespace")
_IGNORED: Final = ("casting", "order", "subok", "signature", "like", "overwrite_input")
_NO_RESULT: Final = ("copyto", "put", "place", "putmask", "fill_diagonal")


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`ufunc.method(*inputs, **kwargs)` with an adze array among the inputs or outputs."""
    keywords = {k: v for k, v in kwargs.items() if k not in _IGNORED}
    name = ufunc.__name__
    if _writes_known(keywords, inputs):  # y += x, where y is NumPy's
        arrays = [np.asarray(x) if isinstance(x, Array) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **kwargs)
    if _writes(keywords):
        raise _cannot_write(
            f"numpy.{name}(..., out=...)" if method == "__call__" else f"numpy.{name}.{method}"
        )
    if method == "at":
        raise TraceError(
            f"numpy.{name}.at writes into its argument, and arrays of adze are immutable",
            where=user_location_text(),
            hint=f"write x = x.at[index].{_UPDATES.get(name, 'add')}(values)",
        )
    keywords.pop("out", None)
    if _is_foreign(ufunc) and not any(isinstance(x, Tracer) for x in inputs):
        arrays = [np.asarray(x) if isinstance(x, Array) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **kwargs)
    if method == "__call__":
        return _call(name, inputs, keywords)
    shown = f"numpy.{name}.{method}"
    function = _lookup(_namespace(), name, shown)
    if not isinstance(function, Ufunc):
        raise _unsupported(shown, [])
    keywords = {k: v for k, v in keywords.items() if not _says_nothing(k, v)}
    return _apply(getattr(function, method), shown, inputs, keywords)


def _is_foreign(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is none of NumPy, and of no function of `adze.numpy`: SciPy's `expit`, for instance."""
    return getattr(np, ufunc.__name__, None) is not ufunc and ufunc.__name__ not in _namespace().__all__


def _says_nothing(keyword: str, value: Any) -> bool:
    """Whether a keyword of a ufunc's method is one of NumPy's ways to leave it out."""
    return (keyword == "initial" and value is np._NoValue) or (keyword == "where" and value is True)


_UPDATES: Final = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "mul",
    "maximum": "max",
    "minimum": "min",
}


def _writes(kwargs: Mapping[str, Any]) -> bool:
    out = kwargs.get("out")
    return any(o is not None for o in out) if isinstance(out, tuple) else out is not None


def _writes_known(kwargs: Mapping[str, Any], inputs: Sequence[Any]) -> bool:
    """Whether known values are written into arrays of NumPy, which can hold them."""
    out = kwargs.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    is_known = not any(isinstance(x, Tracer) for x in (*inputs, kwargs.get("where")))
    return is_known and all(type(o) is np.ndarray for o in outs)


def _cannot_write(call: str) -> TraceError:
    return TraceError(
        f"{call} writes into an array in place: arrays of adze are immutable, and a NumPy array cannot hold "
        "a traced value",
        where=user_location_text(),
        hint="use the result instead: y = y + x in place of y += x",
    )


def _call(name: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    function = _lookup(_namespace(), name, f"numpy.{name}")
    if kwargs.pop("where", True) is not True:
        raise UnsupportedError(
            f"numpy.{name}(..., where=...) leaves elements undefined without out=",
            where=user_location_text(),
            hint="use numpy.where(condition, value, other) around the call",
        )
    dtype = kwargs.pop("dtype", None)
    if dtype is not None:
        inputs = [asarray(i, dtype) for i in inputs]
    return _apply(function, f"numpy.{name}", inputs, kwargs)


# -- functions ---------------------------------------------------------------------------------


def call_function(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`function(*args, **kwargs)` of NumPy with an adze array among the arguments."""
    module = getattr(function, "__module__", "") or ""
    name = function.__name__
    shown = f"{module}.{name}" if module.startswith("numpy") else f"numpy.{name}"
    if _is_of_numpy(name, module, args, kwargs):
        return function(*_plain(args), **_plain(kwargs))
    keywords = {k: v for k, v in kwargs.items() if k not in _IGNORED and v is not np._NoValue}
    if name in _NO_RESULT or _writes(keywords):
        raise _cannot_write(f"{shown}(..., out=...)" if _writes(keywords) else shown)
    keywords.pop("out", None)
    if keywords.get("where") is True:
        del keywords["where"]
    for extension in ("linalg", "fft"):
        if module.startswith(f"numpy.{extension}"):
            home = getattr(_namespace(), extension)
            return _apply_as(function, _lookup(home, name, shown), shown, args, keywords)
    if module.startswith(("numpy.random", "numpy.polynomial")):
        raise _unsupported(shown, [])
    return _apply_as(function, _lookup(_namespace(), name, shown), shown, args, keywords)


_ANSWERS: Final = ("allclose", "array_equal", "array_equiv")
_MOVEMENTS: Final = (
    *("concatenate", "concat", "stack", "vstack", "hstack", "dstack", "column_stack", "block", "append"),
    *("copy", "tile", "split", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "meshgrid"),
)


def _is_of_numpy(name: str, module: str, args: Any, kwargs: Any) -> bool:
    """Whether NumPy itself computes a function of known arrays: one whose answer is a bool, one that adze
    does not have, one that writes into NumPy's arrays, and in programs written for JAX those that move
    elements, whose results are arrays that can be written to."""
    if any(isinstance(leaf, Tracer) for leaf in tree.leaves((list(args), dict(kwargs)))):
        return False
    if name in _ANSWERS or (name in _MOVEMENTS and follows_jax()):
        return True
    if name in _NO_RESULT:
        return bool(args) and type(args[0]) is np.ndarray
    if _writes(kwargs):
        return _writes_known(kwargs, args)
    is_extension = module.startswith(("numpy.linalg", "numpy.fft"))
    home = getattr(_namespace(), module.split(".")[1]) if is_extension else _namespace()
    return name not in home.__all__ or module.startswith(("numpy.random", "numpy.polynomial"))


def _plain(value: Any) -> Any:
    """`value` with NumPy's arrays in place of those of adze, in lists, tuples and dicts too."""
    return tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, value)


def _apply_as(
    original: Callable[..., Any],
    function: Callable[..., Any],
    shown: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    """Call adze's function; leading arguments that NumPy names otherwise (`a=x`) go by position."""
    try:
        theirs = list(inspect.signature(original).parameters)
        ours = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return _apply(function, shown, args, kwargs)
    positional, named = list(args), dict(kwargs)
    for name in theirs[len(positional) :]:
        if name not in named or name in ours:
            break
        positional.append(named.pop(name))
    return _apply(function, shown, positional, named)


def _apply(function: Callable[..., Any], shown: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except AdzeError:
        raise
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ArgumentTypeError(
            f"{shown}: adze's function of that name does not take these arguments: {error}",
            where=user_location_text(),
        ) from None


def _lookup(place: Any, name: str, shown: str) -> Callable[..., Any]:
    function = getattr(place, name, None)
    if callable(function) and name in place.__all__:
        return function
    raise _unsupported(shown, difflib.get_close_matches(name, place.__all__, n=3))


def _unsupported(shown: str, nearest: Sequence[str]) -> UnsupportedError:
    hint = f"adze.numpy has {', '.join(nearest)}" if nearest else "compute it outside the traced function"
    return UnsupportedError(
        f"{shown} is not supported on arrays of adze", where=user_location_text(), hint=hint
    )
