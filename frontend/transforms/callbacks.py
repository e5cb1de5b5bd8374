"""Calls of Python functions from traced programs: `pure_callback`, `io_callback`, `debug.callback`, `.print`.

Input: a Python function, the types of its results, arguments that may be traced. Output: traced results.
Idea: outside a trace the function is called at once. Inside, the call is an op that names the function, which
the program's trace keeps alive; the evaluator calls it, and a compiled program asks its process to. Programs
run in order, so every effect has the order of the program, `ordered` or not.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.ops.host_calls import Mapping, known_sizes, register
from ...dialects.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, INT64, TensorType
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, CallbackError
from ..tracing.array import Array
from ..tracing.default_dtypes import floating
from ..tracing.frames import current_frame
from ..tracing.function_scope import resumes_trace
from ..tracing.interludes import outside_traces
from ..tracing.interpreter import as_value, ops
from ..tracing.jax_rules import Installed, follows_jax
from ..tracing.locations import located, user_location_text
from ..tracing.specs import ShapeDtype
from ..tracing.trace import function_name
from ..tracing.varying import mesh_axes


@resumes_trace
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """The results of the Python function `callback`, which has no effects, on NumPy arrays.

    `result_shape_dtypes` is the tree of its results, with `ShapeDtype`s (or arrays) as leaves. In a compiled
    program the call happens when the program runs; it may happen more than once, or never where its
    results are not used. `vmap_method` says how `vmap` maps it: "sequential" (one call an element),
    "expand_dims" (one call, other arguments with a leading axis of size 1) or "broadcast_all". In `shard_map`
    each rank calls the function with its part.

    Has no derivative: put it into a `custom_jvp` or `custom_vjp`. Raises `CallbackError` for results of
    other shapes, dtypes or trees; what `callback` raises in eager calls comes through as it is, and from a
    compiled program as the cause of a `HostCallError`. A program with callbacks cannot be saved.
    """
    function = _Function(callback, result_shape_dtypes, args, kwargs)
    if current_frame() is None:
        return function.called(function.arrays())
    results = ops.host_call(
        *function.values(),
        callback=_registered(function, _Pure),
        result_types=function.result_types,
        mapping=_mapping(vmap_method),
        batches=(),
    )
    return tree.unflatten(function.result_tree, list(results))


@resumes_trace
def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """As `pure_callback`, for a function with effects: it is called once for each time that the program says.

    Programs run in order, so calls keep theirs with `ordered=False` too. `vmap` calls it for one element
    after the other, and only for those that reach it; in programs written for JAX it refuses one that is
    `ordered`, as JAX does. Has no derivative.
    """
    function = _Function(callback, result_shape_dtypes, args, kwargs)
    if current_frame() is None:
        return function.called(function.arrays())
    is_refused = ordered and follows_jax() and not mesh_axes()
    mapping = Mapping.REFUSED if is_refused else Mapping.SEQUENTIAL
    return tree.unflatten(function.result_tree, _effect(function, mapping, ignores_tangents=False))


@resumes_trace
def debug_callback(
    callback: Callable[..., Any],
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Call the Python function `callback` on NumPy arrays when the program reaches this point.

    What it returns is ignored. Derivatives pass it by: a differentiated function calls it on its primals,
    once. `vmap` calls it for one element after the other. Other arguments are passed as they are.
    """
    leaves, structure = tree.flatten((args, kwargs))
    is_array = [_is_array(leaf) for leaf in leaves]
    fixed = [None if has else leaf for leaf, has in zip(leaves, is_array, strict=True)]

    def call(*arrays: Any) -> None:
        given = iter(arrays)
        merged = [next(given) if has else leaf for leaf, has in zip(fixed, is_array, strict=True)]
        inner_args, inner_kwargs = tree.unflatten(structure, merged)
        callback(*inner_args, **inner_kwargs)

    arrays = tuple(leaf for leaf, has in zip(leaves, is_array, strict=True) if has)
    function = _Function(call, (), arrays, {}, name=function_name(callback))
    if current_frame() is None:
        function.called(function.arrays())
    else:
        _effect(function, Mapping.SEQUENTIAL, ignores_tangents=True)


