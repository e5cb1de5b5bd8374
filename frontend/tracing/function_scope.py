"""A function scope: private functions of one program, traced from Python and called, in a trace or outside.

Input: Python functions of arrays, and the arguments that they are traced at. Output: the symbols of private
functions, and the results of calls.

Idea: inside a trace the scope is the program being recorded, and calls are recorded too. Outside it is a
fresh program, and calls are evaluated with NumPy at once. So every transform is written once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.dataclass import dataclass
from ...dialects.dialect import BY_NAME
from ...dialects.types import SIZE, TensorType, ValueType
from ...passes.analysis.evaluate import WATCH, Evaluation, evaluate
from ...passes.analysis.varying import united
from ...passes.autodiff.deferred import Deferred, is_deferred, require
from ...passes.autodiff.variants import Variants, kinds_of, variant
from ...passes.ir.construction import Activity
from ...passes.ir.functions import find_function, function, functions, rename_references, split_body
from .. import tree
from .array import Array
from .concrete_values import KnownArgument, MappedArgument
from .frames import Frame, Tracer, capture_key, current_frame, recording
from .interludes import suspended_frame, trace_of
from .interpreter import as_value, laid_out, ops, wide_of
from .layouts import Layout, keep_results, lay, layout_of
from .operators import library_function
from .program import Program
from .sizes import Dim
from .trace import argument_tracer, result_values
from .varying import axes_of_value, least_axes, varied

_compiled_loop = library_function("compiled_loop")
"""The results of a long loop of a program that is evaluated."""

if TYPE_CHECKING:
    from ...passes.engines import Engines


@dataclass(frozen=True)
class PrivateFunction:
    """A Python function as a private function: `captured` are outer values that it takes after its own."""

    symbol: str
    result_tree: tree.Structure
    result_types: tuple[TensorType, ...]
    captured: tuple[Any, ...]
    asked: bool = False
    """Whether it was traced for the values of one call alone."""
    result_names: tuple[tuple[str | None, ...], ...] = ()
    """For each result the names of its dynamic dimensions, where they have one."""
    result_axes: tuple[frozenset[str], ...] = ()
    """For each result the axes of a mesh that it varies over."""
    weak_results: tuple[bool, ...] = ()
    """For each result whether it is weakly typed."""
    forwarded: tuple[int | None, ...] = ()
    """For each result the argument that it is, None where it is computed."""


@dataclass(frozen=True)
class Argument:
    """What a nested function is traced at for one argument; a size has one dimension, its name."""

    type: ValueType
    dimensions: tuple[str | None, ...]
    weak_type: bool
    varying: frozenset[str] = frozenset()
    """The axes of a mesh that it varies over."""
    layout: Layout | None = None
    """How it lies on a mesh whose axes are explicit."""


def argument_of(value: Any) -> Argument:
    """The argument that a value is."""
    if isinstance(value, Dim):
        return Argument(SIZE, (value.text,), False)
    names = tuple(n.text if isinstance(n, Dim) else None for n in value.shape)
    return Argument(ops.tensor_type(value), names, value.weak_type, axes_of_value(value), layout_of(value))


def with_all_bits(value: Any) -> tuple[Any, Argument]:
    """A value as an operand that keeps the 64 bits of a weak number, and the argument that it is."""
    operand = wide_of(value)
    return operand, replace(argument_of(operand), weak_type=value.weak_type)


def dimension_names(value: Any) -> tuple[str | None, ...]:
    """The names of the dynamic dimensions of a result, None for a size that is known or has no name."""
    texts = value.size_texts() if isinstance(value, Tracer) else ()
    return tuple(n if isinstance(n, str) and "?" not in n else None for n in texts)


def named_sizes(values: Sequence[Any]) -> dict[str, Dim]:
    """The dimensions of arguments by name: a function that is called with them knows them by these names."""
    sizes = (n for v in values for n in (v.shape if isinstance(v, Tracer) else (v,)))
    return {n.text: n for n in sizes if isinstance(n, Dim) and "?" not in n.text}


def with_all_names(
    results: Sequence[Any], names: Sequence[Sequence[str | None]], arguments: Sequence[Any]
) -> None:
    """Let the results of a call have the dimensions of its arguments that their names stand for."""
    sizes = named_sizes(arguments)
    for result, of_result in zip(results, names, strict=True):
        with_names(result, of_result, sizes)


def with_names(value: Any, names: Sequence[str | None], sizes: Mapping[str, Dim], skipped: int = 0) -> None:
    """Let a result have the dimensions that its names stand for, `skipped` axes left out.

    Those of arguments are `sizes`; others are expressions of what these are named after.
    """
    if isinstance(value, Tracer) and not value.type.is_static and any(names):
        own = value.shape[skipped:]
        named = [
            sizes.get(name, Dim(n.frame, n.value, name)) if name and isinstance(n, Dim) else n
            for name, n in zip(names, own, strict=True)
        ]
        keep_dimensions(value, (*value.shape[:skipped], *named))


def keep_dimensions(value: Any, shape: Sequence[Any]) -> Any:
    """`value`, whose dynamic dimensions are known to be those of `shape`: a derivative has its primal's."""
    if isinstance(value, Tracer) and not value.type.is_static:
        value._shape = tuple(shape)
    return value


