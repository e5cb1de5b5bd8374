"""The engines of one module: forward mode, linearization, transposition, batching and predication.

Input: a module. Output: its engines, each made when it is first asked for. Idea: all of them share this
object, so that an engine that needs another one (the transpose of a `while` differentiates its body) asks the
one whose memo already holds the function, and no function is differentiated twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..dialects import mlir
from ..dialects.builder.emitter import Reader
from ..dialects.codec import Codec
from .autodiff.jvp import ForwardMode
from .autodiff.linearize import Linearizer
from .autodiff.transpose import Transposer
from .batching.batch import Batcher
from .batching.predicate import Predicator


class Engines:
    """The engines of `module`; rules that are Python functions are traced in `program`, if there is one."""

    def __init__(self, module: mlir.ir.Module, program: Any = None) -> None:
        self.module = module
        self.program = program
        self.codec = Codec(module.context)
        self.reader = Reader(self.codec)
        self._batchers: dict[int | None, Batcher] = {}

    @cached_property
    def forward(self) -> ForwardMode:
        """Forward mode: pushes tangents along."""
        return ForwardMode(self)

    @cached_property
    def linearizer(self) -> Linearizer:
        """Linearization: splits a differentiated function into its primal and its linear part."""
        return Linearizer(self)

    @cached_property
    def transposer(self) -> Transposer:
        """Transposition: the backward pass of a linear function."""
        return Transposer(self)

    @cached_property
    def predicator(self) -> Predicator:
        """Predication: functions whose effects a flag switches off."""
        return Predicator(self)

    def batcher(self, size: int | None) -> Batcher:
        """Batching along an axis of a static `size`, or (None) of a dynamic one."""
        if size not in self._batchers:
            self._batchers[size] = Batcher(self, self.predicator, size, self.program)
        return self._batchers[size]
