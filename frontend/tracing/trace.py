"""`trace_program`: runs a Python function on tracers and returns the module of adze IR that it describes.

Input: the function and its arguments, arrays or specs, as pytrees. Output: a `TracedProgram`, the module
with its main function and what calls with arrays need: trees, types and names of arguments and results.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.types import TensorType, known
from ...passes.ir.functions import drop_unfinished
from ...runtime.artifact.signature import Bounds
from .. import tree
from ..errors import ArgumentTypeError, TraceError
from .argument_sizes import check_assumptions, check_bounds, check_shared_dimensions
from .array import Array
from .default_dtypes import narrowed
from .frames import Frame, Tracer, recording
from .interpreter import as_value, as_weak, wide_of
from .jax_rules import follows_jax
from .layouts import Layout, lay, layout_of
from .locations import user_location_text
from .program import Program
from .sizes import Dim, named_size
from .specs import ShapeDtype, SpecError
from .symbolic import SymbolicDim, assumptions_of

if TYPE_CHECKING:
    from ...runtime.artifact.manifest import ExportedFunction

MOST_BYTES: Final = 200  # of the symbol of a function: the compiler crashed on one of 240
_CUT: Final = 100  # bytes of a longer name that stay, so that suffixes fit


@dataclass(frozen=True)
class Parameter:
    """One array argument of a traced program: its name, its type, and the names of its dynamic dims."""

    name: str
    type: TensorType
    weak_type: bool = False
    dimensions: tuple[str | None, ...] = ()

    def __str__(self) -> str:
        dims = (n if n is not None else d or "?" for n, d in zip(self.type.shape, self._names(), strict=True))
        return f"{str(self.type).split('[')[0]}[{','.join(map(str, dims))}]"

    def _names(self) -> tuple[str | None, ...]:
        return self.dimensions or (None,) * self.type.rank


@dataclass(frozen=True)
class HeldArray:
    """An array that a program keeps: its name, type, whether a call changes it, and whether it is outside."""

    name: str
    type: TensorType
    is_mutable: bool
    is_parameter: bool


@dataclass
class TracedProgram:
    """A traced function: its module and how to call it."""

    program: Program
    symbol: str
    parameters: list[Parameter]
    argument_tree: tree.Structure
    result_tree: tree.Structure
    result_types: list[TensorType]
    result_names: list[str] = field(default_factory=list)
    result_shapes: list[tuple[int | str | None, ...]] = field(default_factory=list)
    defined_at: str | None = None
    argument_names: Sequence[str | None] = ()
    """The names of the positional arguments; None for those that cannot be given by name."""
    others: Sequence[TracedProgram] = ()
    """Further functions of the module that are called from outside."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """What sizes named dimensions may have."""
    specializes: tuple[str, Mapping[str, int]] | None = None
    """Another entry that computes the same, and the sizes of named dimensions for which this one does."""
    held: Sequence[HeldArray] = ()
    """What the module keeps between calls; its functions take it before and return it before the rest."""
    result_layouts: Sequence[Layout | None] = ()
    """How the results lie on a mesh whose axes are explicit, where arguments do."""
    weak_results: Sequence[bool] = ()
    """Which results are weakly typed, in programs written for JAX; none where nothing is said."""
    exported: ExportedFunction | None = None
    """What a manifest says of it, where it was not traced from Python but is the kept IR of an artifact."""

    @property
    def entries(self) -> tuple[TracedProgram, ...]:
        """This function and the others of the module that are called from outside."""
        return (self, *self.others)

    @property
    def module(self) -> Any:
        """The MLIR module."""
        return self.program.module


def parameter_of(leaf: Any, name: str) -> Parameter:
    """What an argument leaf (array, Python scalar or spec) is to the trace; `ArgumentError` otherwise."""
    if isinstance(leaf, ShapeDtype):
        names = tuple(n if isinstance(n, str) else None for n in leaf.shape)
        _check_names(name, names)
        dimensions = names if None in leaf.type.shape else ()
        type_ = TensorType(leaf.type.shape, narrowed(leaf.dtype))
        return Parameter(name, type_, leaf.weak_type, dimensions=dimensions)
    if isinstance(leaf, (str, bytes)) or leaf is None or callable(leaf):
        raise ArgumentTypeError(
            f"argument '{name}' is {type(leaf).__name__} ({str(leaf)[:40]!r}), expected an array or a number",
            where=user_location_text(),
            hint="pass values that are not arrays through static_argnums or static_argnames",
        )
    try:
        value = as_value(leaf)
        carried = value if isinstance(value, Array) and value.wide is None else wide_of(value)
    except AdzeError as error:
        raise type(error)(
            f"argument '{name}': {error.message}",
            where=user_location_text(),
            hint=error.hint or "pass values that are not arrays through static_argnums or static_argnames",
        ) from None
    return Parameter(name, TensorType(tuple(value.shape), carried.dtype), value.weak_type)


def _check_names(argument: str, names: Sequence[str | None]) -> None:
    """What a dimension of an argument is called must be a name, or a symbolic expression of names."""
    for name in names:
        if name is not None and not name.isidentifier() and not isinstance(name, SymbolicDim):
            raise SpecError(
                f"argument '{argument}' has dimension '{name}', expected an integer, a name or None: only "
                "results have expressions",
                where=user_location_text(),
                hint="give the dimension a name of its own, or make it with adze.export.symbolic_shape",
            )


def argument_names(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """A name for each leaf of `(args, kwargs)`: the parameter's name and the path below it."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
        positional = _positional_names(bound)
    except (TypeError, ValueError):
        positional = [f"arg{i}" for i in range(len(args))]
    names = []
    for position, arg in enumerate(args):
        base = positional[position] if position < len(positional) else f"arg{position}"
        names += [base + path for path in tree.paths(tree.structure(arg))]
    for key in sorted(kwargs):
        names += [key + path for path in tree.paths(tree.structure(kwargs[key]))]
    return names


