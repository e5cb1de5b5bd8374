"""Compiles the module of an op's cases and calls its functions, through the product's own runtime.

In: functions of a `ModuleOfCases`. Out: a callable from a function to its results.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from adze.dialects import mlir
from adze.dialects.types import INT64, TensorType, ValueType
from adze.passes.lower.host_calls import localized
from adze.passes.pipeline import LOWER, for_target, run_pipeline
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.execute.devices import get_device
from adze.runtime.execute.host_calls import modules_of
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

from .programs import Function, JoinedCases

Types = tuple[ValueType, ...]


def compile_functions(
    module: mlir.ir.Module,
    signatures: Mapping[str, tuple[Types, Types]],
    device: str = "cpu",
    loop_kernels: bool = True,
) -> Callable[[str, Sequence[np.ndarray]], list[np.ndarray]]:
    """Lower, compile and load `module` for `device`; the result calls one of its functions by name."""
    target = parse_target(device)
    sites = localized(module)
    run_pipeline(module, for_target(LOWER, target, loop_kernels=loop_kernels), check=False)
    data = io.BytesIO()
    module.operation.write_bytecode(data)
    compiled = compile_bytecode(data.getvalue(), target)
    declared = [_signature(name, *types) for name, types in signatures.items()]
    opened = get_device("local-sync" if device == "cpu" else device)
    modules = modules_of(sites, opened)
    executable = Executable(compiled.vmfb, opened, declared, modules)

    def call(name: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        assert all(site.function for site in sites)  # the program holds them weakly
        return [r.numpy() for r in executable.call(name, arguments)]

    return call


def compile_cases(
    functions: Sequence[Function], device: str = "cpu", loop_kernels: bool = True
) -> Callable[[Function], list[np.ndarray]]:
    """Compile the functions of cases as one for `device`; the result says what one of them returns."""
    joined = JoinedCases.of(functions)
    calls = joined.calls()
    types = tuple(tuple(t for f in calls[0] for t in each(f)) for each in (_inputs, _outputs))
    call = compile_functions(joined.module, {"main": (types[0], types[1])}, device, loop_kernels)

    @cache
    def results() -> dict[int, list[np.ndarray]]:
        known = {}
        for own in calls:
            left = iter(call("main", [a for f in own for a in f.arguments]))
            known |= {id(f): [next(left) for _ in f.output_types] for f in own}
        return known

    return lambda function: results()[id(function)]


def _inputs(function: Function) -> Types:
    return function.input_types


def _outputs(function: Function) -> Types:
    return function.output_types


def _signature(name: str, inputs: Types, outputs: Types) -> FunctionSignature:
    return FunctionSignature(
        name,
        tuple(_spec("input", i, t) for i, t in enumerate(inputs)),
        tuple(_spec("output", i, t) for i, t in enumerate(outputs)),
    )


def _spec(kind: str, position: int, type_: ValueType) -> ArraySpec:
    name = f"{kind}{position}"
    if not isinstance(type_, TensorType):
        return ArraySpec(name, INT64, ())
    shape = tuple(f"{name}_{axis}" if n is None else n for axis, n in enumerate(type_.shape))
    return ArraySpec(name, type_.dtype, shape)