def check_sizes(value: Any, shape: Sequence[Any], rule: str) -> None:
    """Let the program fail when it runs, unless `value` has the sizes of `shape`, as `rule` says."""
    frame = current_frame()
    if frame is None:
        return
    for axis, (n, wanted) in enumerate(zip(value.shape, shape, strict=True)):
        if isinstance(n, Dim) and isinstance(wanted, Dim) and (n.text != wanted.text or "?" in n.text):
            if n is wanted or n.value is wanted.value:
                continue
            message = f"adze: {rule}: axis {axis} differs"
            sizes = frame.size_value(n), frame.size_value(wanted)
            frame.emit(BY_NAME["size_check"], sizes, {"message": message})


def varied_over(value: Any, axes: frozenset[str]) -> Any:
    """A traced value that varies over `axes` at least."""
    frame = current_frame()
    if frame is None or axes <= axes_of_value(value):
        return value
    known = value if isinstance(value, Tracer) else as_value(value)
    result = Tracer(
        frame, varied(frame, frame.value_of(known), axes), ops.tensor_type(known), tuple(known.shape)
    )
    result.weak_type = known.weak_type
    return result


def varied_together(values: Sequence[Any]) -> list[Any]:
    """Values that all vary over the axes that any of them varies over."""
    axes = united([axes_of_value(v) for v in values])
    return [varied_over(v, axes) for v in values] if axes else list(values)


def leveled(frame: Frame, result: Any, position: int, axes: Sequence[frozenset[str]]) -> Any:
    """A result, varied over the axes that are wanted of it."""
    return varied_over(result, axes[position]) if position < len(axes) and axes[position] else result


def resumes_trace(construct: Callable[..., Any]) -> Callable[..., Any]:
    """The construct, recorded where its operands are traced, inside `ensure_compile_time_eval` too."""

    @functools.wraps(construct)
    def call(*args: Any, **kwargs: Any) -> Any:
        if suspended_frame() is None:
            return construct(*args, **kwargs)
        with trace_of(tree.leaves((args, kwargs))):
            return construct(*args, **kwargs)

    return call


