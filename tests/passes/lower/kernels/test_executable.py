"""How kernels stand in a module: operands, results, sizes, workgroups, sharing, symbols."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adze.dialects import mlir
from adze.dialects.types import FLOAT32
from adze.passes.lower.kernels.executable import Kernel, Kernels, Result, workgroup_id
from adze.passes.pipeline import between
from adze.passes.registry import parse_pipeline
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

Body = Callable[[Kernels, Sequence[Any]], Sequence[Any]]
ROWS = "tensor<?x4xf32>"
SQUARE = "tensor<4x4xf32>"


def declare(module: Any, name: str, types: Sequence[str]) -> Any:
    """A public function of the module, without a body."""
    inputs = [mlir.ir.Type.parse(t) for t in types]
    with mlir.ir.InsertionPoint(module.body):
        return mlir.func.FuncOp(name, mlir.ir.FunctionType.get(inputs, []))


def define(function: Any, kernels: Kernels, body: Body) -> None:
    """Let the function return what `body`, which calls kernels, returns of its arguments."""
    inputs = list(function.type.inputs)
    with mlir.ir.InsertionPoint(function.add_entry_block()):
        results = list(body(kernels, list(function.arguments)))
        mlir.func.ReturnOp(results)
    type_ = mlir.ir.FunctionType.get(inputs, [r.type for r in results])
    function.attributes["function_type"] = mlir.ir.TypeAttr.get(type_)


def scaled(factor: float, rows: Any, *, tied: int | None = None, sizes: tuple[Any, ...] = ()) -> Kernel:
    """`factor * x`, a workgroup a row; a second result has the count of the row's elements."""

    def emit(operands: Sequence[Any], results: Sequence[Any]) -> None:
        source, written = operands[0], results[0]
        index = mlir.ir.IndexType.get()
        zero, one = (mlir.arith.constant(index, n) for n in (0, 1))
        row, columns = workgroup_id(), mlir.memref.dim(source, one)
        number = mlir.arith.constant(mlir.ir.F32Type.get(), factor)
        loop = mlir.scf.ForOp(zero, columns, one)
        with mlir.ir.InsertionPoint(loop.body):
            place = [row, loop.induction_variable]
            mlir.memref.store(mlir.arith.mulf(mlir.memref.load(source, place), number), written, place)
            mlir.scf.YieldOp([])

    type_ = mlir.ir.Type.parse(ROWS if sizes else SQUARE)
    return Kernel("scale", (Result(type_, sizes, tied),), emit, key=factor, workgroups=(rows,))


def static(kernels: Kernels, arguments: Sequence[Any]) -> Sequence[Any]:
    """Calls of one kernel, and of another one with the same name."""
    (first,) = kernels.call(scaled(2.0, 4), arguments)
    (second,) = kernels.call(scaled(2.0, 4), [first])
    (third,) = kernels.call(scaled(3.0, 4), [second])
    return [second, third]


def dynamic(kernels: Kernels, arguments: Sequence[Any]) -> Sequence[Any]:
    """A kernel of dynamic sizes and of a computed number of workgroups."""
    index = mlir.ir.IndexType.get()
    rows = mlir.tensor.dim(arguments[0], mlir.arith.constant(index, 0))
    return kernels.call(scaled(2.0, rows, sizes=(rows,)), arguments, sizes=lambda _: [rows, 4])


def in_place(kernels: Kernels, arguments: Sequence[Any]) -> Sequence[Any]:
    """A kernel that writes into a buffer that another one made."""
    first = kernels.call(scaled(2.0, 4), arguments)
    return kernels.call(scaled(5.0, 4, tied=0), first)


def with_scratch(kernels: Kernels, arguments: Sequence[Any]) -> Sequence[Any]:
    """Two results, of which one is not used, and a number as an operand."""
    f32, index = mlir.ir.F32Type.get(), mlir.ir.IndexType.get()

    def emit(operands: Sequence[Any], results: Sequence[Any]) -> None:
        zero, one, four = (mlir.arith.constant(index, n) for n in (0, 1, 4))
        scratch, written = results
        loop = mlir.scf.ForOp(zero, four, one)
        with mlir.ir.InsertionPoint(loop.body):
            i = loop.induction_variable
            mlir.memref.store(mlir.memref.load(operands[0], [i, i]), scratch, [i])
            mlir.memref.store(mlir.arith.addf(mlir.memref.load(scratch, [i]), operands[1]), written, [i])
            mlir.scf.YieldOp([])

    vector = mlir.ir.Type.parse("tensor<4xf32>")
    number = mlir.arith.constant(f32, 10.0)
    kernel = Kernel("diagonal", (Result(vector), Result(vector)), emit)
    return kernels.call(kernel, [arguments[0], number])[1:]


