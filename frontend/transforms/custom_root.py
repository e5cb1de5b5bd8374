"""`custom_root`: roots, differentiated by the implicit function theorem instead of through solvers.

Input: a function with a root, a solver, and a solver of linear equations. Output: the root, with a rule.

Idea: outer values of the function become arguments, so that the root has a derivative with respect to each
of them: the derivative of `f(x, t) = 0` is `f_x dx = -f_t dt` (A. Griewank and A. Walther, *Evaluating
Derivatives*, 2nd ed., SIAM 2008, chapter 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.types import INEXACT
from .. import tree
from ..errors import ArgumentTypeError, TraceError
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import (
    Argument,
    FunctionScope,
    PrivateFunction,
    argument_of,
    resumes_trace,
    with_all_names,
)
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.sizes import Dim
from .differentiation import jvp, linearize

Function = Callable[..., Any]


@resumes_trace
def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Any:
    """A root of `f`, found by `solve(f, initial_guess)`, with derivatives by the implicit function theorem.

    Args:
        f: takes a tree like `initial_guess` and returns one of the same shapes and dtypes, zero at the root.
            It may use outer values; the root is differentiated with respect to those.
        initial_guess: a tree of arrays, where the solver begins; the root does not depend on it.
        solve: `solve(f, initial_guess)` returns the root, any way it likes: it is not differentiated.
        tangent_solve: `tangent_solve(g, y)` returns `x` with `g(x) = y`, for the linear function `g` that is
            the derivative of `f` at the root. For single numbers, `lambda g, y: y / g(ones_like(y))`; for a
            vector, `lambda g, y: numpy.linalg.solve(jacobian(g)(y), y)`. Reverse mode transposes it.
        has_aux: `solve` returns `(root, aux)`, and so does this function; `aux` has the derivative zero.

    Raises `TraceError` where `solve` returns another tree, other shapes or dtypes than the guess has.
    """
    guess, structure = tree.flatten(initial_guess)
    values = [as_value(leaf) for leaf in guess]
    if current_frame() is None:
        found = solve(f, initial_guess)
        root = _pair(found)[0] if has_aux else found
        check_like("what solve returns", "the guess", root, values, structure)
        return found
    aux_tree: list[tree.Structure] = []

    def of_guess(leaves: Sequence[Any]) -> Any:
        solution = solve(f, tree.unflatten(structure, leaves))
        root, aux = _pair(solution) if has_aux else (solution, ())
        check_like("what solve returns", "the guess", root, values, structure)
        extra, aux_structure = tree.flatten(aux)
        aux_tree[:] = [aux_structure]
        return [*tree.leaves(root), *extra]

    def residual(leaves: Sequence[Any]) -> Any:
        residuals = f(tree.unflatten(structure, leaves))
        check_like("what f returns", "its argument", residuals, values, structure)
        return tree.leaves(residuals)

    scope = FunctionScope()
    outer = captured_by(scope, [of_guess, residual], values)
    functions = _Root(scope, outer, values, structure)
    missing = functions.trace(of_guess, residual, tangent_solve)
    if missing:  # outer values that the tangent solver alone uses
        functions = _Root(scope, Outer([*outer.values, *missing]), values, structure)
        functions.trace(of_guess, residual, tangent_solve)
    results, count = functions(functions.outer.values, values), len(values)
    with_all_names(results, functions.body.result_names, [*functions.outer.values, *values])
    root = tree.unflatten(structure, results[:count])
    return (root, tree.unflatten(aux_tree[0], results[count:])) if has_aux else root


class _Root:
    """The functions that a root consists of; calling it returns root and aux."""

    def __init__(
        self, scope: FunctionScope, outer: Outer, values: Sequence[Any], structure: tree.Structure
    ) -> None:
        self.scope = scope
        self.outer = outer
        self.values = values
        self.structure = structure
        self.rule = scope.reserve("root_rule")

    def __call__(self, outer_values: Sequence[Any], start: Sequence[Any]) -> list[Any]:
        results = ops.custom_jvp_call(
            *outer_values,
            *start,
            callee=self.body.symbol,
            rule=self.rule,
            closed_over=0,  # the rule speaks of outer values too
            results=self.body.result_types,
        )
        return list(results)

    def trace(self, of_guess: Function, residual: Function, tangent_solve: Function) -> tuple[Any, ...]:
        """Make the functions; returns the outer values that the rule uses besides those it knows."""
        outer, arguments = self.outer, self.outer.arguments(self.values)
        self.body = self.scope.trace("root", self._after_outer(of_guess), arguments, outer.bound)
        self.residual = self.scope.trace("residual", self._after_outer(residual), arguments, outer.bound)

        def tangents(leaves: Sequence[Any]) -> list[Any]:
            return self._tangents(leaves, tangent_solve)

        outer_values = outer.with_tangents(self.values)
        return self.scope.trace(self.rule, tangents, outer_values, outer.bound, self.rule).captured

    def _after_outer(self, function: Function) -> Function:
        """`function` with the outer values as arguments before its own; it finds them where it uses them."""
        return lambda leaves: function(leaves[len(self.outer.values) :])

    def _tangents(self, leaves: Sequence[Any], tangent_solve: Function) -> list[Any]:
        """The rule: root, aux and their tangents, from outer values, guess, and the tangents of both."""
        outer_values, moving = self.outer.split(leaves)
        count, structure = len(self.values), self.structure
        results = self(outer_values, leaves[len(outer_values) : len(outer_values) + count])
        root = results[:count]

        def at(*x: Any) -> tuple[Any, ...]:
            return tuple(self.scope.call(self.residual.symbol, [*outer_values, *x]))

        pushed = self.outer.pushed(self.scope, self.residual, outer_values, moving, root)
        _, push = linearize(at, *root)

        def slope(x: Any) -> Any:
            check_like("what g is given", "the root", x, self.values, structure)
            return tree.unflatten(structure, push(*map(as_value, tree.leaves(x))))

        moved = tangent_solve(slope, tree.unflatten(structure, [-t for t in pushed]))
        check_like("what tangent_solve returns", "the root", moved, self.values, structure)
        still = [ops.zeros_like(r) for r in results[count:]]
        return [*results, *map(as_value, tree.leaves(moved)), *still]


class Outer:
    """Outer values that functions use: sizes and arrays, which go before the functions' own arguments."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.sizes = [v for v in values if isinstance(v, Dim)]
        self.arrays = [v for v in values if not isinstance(v, Dim)]
        self.values = [*self.sizes, *self.arrays]
        self.bound = dict(enumerate(self.values))

    def arguments(self, own: Sequence[Any]) -> list[Argument]:
        """What a function of these values and of its own is traced at."""
        return [argument_of(v) for v in (*self.values, *own)]

    def with_tangents(self, own: Sequence[Any]) -> list[Argument]:
        """What a forward rule is traced at; sizes have no tangents."""
        return [*self.arguments(own), *(argument_of(v) for v in (*self.arrays, *own))]

    def split(self, leaves: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Of what a rule gets, the outer values and the tangents of the arrays among them."""
        own = (len(leaves) - len(self.values) - len(self.arrays)) // 2
        first = len(self.values) + own
        return leaves[: len(self.values)], leaves[first : first + len(self.arrays)]

    def pushed(
        self,
        scope: FunctionScope,
        inner: PrivateFunction,
        outer_values: Sequence[Any],
        moving: Sequence[Any],
        x: Sequence[Any],
    ) -> Sequence[Any]:
        """The derivative of `inner` at outer values and x along tangents of the outer arrays alone."""
        sizes, arrays = outer_values[: len(self.sizes)], outer_values[len(self.sizes) :]
        if not any(a.dtype in INEXACT for a in arrays):
            return [ops.zeros_like(v) for v in x]

        def along(*moved: Any) -> tuple[Any, ...]:
            return tuple(scope.call(inner.symbol, [*sizes, *moved, *x]))

        tangents: Sequence[Any] = jvp(along, tuple(arrays), tuple(moving))[1]
        return tangents


def captured_by(scope: FunctionScope, functions: Sequence[Function], values: Sequence[Any]) -> Outer:
    """The outer values that any of the functions uses; found by tracing each of them in vain."""
    captured: dict[Any, Any] = {}
    for function in functions:
        nested = scope.trace("probe", function, [argument_of(v) for v in values])
        scope.drop(nested.symbol)
        captured |= {capture_key(v): v for v in nested.captured}
    return Outer(list(captured.values()))


def _pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentTypeError(
            f"custom_root with has_aux=True: solve must return (root, aux), it returns "
            f"{tree.describe(tree.structure(pair))}",
            where=user_location_text(),
        )
    return pair[0], pair[1]


def check_like(what: str, like: str, result: Any, values: Sequence[Any], structure: tree.Structure) -> None:
    """Raise where `result` has not the tree, shapes and dtypes of `values`."""
    leaves, result_tree = tree.flatten(result)
    if result_tree != structure:
        raise TraceError(
            f"{what} has the tree {tree.describe(result_tree)}, {like} {tree.describe(structure)}",
            where=user_location_text(),
        )
    for leaf, value in zip(leaves, values, strict=True):
        one, other = ops.tensor_type(as_value(leaf)), ops.tensor_type(value)
        if one != other:
            raise TraceError(
                f"{what} is {one}, {like} {other}",
                where=user_location_text(),
            )