def debug_print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print `fmt.format(*args, **kwargs)` when the program reaches this point, with the values of arrays.

    With `skip_format_check` a format without fields is printed before its arguments. Without a format the
    options are those of the function that is returned: `debug.print(ordered=True)("{x}", x=x)`. As
    `debug.callback` under transforms. Raises `ArgumentError` where the format does not fit, and for an
    f-string, which has formatted tracers already.
    """
    if fmt is None:
        return functools.partial(
            debug_print, ordered=ordered, partitioned=partitioned, skip_format_check=skip_format_check
        )
    _show(_print, fmt, args, kwargs, ordered, skip_format_check)
    return None


def debug_log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """As `debug.print`, to the logger `adze` of Python's `logging` at the level INFO."""
    if fmt is None:
        return functools.partial(
            debug_log, ordered=ordered, partitioned=partitioned, skip_format_check=skip_format_check
        )
    _show(_log, fmt, args, kwargs, ordered, skip_format_check)
    return None


def _show(
    write: Callable[[str], None],
    fmt: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    ordered: bool,
    skip_format_check: bool,
) -> None:
    if not skip_format_check:
        _check_format(fmt, args, kwargs)

    def show(*values: Any, **named: Any) -> None:
        write(_formatted(fmt, values, named))

    debug_callback(show, *args, ordered=ordered, **kwargs)


