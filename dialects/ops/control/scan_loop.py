"""The attributes of a scan as one record, which also emits a scan with a changed body.

Input: the attributes of an application of `scan`. Output: its operands by what they are; a scan of the same
length over other operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

from ...attributes import Record, stated
from ...op import boolean, integer, sizes, symbol
from ...protocols import Builder, Engine, Size, Values
from ...types import N, TensorType
from .call import RESULTS
from .values import Flags, fixed_point

T = TypeVar("T")


class ScanLoop(Record, Generic[N]):
    """The attributes of a scan, and how a scan with a mapped body is emitted."""

    body: str = stated(
        symbol("maps constants, carry and one slice of each array to carry and one slice of each result")
    )
    constant_count: int = stated(integer("how many operands are constants"))
    carry_count: int = stated(integer("how many operands after those are the carry"))
    length: tuple[N, ...] = stated(sizes("the number of steps, one size"))
    reverse: bool = stated(boolean("whether steps run from the end"))
    results: tuple[TensorType, ...] = stated(RESULTS)

    def parts(self, values: Sequence[T]) -> tuple[list[T], list[T], list[T]]:
        """Constants, carry and arrays."""
        k, n = self.constant_count, self.constant_count + self.carry_count
        return list(values[:k]), list(values[k:n]), list(values[n:])

    def active_carry(self, flags: Flags, derivative_of: Callable[[Flags], Any]) -> tuple[Flags, Any]:
        """The entries of the carry that have a tangent in some iteration, and the body's derivative then."""

        def one_iteration(carried: Flags) -> tuple[Flags, Any]:
            derivative = derivative_of(carried)
            return derivative.active_results[: self.carry_count], derivative

        return fixed_point(one_iteration, flags)

    def emit(
        self,
        b: Builder,
        engine: Engine,
        name: str,
        operands: Sequence[Sequence[Any]],
        build: Callable[..., tuple[Sequence[Any], Sequence[Any]]],
        reverse: bool,
    ) -> tuple[list[Any], list[Any]]:
        """A scan of constants, carry and arrays; `build` returns the next carry and slices of the results."""
        constants, carry, arrays = operands
        k, n = len(constants), len(carry)
        types = [b.type_of(v) for v in (*constants, *carry)]
        types += [b.tensor_type(x).with_shape(b.tensor_type(x).shape[1:]) for x in arrays]

        def body(c: Builder, values: Values) -> Values:
            grown, columns = build(c, values[:k], values[k : k + n], values[k + n :])
            return [*grown, *columns]

        symbol_ = engine.function(f"{self.body}_{name}_step", types, body)
        steps = self.length[0] if isinstance(self.length[0], int) else None
        columns = [
            t.with_shape((steps, *t.shape)) for t in engine.types_of(symbol_)[n:] if isinstance(t, TensorType)
        ]
        results = (*(b.type_of(v) for v in carry), *columns)
        outputs = list(
            b.scan(
                *constants,
                *carry,
                *arrays,
                body=symbol_,
                constant_count=k,
                carry_count=n,
                length=cast("tuple[Size, ...]", tuple(self.length)),
                reverse=reverse,
                results=results,
            )
        )
        return outputs[:n], outputs[n:]
