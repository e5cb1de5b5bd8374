"""Names of `jax.linear_util` and `jax.interpreters.partial_eval`: what a function knows without its inputs.

Input: a function of flat arrays, and the types of its inputs. Output: those of its results that none of the
inputs takes part in, as values; the others by their types. Idea: the function is traced once. A result is
known where no operation on the way to it has an input among its operands; its value is that of a call on
zeros, which it does not depend on. Other names are classes that cannot be made (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.dataclass import dataclass
from ...passes.ir.functions import function as function_called
from ...passes.ir.functions import split_body
from .. import tree
from ..errors import UnsupportedError
from ..library.numpy import zeros
from ..tracing.function_scope import Argument, FunctionScope
from ..tracing.locations import user_location_text
from ..tracing.specs import ShapeDtype
from . import parts
from .tree_names import unflatten

__all__: list[str] = []


@dataclass(frozen=True)
class WrappedFun:
    """A function of flat arrays; `call_wrapped` calls it."""

    f: Callable[..., Any]

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """The results of the function."""
        return self.f(*args, **kwargs)


def wrap_init(f: Callable[..., Any], params: Any = None, *, debug_info: Any = None) -> WrappedFun:
    """A function that others wrap; `params` are its keywords, and adze's traces have their own lines."""
    return WrappedFun((lambda *args: f(*args, **params)) if params else f)


def flatten_fun_nokwargs(f: WrappedFun, in_tree: tree.Structure) -> tuple[WrappedFun, Callable[[], Any]]:
    """`f` as a function of the leaves of its arguments, and what says the tree of its results once it ran."""
    out_trees: list[tree.Structure] = []

    def flat(*leaves: Any) -> list[Any]:
        results, structure = tree.flatten(f.call_wrapped(*unflatten(in_tree, leaves)))
        out_trees.append(structure)
        return results

    return WrappedFun(flat), lambda: out_trees[-1]


def transformation(generator: Callable[..., Any], *_: Any, **__: Any) -> Callable[..., Any]:
    """The generator itself: clients define such transformations of JAX's traces where they are imported."""
    return generator


transformation_with_aux = transformation2 = transformation_with_aux2 = transformation


def flatten_fun(f: WrappedFun, in_tree: tree.Structure) -> tuple[WrappedFun, Callable[[], Any]]:
    """As `flatten_fun_nokwargs`, for the tree of `(args, kwargs)`."""
    return flatten_fun_nokwargs(WrappedFun(lambda args, kwargs: f.call_wrapped(*args, **kwargs)), in_tree)


@dataclass(frozen=True)
class PartialVal:
    """An input of a partial evaluation, of which only the type is known."""

    aval: ShapeDtype

    @classmethod
    def unknown(cls, aval: ShapeDtype) -> PartialVal:
        """An input of this type."""
        return cls(aval)

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """Refused: `f` knows such a value without being passed it."""
        raise UnsupportedError(
            "PartialVal.known: partial evaluation on adze takes inputs of which only the type is known",
            where=user_location_text(),
            hint="let the function use the value from the scope around it",
        )


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool = False
) -> tuple[None, list[tuple[ShapeDtype | None, Any]], list[Any]]:
    """For each result of `fun`: `(None, value)` where no input takes part in it, else `(type, None)`.

    There is no jaxpr and there are no constants of one: the first and the last of what is returned are None
    and empty.
    """
    specs = [pval.aval for pval in pvals]
    scope = FunctionScope()
    arguments = [Argument(s.type, (None,) * len(s.shape), s.weak_type) for s in specs]
    function = scope.trace("partial", lambda inner: fun.call_wrapped(*inner), arguments)
    unknown = _dependent(scope, function.symbol, len(specs))
    values: list[Any] = [None] * len(unknown)
    if all(unknown):
        scope.drop(function.symbol)
    else:
        inputs = [zeros(s.shape, s.dtype) for s in specs]
        values = scope.call(function.symbol, [*inputs, *function.captured])
    out: list[tuple[ShapeDtype | None, Any]] = [
        (ShapeDtype(t.static_shape, t.dtype), None) if depends else (None, value)
        for t, depends, value in zip(function.result_types, unknown, values, strict=True)
    ]
    return None, out, []


def _dependent(scope: FunctionScope, symbol: str, count: int) -> list[bool]:
    """Whether the first `count` arguments of a function take part in each of its results."""
    operation = function_called(scope.program.module, symbol)
    children, terminator = split_body(operation)
    reached = set(list(operation.operation.regions[0].blocks[0].arguments)[:count])
    for child in children:
        if any(operand in reached for operand in child.operation.operands):
            reached.update(child.operation.results)
    return [operand in reached for operand in terminator.operands]


def __getattr__(name: str) -> Any:
    return getattr(parts, name)
