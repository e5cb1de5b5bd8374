"""`cond` and `switch`: one of several functions runs; all of them return the same types.

Input: an index, functions and operands. Output: the results of one op, `adze.cond`.

Idea: inside a trace each function becomes a private function of the operands and of the values that any of
them captures. Outside a trace Python calls the function itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.ops.custom_rules.batching import ONE_BY_ONE
from ...dialects.types import INT32, INTEGERS
from ...passes.analysis.varying import united
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, TraceError
from ..tracing.default_dtypes import note_promotion
from ..tracing.frames import capture_key, current_frame
from ..tracing.function_scope import (
    FunctionScope,
    PrivateFunction,
    argument_of,
    resumes_trace,
    with_all_bits,
    with_all_names,
)
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.references import of_values
from ..tracing.scalars import widens_to
from ..tracing.trace import function_name
from ..tracing.varying import at_least, axes_of_value
from .carries import fits_in, is_true, marked, scalar, settled_start, strengthened, typed_tree
from .eager_types import checked
from .reference_carries import hold, touched, values_of

NO_OPERAND: Final = object()
"""What `operand` is where it is not given: None is a tree without arrays."""


@resumes_trace
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = NO_OPERAND,
    batching: str = "select",
) -> Any:
    """`true_fun(*operands)` where the 0-d `pred` is true, else `false_fun(*operands)`.

    Only the chosen branch runs. Both must return the same tree, shapes and dtypes; a Python number takes
    the dtype of the other branch, and float32 becomes float64 where the other one returns that. Under
    `vmap` with a batched `pred` both run and results are selected; with `batching="map"` elements go one by
    one through the branch that they chose, which is better where one is costly and seldom. `operand` is
    another way to give a single operand. JAX's older form, with an operand for each branch, is `cond(pred,
    true_operand, true_fun, false_operand, false_fun)`.
    """
    _check_batching(batching)
    if len(operands) == 2 and operand is NO_OPERAND and _has_own_operands(true_fun, false_fun, operands[1]):
        true_fun, false_fun, operands = _with_own_operands(true_fun, false_fun, *operands)
    operands = _operands("cond", (true_fun, false_fun), operands, operand)
    refs = touched([(branch, operands) for branch in (true_fun, false_fun)])
    if refs:
        choices = of_values(true_fun, refs), of_values(false_fun, refs)
        result, values = cond(pred, *choices, values_of(refs), *operands, batching=batching)
        hold(refs, values)
        return result
    predicate = scalar(pred, "the predicate of cond")
    branches, roles = (false_fun, true_fun), ("false_fun", "true_fun")
    if current_frame() is None:
        return _eager("cond", branches, roles, operands, int(bool(predicate)))
    index = ops.convert(is_true(predicate), dtype=INT32)
    return _Branches("cond", branches, roles, operands).record(index, batching)


def _has_own_operands(second: Any, third: Any, fifth: Any) -> bool:
    """Whether `cond(pred, true_operand, true_fun, false_operand, false_fun)` is meant."""
    return not callable(second) and callable(third) and callable(fifth)


def _with_own_operands(
    true_operand: Any, true_fun: Callable[..., Any], false_operand: Any, false_fun: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
    """Branches that take both operands, each of which uses its own."""
    return (
        functools.wraps(true_fun)(lambda own, _: true_fun(own)),
        functools.wraps(false_fun)(lambda _, own: false_fun(own)),
        (true_operand, false_operand),
    )


@resumes_trace
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = NO_OPERAND,
    batching: str = "select",
) -> Any:
    """`branches[index](*operands)`, the 0-d integer `index` clamped to the branches there are.

    `batching` and `operand` are those of `cond`.
    """
    _check_batching(batching)
    operands = _operands("switch", branches, operands, operand)
    if not branches:
        raise ArgumentError("switch needs at least one branch", where=user_location_text())
    refs = touched([(branch, operands) for branch in branches])
    if refs:
        choices = [of_values(branch, refs) for branch in branches]
        result, values = switch(index, choices, values_of(refs), *operands, batching=batching)
        hold(refs, values)
        return result
    value = scalar(index, "the index of switch")
    if value.dtype not in INTEGERS:
        raise ArgumentTypeError(
            f"the index of switch is {ops.type_of(value)}, expected a 0-d integer",
            where=user_location_text(),
            hint="give an integer array, or .astype('int32')",
        )
    roles = [f"branches[{i}]" for i in range(len(branches))]
    if current_frame() is None:
        return _eager("switch", branches, roles, operands, min(max(int(value), 0), len(branches) - 1))
    # Clamped before it is narrowed: a large int64 must not wrap around.
    last = as_value(len(branches) - 1, value.dtype)
    clamped = ops.clamp(as_value(0, value.dtype), value, last)
    return _Branches("switch", tuple(branches), roles, operands).record(
        ops.convert(clamped, dtype=INT32), batching
    )


def chosen_branch(
    name: str,
    index: Any,
    branches: Sequence[Callable[..., Any]],
    roles: Sequence[str],
    operands: Sequence[Any],
) -> Any:
    """The results of the branch at `index`, a value of the ops by which a target chooses, in a trace."""
    return _Branches(name, branches, roles, operands).record(index, "select")


def _eager(
    name: str,
    branches: Sequence[Callable[..., Any]],
    roles: Sequence[str],
    operands: Sequence[Any],
    index: int,
) -> Any:
    """What one branch returns, its Python numbers in the dtypes that they have beside the other branches."""

    def record(arguments: Any) -> Any:
        return _Branches(name, branches, roles, arguments).record(as_value(index, INT32), "select")

    known = checked(name, branches, tuple(operands), record)
    result = branches[index](*operands)
    if known is None:
        return result
    leaves, structure = tree.flatten(settled_start(result, known.types))
    return tree.unflatten(structure, strengthened(leaves, known.are_weak) or leaves)


def _operands(name: str, branches: Sequence[Any], operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    """The operands, given one after the other or as `operand`; the branches must be functions."""
    for branch in branches:
        if not callable(branch):
            raise ArgumentError(
                f"a branch of {name} is {type(branch).__name__}: {branch!r}, expected a function",
                where=user_location_text(),
            )
    if operand is NO_OPERAND:
        return operands
    if operands:
        raise ArgumentError(
            f"{name} got operands both by position and as operand=", where=user_location_text()
        )
    return (operand,)


def _check_batching(batching: str) -> None:
    if batching not in ("select", "map"):
        raise ArgumentError(
            f"batching is {batching!r}, expected 'select' (every branch for all, then a choice) or 'map' "
            "(one element after the other)",
            where=user_location_text(),
        )


def _shared_names(branches: Sequence[PrivateFunction]) -> list[list[str | None]]:
    """For each result the names of its dimensions, where all branches say the same."""

    def shared(names: Sequence[str | None]) -> str | None:
        first = names[0]
        return first if first is not None and "?" not in first and set(names) == {first} else None

    found: list[list[str | None]] = []
    for place, type_ in enumerate(branches[0].result_types):
        # A branch that converts what another one returns says nothing of its dimensions.
        columns = [branch.result_names[place] for branch in branches if place < len(branch.result_names)]
        is_said = len(columns) == len(branches) and all(len(names) == type_.rank for names in columns)
        found.append([shared(axis) for axis in zip(*columns, strict=True)] if is_said else [])
    return found


class _Branches:
    """Functions of the same operands that give the same types, one of which will run."""

    def __init__(
        self,
        name: str,
        functions: Sequence[Callable[..., Any]],
        roles: Sequence[str],
        operands: Sequence[Any],
    ) -> None:
        self.name = name
        self.functions = functions
        self.roles = roles
        leaves, self.structure = tree.flatten(tuple(operands))
        pairs = [with_all_bits(as_value(leaf)) for leaf in leaves]
        self.values, self.arguments = [v for v, _ in pairs], [a for _, a in pairs]
        self.dtypes: list[np.dtype] | None = None
        self.leaves: list[list[Any]] = [[] for _ in functions]
        self.scope = FunctionScope()
        self.result_axes: list[frozenset[str]] = []

    def record(self, index: Any, batching: str) -> Any:
        """The results of the branch that `index` chooses."""
        with at_least(axes_of_value(index)):
            branches, captured = self._agreed()
        symbols, kinds = [m.symbol for m in branches], branches[0].result_types
        operands = [index, *self.values, *captured]

        def choose(leaves: Sequence[Any]) -> Any:
            return ops.cond(*leaves, branches=symbols, results=kinds)

        if batching == "map":
            whole = self.scope.trace(self.name, choose, [argument_of(v) for v in operands])
            results = ops.custom_batch_call(
                *operands, callee=whole.symbol, rule=ONE_BY_ONE, derivation=(), results=kinds
            )
        else:
            results = choose(operands)
        with_all_names(results, _shared_names(branches), [*self.values, *captured])
        are_weak = [all(column) for column in zip(*(m.weak_results for m in branches), strict=True)]
        return tree.unflatten(branches[0].result_tree, marked(results, are_weak))

    def _agreed(self) -> tuple[list[PrivateFunction], list[Any]]:
        """The branches as functions of the same operands and results, and what they capture."""
        branches = self._traced([])
        if self._must_settle(branches):
            branches = self._traced([])
        self._check(branches)
        captured = list({capture_key(v): v for m in branches for v in m.captured}.values())
        wanted = [united(column) for column in zip(*(m.result_axes for m in branches), strict=True)]
        differ = any(list(m.result_axes) != wanted for m in branches)
        if captured or differ:
            self.result_axes = wanted
            branches = self._traced(captured)
            late = {capture_key(v): v for m in branches for v in m.captured}
            if late:  # the positions along the axes that results are varied over
                captured = [*captured, *late.values()]
                branches = self._traced(captured)
        return branches, captured

    def _traced(self, captured: Sequence[Any]) -> list[PrivateFunction]:
        """Every branch as a function of the operands and of what any branch captures."""
        count = len(self.arguments)
        arguments = [*self.arguments, *(argument_of(v) for v in captured)]
        bound = {count + i: v for i, v in enumerate(captured)}

        def call(position: int) -> Callable[[Sequence[Any]], Any]:
            return lambda leaves: self._call(position, leaves[:count])

        return [
            self.scope.trace(function_name(f), call(position), arguments, bound, result_axes=self.result_axes)
            for position, f in enumerate(self.functions)
        ]

    def _call(self, position: int, operands: Sequence[Any]) -> Any:
        result = self.functions[position](*tree.unflatten(self.structure, operands))
        leaves, structure = tree.flatten(result)
        values = [as_value(leaf) for leaf in leaves]
        if self.dtypes is not None:
            values = [as_value(v, dtype) for v, dtype in zip(values, self.dtypes, strict=True)]
        self.leaves[position] = values
        return tree.unflatten(structure, values)

    def _must_settle(self, branches: Sequence[PrivateFunction]) -> bool:
        """Whether Python numbers can take the dtypes of other branches, and float32 be float64 where another
        branch returns that; `dtypes` says which then."""
        if len({m.result_tree for m in branches}) > 1 or len({m.result_types for m in branches}) == 1:
            return False
        wanted = []
        for column in zip(*self.leaves, strict=True):
            strong = {v.dtype for v in column if not v.weak_type}
            widest = [d for d in strong if all(s == d or widens_to(s, d) for s in strong)]
            if strong and not widest:
                return False
            strongest = max((v.dtype for v in column), key=lambda d: "biufVc".index(d.kind))
            dtype = widest[0] if widest else strongest
            if not all(v.dtype == dtype or fits_in(v, dtype) for v in column):
                return False
            wanted.append(dtype)
        self.dtypes = wanted
        for column, dtype in zip(zip(*self.leaves, strict=True), wanted, strict=True):
            note_promotion(column, [dtype] * len(column))
        return True

    def _check(self, branches: Sequence[PrivateFunction]) -> None:
        texts = [typed_tree(m.result_tree, m.result_types) for m in branches]
        first = branches[0]
        if all(m.result_tree == first.result_tree and m.result_types == first.result_types for m in branches):
            return
        order = reversed(range(len(branches))) if self.name == "cond" else range(len(branches))
        width = max(len(role) for role in self.roles)
        listed = "".join(f"\n    {self.roles[i]:{width}} returns {texts[i]}" for i in order)
        raise TraceError(
            f"the branches of {self.name} differ:{listed}",
            where=user_location_text(),
            hint="give all of them the same tree, shapes and dtypes (.astype)",
        )