class FunctionScope:
    """A program to make functions in and to call them: `program`, or the one being recorded, or a new one."""

    def __init__(self, program: Program | None = None) -> None:
        self.frame = current_frame()
        recorded = self.frame.program if self.frame is not None else None
        self.program = program or recorded or Program("eager")

    def trace(
        self,
        name: str,
        call: Callable[[Sequence[Any]], Any],
        arguments: Sequence[Argument],
        bound: Mapping[int, Any] | None = None,
        symbol: str | None = None,
        sources: Sequence[KnownArgument | MappedArgument | None] = (),
        result_axes: Sequence[frozenset[str]] = (),
    ) -> PrivateFunction:
        """Trace `call`, which takes a tracer for each argument and returns a pytree of arrays.

        `bound` maps positions of arguments to outer values: where `call` uses such a value, it uses the
        argument instead of capturing it. `symbol` is one that `reserve` gave, for functions that refer to
        themselves. `sources` says what the arguments are in the one call that the function is traced for,
        where there is one. `result_axes`: the axes of a mesh that results vary over at least.
        """
        frame = Frame(self.program, name, self.frame, private=True, symbol=symbol)
        bound = bound or {}
        frame.least = least_axes() | (self.frame.least if self.frame is not None else frozenset())
        with recording(frame):
            inner: list[Any] = []
            for position, argument in enumerate(arguments):
                if isinstance(argument.type, TensorType):
                    kind = (argument.type, argument.dimensions, argument.weak_type)
                    inner.append(argument_tracer(frame, *kind))
                else:
                    inner.append(frame.add_size(argument.dimensions[0]))
                if argument.varying | frame.least:
                    frame.varying[inner[-1].value] = argument.varying | frame.least
                if argument.layout is not None:
                    lay(inner[-1], argument.layout)
                source = sources[position] if position < len(sources) else None
                if source is not None:
                    frame.argument_sources[inner[-1].value] = source
                if position in bound:
                    frame.captured[capture_key(bound[position])] = (bound[position], inner[-1].value)
            results, result_tree, _ = result_values(call, call(inner), name)
            results = [leveled(frame, r, i, result_axes) for i, r in enumerate(results)]
            axes = tuple(map(axes_of_value, results))
            weak = tuple(bool(r.weak_type) for r in results)
            places = {id(argument): place for place, argument in enumerate(inner)}
            forwarded = tuple(places.get(id(r)) for r in results)
            keep_results(frame, results)
            frame.finish(results)
        types = tuple(ops.tensor_type(r) for r in results)
        known = {capture_key(outer) for outer in bound.values()}
        captured = tuple(outer for key, (outer, _) in frame.captured.items() if key not in known)
        names = tuple(map(dimension_names, results))
        return PrivateFunction(
            frame.symbol, result_tree, types, captured, frame.asked, names, axes, weak, forwarded
        )

    def reserve(self, name: str) -> str:
        """A symbol for a function that is traced later."""
        return self.program.unique_symbol(name)

    def drop(self, symbol: str) -> None:
        """Remove a function that was traced in vain; one whose trace had not begun is none yet."""
        found = find_function(self.program.module, symbol)
        if found is not None:
            found.operation.erase()

    def call(self, symbol: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function of the program."""
        frame = current_frame()
        if frame is None:
            arrays = [np.asarray(v) for v in operands]
            kept = self.program.memo.get(Evaluation) if WATCH.get() is None else None
            if kept is None:
                values = evaluate(self.program.module, symbol, arrays, _compiled_loop)
            else:
                values = kept.call(symbol, arrays)
            evaluated = list(map(Array, values))
            layouts = self.program.memo.get((Layout, symbol))
            return evaluated if layouts is None else list(map(laid_out, evaluated, layouts))
        if frame.program is not self.program:
            symbol = imported(frame.program, self.program, symbol)
        codec = frame.program.codec
        _, terminator = split_body(function(frame.program.module, symbol))
        types = tuple(codec.read_type(v.type) for v in terminator.operands)
        results = ops.call(*operands, callee=symbol, results=types)
        return list(results)

    @property
    def engines(self) -> Engines:
        """The engines of the program's module, made when one is first asked for."""
        from ...passes.engines import Engines  # loaded with the first transform, not with adze

        memo = self.program.memo
        if Engines not in memo:
            memo[Engines] = Engines(self.program.module, self.program)
        engines: Engines = memo[Engines]
        return engines


def keep_evaluation(scope: FunctionScope) -> None:
    """Let calls outside a trace read the functions of the scope's program once: none of them changes."""
    evaluation = Evaluation(scope.program.module, compile_loop=_compiled_loop)
    scope.program.memo[Evaluation] = evaluation


def has_layouts(scope: FunctionScope, symbol: str) -> bool:
    """Whether results of a function lie on a mesh whose axes are explicit."""
    return (Layout, symbol) in scope.program.memo


def imported(target: Program, source: Program, symbol: str) -> str:
    """A function of another program, and those that it calls, copied into `target`; its symbol there.

    A pullback that was made outside a trace and is called inside one needs this: the two have different
    MLIR contexts, so the functions cross as text.
    """
    key = ("imported", id(source), symbol)
    if key not in target.memo:
        module = mlir.ir.Module.parse(source.module.operation.get_asm(enable_debug_info=True), target.context)
        copies = functions(module)
        renamed = {name: target.unique_symbol(f"imported_{name}") for name in copies}
        reader = Reader(target.codec)
        for name, operation in copies.items():
            for child in split_body(operation)[0]:
                rename_references(child.operation, reader, renamed)
            operation.attributes["sym_name"] = mlir.ir.StringAttr.get(renamed[name], target.context)
            operation.attributes["sym_visibility"] = mlir.ir.StringAttr.get("private", target.context)
        for operation in copies.values():
            target.module.body.append(operation.operation.detach_from_parent())
        kept: list[Deferred | Variants] = [
            _deferred(target, source, name, renamed[name])
            for name in copies
            if is_deferred(source.module, name)
        ]
        kept += [
            _variants(target, source, kind, name, renamed[name])
            for name in copies
            for kind in kinds_of(source.module, name)
        ]
        target.memo[key] = (renamed[symbol], source, kept)
    imported_symbol: str = target.memo[key][0]
    return imported_symbol


def _deferred(target: Program, source: Program, symbol: str, copy: str) -> Deferred:
    """Let the copy of a function that is still to be made be made, and copied, when it is asked for."""
    function(target.module, copy).operation.erase()
    target.symbols.discard(copy)  # it is this function's

    def make() -> list[str]:
        require(source.module, symbol)
        return [imported(target, source, symbol)]

    return Deferred(target.module, [copy], make)


def _variants(target: Program, source: Program, kind: str, name: str, copy: str) -> Variants:
    """Let the copy of a rule have the variants of the rule, copied when they are asked for."""

    def trace(active: Activity) -> list[str]:
        return [imported(target, source, variant(source.module, kind, name, active))]

    return Variants(target.module, kind, [copy], trace)
