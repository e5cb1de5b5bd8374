"""Whole derivatives (`jacfwd`, `jacrev`, `hessian`, `hvp`), and `check_grads`, which measures them.

Idea: all columns (or rows) of a Jacobian are computed together: `vmap` maps the derivative over the
standard basis.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import COMPLEX, INEXACT, INT32
from .. import tree
from ..errors import DtypeError
from ..tracing.interpreter import as_value, ops, weak_in_jax
from ..tracing.locations import user_location_text
from ..tracing.trace import function_name
from ..tracing.wrapped import wraps
from .argnums import Argnums, checked_positions
from .differentiation import grad, jvp, linearize, vjp
from .vmap import vmap


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun` by forward mode, one column a pass: good for few inputs.

    For an argument of shape `s` and a result of shape `r` it has shape `r + s`; the tree of the result
    holds in each leaf the tree of the argument. With `has_aux`: (Jacobian, aux). `holomorphic` promises a
    holomorphic function of complex values.
    """

    @wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        partial, chosen = _partial(fun, argnums, args, kwargs)
        leaves, structure = tree.flatten(chosen)
        values = [_differentiable(fun, leaf, holomorphic) for leaf in leaves]
        _require_real("jacfwd", fun, "arguments", values, holomorphic)

        def main(*flat: Any) -> Any:
            return partial(tree.unflatten(structure, flat))

        value, push, *aux = linearize(main, *values, has_aux=has_aux)
        results, result_tree = tree.flatten(value)
        columns = [_along_basis(push, values, i, out_axes=-1) for i in range(len(values))]
        per_result: list[Any] = []
        for position, result in enumerate(results):
            _differentiable(fun, result, holomorphic)
            parts = [
                _block(as_value(tree.leaves(column)[position]), result, value_, is_weak=result.weak_type)
                for column, value_ in zip(columns, values, strict=True)
            ]
            per_result.append(tree.unflatten(structure, parts))
        jacobian_tree = tree.unflatten(result_tree, per_result)
        return (jacobian_tree, aux[0]) if has_aux else jacobian_tree

    return jacobian_of


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun` by reverse mode, one row a pass: good for few outputs.

    Shapes and trees as in `jacfwd`. With `allow_int` arguments may be integers or bools, whose blocks are
    zeros of their own dtype, as in JAX.
    """

    @wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        partial, chosen = _partial(fun, argnums, args, kwargs)
        leaves, structure = tree.flatten(chosen)
        values = [_differentiable(fun, leaf, holomorphic, allow_int) for leaf in leaves]

        def main(*flat: Any) -> Any:
            return partial(tree.unflatten(structure, flat))

        value, pullback, *aux = vjp(main, *values, has_aux=has_aux)
        results, result_tree = tree.flatten(value)
        _require_real("jacrev", fun, "results", results, holomorphic)
        per_result: list[Any] = []
        for position, result in enumerate(results):
            _differentiable(fun, result, holomorphic)
            pull = lambda *cotangents: pullback(tree.unflatten(result_tree, cotangents))  # noqa: E731
            rows = _along_basis(pull, results, position, out_axes=0)
            parts = [
                _block(row, result, value_, is_weak=value_.weak_type)
                if value_.dtype in INEXACT
                else ops.full(0, (*result.shape, *value_.shape), value_.dtype)
                for row, value_ in zip(rows, values, strict=True)
            ]
            per_result.append(tree.unflatten(structure, parts))
        jacobian_tree = tree.unflatten(result_tree, per_result)
        return (jacobian_tree, aux[0]) if has_aux else jacobian_tree

    return jacobian_of


def _block(derivatives: Any, result: Any, value: Any, is_weak: bool) -> Any:
    """All derivatives of one result by one argument, as weakly typed as what they are tangents of."""
    return weak_in_jax(ops.reshape(derivatives, shape=(*result.shape, *value.shape)), is_weak)


jacobian = jacrev


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The matrix of second derivatives of a scalar function: forward mode over reverse mode."""
    inner = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux=has_aux, holomorphic=holomorphic)


def hvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a scalar function times a vector: `jvp` of `grad`, in the tree of the first argument."""
    if len(tuple(primals)) == 1:
        return jvp(grad(function), primals, tangents)[1]
    return jvp(grad(function, tuple(range(len(tuple(primals))))), primals, tangents)[1]


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare derivatives of `f` with central differences in random directions, up to `order`.

    Raises `AssertionError` that says which mode and order failed and by how much. Use float64 arguments:
    differences of float32 values are coarse.
    """
    arguments = tuple(tree.map(as_value, arg) for arg in args)
    wide = all(v.dtype not in INEXACT or v.dtype.itemsize in (8, 16) for v in tree.leaves(arguments))
    step = eps if eps is not None else (1e-6 if wide else 1e-2)
    tolerance = {"rtol": rtol if rtol is not None else (1e-6 if wide else 2e-2)}
    tolerance["atol"] = atol if atol is not None else (1e-6 if wide else 2e-2)
    _check_order(f, arguments, order, tuple(modes), step, tolerance, "")


def _check_order(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: tuple[str, ...],
    step: float,
    tolerance: dict[str, float],
    path: str,
) -> None:
    generator = np.random.default_rng(0)
    direction = tree.map(lambda v: _random_like(generator, v), args)
    forward = function(*tree.map(lambda v, d: _moved(v, d, step), args, direction))
    backward = function(*tree.map(lambda v, d: _moved(v, d, -step), args, direction))
    measured = tree.map(lambda f, b: (np.asarray(f) - np.asarray(b)) / (2 * step), forward, backward)
    if "fwd" in modes:
        _, pushed = jvp(function, args, direction)
        _compare(pushed, measured, tolerance, f"{path}jvp of order {order}")
    if "rev" in modes:
        value, pullback = vjp(function, *args)
        weights = tree.map(lambda v: _random_like(generator, as_value(v)), value)
        pulled = pullback(weights)
        left = _pairing(pulled, direction)
        right = _pairing(weights, measured)
        _compare(left, right, tolerance, f"{path}vjp of order {order}")
    if order > 1:
        if "fwd" in modes:
            _check_order(
                lambda *xs: jvp(function, xs, direction)[1], args, order - 1, modes, step, tolerance,
                f"{path}jvp, ",
            )  # fmt: skip
        if "rev" in modes:
            weights = tree.map(lambda v: _random_like(generator, as_value(v)), function(*args))

            def pulled_back(*xs: Any) -> Any:
                return vjp(function, *xs)[1](weights)

            _check_order(pulled_back, args, order - 1, modes, step, tolerance, f"{path}vjp, ")


def _random_like(generator: np.random.Generator, value: Any) -> Any:
    if value.dtype not in INEXACT:
        return as_value(np.zeros(value.shape, value.dtype))
    drawn = generator.normal(size=value.shape)
    if value.dtype in COMPLEX:
        drawn = drawn + 1j * generator.normal(size=value.shape)
    return as_value(np.asarray(drawn).astype(value.dtype))


def _moved(value: Any, direction: Any, step: float) -> Any:
    if value.dtype not in INEXACT:
        return value
    return as_value(np.asarray(value) + np.asarray(direction).astype(value.dtype) * value.dtype.type(step))


def _pairing(left: Any, right: Any) -> Any:
    terms = tree.leaves(
        tree.map(lambda a, b: np.sum(np.real(np.asarray(a) * np.asarray(b)), dtype=np.float64), left, right)
    )
    return np.sum(terms)


def _compare(actual: Any, expected: Any, tolerance: dict[str, float], what: str) -> None:
    def compare(a: Any, e: Any) -> None:
        np.testing.assert_allclose(
            np.asarray(a).astype(np.complex128),
            np.asarray(e).astype(np.complex128),
            err_msg=f"check_grads: {what} differs from central differences",
            rtol=tolerance["rtol"],
            atol=tolerance["atol"],
        )

    tree.map(compare, actual, expected)


def _partial(
    function: Callable[..., Any], argnums: int | Sequence[int], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[[Any], Any], Any]:
    """`function` of its chosen arguments only, and those arguments."""
    choice = Argnums(function, argnums, ())
    positions = checked_positions(function, choice.positions, args, kwargs)

    def partial(chosen: Any) -> Any:
        full = list(args)
        for position, value in zip(positions, (chosen,) if choice.is_single else chosen, strict=True):
            full[position] = value
        return function(*full, **kwargs)

    chosen = tuple(args[p] for p in positions)
    return partial, chosen[0] if choice.is_single else chosen


def _differentiable(
    function: Callable[..., Any], leaf: Any, holomorphic: bool, allow_int: bool = False
) -> Any:
    value = as_value(leaf)
    if holomorphic and value.dtype not in COMPLEX:
        raise DtypeError(
            "a Jacobian with holomorphic=True needs complex arguments and results, "
            f"{function_name(function)} has {ops.type_of(value)}",
            where=user_location_text(),
        )
    if value.dtype not in INEXACT and not allow_int:
        raise DtypeError(
            f"a Jacobian of {function_name(function)} needs float arguments and results, got "
            f"{ops.type_of(value)}",
            where=user_location_text(),
        )
    return value


def _require_real(
    name: str, function: Callable[..., Any], what: str, values: Sequence[Any], holomorphic: bool
) -> None:
    """Raise where one complex number would not say how a function changes: it need not be holomorphic."""
    for value in values:
        if value.dtype in COMPLEX and not holomorphic:
            raise DtypeError(
                f"{name} of {function_name(function)} needs real {what}, got {ops.type_of(value)}",
                where=user_location_text(),
                hint="pass holomorphic=True for a holomorphic function, or take real and imaginary parts",
            )


def _along_basis(push: Callable[..., Any], values: Sequence[Any], chosen: int, out_axes: int) -> Any:
    """What `push` makes of each array of the standard basis of the chosen value, and zeros for the others.

    Along `out_axes` of each result, unless the chosen value has one element.
    """
    if all(isinstance(n, int) and n == 1 for n in values[chosen].shape):
        filled = [ops.full(int(k == chosen), value.shape, value.dtype) for k, value in enumerate(values)]
        return push(*filled)
    return vmap(push, in_axes=0, out_axes=out_axes)(*_basis(values, chosen))


def _basis(values: Sequence[Any], chosen: int) -> list[Any]:
    """For each value a batch of tangents: the standard basis for the chosen one, zeros for the others."""
    count = functools.reduce(operator.mul, values[chosen].shape, 1)
    batch = []
    for position, value in enumerate(values):
        if position == chosen:
            batch.append(ops.reshape(_identity(count, value.dtype), shape=(count, *value.shape)))
        else:
            batch.append(ops.full(0, (count, *value.shape), value.dtype))
    return batch


def _identity(count: Any, dtype: np.dtype) -> Any:
    """The identity matrix."""
    row, column = (ops.iota(shape=(count, count), axis=axis, dtype=INT32) for axis in (0, 1))
    on_diagonal = ops.compare(ops.sub(column, row), ops.zeros_like(row), direction="EQ")
    return ops.convert(on_diagonal, dtype=dtype)
