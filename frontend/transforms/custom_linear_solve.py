"""`custom_linear_solve`: linear systems, differentiated as systems instead of through their solvers.

Input: `matvec`, `b` and solvers. Output: the solution, with a derivative rule.

Idea: the derivative of `A x = b` is `A dx = db - dA x`, solved by the same solver; its transpose is solved
by the transposed solver. The rule is traced when a derivative is asked for: it solves linear systems again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.types import TensorType
from ...passes.autodiff.deferred import Deferred
from .. import tree
from ..errors import TraceError
from ..tracing.closed_over import closed_over
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import Argument, FunctionScope, argument_of, resumes_trace, with_all_names
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from .custom_root import Outer, captured_by, check_like
from .differentiation import vjp

Function = Callable[..., Any]


@resumes_trace
def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The `x` with `matvec(x) = b`, found by `solve(matvec, b)`, with derivatives of every order.

    Args:
        matvec: a linear function of a tree like `b` that returns one of the same shapes and dtypes. It may
            use outer values; the solution is differentiated with respect to those and to `b`.
        b: a tree of arrays.
        solve: returns the solution, any way it likes: it is not differentiated.
        transpose_solve: `transpose_solve(vecmat, b)` solves the transposed system; reverse mode needs it.
        symmetric: the transpose of `matvec` is itself, and `solve` is the transposed solver too.
        has_aux: the solvers give `(solution, aux)`, and so does this function; `aux` has derivative zero.

    Raises `TraceError` where a solver returns another tree, other shapes or dtypes than `b` has.
    """
    if current_frame() is None:
        leaves, structure = tree.flatten(b)
        found = solve(matvec, b)
        _checked(found, [as_value(leaf) for leaf in leaves], structure, has_aux)
        return found
    if symmetric:
        transpose_solve = solve
    return _System(matvec, b, solve, transpose_solve, symmetric, has_aux).solution()


def _checked(found: Any, values: Sequence[Any], structure: tree.Structure, has_aux: bool) -> tuple[Any, Any]:
    """Solution and aux, of which the solution is like `b`."""
    solution, aux = found, ()
    if has_aux:
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise TraceError(
                "custom_linear_solve with has_aux=True: solve must return (solution, aux), it returns "
                f"{tree.describe(tree.structure(found))}",
                where=user_location_text(),
            )
        solution, aux = found
    check_like("what solve returns", "b", solution, values, structure)
    return solution, aux