def keyword_names(function: Callable[..., Any], args: Sequence[Any]) -> list[str | None]:
    """For each of the positional arguments the name by which it could be given too, or None."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in parameters[: len(args)]]
    return [*names, *[None] * (len(args) - len(names))]


def _positional_names(bound: inspect.BoundArguments) -> list[str]:
    names: list[str] = []
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{name}[{i}]" for i in range(len(bound.arguments.get(name, ())))]
    return names


def function_name(function: Callable[..., Any]) -> str:
    """A symbol for a Python function: its name, restricted to letters, digits and underscores.

    A long one is cut: the compiler names a temporary file after the symbol, and dies where no file can have
    such a name.
    """
    name = getattr(function, "__name__", None)
    text = name if isinstance(name, str) else type(function).__name__
    symbol = re.sub(r"\W+", "_", text).strip("_") or "main"
    encoded = symbol.encode(errors="replace")
    if len(encoded) <= MOST_BYTES:
        return symbol
    import hashlib

    return f"{encoded[:_CUT].decode(errors='ignore')}_{hashlib.sha256(encoded).hexdigest()[:8]}"


def trace_program(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    static: Callable[[Sequence[Any], Mapping[str, Any]], Any] | None = None,
    names: Sequence[str] | None = None,
    program: Program | None = None,
    symbol: str | None = None,
) -> TracedProgram:
    """Trace `function` at the shapes and dtypes of `args` and `kwargs` (pytrees of arrays or specs).

    `static` puts static arguments back before the call. With a `program` the function becomes one more of its
    module, called `symbol`. Raises `ArgumentError` for an argument that is
    no array, `TraceError` when the function returns something that is none.
    """
    leaves, structure = tree.flatten((tuple(args), dict(kwargs)))
    names = list(names) if names is not None else argument_names(function, args, kwargs)
    parameters = [parameter_of(leaf, name) for leaf, name in zip(leaves, names, strict=True)]
    program = program or Program(function_name(function))
    where = definition(function)
    frame = Frame(program, function_name(function), None, private=False, symbol=symbol, where=where)
    with recording(frame):
        tracers = [argument_tracer(frame, p.type, p.dimensions, p.weak_type) for p in parameters]
        for tracer, leaf in zip(tracers, leaves, strict=True):
            if getattr(leaf, "layout", None) is not None:
                lay(tracer, leaf.layout)
        found = check_shared_dimensions(frame, parameters, tracers)
        bounds = check_bounds(frame, parameters, tracers)
        assumptions = assumptions_of(leaves)
        if assumptions is not None:
            check_assumptions(frame, assumptions, found)
        program.assumptions = assumptions
        call_args, call_kwargs = tree.unflatten(structure, tracers)
        call = static or (lambda args, kwargs: function(*args, **kwargs))
        result = call(call_args, call_kwargs)
        results, result_tree, result_names = result_values(function, result)
        results = [_of_decided_sizes(r) for r in results]
        layouts = tuple(map(layout_of, results)) if frame.layouts else ()
        frame.finish(results)
    drop_unfinished(program.module)  # the function may have caught an error and gone on
    types = [TensorType(_static(r), r.dtype) for r in results]
    dimension_names = {*(name for p in parameters for name in p.dimensions), *found}
    shapes = [_named(r, dimension_names) for r in results]
    return TracedProgram(
        program,
        frame.symbol,
        parameters,
        structure,
        result_tree,
        types,
        result_names,
        shapes,
        _definition_text(function),
        bounds=bounds,
        result_layouts=layouts,
        weak_results=[r.weak_type for r in results] if follows_jax() else (),
    )


def _of_decided_sizes(value: Any) -> Any:
    """A result whose type has each size that follows from names, as the 4 of `x[n - 4 :]` does."""
    if not isinstance(value, Tracer) or value.type.is_static:
        return value
    sizes = zip(value.size_texts(), value.type.static_shape, strict=True)
    is_decided = any(isinstance(n, int) and stated is None for n, stated in sizes)
    return value.reshape(value.shape) if is_decided else value


def _named(value: Any, dimension_names: Collection[str | None]) -> tuple[int | str | None, ...]:
    """The shape of a result; a dynamic dimension is an expression of those that arguments name, or None."""
    if not isinstance(value, Tracer):
        return _static(value)
    texts = (known(n) if isinstance(n, int) else n for n in value.size_texts())
    return tuple(
        n if not isinstance(n, str) or named_size(n).names() <= set(dimension_names) else None for n in texts
    )


def _static(value: Any) -> tuple[int | None, ...]:
    return value.type.static_shape if isinstance(value, Tracer) else tuple(value.shape)


def argument_tracer(
    frame: Frame, type_: TensorType, dimensions: Sequence[str | None], weak_type: bool
) -> Any:
    """One more array argument of the function that `frame` records, as that function sees it."""
    tracer = frame.add_argument(type_, dimensions or None)
    return as_weak(tracer) if weak_type else tracer


def result_values(
    function: Callable[..., Any], result: Any, name: str | None = None
) -> tuple[list[Tracer | Array], tree.Structure, list[str]]:
    """The leaves of what a traced function gave, as arrays; `TraceError` for a leaf that is none.

    `name` is that of the user's function where `function` only wraps it.
    """
    leaves, structure = tree.flatten(result)
    names = tree.paths(structure)
    values = []
    for leaf, path in zip(leaves, names, strict=True):
        if not isinstance(leaf, (Tracer, Array, np.ndarray, np.generic, bool, int, float, complex, Dim)):
            raise TraceError(
                f"{name or function_name(function)} returns {type(leaf).__name__} ({str(leaf)[:40]!r}) "
                f"at result{path}, expected an array",
                where=user_location_text() if name else _definition_text(function),
                hint="return arrays, numbers, or dicts, lists, tuples and registered classes of them",
            )
        values.append(as_value(leaf))
    return values, structure, [f"result{path}" for path in names]


def definition(function: Callable[..., Any]) -> tuple[str, int] | None:
    """File and first line of a Python function, below decorators and partial applications."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__") and not inspect.isroutine(function):
        function = vars(type(function)).get("__call__", function)
    code = getattr(function, "__code__", None)
    return None if code is None else (code.co_filename, code.co_firstlineno)


def _definition_text(function: Callable[..., Any]) -> str | None:
    place = definition(function)
    return None if place is None else f"{place[0]}:{place[1]}"
