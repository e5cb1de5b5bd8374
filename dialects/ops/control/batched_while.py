"""A `while` for a batch: it runs until every element is done, and keeps the state of one that is.

Input: the condition, the body and which operands are batched. Output: the functions of a loop over the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dataclass import dataclass
from ...protocols import Batching, Builder, Size, Values
from .values import Flags, choose, fixed_point, gated, gated_where, repeated_where


@dataclass(frozen=True)
class BatchedWhile:
    """The batched functions of a loop, and which parts of its state are batched.

    `has_own_end` says whether elements end at different iterations; `flags` are those of the state, `stepped`
    of what the body returns. `gates` says whether derivatives pass through the loop.
    """

    engine: Batching
    size: Size
    condition: str
    body: str
    has_own_end: bool
    is_predicated: bool
    batched_constants: Flags
    flags: Flags
    stepped: Flags
    gates: bool

    @classmethod
    def of(
        cls,
        b: Builder,
        engine: Batching,
        size: Size,
        functions: tuple[str, str],
        batched: tuple[Sequence[bool], Sequence[bool], Sequence[bool]],
        gates: bool,
    ) -> BatchedWhile:
        """The loop over `functions` (condition, body), with flags of their constants and of the state."""
        condition, body = functions
        asked, constants, state = batched

        def one_iteration(carried: Flags) -> tuple[Flags, tuple[str, str, bool, bool, Flags]]:
            ask, (has_own_end,), _ = engine.batched_callee(b, condition, (*asked, *carried))
            predicate = (True,) if has_own_end and engine.needs_predicate(body) else ()
            run = engine.predicated(body) if predicate else body
            step, after, _ = engine.batched_callee(b, run, (*predicate, *constants, *carried))
            flags = tuple(has_own_end or has for has in after)
            return flags, (ask, step, has_own_end, bool(predicate), after)

        flags, (ask, step, has_own_end, is_predicated, after) = fixed_point(one_iteration, state)
        return cls(
            engine,
            size,
            ask,
            step,
            has_own_end,
            is_predicated,
            tuple(constants),
            flags,
            after,
            gates,
        )

    def any_left(self, b: Builder, values: Values) -> Values:
        """The condition of the loop: whether one element is not done."""
        (left,) = self.engine.called(b, self.condition, values)
        return [b.reduce_or(left, axes=(0,)) if self.has_own_end else left]

    def masked(self, lead: int, asked: int) -> Callable[[Builder, Values], Values]:
        """The body of the loop, which steps the elements that are not done.

        Its arguments are `lead` sizes, `asked` constants of the condition, those of the body, and the state.
        """
        first_state = lead + asked + len(self.batched_constants)

        def build(b: Builder, values: Values) -> Values:
            sizes, state = values[:lead], values[first_state:]
            constants: Values = values[lead + asked : first_state]
            if not self.has_own_end:
                return self._stepped(b, [*sizes, *constants, *state], sizes)
            (left,) = self.engine.called(b, self.condition, [*values[: lead + asked], *state])
            entered = state
            if self.gates:  # derivatives of dropped results must not reach the kept ones
                entered = [gated(b, left, x) for x in state]
                constants = gated_where(b, left, constants, self.batched_constants)
            predicate = [left] if self.is_predicated else []
            new = self._stepped(b, [*sizes, *predicate, *constants, *entered], sizes)
            return [choose(b, left, x, y) for x, y in zip(new, state, strict=True)]

        return build

    def _stepped(self, b: Builder, arguments: Values, sizes: Values) -> Values:
        new = self.engine.called(b, self.body, arguments)
        return repeated_where(b, new, self.flags, self.stepped, sizes[0] if sizes else self.size)
