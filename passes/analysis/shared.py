"""What several passes ask of a module, found out once while no pass changes it.

Input: a function of a module, such as one that counts its ops. Output: its result, which is kept while a
pipeline runs over the module, until a pass changes it. Outside of a pipeline nothing is kept. Idea: to look
at all ops of a large program takes longer than most passes do.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ...dialects import mlir
from ..ir.functions import EXECUTABLE

T = TypeVar("T")


class Shared:
    """What is known of one module."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.module = module
        self.known: dict[Callable[[mlir.ir.Module], Any], Any] = {}

    def forget(self) -> None:
        """The module was changed."""
        self.known.clear()


class _Running(threading.local):
    """The pipelines that run in a thread, the innermost one last."""

    def __init__(self) -> None:
        self.pipelines: list[Shared] = []


_RUNNING: Final = _Running()


@contextmanager
def sharing(module: mlir.ir.Module) -> Iterator[Shared]:
    """Keep what is found out of `module` meanwhile; who changes it says so."""
    shared = Shared(module)
    _RUNNING.pipelines.append(shared)
    try:
        yield shared
    finally:
        _RUNNING.pipelines.pop()


def shared(compute: Callable[[mlir.ir.Module], T], module: mlir.ir.Module) -> T:
    """`compute(module)`, or what it was before, if no pass has changed the module since."""
    running = _RUNNING.pipelines
    if not running or running[-1].module is not module:
        return compute(module)
    known = running[-1].known
    if compute not in known:
        known[compute] = compute(module)
    found: T = known[compute]
    return found


def counts(module: mlir.ir.Module) -> Mapping[str, int]:
    """How many ops of each name the functions of `module` have; kernels beside them are not looked into."""
    found: Counter[str] = Counter()
    advance, skip = mlir.ir.WalkResult.ADVANCE, mlir.ir.WalkResult.SKIP

    def look(operation: mlir.ir.Operation) -> mlir.ir.WalkResult:
        name = operation.name
        found[name] += 1
        return skip if name == EXECUTABLE else advance

    module.operation.walk(look, mlir.ir.WalkOrder.PRE_ORDER)
    return found
