"""What every engine has: the functions of one module, and the other engines of that module.

Rules of ops with bodies take an engine as an argument: it adds functions, calls them, knows their types, and
reaches the engines of other modes. Which engines a module has is stated in `passes/engines.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.ops.control.values import Flags
from ...dialects.protocols import CountedLoop
from ...dialects.types import TensorType, ValueType
from ..ir.aliases import Tangent, Tangents, Value, Values
from ..ir.construction import NewFunction, call_function
from ..ir.functions import body, function, split_body
from ..ir.shape_operands import set_shape_operands
from ..optimize.effect_free import effect_free
from . import while_backward

if TYPE_CHECKING:
    from .jvp import ForwardMode
    from .linearize import Linearizer
    from .transpose import Transposer


class Siblings(Protocol):
    """The engines of one module, as each of them reaches the others."""

    module: mlir.ir.Module
    codec: Codec
    reader: Reader

    @property
    def forward(self) -> ForwardMode:
        """Forward mode."""

    @property
    def linearizer(self) -> Linearizer:
        """Linearization."""

    @property
    def transposer(self) -> Transposer:
        """Transposition."""


class Engine:
    """The part of an engine that rules of ops with bodies use in every mode."""

    def __init__(self, siblings: Siblings) -> None:
        self.siblings = siblings
        self.module = siblings.module
        self.codec = siblings.codec
        self.reader = siblings.reader

    @property
    def forward(self) -> ForwardMode:
        """The engine of forward mode of the same module."""
        return self.siblings.forward

    @property
    def linearizer(self) -> Linearizer:
        """The engine that linearizes functions of the same module."""
        return self.siblings.linearizer

    @property
    def transposer(self) -> Transposer:
        """The engine that transposes functions of the same module."""
        return self.siblings.transposer

    def function(
        self, name: str, types: Sequence[ValueType], build: Callable[[Emitter, list[Value]], Values]
    ) -> str:
        """The symbol of a new private function of `types`: `build(b, arguments)` returns its results."""
        location = mlir.ir.Location.unknown(self.module.context)
        new = NewFunction(self.module, self.codec, name, types, location)
        return new.finish(build(new.emitter, new.arguments))

    def called(self, b: Emitter, symbol: str, operands: Values) -> list[Value]:
        """The results of a call of a function as it is."""
        return call_function(b, self.module, symbol, operands)

    def types_of(self, symbol: str) -> tuple[ValueType, ...]:
        """The types of the results of a function."""
        _, terminator = split_body(function(self.module, symbol))
        return tuple(self.codec.read_type(v.type) for v in terminator.operands)

    def arguments_of(self, symbol: str) -> tuple[ValueType, ...]:
        """The types of the arguments of a function."""
        return tuple(self.codec.read_type(a.type) for a in body(function(self.module, symbol)).arguments)

    def effect_free(self, symbol: str) -> str:
        """A function like `symbol` without effects, for what is computed again."""
        return effect_free(self.module, symbol, self.reader)

    def set_shape_operands(self, symbol: str, places: Sequence[int]) -> None:
        """State for each argument of a linear function which argument has its shape, -1 for none."""
        if not all(isinstance(t, TensorType) and t.is_static for t in self.arguments_of(symbol)):
            set_shape_operands(function(self.module, symbol), places)

    def active_state(self, body: str, constants: Flags, state: Flags) -> Flags:
        """Which entries of the state of a loop have a tangent after some iteration."""
        return while_backward.active_state(self, body, constants, state)

    def tangent_loop(
        self, b: Emitter, loop: CountedLoop, dconstants: Tangents, dstate: Tangents
    ) -> tuple[CountedLoop, Flags]:
        """The loop with tangents beside its state, and which entries of the state have one."""
        return while_backward.tangent_loop(b, self, loop, dconstants, dstate)

    def push_through(
        self, b: Emitter, loop: CountedLoop, dconstants: Tangents, dstate: Tangents
    ) -> list[Tangent]:
        """Tangents of the final state of a loop; None where there is none."""
        return while_backward.push_through(b, self, loop, dconstants, dstate)

    def pull_back(
        self,
        b: Emitter,
        loop: CountedLoop,
        cotangents: Tangents,
        wanted_constants: Sequence[bool],
        wanted_state: Sequence[bool],
    ) -> tuple[list[Tangent], list[Tangent]]:
        """Cotangents of constants and initial state of a loop for those of its final state; None is zero."""
        return while_backward.pull_back(b, self, loop, cotangents, wanted_constants, wanted_state)
