"""Elementwise kernels made of `Scalars`, many to one compiled module.

`compile_kernels({name: Kernel(body, inputs, output)})` returns a function `run(name, *arrays)`. Each kernel
is a `linalg.generic` over vectors of dynamic length whose body is the code under test.
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
from iree.compiler.api import Output, Session, Source

from adze.dialects import mlir
from adze.dialects.types import BFLOAT16
from adze.passes.lower.scalars import Scalars
from adze.runtime.artifact.files import write_atomically

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
    flags = (*FLAGS, "--iree-hal-target-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={cpu}")
    module = _load(_compile(kernel_module(kernels), flags), iree.runtime.Config("local-sync"))

    def run(name: str, *arrays: np.ndarray) -> np.ndarray:
        kernel = kernels[name]
        result = np.array(module[name](*(_signless(a) for a in arrays)).to_host())
        return result if result.dtype == kernel.output else result.view(kernel.output)

    return run


def compile_kernels_for_vulkan(
    kernels: Mapping[str, Kernel], config: iree.runtime.Config
) -> Callable[..., np.ndarray]:
    attribute = f"module attributes {{hal.device.targets = [{VULKAN_TARGET}]}} {{"
    module = _load(_compile(kernel_module(kernels).replace("module {", attribute, 1), FLAGS), config)

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
    session = Session()
    session.set_flags(*flags)
    invocation = session.invocation()
    invocation.enable_console_diagnostics()
    assert invocation.parse_source(Source.wrap_buffer(session, text.encode() + b"\0"))
    assert invocation.execute(), "IREE did not compile the kernels"
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    return bytes(output.map_memory())


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
