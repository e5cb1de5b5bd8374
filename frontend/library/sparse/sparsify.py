"""`sparsify`: a function of dense arrays as one of sparse arrays, op by op.

Input: a function written for dense arrays, and arguments some of which are `BCOO`. Output: its results,
sparse where ops keep them so. Idea: the function is traced at the dense shapes, and its ops are applied again
in order: one with a sparse operand by a rule of `_RULES`, the others as they are. An op without a rule is
refused: nothing is made dense silently. A broadcast dense operand stays small until something needs it in
full.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ....dialects.builder.core import Application
from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ... import tree
from ...tracing.frames import current_frame
from ...tracing.function_scope import Argument, FunctionScope, argument_of
from ...tracing.interpreter import as_value, ops
from ...tracing.trace import function_name
from .. import numpy as xp
from ..traced_ops import applied, run_again
from . import movement, products
from .bcoo import BCOO
from .storage import CoordinateStorage, JAXSparse, refused


@dataclass(frozen=True)
class _Wide:
    """A dense value of a larger shape: `value` has size 1 where it is repeated."""

    value: Any
    shape: tuple[int, ...]

    def full(self) -> Any:
        return xp.broadcast_to(self.value, self.shape)


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """`f` for arguments that may be `BCOO`, although it is written for dense arrays.

    Ops that map 0 to 0, products, sums, contractions and movements keep arrays sparse; any other op of a
    sparse array raises `UnsupportedError`, and says to write `todense`. `use_tracer` makes no difference.
    """

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_frame() is not None:
            return _run(f, args, kwargs)
        scope = FunctionScope()
        leaves, structure = tree.flatten((args, kwargs))
        values = [as_value(leaf) for leaf in leaves]

        def traced(inner: Sequence[Any]) -> Any:
            args, kwargs = tree.unflatten(structure, inner)
            return _run(f, args, kwargs)

        nested = scope.trace(function_name(f), traced, [argument_of(v) for v in values])
        return tree.unflatten(nested.result_tree, scope.call(nested.symbol, values))

    return call


def _run(f: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The results inside a trace."""
    leaves, structure = tree.flatten((args, kwargs), is_leaf=_is_sparse)
    if not any(map(_is_sparse, leaves)):
        return f(*args, **kwargs)
    values = [_checked(leaf) if _is_sparse(leaf) else as_value(leaf) for leaf in leaves]
    scope = FunctionScope()

    def dense(inner: Sequence[Any]) -> Any:
        args, kwargs = tree.unflatten(structure, inner)
        return f(*args, **kwargs)

    nested = scope.trace(f"sparse_{function_name(f)}", dense, [_argument(v) for v in values])
    results = _Interpreter(scope).call(nested.symbol, [*values, *nested.captured])
    return tree.unflatten(nested.result_tree, [_full(r) for r in results])


def _checked(mat: Any) -> Any:
    if isinstance(mat, CoordinateStorage):
        return mat
    if hasattr(mat, "to_bcoo"):
        return mat.to_bcoo()
    raise refused(f"sparsify of {type(mat).__name__}")


def _argument(value: Any) -> Argument:
    if isinstance(value, CoordinateStorage):
        return Argument(TensorType(value.shape, value.dtype), (None,) * value.ndim, False)
    return argument_of(value)


def _full(value: Any) -> Any:
    return value.full() if isinstance(value, _Wide) else value


