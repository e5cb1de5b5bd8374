"""Derivatives as users call them: `jvp`, `vjp`, `grad`, `value_and_grad`, `linearize`, `linear_transpose`.

Input: a Python function and its arguments. Output: its results with tangents, gradients or a pullback.

Idea: each traces the function as a private function, lets the engines of `passes/autodiff` map it to another,
and calls that. So a derivative inside a trace becomes part of the program, and one outside is evaluated at
once. Captured values are operands without a tangent: a function is closed when it is differentiated, and
nested derivatives cannot be confused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.types import COMPLEX, FLOATS, INEXACT
from .. import tree
from ..errors import ArgumentTypeError, DtypeError, UnsupportedError
from ..tracing.function_scope import FunctionScope, resumes_trace, with_all_names
from ..tracing.interpreter import as_value, ops, weak_in_jax
from ..tracing.locations import user_location_text
from ..tracing.references import Effects, any_alive
from ..tracing.specs import ShapeDtype
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps
from .argnums import Argnums
from .compiled_transforms import compiled_transform
from .flat_call import FlatCall
from .linearized_call import LinearizedCall, Pullback, Pushforward, TangentType
from .reference_effects import carries_effects, pulled_back
from .reference_effects import value_and_gradient as gradient_with_effects


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """`(f(primals), derivative of f at primals along tangents)`.

    `tangents` has the tree, shapes and dtypes of `primals` (integer leaves: anything, without effect).
    With `has_aux`, f returns (result, aux) and so does the return value: (result, tangent, aux).
    """
    return _jvp(fun, primals, tangents, has_aux=has_aux)


@resumes_trace
@carries_effects
def _jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> Any:
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentTypeError(
            f"jvp takes tuples of primals and tangents, got {type(primals).__name__} and "
            f"{type(tangents).__name__}",
            where=user_location_text(),
            hint="for a function of one argument: jvp(f, (x,), (dx,))",
        )
    call = FlatCall(fun, primals, has_aux=has_aux)
    tangent_leaves, structure = tree.flatten((tuple(tangents), {}))
    if structure != call.structure:
        raise ArgumentTypeError(
            f"tangents have the tree {tree.describe(structure)}, primals {tree.describe(call.structure)}",
            where=user_location_text(),
        )
    moving = [
        TangentType.of(v).read(t, n) for v, t, n in zip(call.values, tangent_leaves, call.names, strict=True)
    ]
    active = [t is not None for t in moving]
    scope, nested = call.known(active)
    operands = [*call.values, *nested.captured]
    derivative = scope.engines.forward.differentiate(
        nested.symbol, (*active, *(False for _ in nested.captured))
    )
    outputs = scope.call(derivative.symbol, [*operands, *(t for t in moving if t is not None)])
    count = len(nested.result_types)
    results = outputs[:count]
    with_all_names(results, nested.result_names, operands)
    results = list(map(weak_in_jax, results, nested.weak_results))
    remaining = iter(outputs[count:])
    result_tangents = [
        TangentType.of(r).typed(next(remaining)) if is_active else TangentType.of(r).zeros()
        for r, is_active in zip(results, derivative.active_results, strict=True)
    ]
    value = tree.unflatten(nested.result_tree, results)
    tangent = tree.unflatten(nested.result_tree, result_tangents)
    if not has_aux:
        return value, tangent
    value, aux = call.split(value)
    return value, tangent[0], aux


@resumes_trace
@pulled_back
def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Sequence[str] = ()
) -> Any:
    """`(f(*primals), pullback)`: the pullback maps a cotangent of the result to a tuple of cotangents.

    With `has_aux`, f returns (result, aux) and the return value is (result, pullback, aux).
    """
    _refuse_axes("vjp", reduce_axes)
    call = FlatCall(fun, primals, has_aux=has_aux)
    linearized = LinearizedCall(call, [True] * len(call.values))
    pullback = Pullback(linearized)
    return (linearized.value, pullback, linearized.aux) if has_aux else (linearized.value, pullback)


@resumes_trace
@carries_effects
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`(f(*primals), f_jvp)`: `f_jvp(*tangents)` is the derivative at `primals`, computed from residuals.

    With `has_aux`, f returns (result, aux) and the return value is (result, f_jvp, aux).
    """
    call = FlatCall(fun, primals, has_aux=has_aux)
    linearized = LinearizedCall(call, [True] * len(call.values))
    push = Pushforward(linearized)
    return (linearized.value, push, linearized.aux) if has_aux else (linearized.value, push)


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[str] = ()
) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: maps a cotangent of its result to a tuple of cotangents.

    `primals` say the shapes and dtypes: arrays, or specs (`ShapeDtype`) of them. Raises `MissingRuleError`
    when the function is not linear in its arguments.
    """
    _refuse_axes("linear_transpose", reduce_axes)
    call = FlatCall(fun, tree.map(_of_spec, primals))
    scope = FunctionScope()
    are_linear = [v.dtype in INEXACT for v in call.values]
    # A backward pass asks the size of a linear argument that is not known of another argument of its shape.
    shaped = [i for i, v in enumerate(call.values) if are_linear[i] and not ops.tensor_type(v).is_static]
    witnesses = [call.values[i] for i in shaped]
    nested = call.traced_beside(scope, witnesses)
    given = [*call.values, *witnesses, *nested.captured]
    linear = (*are_linear, *(False,) * (len(given) - len(are_linear)))
    places = [len(are_linear) + shaped.index(i) if i in shaped else -1 for i in range(len(given))]
    scope.engines.transposer.set_shape_operands(nested.symbol, places)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        leaves, structure = tree.flatten(cotangent)
        if structure != nested.result_tree:
            raise ArgumentTypeError(
                f"the cotangent has the tree {tree.describe(structure)}, the result "
                f"{tree.describe(nested.result_tree)}",
                where=user_location_text(),
            )
        transposed = scope.engines.transposer.transpose(nested.symbol, linear)
        constant = [v for v, is_linear in zip(given, linear, strict=True) if not is_linear]
        likes = [TangentType(kind, kind.shape) for kind in nested.result_types]
        cotangents = [
            as_value(leaf) if not like.is_inexact else like.read(leaf, f"result {i}", "cotangent")
            for i, (like, leaf) in enumerate(zip(likes, leaves, strict=True))
        ]
        values = iter(scope.call(transposed.symbol, [*constant, *cotangents]))
        argument_cotangents = iter([next(values) if nonzero else None for nonzero in transposed.nonzero])
        out = []
        for value in call.values:
            cotangent = next(argument_cotangents) if value.dtype in INEXACT else None
            out.append(TangentType.of(value).zeros() if cotangent is None else cotangent)
        args: tuple[Any, ...] = tree.unflatten(call.structure, out)[0]
        return args

    return pull


def _of_spec(leaf: Any) -> Any:
    """Zeros that are like a spec; anything else as it is."""
    return ops.full(0, leaf.shape, leaf.dtype) if isinstance(leaf, ShapeDtype) else leaf


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[str] = (),
    *,
    argnames: str | Sequence[str] = (),
) -> Callable[..., Any]:
    """A function that returns f's value and its gradient with respect to the arguments `argnums`/`argnames`.

    f must return one real scalar (with `has_aux`, a pair of one and anything else). All other arguments may
    be anything and reach f as they are. The gradient has the tree, shapes and dtypes of the argument; a tuple
    of them when `argnums` is a sequence. `argnums` is 0 unless it is given.

    With `argnames` the gradient is a pair: that of `argnums`, and a dict of those by name. Where there is
    none by position (`argnums=()`, or f is called with keywords alone) it is the second of them; for a single
    name the gradient itself.

    Of complex arguments the gradient g is the one for which `f(x + dx) = f(x) + Re(sum(g * dx))` to first
    order: JAX's convention, the conjugate of the direction of steepest ascent. `holomorphic` promises a
    holomorphic f of complex values and returns its complex derivative.

    JAX no longer supports `reduce_axes`: like it, raises `UnsupportedError` unless they are none.
    """
    _refuse_axes("grad", reduce_axes)
    chosen = Argnums(fun, argnums, argnames)
    options = argnums, argnames, has_aux, holomorphic, allow_int

    def with_effects(fun: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
        return value_and_grad(
            fun, argnums, argnames=argnames, has_aux=has_aux, holomorphic=holomorphic, allow_int=allow_int
        )

    @resumes_trace
    @wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        compiled = compiled_transform(fun, ("gradient", *options), lambda f: with_effects(f, has_aux))
        if compiled is not None and not allow_int:  # gradients of integers have no elements, results do
            return compiled(*args, **kwargs)
        if any_alive() and not isinstance(fun, Effects):
            return gradient_with_effects(with_effects, fun, has_aux, args, kwargs)
        positions, names = chosen.of_call(args, kwargs)
        call = FlatCall(fun, args, kwargs, positions=positions, names=names, has_aux=has_aux)
        _check_differentiable(call, holomorphic, allow_int)
        linearized = LinearizedCall(call, [True] * len(call.values))
        result = _scalar(fun, linearized.value, holomorphic, has_aux)
        one = as_value(1, result.dtype)
        leaves = linearized.linear.pull(linearized.residuals, [one, *(None for _ in linearized.results[1:])])
        gradients, by_name = tree.unflatten(call.structure, leaves)
        gradient = chosen.gradient(args, dict(zip(positions, gradients, strict=True)), by_name)
        return ((result, linearized.aux) if has_aux else result), gradient

    return value_and_gradient


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[str] = (),
    *,
    argnames: str | Sequence[str] = (),
) -> Callable[..., Any]:
    """A function that returns the gradient of f; see `value_and_grad`. With `has_aux`: (gradient, aux)."""
    _refuse_axes("grad", reduce_axes)
    both = value_and_grad(
        fun, argnums, argnames=argnames, has_aux=has_aux, holomorphic=holomorphic, allow_int=allow_int
    )

    @wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


# -- checks ------------------------------------------------------------------------------------------


def _refuse_axes(transform: str, reduce_axes: Sequence[str]) -> None:
    if reduce_axes:
        raise UnsupportedError(
            f"{transform}: reduce_axes is {reduce_axes!r}, and JAX has given it up",
            where=user_location_text(),
            hint="sum over the axes with lax.psum",
        )


def _check_differentiable(call: FlatCall, holomorphic: bool, allow_int: bool) -> None:
    for position, value in enumerate(call.values):
        if holomorphic and value.dtype not in COMPLEX:
            raise DtypeError(
                f"grad(holomorphic=True) needs complex arguments, '{call.names[position]}' is "
                f"{ops.type_of(value)}",
                where=user_location_text(),
            )
        if value.dtype not in INEXACT and not allow_int:
            raise DtypeError(
                f"grad with respect to '{call.names[position]}': it is {ops.type_of(value)}, "
                "and integers have no gradient",
                where=user_location_text(),
                hint="convert it to a float dtype, choose other argnums, or pass allow_int=True for zeros",
            )


def _scalar(function: Callable[..., Any], value: Any, holomorphic: bool, has_aux: bool) -> Any:
    """The one scalar that a differentiated function returns; an error that says what it returns instead."""
    results = tree.leaves(value)
    if len(results) != 1 or not hasattr(value, "dtype"):
        hint = "pass has_aux=True for (loss, extra results)"
        if isinstance(value, tuple) and len(value) == 2 and not has_aux:
            hint = "it returns a pair: pass has_aux=True for (loss, extra results)"
        raise ArgumentTypeError(
            f"grad needs a function that returns one scalar, {function_name(function)} returns "
            f"{tree.describe(tree.structure(value))}",
            where=user_location_text(),
            hint=hint,
        )
    if value.ndim != 0:
        raise ArgumentTypeError(
            f"grad needs a scalar, {function_name(function)} returns {ops.type_of(value)}",
            where=user_location_text(),
            hint="reduce it (.sum(), .mean()), or use jacrev, jacfwd or vjp",
        )
    if value.dtype not in (COMPLEX if holomorphic else FLOATS):
        wanted = "a complex scalar (holomorphic=True)" if holomorphic else "a real float"
        is_complex = value.dtype in COMPLEX
        raise DtypeError(
            f"grad needs {wanted}, {function_name(function)} returns {ops.type_of(value)}",
            where=user_location_text(),
            hint="return a real part or an absolute value, or pass holomorphic=True" if is_complex else None,
        )
    return value
