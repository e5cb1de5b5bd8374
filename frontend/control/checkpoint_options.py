"""What the backward pass of a loop may save: the options of `scan`, `while_loop` and `fori_loop`.

Input: `checkpoint_every` (which carries), `memory_budget` (how many bytes of them) or `saved_states` (how
many). Output: the checked option; for a scan the lengths of groups of steps within groups of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from typing import Any

from ...passes.autodiff.revolve import FEWEST_STATES
from ..errors import ArgumentError
from ..tracing.interpreter import ops
from ..tracing.locations import user_location_text
from .carries import integer

SQUARE_ROOT = "sqrt"


class CheckpointOptions:
    """One of three options, or none: `every` (a number of steps, or "sqrt"), `budget` (bytes), `states`."""

    def __init__(
        self,
        name: str,
        checkpoint_every: int | str | None = None,
        memory_budget: int | None = None,
        saved_states: int | None = None,
    ) -> None:
        self.name = name
        self.options: dict[str, Any] = {
            "checkpoint_every": checkpoint_every,
            "memory_budget": memory_budget,
            "saved_states": saved_states,
        }
        chosen = [key for key, value in self.options.items() if value is not None]
        if len(chosen) > 1:
            raise ArgumentError(
                f"{name}: {chosen[0]} and {chosen[1]} exclude each other", where=user_location_text()
            )
        self.every = checkpoint_every
        if checkpoint_every is not None and checkpoint_every != SQUARE_ROOT:
            self.every = integer(checkpoint_every, f"{name}: checkpoint_every", 1)
        self.budget = None if memory_budget is None else integer(memory_budget, f"{name}: memory_budget", 1)
        self.states = (
            None if saved_states is None else integer(saved_states, f"{name}: saved_states", FEWEST_STATES)
        )

    @property
    def key(self) -> Any:
        """What two equal choices have in common."""
        return tuple(self.options.values())

    def states_of(self, state: Sequence[Any]) -> int | None:
        """How many states like `state` may be kept; None where nothing is said."""
        if self.budget is None:
            return self.states
        kinds = [ops.tensor_type(v) for v in state]
        if not all(kind.is_static for kind in kinds):
            raise ArgumentError(
                f"{self.name}: memory_budget needs a state of static shapes, it is "
                f"({', '.join(map(str, kinds))})",
                where=user_location_text(),
                hint="give saved_states, the number of states to keep",
            )
        size = max(1, sum(prod(n or 0 for n in kind.static_shape) * kind.dtype.itemsize for kind in kinds))
        count = self.budget // size
        if count < FEWEST_STATES:
            raise ArgumentError(
                f"{self.name}: memory_budget of {self.budget} bytes has room for {count} states of {size} "
                f"bytes, expected room for at least {FEWEST_STATES}",
                where=user_location_text(),
            )
        return count

    def groups(self, steps: Any, state: Sequence[Any]) -> list[int]:
        """The lengths of the groups whose first carry a scan keeps, each within one of those before it."""
        option = next((key for key, value in self.options.items() if value is not None), None)
        if option is None:
            return []
        if isinstance(self.every, int):
            return [self.every]
        if not isinstance(steps, int):
            raise ArgumentError(
                f"{self.name}: {option}={self.options[option]!r} needs a static number of steps, "
                f"it is {steps}",
                where=user_location_text(),
                hint="give checkpoint_every=k, the steps between two states that are kept",
            )
        if self.every is not None:
            return [isqrt(max(steps - 1, 0)) + 1]
        count = self.states_of(state)
        assert count is not None
        widths = self._levels(steps, count)
        return [prod(widths[level + 1 :]) for level in range(len(widths))]

    def _levels(self, steps: int, count: int) -> list[int]:
        """How many groups each level has: as few levels as `count` states allow, for each computes again."""
        depth = 1
        while True:
            widths = _widths(steps, depth)
            if sum(widths) <= count:
                return widths
            if max(widths) <= 2:
                raise ArgumentError(
                    f"{self.name}: {count} states are too few for {steps} steps, expected at least "
                    f"{sum(widths)}",
                    where=user_location_text(),
                )
            depth += 1


def _widths(steps: int, depth: int) -> list[int]:
    """`depth` numbers, as equal as can be, whose product is at least `steps`."""
    widths: list[int] = []
    left = max(steps, 1)
    for level in range(depth, 0, -1):
        width = next(w for w in range(1, left + 1) if w**level >= left)
        widths.append(width)
        left = -(-left // width)
    return widths
