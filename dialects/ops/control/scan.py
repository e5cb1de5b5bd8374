"""`scan`: apply a function along the leading axis of arrays, carrying values and stacking results.

The length of the loop is known when it starts, so it has a backward pass: linearization splits it into a
primal scan that stacks residuals and a linear scan over them, and the transpose of the linear scan runs the
other way round. Operands are the constants, then the carry, then the arrays that are scanned over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ...op import Linear, Op, require
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
from ...types import ANY, INEXACT, Dimension, TensorType, same_dimension
from .call import Passed
from .scan_loop import ScanLoop
from .values import (
    Flags,
    fixed_point,
    pick,
    present,
    repeated_where,
    spread,
    values_of,
    zeros_where_none,
)

T = TypeVar("T")


class Scan(Op):
    """``carry, y[t] = body(constants, carry, x[t])`` for ``t = 0, 1, ..., length - 1``; carry, then ``y``.

    With `reverse`, `t` runs from the end; positions of `x` and `y` stay what they are. `results` states the
    types of the carry and of the stacked ``y``.
    """

    name = "scan"
    operands = (Passed("xs", ANY, variadic=True),)
    record = ScanLoop

    @staticmethod
    def infer(*xs: TensorType, attributes: ScanLoop[Dimension]) -> tuple[TensorType, ...]:
        length, results = attributes.length, attributes.results
        _, carry, arrays = attributes.parts(xs)
        require(len(length) == 1, f"scan: length {length} must be one size")
        for x in arrays:
            require(
                x.rank > 0 and same_dimension(x.shape[0], length[0]),
                f"scan: {x} cannot be scanned over in {length[0]} steps",
            )
        after = results[: attributes.carry_count]
        require(
            tuple(after) == tuple(carry),
            f"scan: the carry is ({', '.join(map(str, carry))}) before and "
            f"({', '.join(map(str, after))}) after",
        )
        return tuple(results)

    @staticmethod
    def varies(
        engine: VaryingFunctions, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> Sequence[frozenset[str]]:
        """The fixed point of the carry."""
        k, n = attributes["constant_count"], attributes["carry_count"]
        state = list(operands[k : k + n])
        while True:
            results = engine.of_function(attributes["body"], [*operands[:k], *state, *operands[k + n :]])
            after = [a | b for a, b in zip(state, results[:n], strict=True)]
            if after == state:
                return [*state, *results[n:]]
            state = after

    @staticmethod
    def iterations(*, attributes: ScanLoop[int]) -> int:
        return attributes.length[0]

    @staticmethod
    def evaluate(*xs: np.ndarray, attributes: ScanLoop[int]) -> Any:
        body = cast("Callable[..., Any]", attributes.body)  # a NumPy function in place of its symbol
        n, length, reverse = attributes.carry_count, attributes.length[0], attributes.reverse
        constants, carry, arrays = attributes.parts(xs)
        columns = attributes.results[n:]
        steps = range(length)
        stacked: list[list[np.ndarray]] = [[] for _ in columns]
        for t in reversed(steps) if reverse else steps:
            after = body(*constants, *carry, *(np.asarray(x[t]) for x in arrays))
            carry = list(after[:n])
            for column, y in zip(stacked, after[n:], strict=True):
                column.append(y)
        if length:
            return (*carry, *(np.stack(rows[::-1] if reverse else rows) for rows in stacked))
        shapes = [kind.static_shape[1:] for kind in columns]
        if any(None in shape for shape in shapes):  # only the body knows the sizes of a row
            nothing = (np.zeros(x.shape[1:], x.dtype) for x in arrays)
            shapes = [np.shape(y) for y in body(*constants, *carry, *nothing)[n:]]
        kinds = zip(shapes, columns, strict=True)
        return (*carry, *(np.zeros((0, *(n or 0 for n in shape)), kind.dtype) for shape, kind in kinds))

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: ScanLoop[Size],
    ) -> WithTangents:
        """One scan that carries the tangents along."""
        loop = attributes
        constants, carry, arrays = loop.parts(primals)
        dconstants, dcarry, darrays = loop.parts(tangents)
        active_constants, active_arrays = present(dconstants), present(darrays)
        active, by_activity = loop.active_carry(
            present(dcarry),
            lambda flags: engine.differentiate(loop.body, (*active_constants, *flags, *active_arrays)),
        )
        ys = by_activity.active_results[loop.carry_count :]
        derivative = engine.differentiate(
            loop.body, (*active_constants, *active, *active_arrays), (*active, *ys)
        )
        moving = zeros_where_none(b, pick(dcarry, active), pick(carry, active))
        operands = [
            [*constants, *values_of(dconstants)],
            [*carry, *moving],
            [*arrays, *values_of(darrays)],
        ]
        k, n, m = len(constants), len(carry), len(arrays)

        def body(c: Builder, cs: Values, now: Values, slices: Values) -> tuple[Values, Values]:
            primal = [*cs[:k], *now[:n], *slices[:m]]
            after = engine.called(c, derivative.symbol, [*primal, *cs[k:], *now[n:], *slices[m:]])
            count = len(loop.results)
            values, pushed = after[:count], after[count:]
            grown = sum(active)
            return [*values[:n], *pushed[:grown]], [*values[n:], *pushed[grown:]]

        carried, stacked = loop.emit(b, engine, "jvp", operands, body, loop.reverse)
        count = len(loop.results) - n
        results = [*carried[:n], *stacked[:count]]
        return results, [*spread(carried[n:], active), *spread(stacked[count:], ys)]

    @staticmethod
    def linearize(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Linearization,
        *,
        attributes: ScanLoop[Size],
    ) -> WithTangents:
        """A scan that stacks residuals, and a linear scan over them."""
        loop = attributes
        constants, carry, arrays = loop.parts(primals)
        dconstants, dcarry, darrays = loop.parts(tangents)
        active_constants, active_arrays = present(dconstants), present(darrays)
        active, part = loop.active_carry(
            present(dcarry),
            lambda flags: engine.linearize(loop.body, (*active_constants, *flags, *active_arrays)),
        )
        k, n = len(constants), len(carry)
        ys = part.active_results[n:]
        # A residual that is a constant or an array to scan over exists already; the others are stacked.
        is_free = [r.kind == "input" and not k <= r.index < k + n for r in part.residuals]

        def primal(c: Builder, cs: Values, now: Values, slices: Values) -> tuple[Values, Values]:
            inputs = [*cs, *now, *slices]
            outputs = engine.called(c, part.primal, inputs)
            residuals = part.residual_values(inputs, outputs)
            kept = [r for r, free in zip(residuals, is_free, strict=True) if not free]
            return outputs[:n], [*outputs[n : len(loop.results)], *kept]

        carried, stacked = loop.emit(b, engine, "primal", [constants, carry, arrays], primal, loop.reverse)
        count = len(loop.results) - n
        results = [*carried, *stacked[:count]]
        kept = iter(stacked[count:])
        fixed: list[Any] = []
        scanned: list[Any] = []
        places: list[tuple[bool, int]] = []
        for residual, free in zip(part.residuals, is_free, strict=True):
            if free and residual.index < k:
                places.append((True, len(fixed)))
                fixed.append(constants[residual.index])
            else:
                places.append((False, len(scanned)))
                scanned.append(arrays[residual.index - k - n] if free else next(kept))

        moving = zeros_where_none(b, pick(dcarry, active), pick(carry, active))
        operands = [[*fixed, *values_of(dconstants)], moving, [*scanned, *values_of(darrays)]]

        def linear(c: Builder, cs: Values, now: Values, slices: Values) -> tuple[Values, Values]:
            residuals = [cs[i] if is_fixed else slices[i] for is_fixed, i in places]
            own_tangents = [*cs[len(fixed) :], *now, *slices[len(scanned) :]]
            pushed = spread(engine.called(c, part.linear, [*residuals, *own_tangents]), part.active_results)
            grown = zeros_where_none(c, pick(pushed[:n], active), now)
            return grown, values_of(pushed[n:])

        pushed_carry, pushed_ys = loop.emit(b, engine, "linear", operands, linear, loop.reverse)
        return results, [*spread(pushed_carry, active), *spread(pushed_ys, ys)]

    @staticmethod
    def transpose(
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        attributes: ScanLoop[Size],
    ) -> Sequence[Tangent]:
        """A scan the other way round, which accumulates the cotangents of constants in its carry."""
        loop = attributes
        constants, carry, arrays = loop.parts(operands)
        k, n = len(constants), len(carry)
        # A carry that starts at a known value starts at zero: that is what linear in it means.
        kinds: list[Any] = [x.type if isinstance(x, Linear) else b.tensor_type(x) for x in carry]
        require(
            all(t.dtype in INEXACT for t in kinds),
            f"scan: only a scan that is linear in all of its carry can be transposed, it carries "
            f"({', '.join(map(str, kinds))})",
        )
        flags = tuple(isinstance(x, Linear) or k <= i < k + n for i, x in enumerate(operands))
        backward, sized = engine.transpose_sized(loop.body, flags, ((True,) * n) + present(cotangents[n:]))
        shapes = [_zeros_like(b, operands[i], is_row=i >= k + n) for i in sized]
        fixed = [*shapes, *(x for x in constants if not isinstance(x, Linear))]
        scanned = [x for x in arrays if not isinstance(x, Linear)]
        summed = [x for x in constants if isinstance(x, Linear)]
        sums = [b.full(0, x.sizes, x.dtype) for x in summed]
        back = [
            b.full(0, x.sizes if isinstance(x, Linear) else b.sizes(x), t.dtype) if c is None else c
            for x, t, c in zip(carry, kinds, cotangents[:n], strict=True)
        ]
        ys = values_of(cotangents[n:])
        nonzero_arrays = backward.nonzero[len(summed) + n :]

        def body(c: Builder, cs: Values, now: Values, slices: Values) -> tuple[Values, Values]:
            totals, incoming = now[: len(sums)], now[len(sums) :]
            inputs = [*cs, *slices[: len(scanned)], *incoming, *slices[len(scanned) :]]
            out = spread(engine.called(c, backward.symbol, inputs), backward.nonzero)
            first, then = len(sums), len(sums) + n
            added = [t if o is None else c.add(t, o) for t, o in zip(totals, out[:first], strict=True)]
            previous = zeros_where_none(c, out[first:then], incoming)
            return [*added, *previous], values_of(out[then:])

        carried, stacked = loop.emit(
            b, engine, "transpose", [fixed, [*sums, *back], [*scanned, *ys]], body, not loop.reverse
        )
        totals, first = iter(carried[: len(sums)]), carried[len(sums) :]
        columns = iter(spread(stacked, nonzero_arrays))
        return [
            *(next(totals) if isinstance(x, Linear) else None for x in constants),
            *(c if isinstance(x, Linear) else None for x, c in zip(carry, first, strict=True)),
            *(next(columns) if isinstance(x, Linear) else None for x in arrays),
        ]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: ScanLoop[Size],
    ) -> Batched:
        """The body batched; in arrays that are scanned over, the batch is axis 1."""
        loop = attributes
        constants, carry, arrays = loop.parts(operands)
        bconstants, bcarry, barrays = loop.parts(batched)
        n = len(carry)

        def one_iteration(carried: Flags) -> tuple[Flags, Any]:
            callee = engine.batch(loop.body, (*bconstants, *carried, *barrays))
            return callee.batched_results[:n], callee

        flags, callee = fixed_point(one_iteration, bcarry)
        after = callee.batched_results
        spread_carry = repeated_where(b, carry, flags, bcarry, size)
        scanned = [_swapped(b, x) if has else x for x, has in zip(arrays, barrays, strict=True)]
        lead = engine.leading(size)

        def body(c: Builder, cs: Values, now: Values, slices: Values) -> tuple[Values, Values]:
            results = engine.called(c, callee.symbol, [*cs, *now, *slices])
            width = cs[0] if lead else size
            return repeated_where(c, results[:n], flags, after[:n], width), results[n:]

        carried, stacked = loop.emit(
            b, engine, "batched", [[*lead, *constants], spread_carry, scanned], body, loop.reverse
        )
        ys = [_swapped(b, y) if has else y for y, has in zip(stacked, after[n:], strict=True)]
        return [*carried, *ys], [*flags, *after[n:]]

    @classmethod
    def predicated(
        cls,
        b: Builder,
        predicate: Value,
        operands: Values,
        engine: Predication,
        *,
        attributes: ScanLoop[Size],
    ) -> Values:
        """The body takes the predicate as one more constant."""
        count = attributes.constant_count + 1
        changed = {"body": engine.predicated(attributes.body), "constant_count": count}
        return b.apply(cls, (predicate, *operands), {**attributes.keywords, **changed})

    @staticmethod
    def live_operands(engine: DeadResults, used: Flags, attributes: Mapping[str, Any]) -> tuple[Flags, Flags]:
        """An entry of the carry is live where a used result depends on it, in any iteration."""
        k, n = attributes["constant_count"], attributes["carry_count"]

        def one_iteration(carried: Flags) -> tuple[Flags, Flags]:
            live = engine.live_arguments(attributes["body"], (*carried, *used[n:]))
            return live[k : k + n], live

        carried, live = fixed_point(one_iteration, used[:n])
        return (*live[:k], *carried, *live[k + n :]), (*carried, *used[n:])

    @staticmethod
    def without_dead_results(
        engine: DeadResults, operands: Flags, results: Flags, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A body with these operands and results only."""
        k, n = attributes["constant_count"], attributes["carry_count"]
        return {
            **attributes,
            "body": engine.restricted(attributes["body"], operands, results),
            "constant_count": sum(operands[:k]),
            "carry_count": sum(results[:n]),
            "results": pick(attributes["results"], results),
        }


def _zeros_like(b: Builder, x: Any, *, is_row: bool) -> Value:
    """Zeros of the shape of an operand, or of its rows."""
    dtype, sizes = (x.dtype, x.sizes) if isinstance(x, Linear) else (b.tensor_type(x).dtype, b.sizes(x))
    return b.full(0, sizes[1:] if is_row else sizes, dtype)


def _swapped(b: Builder, x: Value) -> Value:
    """`x` with its first two axes exchanged."""
    rank = b.tensor_type(x).rank
    return b.transpose(x, permutation=(1, 0, *range(2, rank)))