class _System:
    """One linear system inside a trace."""

    def __init__(
        self,
        matvec: Function,
        b: Any,
        solve: Function,
        transpose_solve: Function | None,
        symmetric: bool,
        has_aux: bool,
    ) -> None:
        self.solve = solve
        self.transpose_solve = transpose_solve
        self.symmetric = symmetric
        self.has_aux = has_aux
        self.user_matvec = matvec
        leaves, self.structure = tree.flatten(b)
        self.values = [as_value(leaf) for leaf in leaves]
        self.aux_tree: Any = None
        scope = self.scope = FunctionScope()
        captured = captured_by(scope, [self._solved, self._multiplied], self.values).values
        others = closed_over(*filter(None, (matvec, solve, transpose_solve)))
        self.outer = outer = Outer(list({capture_key(v): v for v in (*captured, *others)}.values()))
        arguments = outer.arguments(self.values)
        self.body = scope.trace("linear_solve", self._after_outer(self._solved), arguments, outer.bound)
        self.matvec = scope.trace("matvec", self._after_outer(self._multiplied), arguments, outer.bound)
        deferred = Deferred(scope.program.module, ["linear_solve_rule"], self._make_rule)
        (self.rule,) = deferred.symbols
        scope.program.memo["deferred", self.rule] = deferred

    def solution(self) -> Any:
        """What the user gets."""
        results, count = self._call(self.outer.values, self.values), len(self.values)
        with_all_names(results, self.body.result_names, [*self.outer.values, *self.values])
        x = tree.unflatten(self.structure, results[:count])
        return (x, tree.unflatten(self.aux_tree, results[count:])) if self.has_aux else x

    def _call(self, outer: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        """Solution and aux, with the rule as their derivative."""
        results = ops.custom_jvp_call(
            *outer,
            *b,
            callee=self.body.symbol,
            rule=self.rule,
            closed_over=0,  # the rule speaks of outer values too
            results=self.body.result_types,
        )
        return list(results)

    def _solved(self, leaves: Sequence[Any]) -> list[Any]:
        solution = self.solve(self.user_matvec, tree.unflatten(self.structure, leaves))
        solution, aux = _checked(solution, self.values, self.structure, self.has_aux)
        extra, self.aux_tree = tree.flatten(aux)
        return [*tree.leaves(solution), *extra]

    def _multiplied(self, leaves: Sequence[Any]) -> list[Any]:
        product = self.user_matvec(tree.unflatten(self.structure, leaves))
        check_like("what matvec returns", "b", product, self.values, self.structure)
        return tree.leaves(product)

    def _after_outer(self, function: Function) -> Function:
        return lambda leaves: function(leaves[len(self.outer.values) :])

    # -- the rule ------------------------------------------------------------------------------

    def _make_rule(self) -> list[str]:
        outer = self.outer
        rule = self.scope.trace(
            "linear_solve_rule", self._tangents, outer.with_tangents(self.values), outer.bound
        )
        return [rule.symbol]

    def _tangents(self, leaves: Sequence[Any]) -> list[Any]:
        """Solution, aux and their tangents, from outer values, b, and the tangents of both."""
        outer_values, moving = self.outer.split(leaves)
        count = len(self.values)
        results = self._call(outer_values, leaves[len(outer_values) : len(outer_values) + count])
        x = results[:count]
        pushed = self.outer.pushed(self.scope, self.matvec, outer_values, moving, x)
        right = [db - p for db, p in zip(leaves[len(leaves) - count :], pushed, strict=True)]
        still = [ops.zeros_like(r) for r in results[count:]]
        return [*results, *self._solved_linearly(outer_values, x, right), *still]

    def _solved_linearly(
        self, outer_values: Sequence[Any], x: Sequence[Any], right: Sequence[Any]
    ) -> list[Any]:
        """The solution as a linear function of the right-hand side, whose transpose is the other solver."""
        scope, count = self.scope, len(self.values)
        shape_witnesses = [] if all(ops.tensor_type(v).is_static for v in x) else list(x)
        kinds = tuple(ops.tensor_type(v) for v in x)
        fixed = [argument_of(v) for v in outer_values]
        own = [Argument(t, argument_of(v).dimensions, False) for t, v in zip(kinds, x, strict=True)]
        bound = dict(enumerate(self.outer.values))

        def forward(leaves: Sequence[Any]) -> list[Any]:
            return self._call(leaves[: len(outer_values)], leaves[len(leaves) - count :])[:count]

        def backward(leaves: Sequence[Any]) -> list[Any]:
            return self._transposed(leaves[: len(outer_values)], leaves[len(outer_values) :])

        witness_arguments = own if shape_witnesses else []
        solution = ops.custom_vjp_linear(
            *outer_values,
            *shape_witnesses,
            *right,
            callee=scope.trace("solve_forward", forward, [*fixed, *witness_arguments, *own], bound).symbol,
            bwd=scope.trace("solve_transposed", backward, [*fixed, *own], bound).symbol,
            residual_count=len(outer_values),
            shape_operand_count=len(shape_witnesses),
            results=kinds,
        )
        return list(solution)

    def _transposed(self, outer_values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The solution of the transposed system."""
        if self.transpose_solve is None:
            solution = ops.undefined_value(
                *(v for v in outer_values if isinstance(ops.type_of(v), TensorType)),
                *cotangents,
                message="custom_linear_solve was given no transpose_solve, which reverse mode needs",
                results=tuple(ops.tensor_type(c) for c in cotangents),
            )
            return list(solution)

        def multiplied(x: Any) -> Any:
            return self.scope.call(self.matvec.symbol, [*outer_values, *tree.leaves(x)])

        def vecmat(y: Any) -> Any:
            if self.symmetric:
                return tree.unflatten(self.structure, multiplied(y))
            like = tree.unflatten(self.structure, cotangents)
            # Not `linear_transpose`, which does not know the sizes of a dynamic argument.
            return vjp(multiplied, like)[1](tree.leaves(y))[0]

        solution = custom_linear_solve(
            vecmat,
            tree.unflatten(self.structure, cotangents),
            self.transpose_solve,
            self.solve,
            self.symmetric,
            self.has_aux,
        )
        return tree.leaves(solution[0] if self.has_aux else solution)