def _formatted(fmt: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if any(field is not None for _, field, *_ in string.Formatter().parse(fmt)):
        return fmt.format(*args, **kwargs)
    return " ".join((fmt.format(), *map(str, args)))


def _print(text: str) -> None:
    print(text, flush=True)


def _log(text: str) -> None:
    import logging  # which an import of adze does without

    logging.getLogger("adze").info(text)


def _check_format(fmt: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    if "Tracer<" in fmt:
        raise ArgumentError(
            "debug.print was given an f-string: it holds a traced array, which has no value yet",
            where=user_location_text(),
            hint='write debug.print("x = {x}", x=x)',
        )
    try:
        _Checked().vformat(fmt, [_Anything()] * len(args), dict.fromkeys(kwargs, _Anything()))
    except (IndexError, KeyError, ValueError) as error:
        raise ArgumentError(
            f"debug.print: the format {fmt!r} does not fit its arguments: {error}",
            where=user_location_text(),
        ) from None


class _Checked(string.Formatter):
    """A formatter that takes no more arguments than its format names."""

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        """Raise ValueError for arguments without a field."""
        unused = [str(n) for n in (*range(len(args)), *kwargs) if n not in used_args]
        if unused:
            raise ValueError(f"it has no field for {', '.join(unused)}")


class _Anything:
    """Fits every format."""

    def __format__(self, specification: str) -> str:
        return ""

    def __getattr__(self, name: str) -> _Anything:
        return self

    def __getitem__(self, index: Any) -> _Anything:
        return self


def _is_array(leaf: Any) -> bool:
    has_dtype = hasattr(leaf, "dtype") and not isinstance(leaf, type)  # np.float32 itself has one
    return has_dtype or isinstance(leaf, (bool, int, float, complex))


class _Function:
    """One call of a Python function: its arguments and the types of its results."""

    def __init__(
        self,
        callback: Callable[..., Any],
        result_shape_dtypes: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
    ) -> None:
        if not callable(callback):
            raise ArgumentTypeError(
                f"a callback must be a function, got {type(callback).__name__}", where=user_location_text()
            )
        self.callback = callback
        self.name = name or function_name(callback)
        self.leaves, self.structure = tree.flatten((args, kwargs))
        specs, self.result_tree = tree.flatten(result_shape_dtypes)
        self.result_types = tuple(map(_type_of, specs))
        self.narrows = floating() == FLOAT32 and follows_jax()

    def values(self) -> list[Any]:
        """The arguments as values of the trace, of the dtypes that they show outside of it."""
        return [as_value(leaf) for leaf in self.leaves]

    def arrays(self) -> list[np.ndarray]:
        """The arguments as NumPy arrays, outside a trace."""
        return [np.asarray(as_value(leaf)) for leaf in self.leaves]

    def called(self, arrays: Sequence[np.ndarray]) -> Any:
        """The tree of results of a call at once."""
        with located():
            return tree.unflatten(self.result_tree, map(Array, self(self.result_types, *arrays)))

    def __call__(self, results: Sequence[TensorType], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The results of the Python function, each of its type."""
        args, kwargs = tree.unflatten(self.structure, list(map(_argument, arrays)))
        with outside_traces():
            returned = self.callback(*args, **kwargs)
        if not results:
            return ()
        leaves, structure = tree.flatten(returned)
        if structure != self.result_tree:
            raise CallbackError(
                f"the callback {self.name}() returned {tree.describe(structure)}, "
                f"its result_shape_dtypes are {tree.describe(self.result_tree)}"
            )
        return tuple(self._result(leaf, t) for leaf, t in zip(leaves, results, strict=True))

    def _result(self, leaf: Any, type_: TensorType) -> np.ndarray:
        dtype = type_.dtype if type(leaf) in (bool, int, float, complex) else None
        array = np.array(leaf, dtype)  # a copy: the function may write to what it returned, in its next call
        if self.narrows and _NARROW.get(array.dtype) == type_.dtype:
            array = array.astype(type_.dtype)  # what JAX makes of 64 bits that NumPy chose
        fits = array.ndim == type_.rank and all(
            n is None or n == m for n, m in zip(type_.shape, array.shape, strict=True)
        )
        if array.dtype != type_.dtype or not fits:
            raise CallbackError(
                f"the callback {self.name}() returned {TensorType(array.shape, array.dtype)}, "
                f"its result_shape_dtypes say {type_}"
            )
        return array


_NARROW: Final = {
    **{FLOAT64: FLOAT32, COMPLEX128: COMPLEX64, INT64: INT32},
    np.dtype(np.uint64): np.dtype(np.uint32),
}
"""Dtypes of 64 bits, and what programs for JAX that leave `jax_enable_x64` off make of them."""


class _Pure:
    """A function as `host_call` calls it."""

    def __init__(self, function: _Function) -> None:
        self.function = function

    def __call__(self, results: Sequence[TensorType], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.function(results, *arrays)


class _Effect(_Pure):
    """A function as `host_effect` calls it: with the predicate first."""

    def __call__(self, results: Sequence[TensorType], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        if arrays[0]:
            return self.function(results, *arrays[1:])
        return tuple(np.zeros(known_sizes(t), t.dtype) for t in results)


def _effect(function: _Function, mapping: Mapping, *, ignores_tangents: bool) -> list[Any]:
    results = ops.host_effect(
        as_value(np.True_),
        *function.values(),
        callback=_registered(function, _Effect),
        result_types=function.result_types,
        mapping=mapping.name.lower(),
        batches=(),
        ignores_tangents=ignores_tangents,
    )
    return list(results)


def _registered(function: _Function, kind: type[_Pure]) -> str:
    """The name of the function for ops of the program that is being traced, which keeps it alive."""
    frame = current_frame()
    assert frame is not None
    callee = kind(function)
    name = register(callee)
    frame.program.callees.append(callee)
    return name


_METHODS: Final = tuple(m.name.lower() for m in Mapping if m is not Mapping.REFUSED)


def _mapping(vmap_method: str | None) -> str:
    if vmap_method is None:
        in_ranks = bool(mesh_axes())  # each rank calls the function for itself, as it would alone
        return (Mapping.SEQUENTIAL if in_ranks else Mapping.REFUSED).name.lower()
    if vmap_method not in _METHODS:
        raise ArgumentError(
            f"vmap_method is {vmap_method!r}: expected one of {', '.join(map(repr, _METHODS))}",
            where=user_location_text(),
        )
    return vmap_method


def _type_of(spec: Any) -> TensorType:
    if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
        raise ArgumentTypeError(
            f"result_shape_dtypes holds {spec!r}: expected adze.ShapeDtype(shape, dtype)",
            where=user_location_text(),
        )
    type_ = ShapeDtype(tuple(spec.shape), spec.dtype).type
    if not type_.is_static:
        raise ArgumentError(
            f"result_shape_dtypes holds {spec!r}: the sizes of a callback's results must be known",
            where=user_location_text(),
        )
    return type_


def _argument(array: np.ndarray) -> Any:
    """What a Python function gets: memory that it cannot write to, as an array of JAX's kind where JAX's
    programs run."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return Array(view) if Installed.is_on else view
