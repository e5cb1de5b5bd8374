"""Elementwise kernels made of `Scalars`, many to one compiled module.

`compile_kernels({name: Kernel(body, inputs, output)})` returns a function `run(name, *arrays)`. A function of
the module is a `linalg.generic` over vectors of dynamic length whose body is the code under test: of one
kernel, or of all kernels that have operands of the same dtypes, with a result each. IREE's passes cost a
tenth of a second a generic, whatever is in it: joined, the kernels of a dtype compile in a third of the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import iree.compiler.version
import iree.runtime
import numpy as np
from filelock import FileLock

from adze.dialects import mlir
from adze.dialects.types import BFLOAT16
from adze.passes.lower.scalars import Scalars
from adze.runtime.artifact.files import write_atomically
from adze.runtime.compile.diagnostics import Diagnostic
from adze.runtime.compile.invocation import Invocation

from ....support import CHECKOUT

Body = Callable[..., Any]
# Any Vulkan device of the tests has 64-bit types: it is Mesa's lavapipe.
VULKAN_TARGET = """#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb",
 {iree_codegen.target_info = #iree_gpu.target<arch = "lavapipe", features = "spirv:v1.6,cap:Shader", wgp = <
  compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, subgroup = shuffle|arithmetic,
  subgroup_size_choices = [8], max_workgroup_sizes = [1024, 1024, 64], max_thread_count_per_workgroup = 1024,
  max_workgroup_memory_bytes = 32768, max_workgroup_counts = [65535, 65535, 65535]>>}>]> : !hal.device"""
FLAGS = ("--iree-input-demote-f64-to-f32=false",)


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


Groups = Mapping[str, Mapping[str, Kernel]]
"""The kernels of each function of a module, which all have operands of the same dtypes."""


def grouped(kernels: Mapping[str, Kernel], joined: bool) -> Groups:
    """Each kernel as a function of its own, or one function for each choice of operand dtypes."""
    if not joined:
        return {name: {name: kernel} for name, kernel in kernels.items()}
    groups: dict[str, dict[str, Kernel]] = {}
    for name, kernel in kernels.items():
        groups.setdefault("of_" + "_".join(dtype.name for dtype in kernel.inputs), {})[name] = kernel
    return groups


def kernel_module(groups: Groups) -> str:
    """The MLIR text of a module with one public function a group."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            for name, kernels in groups.items():
                _emit(name, tuple(kernels.values()))
        module.operation.verify()
        return str(module)


def _emit(name: str, kernels: tuple[Kernel, ...]) -> None:
    """Append the function with a result for each of the kernels."""
    types = Scalars("cpu").element_type
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    elements = [types(dtype) for dtype in (*kernels[0].inputs, *(kernel.output for kernel in kernels))]
    tensors = [mlir.ir.RankedTensorType.get([dynamic], element) for element in elements]
    count = len(kernels[0].inputs)
    function = mlir.func.FuncOp(name, mlir.ir.FunctionType.get(tensors[:count], tensors[count:]))
    entry = function.add_entry_block()
    with mlir.ir.InsertionPoint(entry):
        zero = mlir.arith.constant(mlir.ir.IndexType.get(), 0)
        size = mlir.tensor.dim(entry.arguments[0], zero)
        empty = [mlir.tensor.empty([size], element) for element in elements[count:]]
        identity = mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get_identity(1))
        maps = mlir.ir.ArrayAttr.get([identity] * len(tensors))
        parallel = mlir.ir.ArrayAttr.get([mlir.ir.Attribute.parse("#linalg.iterator_type<parallel>")])
        generic = mlir.linalg.GenericOp(tensors[count:], list(entry.arguments), empty, maps, parallel)
        block = generic.regions[0].blocks.append(*elements)
        with mlir.ir.InsertionPoint(block):
            operands = list(block.arguments)[:count]
            mlir.linalg.YieldOp([kernel.body(*operands) for kernel in kernels])
        mlir.func.ReturnOp(list(generic.results))


def compile_kernels(
    kernels: Mapping[str, Kernel], cpu: str = "x86-64-v3", joined: bool = True
) -> Callable[..., np.ndarray]:
    """A function that runs a kernel by its name."""
    groups = grouped(kernels, joined)
    flags = (*FLAGS, "--iree-hal-target-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={cpu}")
    module = _load(_compile(kernel_module(groups), flags), iree.runtime.Config("local-sync"))
    place = {name: (group, i) for group, members in groups.items() for i, name in enumerate(members)}

    def run(name: str, *arrays: np.ndarray) -> np.ndarray:
        group, position = place[name]
        results = module[group](*(_signless(a) for a in arrays))
        result = np.array((results[position] if len(groups[group]) > 1 else results).to_host())
        output = kernels[name].output
        return result if result.dtype == output else result.view(output)

    return run


def compile_kernels_for_vulkan(
    kernels: Mapping[str, Kernel], config: iree.runtime.Config
) -> Callable[..., np.ndarray]:
    attribute = f"module attributes {{hal.device.targets = [{VULKAN_TARGET}]}} {{"
    module = _load(
        _compile(kernel_module(grouped(kernels, joined=False)).replace("module {", attribute, 1), FLAGS),
        config,
    )

    def run(name: str, *arrays: np.ndarray) -> np.ndarray:
        return _read(module[name](*arrays)._buffer_view, config.device)

    return run


def _compile(text: str, flags: tuple[str, ...]) -> bytes:
    """The module for `text`, compiled by one of the processes that run the tests and read by the others."""
    digest = hashlib.sha256("\n".join((iree.compiler.version.VERSION, *flags, text)).encode()).hexdigest()
    path = CHECKOUT / ".cache" / "tests" / "scalars" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if not path.exists():
            write_atomically(path, _compiled(text, flags))
        return path.read_bytes()


def _compiled(text: str, flags: tuple[str, ...]) -> bytes:
    diagnostics: list[Diagnostic] = []
    with Invocation(flags, diagnostics) as invocation:
        if invocation.parse(text.encode()) and invocation.advance():
            program = invocation.program()
            if program is not None:
                return program
    raise AssertionError(f"IREE did not compile the kernels: {diagnostics}")


def _load(binary: bytes, config: iree.runtime.Config) -> Any:
    return iree.runtime.load_vm_module(iree.runtime.VmModule.copy_buffer(config.vm_instance, binary), config)


def _read(view: Any, device: Any) -> np.ndarray:
    """A copy through a staging buffer: `to_host` asks for an alignment that NumPy's memory lacks."""
    staging = device.allocator.allocate_buffer(
        iree.runtime.MemoryType.HOST_LOCAL | iree.runtime.MemoryType.DEVICE_VISIBLE,
        iree.runtime.BufferUsage.TRANSFER_TARGET | iree.runtime.BufferUsage.MAPPING_SCOPED,
        view.byte_length,
    )
    semaphore = device.create_semaphore(0)
    fences = [iree.runtime.HalFence.create_at(semaphore, time) for time in (0, 1)]
    device.queue_copy(view.get_buffer(), staging, *fences)
    fences[1].wait()
    dtype = np.dtype(iree.runtime.HalElementType.map_to_dtype(view.element_type))
    return np.array(staging.map().asarray(view.shape, dtype))


def _signless(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" and array.dtype != BFLOAT16 else array
