"""`scan`: fold a function over the leading axis of arrays, keeping what it gives at every step.

The loop whose length is known when it starts, so it can be run backwards: linearization splits it into a
primal scan that stacks residuals and a linear one that reads them, and transposition turns the linear one
around. Operands are the constants, then the carry, then the arrays that are walked over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...op import Linear, Op, boolean, integer, require, sizes, symbol
from ...types import ANY, INEXACT, TensorType, same_dimension
from ..elementwise.family import repeated
from .call import Passed, as_list, pick, spread
from .dead_results import NarrowedScan
from .loops import RESULTS
from .predication import GuardedScan


class Scan(GuardedScan, NarrowedScan, Op):
    """``carry, y[t] = body(constants, carry, x[t])`` for ``t = 0, 1, ..., length - 1``; carry, then ``y``.

    With `reverse`, `t` runs from the end; positions of `x` and `y` stay what they are. `results` states the
    types of the carry and of the stacked ``y``.
    """

    name = "scan"
    operands = (Passed("xs", ANY, variadic=True),)
    attributes = {
        "body": symbol(
            "maps constants, carry and one slice of each array to carry and one slice of each result"
        ),
        "constant_count": integer("how many operands are constants"),
        "carry_count": integer("how many operands after those are the carry"),
        "length": sizes("the number of steps, one size"),
        "reverse": boolean("whether steps run from the end"),
        "results": RESULTS,
    }

    @staticmethod
    def infer(
        *xs: TensorType,
        body: str,
        constant_count: int,
        carry_count: int,
        length: tuple[int | None, ...],
        reverse: bool,
        results: Any,
    ) -> tuple[TensorType, ...]:
        require(len(length) == 1, f"scan: length {length} must be one size")
        for x in xs[constant_count + carry_count :]:
            require(
                x.rank > 0 and same_dimension(x.shape[0], length[0]),
                f"scan: {x} cannot be walked over in {length[0]} steps",
            )
        carry = xs[constant_count : constant_count + carry_count]
        require(
            tuple(results[:carry_count]) == tuple(carry),
            f"scan: the carry is ({', '.join(map(str, carry))}) before and "
            f"({', '.join(map(str, results[:carry_count]))}) after",
        )
        return tuple(results)

    @staticmethod
    def evaluate(
        *xs: np.ndarray,
        body: Callable[..., Any],
        constant_count: int,
        carry_count: int,
        length: tuple[int, ...],
        reverse: bool,
        results: Any,
    ) -> Any:
        constants, carry, arrays = _parts(xs, constant_count, carry_count)
        steps = range(length[0])
        stacked: list[list[np.ndarray]] = [[] for _ in results[carry_count:]]
        for t in reversed(steps) if reverse else steps:
            found = body(*constants, *carry, *(np.asarray(x[t]) for x in arrays))
            carry = tuple(found[:carry_count])
            for column, y in zip(stacked, found[carry_count:], strict=True):
                column.append(y)
        if length[0]:
            return (*carry, *(np.stack(rows[::-1] if reverse else rows) for rows in stacked))
        shapes = [kind.shape[1:] for kind in results[carry_count:]]
        if any(None in shape for shape in shapes):  # only a step tells how large rows are
            nothing = (np.zeros(x.shape[1:], x.dtype) for x in arrays)
            shapes = [np.shape(y) for y in body(*constants, *carry, *nothing)[carry_count:]]
        kinds = zip(shapes, results[carry_count:], strict=True)
        return (*carry, *(np.zeros((0, *shape), kind.dtype) for shape, kind in kinds))

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, engine: Any, **given: Any) -> Any:
        """One scan that carries the tangents along."""
        loop = _Loop(given)
        constants, carry, arrays = loop.parts(primals)
        dconstants, dcarry, darrays = loop.parts(tangents)
        active_constants, active_arrays = _set(dconstants), _set(darrays)
        active, made = loop.settled(
            _set(dcarry),
            lambda flags: engine.differentiate(loop.body, (*active_constants, *flags, *active_arrays)),
        )
        ys = made.active_results[loop.carry_count :]
        made = engine.differentiate(loop.body, (*active_constants, *active, *active_arrays), (*active, *ys))
        moving = _with_zeros(b, carry, dcarry, active)
        operands = [
            [*constants, *_present(dconstants)],
            [*carry, *moving],
            [*arrays, *_present(darrays)],
        ]
        k, n, m = len(constants), len(carry), len(arrays)

        def body(c: Any, cs: Any, now: Any, slices: Any) -> Any:
            primal = [*cs[:k], *now[:n], *slices[:m]]
            found = engine.called(c, made.symbol, [*primal, *cs[k:], *now[n:], *slices[m:]])
            count = len(loop.results)
            values, pushed = found[:count], found[count:]
            grown = sum(active)
            return [*values[:n], *pushed[:grown]], [*values[n:], *pushed[grown:]]

        carried, stacked = loop.emit(b, engine, "jvp", operands, body, loop.reverse)
        count = len(loop.results) - n
        results = [*carried[:n], *stacked[:count]]
        return results, [*spread(carried[n:], active), *spread(stacked[count:], ys)]

    @staticmethod
    def linearize(b: Any, primals: Any, tangents: Any, engine: Any, **given: Any) -> Any:
        """A scan that stacks residuals, and a linear scan that walks over them."""
        loop = _Loop(given)
        constants, carry, arrays = loop.parts(primals)
        dconstants, dcarry, darrays = loop.parts(tangents)
        active_constants, active_arrays = _set(dconstants), _set(darrays)
        active, part = loop.settled(
            _set(dcarry),
            lambda flags: engine.linearize(loop.body, (*active_constants, *flags, *active_arrays)),
        )
        k, n = len(constants), len(carry)
        ys = part.active_results[n:]
        # A residual that is a constant or a walked-over array is there already; the others are stacked.
        is_free = [r.kind == "input" and not k <= r.index < k + n for r in part.residuals]

        def primal(c: Any, cs: Any, now: Any, slices: Any) -> Any:
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
        walked: list[Any] = []
        places: list[tuple[bool, int]] = []
        for residual, free in zip(part.residuals, is_free, strict=True):
            if free and residual.index < k:
                places.append((True, len(fixed)))
                fixed.append(constants[residual.index])
            else:
                places.append((False, len(walked)))
                walked.append(arrays[residual.index - k - n] if free else next(kept))

        moving = _with_zeros(b, carry, dcarry, active)
        operands = [[*fixed, *_present(dconstants)], moving, [*walked, *_present(darrays)]]

        def linear(c: Any, cs: Any, now: Any, slices: Any) -> Any:
            residuals = [cs[i] if is_fixed else slices[i] for is_fixed, i in places]
            given_tangents = [*cs[len(fixed) :], *now, *slices[len(walked) :]]
            found = iter(engine.called(c, part.linear, [*residuals, *given_tangents]))
            pushed = [next(found) if has else None for has in part.active_results]
            grown = [
                c.zeros_like(now[sum(active[:i])]) if pushed[i] is None else pushed[i]
                for i in range(n)
                if active[i]
            ]
            return grown, [p for p in pushed[n:] if p is not None]

        pushed_carry, pushed_ys = loop.emit(b, engine, "linear", operands, linear, loop.reverse)
        return results, [*spread(pushed_carry, active), *spread(pushed_ys, ys)]

    @staticmethod
    def transpose(b: Any, cotangents: Any, operands: Any, engine: Any, **given: Any) -> Any:
        """The scan the other way round; cotangents of constants add up in its carry."""
        loop = _Loop(given)
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
        known = tuple(c is not None for c in cotangents[n:])
        made = engine.transpose(loop.body, flags, ((True,) * n) + known)
        fixed = [x for x in constants if not isinstance(x, Linear)]
        walked = [x for x in arrays if not isinstance(x, Linear)]
        summed = [x for x in constants if isinstance(x, Linear)]
        sums = [b.full(0, x.sizes, x.dtype) for x in summed]
        back = [
            b.full(0, x.sizes if isinstance(x, Linear) else b.sizes(x), t.dtype) if c is None else c
            for x, t, c in zip(carry, kinds, cotangents[:n], strict=True)
        ]
        ys = _present(cotangents[n:])
        reached = made.nonzero[len(summed) + n :]

        def body(c: Any, cs: Any, now: Any, slices: Any) -> Any:
            totals, incoming = now[: len(sums)], now[len(sums) :]
            inputs = [*cs, *slices[: len(walked)], *incoming, *slices[len(walked) :]]
            found = iter(engine.called(c, made.symbol, inputs))
            out = [next(found) if has else None for has in made.nonzero]
            first, then = len(sums), len(sums) + n
            added = [t if o is None else c.add(t, o) for t, o in zip(totals, out[:first], strict=True)]
            previous = [
                c.zeros_like(i) if o is None else o for i, o in zip(incoming, out[first:then], strict=True)
            ]
            return [*added, *previous], _present(out[then:])

        carried, stacked = loop.emit(
            b, engine, "transpose", [fixed, [*sums, *back], [*walked, *ys]], body, not loop.reverse
        )
        totals, first = iter(carried[: len(sums)]), carried[len(sums) :]
        columns = iter(spread(stacked, reached))
        return [
            *(next(totals) if isinstance(x, Linear) else None for x in constants),
            *(c if isinstance(x, Linear) else None for x, c in zip(carry, first, strict=True)),
            *(next(columns) if isinstance(x, Linear) else None for x in arrays),
        ]

    @staticmethod
    def batch(b: Any, size: Any, operands: Any, batched: Any, engine: Any, **given: Any) -> Any:
        """The body batched; in what is walked over, time stays in front of the batch."""
        loop = _Loop(given)
        constants, carry, arrays = loop.parts(operands)
        bconstants, bcarry, barrays = loop.parts(batched)
        flags = tuple(bcarry)
        while True:
            made = engine.batch(loop.body, (*bconstants, *flags, *barrays))
            grown = tuple(f or r for f, r in zip(flags, made.batched_results, strict=False))
            if grown == flags:
                break
            flags = grown
        after = made.batched_results
        n = len(carry)
        spread_carry = [
            repeated(b, x, size) if f and not was else x
            for x, f, was in zip(carry, flags, bcarry, strict=True)
        ]
        walked = [_swapped(b, x) if has else x for x, has in zip(arrays, barrays, strict=True)]
        lead = engine.leading(size)

        def body(c: Any, cs: Any, now: Any, slices: Any) -> Any:
            if lead:
                found = engine.called(c, made.symbol, [cs[0], *cs[1:], *now, *slices])
            else:
                found = engine.called(c, made.symbol, [*cs, *now, *slices])
            width = cs[0] if lead else size
            next_carry = [
                repeated(c, x, width) if f and not has else x
                for x, f, has in zip(found[:n], flags, after, strict=False)
            ]
            return next_carry, found[n:]

        carried, stacked = loop.emit(
            b, engine, "batched", [[*lead, *constants], spread_carry, walked], body, loop.reverse
        )
        ys = [_swapped(b, y) if has else y for y, has in zip(stacked, after[n:], strict=True)]
        return [*carried, *ys], [*flags, *after[n:]]

    @staticmethod
    def lower(l: Any, *xs: Any, body: str, constant_count: int, carry_count: int, **given: Any) -> Any:
        constants, carry, arrays = _parts(xs, constant_count, carry_count)
        return l.scan(body, constants, carry, arrays, given["length"][0], given["reverse"])


class _Loop:
    """The attributes of a scan, and how a scan with a mapped body is made."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.body: str = given["body"]
        self.constant_count: int = given["constant_count"]
        self.carry_count: int = given["carry_count"]
        self.length: tuple[Any, ...] = tuple(given["length"])
        self.reverse: bool = given["reverse"]
        self.results: tuple[TensorType, ...] = tuple(given["results"])

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Constants, carry and arrays."""
        constants, carry, arrays = _parts(values, self.constant_count, self.carry_count)
        return list(constants), list(carry), list(arrays)

    def settled(self, flags: tuple[bool, ...], make: Callable[[tuple[bool, ...]], Any]) -> tuple[Any, Any]:
        """The least set of carried values that is closed under the body, and what `make` gives for it."""
        while True:
            made = make(flags)
            grown = tuple(f or r for f, r in zip(flags, made.active_results, strict=False))
            if grown == flags:
                return flags, made
            flags = grown

    def emit(
        self,
        b: Any,
        engine: Any,
        name: str,
        operands: Sequence[Sequence[Any]],
        build: Callable[..., tuple[Sequence[Any], Sequence[Any]]],
        reverse: bool,
    ) -> tuple[list[Any], list[Any]]:
        """A scan over constants, carry and arrays whose body `build` gives the carry and the slices."""
        constants, carry, arrays = operands
        k, n = len(constants), len(carry)
        types = [b.type_of(v) for v in (*constants, *carry)]
        types += [b.tensor_type(x).with_shape(b.tensor_type(x).shape[1:]) for x in arrays]

        def body(c: Any, values: Any) -> Any:
            grown, columns = build(c, values[:k], values[k : k + n], values[k + n :])
            return [*grown, *columns]

        symbol_ = engine.function(f"{self.body}_{name}_step", types, body)
        steps = self.length[0] if isinstance(self.length[0], int) else None
        columns = [t.with_shape((steps, *t.shape)) for t in engine.types_of(symbol_)[n:]]
        results = (*(b.type_of(v) for v in carry), *columns)
        found = as_list(
            b.scan(
                *constants,
                *carry,
                *arrays,
                body=symbol_,
                constant_count=k,
                carry_count=n,
                length=self.length,
                reverse=reverse,
                results=results,
            )
        )
        return found[:n], found[n:]


def _parts(values: Sequence[Any], constants: int, carry: int) -> tuple[Any, Any, Any]:
    return values[:constants], values[constants : constants + carry], values[constants + carry :]


def _set(values: Sequence[Any]) -> tuple[bool, ...]:
    return tuple(v is not None for v in values)


def _present(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if v is not None]


def _with_zeros(b: Any, primals: Sequence[Any], tangents: Sequence[Any], active: Sequence[bool]) -> list[Any]:
    """The tangents of the active values, zeros where they are not given."""
    filled = [b.zeros_like(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
    return list(pick(filled, active))


def _swapped(b: Any, x: Any) -> Any:
    """`x` with its first two axes exchanged."""
    rank = b.tensor_type(x).rank
    return b.transpose(x, permutation=(1, 0, *range(2, rank)))
