"""Derivatives as users call them: jvp, vjp, grad, linearize and what is made of them.

Each traces the user's function as a private function, has the engines of `passes/` map it, and calls what
they made. So a derivative inside a trace becomes part of the program, and one outside is evaluated at
once. A function is closed when it is differentiated (what it captures are operands without a tangent),
so nested derivatives cannot be confused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import COMPLEX, FLOATS, INEXACT, TensorType
from .. import tree
from ..errors import ArgumentError, DtypeError
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.nested import Argument, Workshop, argument_of, keep_dimensions
from ..tracing.trace import argument_names, function_name


class _Flat:
    """A function of pytrees as one of flat leaves, with the names of its arguments."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], has_aux: bool = False
    ) -> None:
        self.function = function
        self.has_aux = has_aux
        leaves, self.structure = tree.flatten((tuple(args), kwargs))
        # A gradient of a Python float is of the default dtype, in a trace as outside.
        self.values = [as_value(leaf) for leaf in leaves]
        self.names = argument_names(function, args, kwargs)

    def call(self, leaves: Sequence[Any]) -> Any:
        args, kwargs = tree.unflatten(self.structure, leaves)
        return self.function(*args, **kwargs)

    @property
    def arguments(self) -> list[Argument]:
        """What the function is traced at."""
        return [argument_of(v) for v in self.values]

    def mask(self, argnums: Sequence[int], argnames: Sequence[str]) -> list[bool]:
        """Which leaves belong to the chosen arguments."""
        args, kwargs = tree.unflatten(self.structure, [False] * len(self.values))
        chosen_args = [tree.map(lambda _, on=i in argnums: on, arg) for i, arg in enumerate(args)]
        chosen_kwargs = {k: tree.map(lambda _, on=k in argnames: on, v) for k, v in kwargs.items()}
        return tree.leaves((tuple(chosen_args), chosen_kwargs))


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False
) -> Any:
    """`(f(primals), derivative of f at primals along tangents)`.

    `tangents` has the tree, shapes and dtypes of `primals` (integer leaves: anything, without effect).
    With `has_aux`, f gives (result, aux) and so does the return value: (result, tangent, aux).
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentError(
            f"jvp takes tuples of primals and tangents, got {type(primals).__name__} and "
            f"{type(tangents).__name__}",
            where=user_location_text(),
            hint="for a function of one argument: jvp(f, (x,), (dx,))",
        )
    flat = _Flat(function, primals, {})
    given, structure = tree.flatten((tuple(tangents), {}))
    if structure != flat.structure:
        raise ArgumentError(
            f"tangents have the tree {tree.describe(structure)}, primals {tree.describe(flat.structure)}",
            where=user_location_text(),
        )
    moving = [_tangent_like(v, t, n) for v, t, n in zip(flat.values, given, flat.names, strict=True)]
    shop = Workshop()
    nested = shop.nested(function_name(function), flat.call, flat.arguments)
    operands = [*flat.values, *nested.captured]
    active = tuple(t is not None for t in moving) + (False,) * len(nested.captured)
    made = shop.forward.differentiate(nested.symbol, active)
    outputs = shop.call(made.symbol, [*operands, *(t for t in moving if t is not None)])
    count = len(nested.result_types)
    results = outputs[:count]
    remaining = iter(outputs[count:])
    found = [
        keep_dimensions(next(remaining), r.shape) if is_active else _zero_tangent(r)
        for r, is_active in zip(results, made.active_results, strict=True)
    ]
    value = tree.unflatten(nested.result_tree, results)
    tangent = tree.unflatten(nested.result_tree, found)
    if has_aux:
        (value, aux), (tangent, _) = _pair(function, value), tangent
        return value, tangent, aux
    return value, tangent


class Pullback:
    """What `vjp` gives beside the value: maps a cotangent of the result to cotangents of the arguments.

    May be called any number of times, inside a trace or outside, wherever it was made.
    """

    def __init__(
        self, linear: _LinearFunction, structure: tree.Structure, argument_tree: tree.Structure
    ) -> None:
        self._linear = linear
        self._structure = structure
        self._argument_tree = argument_tree

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        leaves, structure = tree.flatten(cotangent)
        if structure != self._structure:
            raise ArgumentError(
                f"the cotangent has the tree {tree.describe(structure)}, the result "
                f"{tree.describe(self._structure)}",
                where=user_location_text(),
            )
        found = self._linear.pull([*leaves, *(None for _ in self._linear.results[len(leaves) :])])
        args: tuple[Any, ...] = tree.unflatten(self._argument_tree, found)[0]
        return args


class _LinearFunction:
    """A function linearized at a point: push tangents forward, pull cotangents back."""

    def __init__(self, flat: _Flat, mask: Sequence[bool]) -> None:
        shop = self.shop = Workshop()
        self.flat = flat
        self.mask = [m and v.dtype in INEXACT for m, v in zip(mask, flat.values, strict=True)]
        nested = self.nested = shop.nested(function_name(flat.function), flat.call, flat.arguments)
        operands = [*flat.values, *nested.captured]
        active = (*self.mask, *(False for _ in nested.captured))
        made = self.made = shop.linearizer.linearize(nested.symbol, active)
        outputs = shop.call(made.primal, operands)
        self.results = outputs[: len(nested.result_types)]
        self.residuals = made.residual_values(operands, outputs)

    @property
    def value(self) -> Any:
        """The result of the function, as its tree."""
        return tree.unflatten(self.nested.result_tree, self.results)

    def push(self, tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the results for tangents of all argument leaves."""
        moving = [t for t, is_active in zip(tangents, self.mask, strict=True) if is_active]
        values = iter(self.shop.call(self.made.linear, [*self.residuals, *moving]))
        return [
            keep_dimensions(next(values), r.shape) if is_active else _zero_tangent(r)
            for r, is_active in zip(self.results, self.made.active_results, strict=True)
        ]

    def pull(self, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of all argument leaves for cotangents of the results; None stands for zero."""
        given = [
            None if c is None else _tangent_like(r, c, f"result {i}", "cotangent")
            for i, (r, c) in enumerate(zip(self.results, cotangents, strict=True))
        ]
        given = [c for c, is_active in zip(given, self.made.active_results, strict=True) if is_active]
        linear = (False,) * len(self.residuals) + (True,) * sum(self.mask)
        transposed = self.shop.transposer.transpose(
            self.made.linear, linear, tuple(c is not None for c in given)
        )
        values = iter(
            self.shop.call(transposed.symbol, [*self.residuals, *(c for c in given if c is not None)])
        )
        found = iter([next(values) if nonzero else None for nonzero in transposed.nonzero])
        leaves = []
        for value, is_active in zip(self.flat.values, self.mask, strict=True):
            cotangent = next(found) if is_active else None
            leaves.append(
                _zero_tangent(value) if cotangent is None else keep_dimensions(cotangent, value.shape)
            )
        return leaves


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`(f(*primals), pullback)`: the pullback maps a cotangent of the result to a tuple of cotangents.

    With `has_aux`, f gives (result, aux) and the return value is (result, pullback, aux).
    """
    flat = _Flat(function, primals, {})
    linear = _LinearFunction(flat, [True] * len(flat.values))
    if not has_aux:
        return linear.value, Pullback(linear, linear.nested.result_tree, flat.structure)
    value, aux = _pair(function, linear.value)
    return value, Pullback(linear, tree.structure(value), flat.structure), aux


def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """`(f(*primals), f_jvp)`: `f_jvp(*tangents)` is the derivative at `primals`, computed from residuals."""
    flat = _Flat(function, primals, {})
    linear = _LinearFunction(flat, [True] * len(flat.values))

    def push(*tangents: Any) -> Any:
        leaves, structure = tree.flatten((tangents, {}))
        if structure != flat.structure:
            raise ArgumentError(
                f"tangents have the tree {tree.describe(structure)}, primals {tree.describe(flat.structure)}",
                where=user_location_text(),
            )
        moving = [_tangent_like(v, t, n) for v, t, n in zip(flat.values, leaves, flat.names, strict=True)]
        return tree.unflatten(linear.nested.result_tree, linear.push(moving))

    return linear.value, push


def linear_transpose(function: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: maps a cotangent of its result to a tuple of cotangents.

    Raises `MissingRuleError` when the function is not linear in its arguments.
    """
    flat = _Flat(function, primals, {})
    shop = Workshop()
    nested = shop.nested(function_name(function), flat.call, flat.arguments)
    linear = tuple(v.dtype in INEXACT for v in flat.values) + (False,) * len(nested.captured)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        leaves, structure = tree.flatten(cotangent)
        if structure != nested.result_tree:
            raise ArgumentError(
                f"the cotangent has the tree {tree.describe(structure)}, the result "
                f"{tree.describe(nested.result_tree)}",
                where=user_location_text(),
            )
        made = shop.transposer.transpose(nested.symbol, linear)
        constant = [
            v for v, is_linear in zip([*flat.values, *nested.captured], linear, strict=True) if not is_linear
        ]
        values = iter(shop.call(made.symbol, [*constant, *(as_value(leaf) for leaf in leaves)]))
        found = iter([next(values) if nonzero else None for nonzero in made.nonzero])
        out = []
        for value in flat.values:
            cotangent = next(found) if value.dtype in INEXACT else None
            out.append(_zero_tangent(value) if cotangent is None else cotangent)
        args: tuple[Any, ...] = tree.unflatten(flat.structure, out)[0]
        return args

    return pull


def value_and_grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] = (),
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives f's value and its gradient with respect to the arguments `argnums`/`argnames`.

    f must give one real scalar (with `has_aux`, a pair of one and anything else). The gradient has the
    tree, shapes and dtypes of the argument; a tuple of them when `argnums` is a sequence.

    Of complex arguments the gradient g is the one for which `f(x + dx) = f(x) + Re(sum(g * dx))` to first
    order: JAX's convention, the conjugate of the direction of steepest ascent. `holomorphic` promises a
    holomorphic f of complex values and gives its complex derivative.
    """
    nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)

    @functools.wraps(function)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        chosen = _positions(function, nums, len(args))
        for name in names:
            if name not in kwargs:
                raise ArgumentError(
                    f"argnames names {name!r}, which {function_name(function)} was not called with",
                    where=user_location_text(),
                )
        flat = _Flat(function, args, kwargs)
        mask = flat.mask(chosen, names)
        _check_differentiable(flat, mask, holomorphic, allow_int)
        linear = _LinearFunction(flat, mask)
        value, aux = _pair(function, linear.value) if has_aux else (linear.value, None)
        result = _scalar(function, value, holomorphic, has_aux)
        one = as_value(1, result.dtype)
        leaves = linear.pull([one, *(None for _ in linear.results[1:])])
        gradients, keyword_gradients = tree.unflatten(flat.structure, leaves)
        by_position = tuple(gradients[i] for i in chosen)
        gradient: Any = by_position[0] if isinstance(argnums, int) else by_position
        if names:
            by_name = {name: keyword_gradients[name] for name in names}
            gradient = (gradient, by_name)
        return ((result, aux) if has_aux else result), gradient

    return value_and_gradient


def grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] = (),
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the gradient of f; see `value_and_grad`. With `has_aux`: (gradient, aux)."""
    both = value_and_grad(
        function, argnums, argnames=argnames, has_aux=has_aux, holomorphic=holomorphic, allow_int=allow_int
    )

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


# -- checks ------------------------------------------------------------------------------------------


def _positions(function: Callable[..., Any], nums: Sequence[int], count: int) -> list[int]:
    for n in nums:
        if not -count <= n < count:
            raise ArgumentError(
                f"argnums names argument {n}, {function_name(function)} was called with {count} arguments",
                where=user_location_text(),
            )
    return [n % count for n in nums]


def _check_differentiable(flat: _Flat, mask: Sequence[bool], holomorphic: bool, allow_int: bool) -> None:
    for value, name, is_chosen in zip(flat.values, flat.names, mask, strict=True):
        if not is_chosen:
            continue
        if holomorphic and value.dtype not in COMPLEX:
            raise DtypeError(
                f"grad(holomorphic=True) needs complex arguments, '{name}' is {ops.type_of(value)}",
                where=user_location_text(),
            )
        if value.dtype not in INEXACT and not allow_int:
            raise DtypeError(
                f"grad with respect to '{name}': it is {ops.type_of(value)}, and integers have no gradient",
                where=user_location_text(),
                hint="convert it to a float dtype, choose other argnums, or pass allow_int=True for zeros",
            )


def _scalar(function: Callable[..., Any], value: Any, holomorphic: bool, has_aux: bool) -> Any:
    """The one scalar that a differentiated function gives; an error that says what it gave instead."""
    found = tree.leaves(value)
    if len(found) != 1 or not hasattr(value, "dtype"):
        hint = "pass has_aux=True for (loss, extra results)"
        if isinstance(value, tuple) and len(value) == 2 and not has_aux:
            hint = "it gives a pair: pass has_aux=True for (loss, extra results)"
        raise ArgumentError(
            f"grad needs a function that gives one scalar, {function_name(function)} gives "
            f"{tree.describe(tree.structure(value))}",
            where=user_location_text(),
            hint=hint,
        )
    if value.ndim != 0:
        raise ArgumentError(
            f"grad needs a scalar, {function_name(function)} gives {ops.type_of(value)}",
            where=user_location_text(),
            hint="reduce it (.sum(), .mean()), or use jacrev, jacfwd or vjp",
        )
    if value.dtype not in (COMPLEX if holomorphic else FLOATS):
        wanted = "a complex scalar (holomorphic=True)" if holomorphic else "a real float"
        raise DtypeError(
            f"grad needs {wanted}, {function_name(function)} gives {ops.type_of(value)}",
            where=user_location_text(),
        )
    return value


def _pair(function: Callable[..., Any], value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise ArgumentError(
            f"with has_aux=True {function_name(function)} must give a pair (result, aux), it gives "
            f"{tree.describe(tree.structure(value))}",
            where=user_location_text(),
        )
    return value


def _tangent_like(primal: Any, tangent: Any, name: str, what: str = "tangent") -> Any:
    """A given tangent as a value of its primal's type; None for a primal that has none."""
    if primal.dtype not in INEXACT:
        return None
    value = as_value(tangent)
    if value.weak_type:
        value = as_value(value, primal.dtype)
    expected = TensorType(_static_shape(primal), primal.dtype)
    actual = TensorType(_static_shape(value), value.dtype)
    if actual != expected:
        raise ArgumentError(
            f"the {what} of '{name}' is {actual}, expected {expected}", where=user_location_text()
        )
    return value


def _static_shape(value: Any) -> tuple[int | None, ...]:
    kind = ops.tensor_type(value)
    return kind.shape


def _zero_tangent(value: Any) -> Any:
    """The tangent of a value that does not move: zeros of its dtype, `float0`-like bool for integers."""
    if value.dtype in INEXACT:
        return ops.zeros_like(value)
    return ops.full(False, tuple(value.shape), np.dtype(np.bool_))