def side_by_side(kernels: Kernels, arguments: Sequence[Any]) -> Sequence[Any]:
    """Kernels of which none waits for another, with results of several sizes that nothing uses."""
    pairs = []
    for factor in (2.0, 3.0, 5.0, 7.0):
        kernel = scaled(factor, 4)
        spare = Result(mlir.ir.Type.parse(f"tensor<{int(factor) * 100}xf32>"))

        def emit(operands: Sequence[Any], results: Sequence[Any], kernel: Kernel = kernel) -> None:
            kernel.emit(operands, results)
            zero = mlir.arith.constant(mlir.ir.IndexType.get(), 0)
            mlir.memref.store(mlir.memref.load(operands[0], [zero, zero]), results[1], [workgroup_id()])

        kernel = replace(kernel, results=(*kernel.results, spare), emit=emit)
        pairs.append(kernels.call(kernel, arguments))
    return [first for first, _ in pairs]


FUNCTIONS: dict[str, tuple[Sequence[str], Body]] = {
    "static": ([SQUARE], static),
    "dynamic": ([ROWS], dynamic),
    "in_place": ([SQUARE], in_place),
    "with_scratch": ([SQUARE], with_scratch),
    "side_by_side": ([SQUARE], side_by_side),
    "kernel_diagonal": ([SQUARE], with_scratch),  # a function that is called as a kernel would be
}


def build() -> Any:
    context = mlir.new_context()
    with context, mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        kernels = Kernels(module)
        declared = {name: declare(module, name, types) for name, (types, _) in FUNCTIONS.items()}
        for name, (_, body) in FUNCTIONS.items():
            define(declared[name], kernels, body)
    return module


def bytecode(module: Any) -> bytes:
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


@pytest.fixture(scope="module")
def executable() -> Executable:
    module = build()
    steps = (*between("resolve-tiles", "inline-bodies"), *between("host-numbers", None))
    for step in (*steps, *parse_pipeline("separate-reductions,strip-tiles")):
        step.run(module)
    compiled = compile_bytecode(bytecode(module), parse_target("cpu"), is_checked=True)
    fixed, open_ = ArraySpec("x", FLOAT32, (4, 4)), ArraySpec("x", FLOAT32, ("n", 4))
    vector = ArraySpec("y", FLOAT32, (4,))
    results = {
        "static": (fixed, fixed),
        "dynamic": (open_,),
        "in_place": (fixed,),
        "with_scratch": (vector,),
        "side_by_side": (fixed,) * 4,
        "kernel_diagonal": (vector,),
    }
    signatures = [
        FunctionSignature(name, (open_ if name == "dynamic" else fixed,), outputs)
        for name, outputs in results.items()
    ]
    return Executable(compiled.vmfb, "local-task", signatures)


X = np.arange(16, dtype=np.float32).reshape(4, 4)


def run(executable: Executable, name: str, x: np.ndarray) -> list[np.ndarray]:
    return [result.numpy() for result in executable.call(name, [x])]


def test_equal_calls_share_a_kernel(executable: Executable) -> None:
    second, third = run(executable, "static", X)
    assert np.array_equal(second, 4 * X) and np.array_equal(third, 12 * X)
    text = str(build())
    assert text.count("stream.executable private @kernel_scale") == 8  # 2, 3, dynamic, in place, side by side


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_sizes_and_workgroups_may_be_known_at_run_time(executable: Executable, rows: int) -> None:
    x = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
    (y,) = run(executable, "dynamic", x)
    assert np.array_equal(y, 2 * x)


def test_a_tied_result_is_written_in_place(executable: Executable) -> None:
    x = X.copy()
    (y,) = run(executable, "in_place", x)
    assert np.array_equal(y, 10 * X) and np.array_equal(x, X)


@pytest.mark.parametrize("name", ["with_scratch", "kernel_diagonal"])
def test_a_result_may_be_scratch(executable: Executable, name: str) -> None:
    (y,) = run(executable, name, X)
    assert np.array_equal(y, np.diag(X) + 10)


def test_symbols_are_those_of_no_function_and_always_the_same() -> None:
    text = str(build())
    assert text == str(build())
    assert "stream.executable private @kernel_diagonal_1 " in text
    assert "stream.executable private @kernel_diagonal " not in text


def test_bools_are_bytes_and_unsigned_integers_signless_in_memory() -> None:
    with mlir.new_context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        types = [mlir.ir.Type.parse(f"tensor<4x{element}>") for element in ("i1", "ui16")]
        flags = Kernel("flags", tuple(map(Result, types)), lambda *_: None)
        with mlir.ir.InsertionPoint(module.body):
            Kernels(module).call(flags, [])
        assert "-> memref<4xi8>" in str(module) and "-> memref<4xi16>" in str(module)


@pytest.mark.thorough
def test_artifacts_are_the_same_whatever_is_not_used(executable: Executable, thorough: bool) -> None:
    """IREE places unused results of kernels that run side by side by addresses, which change."""
    results = run(executable, "side_by_side", X)
    assert all(np.array_equal(y, k * X) for y, k in zip(results, (2, 3, 5, 7), strict=True))
    written = bytecode(build())
    artifacts = {
        compile_in_subprocess(written, parse_target("cpu")).vmfb for _ in range(4 if thorough else 2)
    }
    assert len(artifacts) == 1
