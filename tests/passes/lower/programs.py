"""Small programs for the tests of lowering forms: rules of a builder in, compiled functions out.

Each program is one public function; all of a test module are compiled together, since a compile costs
half a second however small it is.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adze.dialects import mlir
from adze.dialects.builder.emitter import Emitter
from adze.dialects.codec import Codec
from adze.dialects.types import TensorType, ValueType
from adze.passes.pipeline import lower
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

Rule = Callable[..., Any]
Program = tuple[Rule, Sequence[TensorType]]


def build(programs: Mapping[str, Program]) -> tuple[Any, list[FunctionSignature]]:
    """A module with one function for each program (private where its name starts with `_`)."""
    context = mlir.new_context(is_light=True)
    codec = Codec(context)
    location = mlir.ir.Location.unknown(context)
    module = mlir.ir.Module.create(location)
    signatures = []
    with context, location, mlir.ir.InsertionPoint(module.body):
        for name, (rule, types) in programs.items():
            results = _function(codec, location, name, rule, types)
            if not name.startswith("_"):
                inputs = tuple(_spec("input", i, t) for i, t in enumerate(types))
                outputs = tuple(_spec("output", i, t) for i, t in enumerate(results))
                signatures.append(FunctionSignature(name, inputs, outputs))
    return module, signatures


def _function(
    codec: Codec, location: Any, name: str, rule: Rule, types: Sequence[TensorType]
) -> list[ValueType]:
    inputs = [codec.write_type(t) for t in types]
    function = mlir.func.FuncOp(name, mlir.ir.FunctionType.get(inputs, []))
    if name.startswith("_"):
        function.attributes["sym_visibility"] = mlir.ir.StringAttr.get("private")
    block = function.add_entry_block()
    given = rule(Emitter(codec, mlir.ir.InsertionPoint(block), location), *block.arguments)
    results = list(given) if isinstance(given, (tuple, list)) else [given]
    with mlir.ir.InsertionPoint(block):
        mlir.func.ReturnOp(results)
    signature = mlir.ir.FunctionType.get(inputs, [r.type for r in results])
    function.attributes["function_type"] = mlir.ir.TypeAttr.get(signature)
    return [codec.read_type(r.type) for r in results]


def _spec(kind: str, position: int, type_: ValueType) -> ArraySpec:
    assert isinstance(type_, TensorType)
    name = f"{kind}{position}"
    shape = tuple(f"{name}_{axis}" if n is None else n for axis, n in enumerate(type_.shape))
    return ArraySpec(name, type_.dtype, shape)


def lowered_text(rule: Rule, *types: TensorType, target: str = "cpu") -> str:
    """The lowered IR of one program."""
    module, _ = build({"main": (rule, types)})
    lower(module, parse_target(target))
    return str(module)


class Compiled:
    """Several programs, compiled together when the first is called."""

    def __init__(self, programs: Mapping[str, Program]) -> None:
        self._programs = programs
        self._executable: Executable | None = None

    def __call__(self, name: str, *arguments: np.ndarray) -> list[np.ndarray]:
        """The results of one program."""
        if self._executable is None:
            self._executable = _compile(self._programs)
        return [result.numpy() for result in self._executable.call(name, arguments)]


def _compile(programs: Mapping[str, Program]) -> Executable:
    module, signatures = build(programs)
    target = parse_target("cpu")
    lower(module, target)
    data = io.BytesIO()
    module.operation.write_bytecode(data)
    return Executable(compile_bytecode(data.getvalue(), target).vmfb, "local-sync", signatures)