class _Interpreter:
    """Applies the ops of traced functions again, on sparse and dense values."""

    def __init__(self, scope: FunctionScope) -> None:
        self.program = scope.program

    def call(self, symbol: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function of the program."""
        return run_again(self.program, symbol, operands, self.apply, "sparsify")

    def apply(self, application: Application) -> Sequence[Any]:
        """The results of one op."""
        name, operands, attributes = application.op.name, application.operands, application.attributes
        if not any(isinstance(v, CoordinateStorage) for v in operands):
            return _dense_results(application)
        if "callee" in attributes and name in _CALLS:
            return self.call(attributes["callee"], operands)
        rule = _RULES.get(name)
        if rule is None:
            raise refused(
                f"the op '{name}' of a sparse array in a sparsified function: it is dense, or has no rule",
                hint="write sparse.todense(x) or x.todense() before it",
            )
        return [rule(*operands, **attributes)]


_CALLS: Final = ("call", "checkpoint_call", "custom_jvp_call", "custom_vjp_call", "routine")
"""Ops that compute what their callee does."""


def _dense_results(application: Application) -> Sequence[Any]:
    operands, attributes = application.operands, application.attributes
    if application.op.name == "broadcast_in_dim" and all(isinstance(n, int) for n in attributes["shape"]):
        value = _full(operands[0])
        unit = [1] * len(attributes["shape"])
        for size, axis in zip(value.shape, attributes["dimensions"], strict=True):
            unit[axis] = size
        return [_Wide(xp.reshape(value, tuple(unit)), tuple(attributes["shape"]))]
    return applied(application, [_full(v) for v in operands])


def _small(value: Any) -> Any:
    return value.value if isinstance(value, _Wide) else value


def _elementwise(name: str, is_linear: bool) -> Callable[[BCOO], BCOO]:
    return lambda mat: mat.zero_preserving(getattr(ops, name), is_linear)


def _convert(mat: BCOO, dtype: Any) -> BCOO:
    return mat.astype(dtype)


def _mul(lhs: Any, rhs: Any) -> BCOO:
    if lhs is rhs:
        return lhs.zero_preserving(lambda data: data * data)
    return _small(lhs) * rhs if isinstance(rhs, CoordinateStorage) else lhs * _small(rhs)


def _add(lhs: Any, rhs: Any) -> Any:
    return _full(lhs) + _full(rhs)


def _sub(lhs: Any, rhs: Any) -> Any:
    return _full(lhs) - _full(rhs)


def _div(lhs: Any, rhs: Any) -> Any:
    return lhs / _small(rhs)


def _dot_general(lhs: Any, rhs: Any, contracting: Any, batch: Any, dtype: Any) -> Any:
    return products.dot_general(_full(lhs), _full(rhs), (contracting, batch), dtype)


def _reduce_sum(mat: BCOO, axes: Sequence[int]) -> Any:
    return mat.sum(tuple(axes))


def _broadcast(mat: BCOO, shape: Sequence[int], dimensions: Sequence[int]) -> BCOO:
    return movement.broadcast_in_dim(mat, shape, dimensions)


def _reshape(mat: BCOO, shape: Sequence[int]) -> BCOO:
    return movement.reshape(mat, shape)


def _transpose(mat: BCOO, permutation: Sequence[int]) -> BCOO:
    return movement.transpose(mat, permutation)


def _slice(mat: BCOO, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> BCOO:
    return movement.slice_(mat, start, limit, strides)


def _dynamic_slice(mat: BCOO, *starts: Any, slice_sizes: Sequence[int]) -> BCOO:
    return movement.dynamic_slice(mat, [_full(s) for s in starts], slice_sizes)


def _concatenate(*operands: Any, axis: int) -> BCOO:
    if not all(isinstance(v, BCOO) for v in operands):
        raise refused("a concatenation of sparse and dense arrays")
    return movement.concatenate(operands, axis)


def _reverse(mat: BCOO, axes: Sequence[int]) -> BCOO:
    return movement.reverse(mat, axes)


_NONLINEAR: Final = (
    *("abs", "sign", "floor", "ceil", "round", "sqrt", "cbrt", "expm1", "log1p", "sin", "tan"),
    *("asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "erf_inv"),
)
_RULES: Final[dict[str, Callable[..., Any]]] = {
    **{name: _elementwise(name, False) for name in _NONLINEAR},
    **{name: _elementwise(name, True) for name in ("neg", "real", "imag", "conj")},
    "stop_gradient": lambda mat: mat.with_data(ops.stop_gradient(mat.data)),
    "convert": _convert,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "dot_general": _dot_general,
    "reduce_sum": _reduce_sum,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "concatenate": _concatenate,
    "reverse": _reverse,
}
