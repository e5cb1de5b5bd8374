"""Long loops of programs that are evaluated, compiled: by `jit`, each loop once.

Input: a loop alone, as text, and its operands. Output: its results.
Idea: a loop outside `jit` is traced at each call, since what its functions read may have changed. Its text
says whether it is one that is known; what its functions captured are operands.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.communicator import bound
from ...dialects.errors import AdzeError
from ...passes.analysis.long_loops import LOOP
from ...passes.ir.functions import functions
from ..tracing.frames import JIT_DISABLED
from ..tracing.function_scope import FunctionScope
from ..tracing.program import Program
from .jitted import Jitted

_MOST: Final = 256
_known: Final[OrderedDict[str, Jitted | None]] = OrderedDict()
"""The loops of this process that were compiled last; None for one that cannot be."""
_lock: Final = threading.Lock()


def compiled_loop(text: str, operands: Sequence[np.ndarray], may_repeat: bool = True) -> list[Any] | None:
    """The results of a loop from compiled code; None where it has to be evaluated.

    That is the case while `jit` is disabled, for the ranks of a job, whose loops may send, and for a loop
    that cannot be compiled. One that may not run again raises what it raises.
    """
    if JIT_DISABLED.get() or bound() is not None:
        return None
    if not may_repeat:
        return _called_once(text, operands)
    loop = _jitted(text)
    if loop is None:
        return None
    try:
        return [np.asarray(result) for result in loop(*operands)]
    except AdzeError:  # the evaluator computes it, or says what is wrong with it
        with _lock:
            _known[text] = None
        return None


def _called_once(text: str, operands: Sequence[np.ndarray]) -> list[Any] | None:
    """The results of a loop that calls Python functions, which are known by names of this call alone."""
    try:
        compiled = _jitted_text(text).lower(*operands).compile()
    except AdzeError:
        return None
    return [np.asarray(result) for result in compiled(*operands)]


def jitted_function(function: Callable[..., Any]) -> Jitted | None:
    """A function, compiled; None where `compiled_loop` evaluates."""
    if JIT_DISABLED.get() or bound() is not None:
        return None
    return Jitted(function, (), (), None, None, None)


def _jitted(text: str) -> Jitted | None:
    with _lock:
        if text in _known:
            _known.move_to_end(text)
            return _known[text]
        loop = _known[text] = _jitted_text(text)
        if len(_known) > _MOST:
            _known.popitem(last=False)
        return loop


def _jitted_text(text: str) -> Jitted:
    return Jitted(_function_of(text), (), (), None, None, None)


def _function_of(text: str) -> Any:
    """The loop as a function of its operands."""
    program = Program(LOOP)
    program.module = mlir.ir.Module.parse(text, program.context)
    program.symbols.update(functions(program.module))

    def loop(*operands: Any) -> tuple[Any, ...]:
        return tuple(FunctionScope(program).call(LOOP, operands))

    return loop
