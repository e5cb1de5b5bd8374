"""Loops outside a trace that are called again: traced once, and compiled where they run often.

Input: what decides the outcome of a loop, its functions and its operands. Output: its results.
Idea: a loop is traced at each call, as what its functions see may have changed. Where that can be compared
(`tracing/visible.py`), the second call of a loop keeps what it traced, and later ones evaluate it. When its
calls have run more ops than a long loop has, it is compiled. That depends on the calls before, and on no
clock.
"""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import WeakSet

import numpy as np

from ...dialects.errors import AdzeError
from ...passes.analysis.evaluate import Evaluation
from ...passes.analysis.long_loops import MOST_OPS
from ..tracing.array import Array
from ..tracing.function_scope import FunctionScope
from ..tracing.operators import library_function
from ..tracing.visible import Seen, seen_by

_MOST: Final = 256
"""So many loops are known at once on a thread."""

compiled_loop = library_function("compiled_loop")
_jitted_function = library_function("jitted_function")


class KnownLoop:
    """A loop that was traced with what its functions see; its function takes the operands and the arrays."""

    def __init__(self, scope: FunctionScope, symbol: str, finish: Callable[[Sequence[Any]], Any]) -> None:
        self._program = scope.program
        self._symbol = symbol
        self._finish = finish
        self._evaluation = Evaluation(scope.program.module, compile_loop=compiled_loop)
        self._compiled: Callable[..., Any] | None = None
        self._may_compile = not self._evaluation.has_effect(symbol)

    def call(self, operands: Sequence[Any]) -> Any:
        """The results, for other operands of the same types."""
        if self._compiled is None and self._may_compile and self._evaluation.count > MOST_OPS:
            self._compiled = _jitted_function(self._loop)
            self._may_compile = self._compiled is not None
        if self._compiled is not None:
            try:
                return self._finish(self._compiled(*map(_strong, operands)))
            except AdzeError:  # the evaluator computes it, or says what is wrong with it
                self._compiled, self._may_compile = None, False
        arrays = [np.asarray(v) for v in operands]
        return self._finish(list(map(Array, self._evaluation.call(self._symbol, arrays))))

    def _loop(self, *operands: Any) -> tuple[Any, ...]:
        return tuple(FunctionScope(self._program).call(self._symbol, operands))


def _strong(operand: Any) -> Any:
    return operand.numpy() if operand.weak_type else operand


class KnownLoops:
    """The loops of a thread by all that decides what they compute."""

    def __init__(self) -> None:
        self._loops: OrderedDict[Any, KnownLoop | None] = OrderedDict()
        _all.add(self)

    def find(self, key: Any) -> KnownLoop | None:
        """The loop that is known under a key; None for a new one."""
        found = self._loops.get(key)
        if found is not None:
            self._loops.move_to_end(key)
        return found

    def was_called(self, key: Any) -> bool:
        """Whether this is not the first call."""
        if key in self._loops:
            return True
        self.keep(key, None)
        return False

    def keep(self, key: Any, loop: KnownLoop | None) -> None:
        """Know a loop from now on, in place of one that was not called for long."""
        self._loops[key] = loop
        if len(self._loops) > _MOST:
            self._loops.popitem(last=False)

    def forget(self) -> None:
        """Know none."""
        self._loops.clear()


_all: Final[WeakSet[KnownLoops]] = WeakSet()


def _forget_all() -> None:
    for loops in list(_all):
        loops.forget()


# Structures that live until modules are torn down crash there: see `tree/key_order.py`.
atexit.register(_forget_all)


def unchanged(functions: Sequence[Callable[..., Any]], seen: Seen) -> bool:
    """Whether functions still see what they saw: a trace may have changed it."""
    after = seen_by(functions)
    return after is not None and after.key == seen.key
