"""Compiles the module of an op's cases and calls its functions, through the product's own runtime.

In: a `ModuleOfCases`, whose module is lowered in place. Out: a callable from a function to its results.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from adze.dialects.types import INT64, TensorType, ValueType
from adze.passes.lower.conversion import lower
from adze.runtime.compile import compile_bytecode
from adze.runtime.execute import Executable
from adze.runtime.signature import ArraySpec, FunctionSignature
from adze.runtime.targets import parse_target

from .programs import Function, ModuleOfCases


def compile_cases(program: ModuleOfCases) -> Callable[[Function], list[np.ndarray]]:
    """Lower, compile and load the module; the result runs one of its functions."""
    target = parse_target("cpu")
    lower(program.module, target)
    data = io.BytesIO()
    program.module.operation.write_bytecode(data)
    compiled = compile_bytecode(data.getvalue(), target)
    signatures = {f.name: _signature(f) for f in program.functions}
    executable = Executable(compiled.vmfb, "local-sync", signatures.values())

    def call(function: Function) -> list[np.ndarray]:
        return [result.numpy() for result in executable.call(function.name, function.arguments)]

    return call


def _signature(function: Function) -> FunctionSignature:
    inputs = [_spec("input", i, t) for i, t in enumerate(function.input_types)]
    outputs = [_spec("output", i, t) for i, t in enumerate(function.output_types)]
    return FunctionSignature(function.name, tuple(inputs), tuple(outputs))


def _spec(kind: str, position: int, type_: ValueType) -> ArraySpec:
    name = f"{kind}{position}"
    if not isinstance(type_, TensorType):
        return ArraySpec(name, INT64, ())
    shape = tuple(f"{name}_{axis}" if n is None else n for axis, n in enumerate(type_.shape))
    return ArraySpec(name, type_.dtype, shape)
