"""`eval_shape`: the types of a function's results, by tracing alone.

Input: a function, arrays or specs. Output: specs. Idea: the trace is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..tracing.frames import Frame, current_frame, recording
from ..tracing.interludes import suspended_frame
from ..tracing.interpreter import as_value, ops
from ..tracing.jax_rules import Installed
from ..tracing.sizes import Dim
from ..tracing.specs import ShapeDtype
from ..tracing.trace import definition, function_name, result_values
from ..tracing.wrapped import wraps
from .jit import trace
from .jitted import Jitted


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The results of `fun` as a tree of `ShapeDtype`, found by tracing: nothing is computed.

    Arguments are arrays or specs. A dynamic dimension of a result has a name where an argument gave it one,
    and is None otherwise. A spec among the results is one of them.
    """
    if not isinstance(fun, Jitted):  # whose results are arrays, and whose arguments may be static
        fun = _of_arrays(fun)
    frame = current_frame() or suspended_frame()  # `fun` may use values of that trace
    if frame is not None:
        return _shapes_inside(frame, fun, args, kwargs)
    program = trace(fun, *args, **kwargs).program
    are_weak = program.weak_results or [False] * len(program.result_types)
    kinds = zip(program.result_shapes, program.result_types, are_weak, strict=True)
    leaves = [ShapeDtype(shape, t.dtype, weak_type=is_weak) for shape, t, is_weak in kinds]
    return tree.unflatten(program.result_tree, leaves)


def _of_arrays(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun`, with an array in place of each spec that it returns."""

    def array(leaf: Any) -> Any:
        return ops.full(0, leaf.shape, leaf.dtype) if isinstance(leaf, ShapeDtype) else leaf

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return tree.map(array, fun(*args, **kwargs))

    return call


def _shapes_inside(
    outer: Frame, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """As `eval_shape`, in a trace whose values `fun` may use."""
    leaves, structure = tree.flatten((args, kwargs))
    frame = Frame(outer.program, function_name(fun), outer, private=True, where=definition(fun))
    with recording(frame):
        inner = []
        for leaf in leaves:
            value = leaf if isinstance(leaf, ShapeDtype) else as_value(leaf)
            kind = value.type if isinstance(value, ShapeDtype) else ops.tensor_type(value)
            inner.append(frame.add_argument(kind, _names_of(value.shape)))
        inner_args, inner_kwargs = tree.unflatten(structure, inner)
        results, result_tree, _ = result_values(fun, fun(*inner_args, **inner_kwargs))
        specs = [_spec_of(r) for r in results]
        frame.discard()
    return tree.unflatten(result_tree, specs)


def _spec_of(result: Any) -> ShapeDtype:
    is_weak = Installed.is_on and bool(result.weak_type)
    return ShapeDtype([_size_text(n) for n in result.shape], result.dtype, weak_type=is_weak)


def _names_of(shape: Sequence[Any]) -> list[str | None]:
    texts = [n.text if isinstance(n, Dim) else n for n in shape]
    return [n if isinstance(n, str) else None for n in texts]


def _size_text(size: Any) -> int | None:
    return size if isinstance(size, int) else None
