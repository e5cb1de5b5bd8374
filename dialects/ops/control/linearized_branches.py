"""The primal and the linear parts of the branches of a `cond`, put together so that all have one signature.

Input: the linearized branches. Output: symbols of branches for two conds. Idea: each branch saves its
residuals in slots of its own, which the other branches fill with zeros; the linear branches take from
arguments, results and slots what one of them uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeVar, cast

from ...dataclass import dataclass
from ...protocols import Builder, Linearization, Linearized, Value, Values
from ...types import TensorType, ValueType
from .values import spread, zeros_of

T = TypeVar("T")


@dataclass(frozen=True)
class LinearizedBranches:
    """The branches of a cond, linearized in their `active` arguments.

    A place counts arguments, then results, then the slots of all branches: what the first cond takes and
    returns.
    """

    engine: Linearization
    names: tuple[str, ...]
    parts: Sequence[Linearized]
    arguments: tuple[ValueType, ...]
    results: tuple[TensorType, ...]
    active: tuple[bool, ...]

    @cached_property
    def slots(self) -> list[tuple[TensorType, ...]]:
        """The types of the residuals of each branch."""
        saved = [self.engine.types_of(p.primal)[len(self.results) :] for p in self.parts]
        return [tuple(cast("Sequence[TensorType]", types)) for types in saved]

    @property
    def primal_results(self) -> tuple[TensorType, ...]:
        """What the first cond returns: its own results, and all slots."""
        return (*self.results, *(t for slots in self.slots for t in slots))

    @cached_property
    def moved_results(self) -> tuple[bool, ...]:
        """Which results have a tangent in some branch."""
        return tuple(any(p.active_results[i] for p in self.parts) for i in range(len(self.results)))

    @cached_property
    def kept(self) -> list[int]:
        """The places that the linear branches take: residuals of some branch, and shape operands."""
        places = range(len(self.arguments) + len(self.primal_results))
        needed = {i for position in range(len(self.parts)) for i in self._residuals_of(position, places)}
        needed |= {i for i, on in enumerate(self.active) if on and not self.arguments[i].is_static}
        needed |= {
            len(self.arguments) + i
            for i, on in enumerate(self.moved_results)
            if on and not self.results[i].is_static
        }
        return sorted(needed)

    def primal_parts(self) -> list[str]:
        """The branches of the first cond."""
        return [self._primal_part(position) for position in range(len(self.parts))]

    def linear_parts(self, types: Sequence[ValueType]) -> list[str]:
        """The branches of the second cond, which take residuals and tangents of `types`."""
        return [self._linear_part(position, types) for position in range(len(self.parts))]

    def _primal_part(self, position: int) -> str:
        count = len(self.results)

        def build(b: Builder, values: Values) -> Values:
            outputs = self.engine.called(b, self.parts[position].primal, values)
            filled: list[Value] = []
            for i in range(len(self.parts)):
                filled += outputs[count:] if i == position else self._empty_slots(b, values, i)
            return [*outputs[:count], *filled]

        return str(self.engine.function(f"{self.names[position]}_branch", self.arguments, build))

    def _empty_slots(self, b: Builder, values: Values, position: int) -> list[Value]:
        """Zeros for the slots of another branch, which is run for their shapes where these are dynamic."""
        if all(t.is_static for t in self.slots[position]):
            return [zeros_of(b, t) for t in self.slots[position]]
        again = self.engine.called(b, self.engine.effect_free(self.parts[position].primal), values)
        return [b.zeros_like(x) for x in again[len(self.results) :]]

    def _linear_part(self, position: int, types: Sequence[ValueType]) -> str:
        part, count = self.parts[position], len(self.kept)

        def build(b: Builder, values: Values) -> Values:
            residuals = dict(zip(self.kept, values[:count], strict=True))
            places = range(len(self.arguments) + len(self.primal_results))
            own = [residuals[i] for i in self._residuals_of(position, places)]
            outputs = self.engine.called(b, part.linear, [*own, *values[count:]])
            tangents = []
            for i, tangent in enumerate(spread(outputs, part.active_results)):
                if not self.moved_results[i]:
                    continue
                like = residuals.get(len(self.arguments) + i)
                if tangent is None:
                    tangent = zeros_of(b, self.results[i]) if like is None else b.zeros_like(like)
                tangents.append(tangent)
            return tangents

        symbol = str(self.engine.function(f"{self.names[position]}_branch_linear", types, build))
        shape_operands = [
            self.kept.index(i) if i in self.kept else -1 for i, on in enumerate(self.active) if on
        ]
        self.engine.set_shape_operands(symbol, [*(-1 for _ in self.kept), *shape_operands])
        return symbol

    def _residuals_of(self, position: int, values: Sequence[T]) -> list[T]:
        """The residuals of one branch, picked from values for all places."""
        first_result = len(self.arguments)
        first_slot = first_result + len(self.results)
        counts = [len(slots) for slots in self.slots]
        first = first_slot + [0, *accumulate(counts)][position]
        own = [*values[first_result:first_slot], *values[first : first + counts[position]]]
        return self.parts[position].residual_values(values[:first_result], own)
