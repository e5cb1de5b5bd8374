"""First calls that do not wait for a compile: the evaluator answers while a thread compiles.

Input: a traced function and what compiles it. Output: results, computed with NumPy, until the program is
there; a failure of the compile is raised by the next call.

Idea: the evaluator has a copy of the module in a context of its own, since a context of MLIR belongs to one
thread at a time, and the thread that compiles has the first one.
"""

from __future__ import annotations

import contextlib
import enum
import io
import threading
from collections.abc import Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import mlir
from ...dialects.errors import AdzeError
from ...passes.analysis.evaluate import evaluate
from .. import tree
from ..errors import ArgumentError
from ..tracing.array import Array
from ..tracing.locations import user_location_text
from .host import runtime_argument

if TYPE_CHECKING:
    from .entries import Entry
    from .retraces import Signature
    from .traced import Traced


class FirstCall(enum.Enum):
    """What the first call of a jitted function with arguments of new kinds does."""

    COMPILE = "compile"
    EVALUATE = "evaluate"


def first_call_of(name: str | None) -> FirstCall | None:
    """The first call that `jit` was asked for, None where the setting decides."""
    if name is None:
        return None
    if name not in {choice.value for choice in FirstCall}:
        names = " or ".join(repr(choice.value) for choice in FirstCall)
        raise ArgumentError(f"first_call is {name!r}: expected {names}", where=user_location_text())
    return FirstCall(name)


def evaluates_first(choice: FirstCall | None) -> bool:
    """Whether a first call is evaluated, by what `jit` was asked for or else by the setting."""
    if choice is None:
        from ...runtime.settings import read_settings

        choice = FirstCall(read_settings().first_call)
    return choice is FirstCall.EVALUATE


class Pending:
    """A program that a thread compiles; until then it is evaluated."""

    def __init__(self, traced: Traced, compile_program: Callable[[], Entry]) -> None:
        program = traced.program
        self._dtypes = tuple(p.type.dtype for p in program.parameters)
        self._result_tree = program.result_tree
        self._symbol = program.symbol
        self._context = mlir.new_context(is_light=True)
        data = io.BytesIO()
        program.module.operation.write_bytecode(data)
        self._module = mlir.ir.Module.parse(data.getvalue(), self._context)
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._where = user_location_text()
        self._compile_program = compile_program

    def start(
        self,
        lock: contextlib.AbstractContextManager[Any],
        pending: dict[Signature, Pending],
        entries: MutableMapping[Signature, Any],
        signature: Signature,
    ) -> None:
        """Compile in a thread; the program moves from `pending` to `entries` unless it was forgotten."""

        def compile_program() -> None:
            try:
                entry = self._compile_program()
            except BaseException as error:
                if isinstance(error, AdzeError):
                    error.locate(self._where)
                self._error = error
                return
            with lock:
                if pending.get(signature) is self:
                    entries[signature] = entry
                    del pending[signature]

        pending[signature] = self
        threading.Thread(target=compile_program, name=f"adze compiles {self._symbol}").start()

    def evaluate(self, leaves: Sequence[Any]) -> Any:
        """The result tree for the leaves of the arguments, computed with NumPy."""
        arrays = []
        for leaf, dtype in zip(leaves, self._dtypes, strict=True):
            host = np.asarray(runtime_argument(leaf, dtype))
            # A result may be an argument, which its owner may write to.
            arrays.append(host.copy() if host.flags.writeable or isinstance(leaf, np.ndarray) else host)
        with self._lock:
            results = evaluate(self._module, self._symbol, arrays)
        return tree.unflatten(self._result_tree, [Array(np.asarray(result)) for result in results])

    def failure(self) -> BaseException | None:
        """Why the compile failed, None while it runs."""
        return self._error


def pending_or_failure(pending: dict[Signature, Pending], signature: Signature) -> Pending:
    """The program that is being compiled; where that failed, the failure is raised, once."""
    program = pending[signature]
    failure = program.failure()
    if failure is not None:
        del pending[signature]  # the next call tries again
        raise failure
    return program
