"""Elementwise kernels made of `Scalars`, many to one compiled module.

`compile_kernels({name: Kernel(body, inputs, output)})` returns a function `run(name, *arrays)`. Each kernel
is a `linalg.generic` over vectors of dynamic length whose body is the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import iree.runtime
import numpy as np
from iree.compiler.api import Output, Session, Source

from adze.dialects import mlir
from adze.dialects.types import BFLOAT16
from adze.passes.lower.scalars import Scalars

Body = Callable[..., Any]
FLAGS = ("--iree-hal-target-backends=llvm-cpu", "--iree-input-demote-f64-to-f32=false")


@dataclass(frozen=True)
class Kernel:
    body: Body
    inputs: tuple[np.dtype, ...]
    output: np.dtype


def op_kernel(
    scalars: Scalars, op: str, dtype: np.dtype, count: int, output: np.dtype | None = None
) -> Kernel:
    """The kernel of an op whose operands all have one dtype."""
    method = getattr(scalars, op, None) or getattr(scalars, f"{op}_")
    return Kernel(lambda *x: method(dtype, *x), (dtype,) * count, dtype if output is None else output)


def kernel_module(kernels: Mapping[str, Kernel]) -> str:
    """The MLIR text of a module with one public function a kernel."""
    types = Scalars("cpu").element_type
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        identity = mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get_identity(1))
        parallel = mlir.ir.ArrayAttr.get([mlir.ir.Attribute.parse("#linalg.iterator_type<parallel>")])
        dynamic = mlir.ir.ShapedType.get_dynamic_size()
        with mlir.ir.InsertionPoint(module.body):
            for name, kernel in kernels.items():
                elements = [types(dtype) for dtype in (*kernel.inputs, kernel.output)]
                tensors = [mlir.ir.RankedTensorType.get([dynamic], element) for element in elements]
                function = mlir.func.FuncOp(name, mlir.ir.FunctionType.get(tensors[:-1], tensors[-1:]))
                entry = function.add_entry_block()
                with mlir.ir.InsertionPoint(entry):
                    zero = mlir.arith.constant(mlir.ir.IndexType.get(), 0)
                    size = mlir.tensor.dim(entry.arguments[0], zero)
                    empty = mlir.tensor.empty([size], elements[-1])
                    maps = mlir.ir.ArrayAttr.get([identity] * len(tensors))
                    generic = mlir.linalg.GenericOp(
                        tensors[-1:], list(entry.arguments), [empty], maps, parallel
                    )
                    block = generic.regions[0].blocks.append(*elements)
                    with mlir.ir.InsertionPoint(block):
                        mlir.linalg.YieldOp([kernel.body(*list(block.arguments)[:-1])])
                    mlir.func.ReturnOp([generic.results[0]])
        module.operation.verify()
        return str(module)


def compile_kernels(kernels: Mapping[str, Kernel], cpu: str = "x86-64-v3") -> Callable[..., np.ndarray]:
    text = kernel_module(kernels)
    session = Session()
    session.set_flags(*FLAGS, f"--iree-llvmcpu-target-cpu={cpu}")
    invocation = session.invocation()
    invocation.enable_console_diagnostics()
    assert invocation.parse_source(Source.wrap_buffer(session, text.encode() + b"\0"))
    assert invocation.execute(), "IREE did not compile the kernels"
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    config = iree.runtime.Config("local-sync")
    vm_module = iree.runtime.VmModule.copy_buffer(config.vm_instance, bytes(output.map_memory()))
    module = iree.runtime.load_vm_module(vm_module, config)

    def run(name: str, *arrays: np.ndarray) -> np.ndarray:
        kernel = kernels[name]
        result = np.array(module[name](*(_signless(a) for a in arrays)).to_host())
        return result if result.dtype == kernel.output else result.view(kernel.output)

    return run


def _signless(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" and array.dtype != BFLOAT16 else array
