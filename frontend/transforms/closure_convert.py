"""Functions with outer values: `custom_gradient` and `closure_convert`.

The first takes a pullback that is returned beside the result; the second turns outer values into arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects.types import INEXACT
from .. import tree
from ..errors import ArgumentTypeError, TraceError
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import FunctionScope, argument_of
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps
from .custom_derivatives import custom_vjp


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose derivative stands beside its result: it returns `(result, pullback)`.

    `pullback(cotangent)` returns a tuple with one cotangent for each argument, or the only one. The backward
    pass computes from the arguments again what the pullback uses of the function.
    """

    def both(args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], Any]]:
        pair = fun(*args)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[1]):
            raise TraceError(
                f"custom_gradient: {function_name(fun)} must return (result, pullback), it returns "
                f"{type(pair).__name__}",
                where=user_location_text(),
            )
        return pair[0], pair[1]

    @wraps(fun)
    def result(*args: Any) -> Any:
        return both(args)[0]

    def backward(args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        cotangents = both(args)[1](cotangent)
        return tuple(cotangents) if isinstance(cotangents, (tuple, list)) else (cotangents,)

    derived = custom_vjp(result)
    derived.defvjp(lambda *args: (both(args)[0], args), backward)
    return derived


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` with the floats it uses from outside as further arguments, and these values.

    Returns `(converted, values)`, so that `converted(*example_args, *values)` is `fun(*example_args)`
    and a custom rule can have derivatives with respect to the values. Outside a trace there are none: what
    a function uses then are constants.
    """
    leaves, structure = tree.flatten(example_args)
    if current_frame() is None:
        return _checked(lambda args, _: fun(*args), structure, len(example_args), 0), []
    scope = FunctionScope()
    nested = scope.trace(
        function_name(fun),
        lambda inner: fun(*tree.unflatten(structure, inner)),
        [argument_of(as_value(leaf)) for leaf in leaves],
    )
    moved = [v for v in nested.captured if not isinstance(v, Dim) and v.dtype in INEXACT]
    places = {capture_key(v): i for i, v in enumerate(moved)}

    def call(args: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        outer = [
            as_value(values[places[capture_key(v)]]) if capture_key(v) in places else v
            for v in nested.captured
        ]
        operands = [as_value(leaf) for leaf in tree.leaves(args)]
        return tree.unflatten(nested.result_tree, scope.call(nested.symbol, [*operands, *outer]))

    return _checked(call, structure, len(example_args), len(moved)), moved


def _checked(
    call: Callable[[tuple[Any, ...], tuple[Any, ...]], Any], structure: Any, count: int, extra: int
) -> Callable[..., Any]:
    def converted(*args: Any) -> Any:
        argument_tree = tree.structure(args[:count])
        if argument_tree != structure or len(args) != count + extra:
            raise ArgumentTypeError(
                f"The inputs to the closure produced by closure_convert must have the tree "
                f"{tree.describe(structure)} of the example arguments and {extra} outer values after it, got "
                f"{tree.describe(tree.structure(args))}",
                where=user_location_text(),
            )
        return call(args[:count], args[count:])

    return converted
