"""`cond`: choose between functions of the module by an index.

Batched along one index for all elements it stays a `cond`; with one index for each element every branch runs
for all of them, under a predicate that tells who chose it, and the results are selected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ...op import Attribute, Linear, Op, Operand, require
from ...protocols import (
    Batched,
    Batching,
    Builder,
    DeadResults,
    Differentiation,
    Linearization,
    Predication,
    Size,
    Tangent,
    Transposition,
    Value,
    Values,
    VaryingFunctions,
    WithTangents,
)
from ...types import ANY, INT32, TensorType
from .call import RESULTS, Passed
from .linearized_branches import LinearizedBranches
from .values import (
    Flags,
    carrying,
    choose,
    gated_where,
    pick,
    present,
    repeated_where,
    spread,
)

T = TypeVar("T")


class Cond(Op):
    """``y... = branches[index](x...)``, with `index` clamped to the branches there are."""

    name = "cond"
    operands = (Operand("index", frozenset({INT32})), Passed("xs", ANY, variadic=True))
    attributes = {"branches": Attribute("symbols", "the functions to choose from"), "results": RESULTS}

    @staticmethod
    def infer(
        index: TensorType, *xs: TensorType, branches: tuple[str, ...], results: tuple[TensorType, ...]
    ) -> tuple[TensorType, ...]:
        require(index.rank == 0, f"cond: the index must be 0-d, got {index}")
        require(len(branches) > 0, "cond: expected at least one branch")
        return tuple(results)

    @staticmethod
    def varies(
        engine: VaryingFunctions, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> Sequence[frozenset[str]]:
        """As in any branch, and with the index."""
        branches = [engine.of_function(s, operands[1:]) for s in attributes["branches"]]
        return [operands[0].union(*column) for column in zip(*branches, strict=True)]

    @staticmethod
    def evaluate(
        index: np.ndarray, *xs: np.ndarray, branches: Sequence[Callable[..., Any]], results: Any
    ) -> Any:
        return branches[min(max(int(index), 0), len(branches) - 1)](*xs)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        branches: tuple[str, ...],
        results: tuple[TensorType, ...],
    ) -> WithTangents:
        active = tuple(t is not None for t in tangents[1:])
        everything = carrying(results)
        derivatives = [engine.differentiate(s, active, everything).symbol for s in branches]
        moving = [t for t in tangents[1:] if t is not None]
        types = (*results, *pick(results, everything))
        outputs = list(b.cond(primals[0], *primals[1:], *moving, branches=derivatives, results=types))
        return outputs[: len(results)], spread(outputs[len(results) :], everything)

    @staticmethod
    def linearize(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Linearization,
        *,
        branches: tuple[str, ...],
        results: tuple[TensorType, ...],
    ) -> WithTangents:
        """A cond of the primal parts, and one of the linear parts, on the residuals of all branches."""
        active = tuple(t is not None for t in tangents[1:])
        parts = [engine.linearize(s, active) for s in branches]
        arguments = tuple(b.type_of(x) for x in primals[1:])
        split = LinearizedBranches(engine, branches, parts, arguments, results, active)
        outputs = list(b.cond(*primals, branches=split.primal_parts(), results=split.primal_results))
        everything = [*primals[1:], *outputs]
        residuals = [everything[place] for place in split.kept]
        moving = [t for t in tangents[1:] if t is not None]
        linear_parts = split.linear_parts([b.type_of(v) for v in (*residuals, *moving)])
        moved = split.moved_results
        pushed = b.cond(primals[0], *residuals, *moving, branches=linear_parts, results=pick(results, moved))
        return outputs[: len(results)], spread(list(pushed), moved)

    @staticmethod
    def transpose(
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        branches: tuple[str, ...],
        results: tuple[TensorType, ...],
    ) -> Sequence[Tangent]:
        """A `cond` of the backward passes of the branches."""
        index, xs = operands[0], operands[1:]
        linear = tuple(isinstance(x, Linear) for x in xs)
        kinds: list[Any] = [x.type for x in xs if isinstance(x, Linear)]
        other = [x for x in xs if not isinstance(x, Linear)]
        incoming = [c for c in cotangents if c is not None]
        transposed = [engine.transpose_sized(name, linear, present(cotangents)) for name in branches]
        backward_passes = [backward for backward, _ in transposed]
        of_linear = {i: x for i, x in enumerate(xs) if isinstance(x, Linear)}
        needed_shapes = sorted({i for _, needed in transposed for i in needed})
        shaped = {i: b.full(0, of_linear[i].sizes, of_linear[i].dtype) for i in needed_shapes}
        shapes = [kind.shape for kind in kinds]
        for i, x in enumerate(x for x in xs if isinstance(x, Linear)):
            if not all(backward.nonzero[i] for backward in backward_passes):
                shapes[i] = x.sizes
        sizes = [n for shape in shapes for n in shape if n is not None and not isinstance(n, int)]
        count = len(other) + len(incoming)
        types = [b.type_of(v) for v in (*shaped.values(), *other, *incoming, *sizes)]

        def whole(name: str, backward: Any, needed: Sequence[int]) -> str:
            """A backward pass that returns zeros where a branch has no cotangent."""

            def build(c: Builder, values: Values) -> Values:
                like, values = dict(zip(shaped, values, strict=False)), values[len(shaped) :]
                inputs = [*(like[i] for i in needed), *values[:count]]
                outgoing = spread(engine.called(c, backward.symbol, inputs), backward.nonzero)
                known = iter(values[count:])
                filled = []
                for cotangent, kind, shape in zip(outgoing, kinds, shapes, strict=True):
                    own = [n if n is None or isinstance(n, int) else next(known) for n in shape]
                    filled.append(
                        c.full(0, tuple(n for n in own if n is not None), kind.dtype)
                        if cotangent is None
                        else cotangent
                    )
                return filled

            return str(engine.function(f"{name}_branch_transpose", types, build))

        chosen = [whole(name, *backward) for name, backward in zip(branches, transposed, strict=True)]
        given = (*shaped.values(), *other, *incoming, *sizes)
        outputs = list(b.cond(index, *given, branches=chosen, results=tuple(kinds)))
        return [None, *spread(outputs, linear)]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        branches: tuple[str, ...],
        results: tuple[TensorType, ...],
    ) -> Batched:
        """One index for all: one cond of batched branches. One for each: all branches, then select."""
        if not batched[0]:
            return _batched_branches(b, size, operands, tuple(batched[1:]), engine, branches)
        lead = engine.leading(size)
        outcomes = []
        for position, branch in enumerate(branches):
            is_this = _is_branch(b, operands[0], position, len(branches))
            predicate = [is_this] if engine.needs_predicate(branch) else []
            branch = engine.predicated(branch) if predicate else branch
            flags = (*(True for _ in predicate), *batched[1:])
            symbol, _, _ = engine.batched_callee(b, branch, flags, all_results=True)
            inputs = gated_where(b, is_this, operands[1:], batched[1:])
            outcomes.append(engine.called(b, symbol, [*lead, *predicate, *inputs]))
        chosen = outcomes[-1]
        for position in range(len(outcomes) - 2, -1, -1):
            limit = b.full_like(operands[0], position)
            is_before = b.compare(operands[0], limit, direction="LE")
            chosen = [choose(b, is_before, x, y) for x, y in zip(outcomes[position], chosen, strict=True)]
        return chosen, [True] * len(results)

    @classmethod
    def predicated(
        cls, b: Builder, predicate: Value, operands: Values, engine: Predication, **attributes: Any
    ) -> Values:
        """Each branch takes the predicate too."""
        branches = tuple(engine.predicated(name) for name in attributes["branches"])
        return b.apply(cls, (operands[0], predicate, *operands[1:]), {**attributes, "branches": branches})

    @staticmethod
    def live_operands(engine: DeadResults, used: Flags, attributes: Mapping[str, Any]) -> tuple[Flags, Flags]:
        """An operand is live where one of the branches uses it."""
        flags = [engine.live_arguments(branch, used) for branch in attributes["branches"]]
        return (True, *(any(of_one) for of_one in zip(*flags, strict=True))), used

    @staticmethod
    def without_dead_results(
        engine: DeadResults, operands: Flags, results: Flags, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Branches with these operands and results only."""
        branches = tuple(engine.restricted(name, operands[1:], results) for name in attributes["branches"])
        return {"branches": branches, "results": pick(attributes["results"], results)}


