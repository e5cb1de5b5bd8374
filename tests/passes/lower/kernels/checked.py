"""Runs a program whose loops are kernels with every access checked, without compiling anything.

Input: a module of adze behind the pass `loop-kernels`, and arrays. Output: the results of a function; ops of
adze by the evaluator, kernels by their own code. Faults (`KernelFault`): a place outside of its memref or of
the buffer beneath it (what a poisoned zone around each buffer would show), a write into an operand, a
division that traps, and an element that nothing was written to where it decides something or is returned.
Idea: the code of a kernel is translated to Python once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from adze.dialects import mlir
from adze.dialects.errors import RunTimeCheckError
from adze.frontend.staging.modules import clone_module
from adze.frontend.staging.traced import Traced
from adze.passes.analysis.evaluate import Evaluation
from adze.passes.ir.functions import body, function
from adze.passes.lower.kernels.loops import replace
from adze.passes.lower.kernels.loops.replace import LoopKernels, loop_remarks
from adze.passes.pipeline import between, for_target, run_pipeline
from adze.runtime.targets import parse_target

from .checked_code import Translation, stored_dtype
from .checked_values import Buffer, View, compared
from .interpreter import KernelFault


class CheckedEvaluation(Evaluation):
    """Evaluates adze IR behind `loop-kernels`, kernels by their code; `kernels` counts the calls."""

    def __init__(self, module: mlir.ir.Module) -> None:
        super().__init__(module)
        self.kernels = 0
        self._known: dict[str, tuple[Callable[..., None], list[Any], int]] = {}

    def call(self, symbol: str, arguments: Sequence[Any]) -> list[Any]:
        block = body(function(self.module, symbol))
        environment = dict(zip(block.arguments, arguments, strict=True))
        *operations, terminator = block.operations
        for operation in operations:
            self.step(operation.operation, environment)
        return [environment[v] for v in terminator.operands]

    def step(self, operation: mlir.ir.Operation, environment: dict[Any, Any]) -> None:
        if operation.name == "flow.dispatch":
            self.dispatch(operation, environment)
        elif operation.name == "flow.tensor.alloca":
            environment[operation.results[0]] = _Unwritten(
                _shape(operation.results[0], operation, environment)
            )
        elif operation.name == "flow.tensor.reshape":
            shape = self.reader.codec.read_type(operation.results[0].type).shape
            environment[operation.results[0]] = environment[operation.operands[0]].reshape(shape)
        elif operation.name == "cf.assert":
            if not environment[operation.operands[0]]:
                raise RunTimeCheckError(operation.attributes["msg"].value)
        elif operation.name.startswith("arith.") and not _is_tensor(operation.results[0].type):
            environment[operation.results[0]] = _of_sizes(operation, environment)
        elif operation.name == "arith.constant":
            value, type_ = operation.attributes["value"], operation.results[0].type
            environment[operation.results[0]] = self._constant(value, self.reader.codec.read_type(type_))
        else:
            super().step(operation, environment)

    @staticmethod
    def _constant(value: Any, type_: Any) -> np.ndarray:
        array = np.array(mlir.ir.DenseElementsAttr(value))
        return array.astype(type_.dtype) if array.dtype.kind == "b" else array.view(type_.dtype)

    def dispatch(self, operation: mlir.ir.Operation, environment: dict[Any, Any]) -> None:
        """Run a kernel; its results are the elements of what it was passed for them."""
        self.kernels += 1
        symbol = str(operation.attributes["entry_points"][0]).split("::")[0].removeprefix("@")
        if symbol not in self._known:
            self._known[symbol] = _translated(self.module, symbol)
        kernel, types, workgroups = self._known[symbol]
        workload, count, *_ = operation.attributes["operandSegmentSizes"]
        passed = [environment[v] for v in list(operation.operands)[workload : workload + count]]
        buffers = [_buffer(value, type_) for value, type_ in zip(passed, types, strict=True)]
        tied = [int(number.value) for number in operation.attributes["tied_operands"]]
        for position in tied:  # a result may lie in the buffer of an operand that nothing else uses
            buffers[position].is_writable = True
        shapes = [
            type_.shape if type_ is not None and type_.has_static_shape else _shape_of(value)
            for type_, value in zip(types, passed, strict=True)
        ]
        _run_workgroups(kernel, workgroups, buffers, shapes, passed)
        for result, position in zip(operation.results, tied, strict=True):
            buffer = buffers[position]
            is_used = next(iter(result.uses), None) is not None
            if is_used and not all(buffer.known):
                raise KernelFault(f"a result of {symbol} has elements that nothing was written to")
            type_, shape = self.reader.codec.read_type(result.type), _shape_of(passed[position])
            environment[result] = buffer.elements.view(type_.dtype).reshape(shape)


@dataclass(frozen=True)
class _Unwritten:
    """An array that nothing was written to."""

    shape: tuple[int, ...]


def _shape(value: Any, operation: Any, environment: dict[Any, Any]) -> tuple[int, ...]:
    """The shape of what an op makes from its dynamic sizes."""
    type_ = mlir.ir.RankedTensorType(value.type)
    sizes = iter(environment[v] for v in operation.operands)
    return tuple(next(sizes) if type_.is_dynamic_dim(a) else n for a, n in enumerate(type_.shape))


def _buffer(value: Any, type_: Any) -> Buffer | None:
    """The elements of an operand, None for a number."""
    if type_ is None:
        return None
    dtype = stored_dtype(type_.element_type)
    if isinstance(value, _Unwritten):
        return Buffer.fresh(math.prod(value.shape), dtype)
    return Buffer.of(np.ascontiguousarray(value).reshape(-1).view(dtype))


def _shape_of(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, _Unwritten) else np.shape(value)


def _of_sizes(operation: Any, environment: dict[Any, Any]) -> int:
    """What the host computes of sizes, to check them."""
    if operation.name == "arith.constant":
        return int(mlir.ir.IntegerAttr(operation.attributes["value"]).value)
    values = [environment[v] for v in operation.operands]
    if operation.name == "arith.cmpi":
        return compared(operation.attributes["predicate"].value, *values, 64)
    return ON_SIZES[operation.name](*values)


def _is_tensor(type_: Any) -> bool:
    return isinstance(type_, mlir.ir.RankedTensorType)


def _run_workgroups(
    kernel: Callable[..., None],
    count: int,
    buffers: list[Buffer | None],
    shapes: list[Any],
    passed: list[Any],
) -> None:
    """Run the workgroups of a kernel, none of which knows what another writes, the last one first.

    `buffers` and their `shapes`: those of the operands `passed`, None where it is a number.
    """
    for number in reversed(range(count)):
        mine = [
            Buffer.fresh(len(buffer.elements), buffer.elements.dtype)
            if buffer is not None and isinstance(value, _Unwritten) and count > 1
            else buffer
            for buffer, value in zip(buffers, passed, strict=True)
        ]
        given = [
            value if buffer is None else View.whole(buffer, shape)
            for buffer, shape, value in zip(mine, shapes, passed, strict=True)
        ]
        with np.errstate(all="ignore"):
            kernel(number, *given)
        for whole, part in zip(buffers, mine, strict=True):
            if whole is None or part is None or whole is part:
                continue
            for at in np.flatnonzero(np.frombuffer(part.known, np.uint8)):
                if whole.known[at]:
                    raise KernelFault(f"several workgroups write element {at}")
                whole.elements[at], whole.known[at] = part.elements[at], True


def _translated(module: mlir.ir.Module, symbol: str) -> tuple[Callable[..., None], list[Any], int]:
    """The code of a kernel as a function of a workgroup and of views, the types of those, and how many
    workgroups there are."""
    executable = next(
        o.operation
        for o in module.body.operations
        if o.operation.name == "stream.executable" and o.attributes["sym_name"].value == symbol
    )
    export, inner = (o.operation for o in list(executable.regions[0].blocks[0].operations)[:2])
    counts = list(export.regions[0].blocks[0].operations)[-1].operation.operands
    function = inner.regions[0].blocks[0].operations[0]
    block = function.regions[0].blocks[0]
    bound = {o.operation.operands[0]: o for o in block.operations if o.operation.name == BIND}
    types = [
        mlir.ir.MemRefType(bound[a].operation.results[0].type) if a in bound else None
        for a in block.arguments
    ]
    workgroups = math.prod(count.owner.attributes["value"].value for count in counts)
    return _Bound().function(block), types, workgroups


BIND: Final = "stream.binding.subspan"
WORKGROUP: Final = "hal.interface.workgroup.id"
ON_SIZES: Final[dict[str, Callable[..., int]]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.index_cast": lambda n: n,  # of sizes, which 32 bits hold
}


class _Bound(Translation):
    """A kernel whose arguments are bindings, and before them the number of a workgroup."""

    first: Sequence[str] = ("workgroup",)

    def operation(self, operation: Any, name: str, operands: list[str]) -> None:
        if name == BIND:
            self.say(f"{self.name(operation.results[0])} = {operands[0]}")
        elif name == WORKGROUP:
            self.say(f"{self.name(operation.results[0])} = workgroup")
        else:
            super().operation(operation, name, operands)


@dataclass(frozen=True)
class Checked:
    """The results of a program run with checked kernels, and how many kernels ran."""

    results: list[np.ndarray]
    kernels: int
    remarks: list[str]


def run_checked(traced: Traced, arguments: Sequence[Any]) -> Checked:
    """Run a traced program on the leaves of its arguments, the kernels of its loops by their code.

    Loops whose elements run by themselves, in vectors, are kernels like the others here.
    """
    module = clone_module(traced.program.module)
    with patch.object(replace, "_replace_with_elements", return_value=False):
        run_pipeline(module, for_target(between(None, LoopKernels.name), parse_target("cpu")))
    evaluation = CheckedEvaluation(module)
    given = [np.asarray(a, p.type.dtype) for a, p in zip(arguments, traced.parameters, strict=True)]
    results = evaluation.call(traced.program.symbol, given)
    return Checked([np.asarray(r) for r in results], evaluation.kernels, [t for _, t in loop_remarks(module)])
