"""Functions inside a program: trace one as a private function, call one, in a trace or outside.

A transform asks for a `Workshop`: inside a trace that is the program being recorded, and calls of its
functions are recorded; outside it is a fresh program, and calls are evaluated in NumPy at once. So every
transform is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dialects.types import TensorType
from ..passes.evaluate import evaluate
from ..passes.functions import function as find_function
from ..passes.functions import split_body
from ..passes.jvp import ForwardMode
from ..passes.linearize import Linearizer
from ..passes.transpose import Transposer
from . import tree
from .array import Array
from .interpreter import ops
from .sizes import Dim
from .trace import result_values
from .tracing import Frame, Program, current_frame, recording


@dataclass(frozen=True)
class Nested:
    """A Python function as a private function: `captured` are outer values that it takes after its own."""

    symbol: str
    result_tree: tree.Structure
    result_types: tuple[TensorType, ...]
    captured: tuple[Any, ...]


@dataclass(frozen=True)
class Argument:
    """What a nested function is traced at for one argument."""

    type: TensorType
    dimensions: tuple[str | None, ...]
    weak_type: bool


def argument_of(value: Any) -> Argument:
    """The argument that a value is."""
    names = tuple(n.text if isinstance(n, Dim) else None for n in value.shape)
    return Argument(ops.tensor_type(value), names, value.weak_type)


class Workshop:
    """A program to make functions in and to call them."""

    def __init__(self) -> None:
        self.frame = current_frame()
        self.program = self.frame.program if self.frame is not None else Program("eager")

    def nested(
        self,
        name: str,
        call: Callable[[Sequence[Any]], Any],
        arguments: Sequence[Argument],
        captured: Sequence[Any] = (),
    ) -> Nested:
        """Trace `call`, which gets a tracer for each argument and gives a pytree of arrays.

        Outer values in `captured` become arguments after those in this order, used or not.
        """
        frame = Frame(self.program, name, self.frame, private=True)
        with recording(frame):
            inner = []
            for argument in arguments:
                tracer = frame.add_argument(argument.type, argument.dimensions)
                tracer.weak_type = argument.weak_type
                inner.append(tracer)
            for outer in captured:
                frame.value_of(outer)
            results, result_tree, _ = result_values(call, call(inner))
            frame.finish(results)
        types = tuple(ops.tensor_type(r) for r in results)
        found = tuple(outer for outer, _ in frame.captured.values())
        return Nested(frame.symbol, result_tree, types, found)

    def call(self, symbol: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function of the program."""
        if self.frame is None:
            arrays = [np.asarray(v) for v in operands]
            return [Array(r) for r in evaluate(self.program.module, symbol, arrays)]
        codec = self.program.codec
        _, terminator = split_body(find_function(self.program.module, symbol))
        types = tuple(codec.read_type(v.type) for v in terminator.operands)
        results = ops.call(*operands, callee=symbol, results=types)
        return list(results) if isinstance(results, tuple) else [results]

    @property
    def forward(self) -> ForwardMode:
        """The program's jvp engine."""
        return self.engine(ForwardMode, ForwardMode)

    @property
    def linearizer(self) -> Linearizer:
        """The program's linearize engine."""
        return self.engine(Linearizer, Linearizer)

    @property
    def transposer(self) -> Transposer:
        """The program's transpose engine."""
        return self.engine(Transposer, Transposer)

    def engine(self, key: Any, make: Callable[[Any], Any]) -> Any:
        """The program's engine under `key`, made of its module when it is first asked for."""
        engines = self.program.memo
        if key not in engines:
            engines[key] = make(self.program.module)
        return engines[key]