def _batched_branches(
    b: Builder, size: Size, operands: Values, batched: Flags, engine: Batching, branches: Sequence[str]
) -> tuple[list[Any], list[bool]]:
    """One cond of batched branches; a result is batched if one of the branches returns it batched."""
    parts = [engine.batched_callee(b, branch, batched) for branch in branches]
    flags = [any(column) for column in zip(*(own for _, own, _ in parts), strict=True)]
    inputs = [*engine.leading(size), *operands[1:]]

    def branch(position: int) -> str:
        symbol, own, _ = parts[position]

        def build(c: Builder, values: Values) -> Values:
            width = values[0] if engine.leading(size) else size
            return repeated_where(c, engine.called(c, symbol, values), flags, own, width)

        return str(engine.function(f"{symbol}_branch", [b.type_of(v) for v in inputs], build))

    chosen = [s if list(own) == flags else branch(i) for i, (s, own, _) in enumerate(parts)]
    kinds = [types for types in zip(*(t for _, _, t in parts), strict=True)]
    owns = list(zip(*(own for _, own, _ in parts), strict=True))
    results = tuple(t[own.index(True) if True in own else 0] for t, own in zip(kinds, owns, strict=True))
    return list(b.cond(operands[0], *inputs, branches=chosen, results=results)), flags


def _is_branch(b: Builder, index: Value, position: int, count: int) -> Value:
    """Which elements of a batched index choose the branch at `position`, ends clamped."""
    direction = "LE" if position == 0 else "GE" if position == count - 1 else "EQ"
    return b.compare(index, b.full_like(index, position), direction=direction)
