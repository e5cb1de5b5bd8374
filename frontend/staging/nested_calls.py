"""A jitted function called inside a trace: a private function of the program, and a call of it.

Input: a jitted function and its arguments. Output: traced results. Idea: one private function for each kind
of arguments, unless it captures values of the trace or asked for some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType
from .. import tree
from ..tracing.default_dtypes import is_float32, names_widening
from ..tracing.frames import Frame, current_frame, recording
from ..tracing.function_scope import dimension_names, with_all_names
from ..tracing.interpreter import as_value, as_weak, ops, wide_of
from ..tracing.layouts import keep_results, lay, layout_of
from ..tracing.mesh_in_force import mesh_in_force
from ..tracing.rule_tangents import following
from ..tracing.sizes import Dim
from ..tracing.trace import definition, function_name, result_values
from ..tracing.varying import axes_of_value, least_axes, mesh_axes
from ..tracing.written_checks import WRITTEN
from ..transforms.named_axes import bound_axes

if TYPE_CHECKING:
    from .jitted import Jitted


JITTED: Final = "jitted"
"""Where the memo of a program has the names of its jitted functions, by their symbols."""


@dataclass(frozen=True)
class _Nested:
    """A jitted function traced inside another program."""

    symbol: str
    result_tree: tree.Structure
    result_types: tuple[TensorType, ...]
    result_names: tuple[tuple[str | None, ...], ...]
    weak_results: tuple[bool, ...]


def call_nested(
    jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any], static: tuple[Any, ...]
) -> Any:
    """A call in a trace: of a private function, traced once for each kind of arguments."""
    frame = current_frame()
    assert frame is not None
    leaves, structure = tree.flatten((args, kwargs))
    if following(leaves):  # known to be linear inside, for the rules of transposition that clients have
        return tree.map(as_value, jitted.of_arrays(static)(args, kwargs))
    given = [as_value(leaf) for leaf in leaves]
    weak, values = [v.weak_type for v in given], [wide_of(v) for v in given]
    key = (
        id(jitted),
        structure,
        tuple(zip(map(ops.type_of, values), weak, strict=True)),
        static,
        is_float32(),
        names_widening(),
        mesh_in_force(),
        tuple(map(axes_of_value, values)),
        tuple(map(layout_of, values)),
        tuple(mesh_axes().values()),
        tuple((axis.name, axis.size) for axis in bound_axes() if isinstance(axis.size, int)),
        least_axes(),
        WRITTEN.get(),
    )
    # With the jitted function itself: while it is kept, no other one gets its address.
    memo: dict[Any, tuple[Jitted, _Nested]] = frame.program.memo
    captured: list[Any] = []
    if key in memo:
        _, nested = memo[key]
    else:
        nested, captured, asked = _trace_nested(jitted, frame, structure, values, weak, static)
        if not captured and not asked:
            memo[key] = (jitted, nested)
    results = ops.call(*values, *captured, callee=nested.symbol, results=nested.result_types)
    with_all_names(results, nested.result_names, [*values, *captured])
    marked = zip(results, nested.weak_results, strict=True)
    return tree.unflatten(nested.result_tree, [as_weak(r) if is_weak else r for r, is_weak in marked])


def _trace_nested(
    jitted: Jitted,
    outer: Frame,
    structure: tree.Structure,
    values: Sequence[Any],
    weak: Sequence[bool],
    static: tuple[Any, ...],
) -> tuple[_Nested, list[Any], bool]:
    """The function, what it captures, and whether it holds for the present values of those alone."""
    frame = Frame(
        outer.program,
        function_name(jitted.function),
        outer,
        private=True,
        where=definition(jitted.function),
    )
    name = getattr(jitted.function, "__name__", frame.symbol)
    outer.program.memo.setdefault(JITTED, {})[frame.symbol] = name
    frame.least = outer.least | least_axes()
    with recording(frame):
        inner = []
        for value, is_weak in zip(values, weak, strict=True):
            names = [n.text if isinstance(n, Dim) else None for n in value.shape]
            tracer = frame.add_argument(ops.tensor_type(value), names)
            if axes_of_value(value) | frame.least:
                frame.varying[tracer.value] = axes_of_value(value) | frame.least
            if layout_of(value) is not None:
                lay(tracer, layout_of(value))
            inner.append(as_weak(tracer) if is_weak else tracer)
        args, kwargs = tree.unflatten(structure, inner)
        results, result_tree, _ = result_values(jitted.function, jitted.of_arrays(static)(args, kwargs))
        weak_results = tuple(r.weak_type for r in results)
        results = [wide_of(r) for r in results]
        keep_results(frame, results)
        frame.finish(results)
    types = tuple(ops.tensor_type(r) for r in results)
    captured = [v for v, _ in frame.captured.values()]
    named = tuple(map(dimension_names, results))
    return _Nested(frame.symbol, result_tree, types, named, weak_results), captured, frame.asked
