"""Runs the code of a kernel in Python, checking what the machine does not: every place, every read.

Input: a module with kernels, and the operands of one. Output: its results. A load or store outside of its
memref, a read of an element that nothing was written to, and a write into an operand that is not tied are
`KernelFault`s; so are two workgroups that write one element of a result.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from adze.dialects import mlir

FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}

REDUCED = {
    **{"add": np.sum, "mul": np.prod},
    **{"maximumf": np.max, "minimumf": np.min, "maxsi": np.max, "minsi": np.min},
}
"""What `vector.reduction` makes of a vector, by its kind."""


class KernelFault(AssertionError):
    """What a kernel must not do."""


@dataclass
class Memory:
    """A memref: its elements, which of them are known, and whether it may be written."""

    elements: np.ndarray
    known: np.ndarray
    is_writable: bool
    written_by: np.ndarray

    @classmethod
    def of(cls, array: np.ndarray, *, is_writable: bool) -> Memory:
        """An operand."""
        return cls(array.copy(), np.ones(array.shape, bool), is_writable, np.full(array.shape, -1))

    @classmethod
    def fresh(cls, shape: Sequence[int], dtype: Any) -> Memory:
        """A result."""
        unknown = np.zeros(shape, bool)
        return cls(np.zeros(shape, dtype), unknown, True, np.full(shape, -1))

    def seen_as(self, shape: Sequence[int]) -> Memory:
        """The same memory in another shape."""
        arrays = (self.elements, self.known, self.written_by)
        elements, known, written_by = (a.reshape(shape) for a in arrays)
        seen = zip(arrays, (elements, known, written_by), strict=True)
        assert not elements.size or all(np.shares_memory(a, b) for a, b in seen)
        return Memory(elements, known, self.is_writable, written_by)

    def at(self, places: Sequence[int], width: int | None) -> Any:
        """The index of one element or of `width` elements of the last axis."""
        ends = [*places[:-1], places[-1] + (width or 1) - 1] if places else []
        for place, end, size in zip(places, ends, self.elements.shape, strict=True):
            if not 0 <= place <= end < size:
                raise KernelFault(f"place {list(places)} width {width} of {self.elements.shape}")
        return (*places[:-1], slice(places[-1], places[-1] + width)) if width else tuple(places)

    def load(self, places: Sequence[int], width: int | None = None) -> Any:
        """One element, or a vector."""
        at = self.at(places, width)
        if not self.known[at].all():
            raise KernelFault(f"read of {list(places)}, which nothing was written to")
        return self.elements[at].copy()

    def store(self, value: Any, places: Sequence[int], workgroup: int, width: int | None = None) -> None:
        """Write one element, or a vector."""
        if not self.is_writable:
            raise KernelFault(f"write into an operand at {list(places)}")
        at = self.at(places, width)
        writer = self.written_by[at]
        if ((writer != -1) & (writer != workgroup)).any():
            raise KernelFault(f"several workgroups write {list(places)}")
        self.elements[at], self.known[at], self.written_by[at] = value, True, workgroup


def dtype_of(type_: Any) -> np.dtype:
    """The dtype of a scalar type or of a vector's elements."""
    text = str(mlir.ir.VectorType(type_).element_type if isinstance(type_, mlir.ir.VectorType) else type_)
    if text in FLOATS:
        return np.dtype(FLOATS[text])
    return np.dtype({"index": np.int64, "i1": np.bool_}.get(text) or getattr(np, f"int{text[1:]}"))


def in_dtype(x: Any, dtype: np.dtype) -> Any:
    """A number or a vector as one of that dtype."""
    return x if x.dtype == dtype else x.astype(dtype)


def unsigned(x: Any) -> Any:
    """Integers as unsigned ones."""
    return x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x.view(np.uint8)


def of_unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of unsigned integers whose result has the operands' dtype."""
    return lambda x, y: function(unsigned(x), unsigned(y)).astype(unsigned(x).dtype).view(x.dtype)


INTEGER_COMPARISONS: list[Callable[..., Any]] = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    *(lambda x, y, f=f: f(unsigned(x), unsigned(y))
      for f in (operator.lt, operator.le, operator.gt, operator.ge)),
]  # fmt: skip
FLOAT_COMPARISONS: dict[int, Callable[..., Any]] = {
    1: operator.eq, 2: operator.gt, 3: operator.ge, 4: operator.lt, 5: operator.le,
    7: lambda x, y: ~(np.isnan(x) | np.isnan(y)), 13: operator.ne, 14: lambda x, y: np.isnan(x) | np.isnan(y),
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul, "andi": operator.and_,
    "ori": operator.or_, "xori": operator.xor, "minsi": np.minimum, "maxsi": np.maximum,
    "minui": of_unsigned(np.minimum), "maxui": of_unsigned(np.maximum),
    "maximumf": np.maximum, "minimumf": np.minimum,
    "addf": operator.add, "subf": operator.sub, "mulf": operator.mul, "divf": operator.truediv,
    "divui": of_unsigned(operator.floordiv), "remui": of_unsigned(operator.mod),
    "shrui": of_unsigned(operator.rshift), "shli": operator.lshift,
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {
    "arith.negf": operator.neg, "math.absf": np.abs, "math.sqrt": np.sqrt,
}  # fmt: skip


@dataclass
class Workgroup:
    """One run of a kernel's function."""

    number: int
    count: int
    place: tuple[int, int, int]
    memories: dict[int, Memory]  # of results, by the position of their argument
    values: dict[int, Any] = field(default_factory=dict)
    pointed: list[Memory] = field(default_factory=list)  # an address is its place here, and the byte

    def run(self, block: Block, arguments: Sequence[Any] = ()) -> list[Any]:
        """Run a block with arguments; the values of its terminator."""
        values = self.values
        values.update(zip(block.arguments, arguments, strict=True))
        for step in block.steps:
            actual = step.run(self, *[values[v] for v in step.operands])
            if len(step.results) == 1:
                values[step.results[0]] = actual
            else:
                values.update(zip(step.results, actual, strict=True))
        return [values[v] for v in block.returned]


@dataclass(frozen=True)
class Step:
    """An op whose names, types and attributes were asked for once, which is slow; values have numbers."""

    run: Callable[..., Any]
    operands: list[int]
    results: list[int]


@dataclass(frozen=True)
class Block:
    """The ops of a block, and what its terminator returns."""

    arguments: list[int]
    steps: list[Step]
    returned: list[int]


class Reader:
    """From the blocks of one kernel to steps."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def block(self, block: Any) -> Block:
        """A block with all that is in it."""
        arguments, steps = [self.number(v) for v in block.arguments], []
        for child in block.operations:
            operation = child.operation
            operands = [self.number(v) for v in operation.operands]
            if operation.name in ("scf.yield", "scf.condition", "func.return", "stream.return"):
                return Block(arguments, steps, operands)
            results = [self.number(v) for v in operation.results]
            steps.append(Step(self.function(operation), operands, results))
        raise AssertionError("a block without a terminator")

    def function(self, operation: Any) -> Callable[..., Any]:
        """From a workgroup and operands to the result of an op, or a list of several."""
        dialect, kind = operation.name.split(".", 1)
        if dialect == "scf":
            blocks = [[self.block(block) for block in region.blocks] for region in operation.regions]
            return {"for": counted_loop, "if": branch, "while": while_loop}[kind](blocks)
        if dialect == "stream":
            return binding(operation)
        if dialect == "llvm":
            return of_machine(operation, kind)
        if dialect in ("memref", "vector", "hal"):
            return of_memory(operation, kind)
        compute = of_numbers(operation, kind)
        return lambda workgroup, *operands: compute(*operands)


def one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def binding(operation: Any) -> Callable[..., Memory]:
    """The memory of an argument: an operand's, or that of a result, in all workgroups the same."""
    type_ = mlir.ir.MemRefType(operation.results[0].type)
    sizes_of_type = [None if type_.is_dynamic_dim(a) else n for a, n in enumerate(type_.shape)]
    dtype = dtype_of(type_.element_type)

    def bind(workgroup: Workgroup, source: Any, _: Any, *sizes: Any) -> Memory:
        if isinstance(source, Memory):
            return source
        left = iter(sizes)
        shape = [int(next(left)) if n is None else n for n in sizes_of_type]
        return workgroup.memories.setdefault(source, Memory.fresh(shape, dtype))

    return bind


def of_numbers(operation: Any, kind: str) -> Callable[..., Any]:
    """Arithmetic, as a function of the operands."""
    name, dtype = operation.name, dtype_of(operation.results[0].type)
    if name == "arith.constant":
        value = operation.attributes["value"]
        is_array = isinstance(value, mlir.ir.DenseElementsAttr)
        number = np.array(value).astype(dtype) if is_array else np.asarray(value.value, dtype)[()]
        return lambda: number
    if kind in BINARY:
        function = BINARY[kind]
        return lambda x, y: in_dtype(function(x, y), dtype)
    if name in UNARY:
        return UNARY[name]
    if name == "math.fma":

        def fma(*operands: Any) -> Any:
            x, y, z = (np.asarray(v, np.longdouble) for v in operands)
            return (x * y + z).astype(dtype)[()]

        return fma
    if kind == "cmpi":
        return INTEGER_COMPARISONS[operation.attributes["predicate"].value]
    if kind == "cmpf":
        return FLOAT_COMPARISONS[operation.attributes["predicate"].value]
    if kind == "select":
        return lambda *operands: np.where(*operands)[()]
    if kind in ("index_castui", "extui"):
        return lambda x: in_dtype(unsigned(x), dtype)
    if kind in ("index_cast", "extsi", "extf", "truncf", "trunci", "sitofp"):
        return lambda x: in_dtype(x, dtype)
    if kind == "bitcast":
        return lambda x: x.view(dtype)
    raise NotImplementedError(name)


ADDRESS_BITS = 40
"""An address is the number of a memory, and a byte of it in so many bits."""


def address_of(workgroup: Workgroup, memory: Memory) -> np.int64:
    """The address of the first element."""
    if all(each is not memory for each in workgroup.pointed):
        workgroup.pointed.append(memory)
    number = next(n for n, each in enumerate(workgroup.pointed) if each is memory)
    return np.int64((number + 1) << ADDRESS_BITS)


def of_machine(operation: Any, kind: str) -> Callable[..., Any]:
    """Pointers, tiles, and products of groups."""
    if kind == "inttoptr":
        return lambda _, address: address
    if kind == "inline_asm" and not mlir.ir.StringAttr(operation.attributes["asm_string"]).value:
        return lambda _, hidden: hidden
    if kind == "inline_asm":  # a call of the system
        return lambda *_: np.int64(0)
    name = mlir.ir.StringAttr(operation.attributes["intrin"]).value.removeprefix("llvm.x86.")
    if "vpdpbusd" in name:
        return lambda _, total, left, right: total + sums_of_groups(unsigned(left), right, 4)
    if "pmadd" in name:
        return lambda _, left, right: sums_of_groups(left, right, 2)
    return {"tilezero.internal": zero_tile, "tileloadd64.internal": load_tile, "tilerelease": no_tiles}.get(
        name, store_tile if name.startswith("tilestored") else partial(multiply_tiles, name.split(".")[0])
    )


def sums_of_groups(left: np.ndarray, right: np.ndarray, group: int) -> np.ndarray:
    """The products of two vectors of integers, added up in groups."""
    products = left.astype(np.int32) * right.astype(np.int32)
    return products.reshape(-1, group).sum(axis=1, dtype=np.int32)


def zero_tile(_: Workgroup, rows: Any, width: Any) -> np.ndarray:
    return np.zeros((rows, width), np.uint8)


def no_tiles(_: Workgroup) -> list[Any]:
    return []


def rows_of_tile(workgroup: Workgroup, rows: Any, width: Any, address: Any, stride: Any) -> Any:
    """The memory of a tile, and the bytes of it that each row consists of."""
    memory = workgroup.pointed[(int(address) >> ADDRESS_BITS) - 1]
    first = int(address) & ((1 << ADDRESS_BITS) - 1)
    places = first + np.arange(int(rows))[:, None] * int(stride) + np.arange(int(width))
    if places.min() < 0 or places.max() >= memory.elements.nbytes:
        raise KernelFault(f"a tile of bytes {places.min()} to {places.max()} of {memory.elements.nbytes}")
    return memory, places


def load_tile(workgroup: Workgroup, *operands: Any) -> np.ndarray:
    memory, places = rows_of_tile(workgroup, *operands)
    if not memory.known.reshape(-1)[places // memory.elements.itemsize].all():
        raise KernelFault("read of a tile, to some of which nothing was written")
    return memory.elements.reshape(-1).view(np.uint8)[places]


def store_tile(workgroup: Workgroup, *operands: Any) -> list[Any]:
    *place, tile = operands
    memory, places = rows_of_tile(workgroup, *place)
    elements = np.unravel_index(
        places[:, :: memory.elements.itemsize] // memory.elements.itemsize, memory.known.shape
    )
    writer = memory.written_by[elements]
    if not memory.is_writable or ((writer != -1) & (writer != workgroup.number)).any():
        raise KernelFault("a tile is written into an operand, or where another workgroup wrote")
    memory.elements.reshape(-1).view(np.uint8)[places] = tile
    memory.known[elements], memory.written_by[elements] = True, workgroup.number
    return []


def multiply_tiles(name: str, _: Workgroup, *operands: Any) -> np.ndarray:
    """Each group of elements of a row times each one of a column, added to a tile of sums."""
    *_, total, left, right = operands
    dtype, sums = {
        "tdpbf16ps": (ml_dtypes.bfloat16, np.float32),
        "tdpbssd": (np.int8, np.int32),
        "tdpbuud": (np.uint8, np.int32),
    }[name]
    x, y = (tile.view(dtype).astype(sums).reshape(len(tile), 16, -1) for tile in (left, right))
    return (total.view(sums) + np.einsum("rgi,gci->rc", x, y)).astype(sums).view(np.uint8)


def of_memory(operation: Any, kind: str) -> Callable[..., Any]:
    """Loads, stores, parts of vectors, and what is known of the workgroup."""
    attributes, is_vector = operation.attributes, operation.name.startswith("vector.")
    type_ = operation.results[0].type if len(operation.results) else None
    if kind == "interface.workgroup.id":
        axis = attributes["dimension"].value
        return lambda workgroup: np.int64(workgroup.place[axis])
    if kind == "interface.workgroup.count":
        return lambda workgroup: np.int64(workgroup.count)
    if kind == "alloca":
        shape, dtype = mlir.ir.MemRefType(type_).shape, dtype_of(mlir.ir.MemRefType(type_).element_type)
        return lambda _: Memory.fresh(shape, dtype)
    if kind == "load":
        width = type_.shape[0] if is_vector else None
        return lambda _, source, *places: source.load([int(v) for v in places], width)
    if kind == "store":

        def store(workgroup: Workgroup, value: Any, target: Memory, *places: Any) -> list[Any]:
            width = len(value) if is_vector else None
            target.store(value, [int(v) for v in places], workgroup.number, width)
            return []

        return store
    if kind == "maskedload":
        return lambda _, source, *rest: masked_load(source, *rest)
    if kind == "maskedstore":
        return masked_store
    if kind == "collapse_shape":
        shape = [-1 if n < 0 else n for n in mlir.ir.MemRefType(type_).shape]
        return lambda _, x: x.seen_as(shape)
    if kind == "reinterpret_cast":
        shape = list(attributes["static_sizes"])
        return lambda _, x: x.seen_as(shape)
    if kind == "extract_aligned_pointer_as_index":
        return address_of
    if kind == "dim":
        return lambda _, x, axis: np.int64(x.elements.shape[int(axis)])
    return of_vectors(operation, kind)


def of_vectors(operation: Any, kind: str) -> Callable[..., Any]:
    """Parts of vectors, and what is made of all of one."""
    attributes, type_ = operation.attributes, operation.results[0].type
    if kind == "create_mask":
        return lambda _, count, shape=type_.shape: np.arange(shape[0]) < count
    if kind == "shuffle":
        mask = list(attributes["mask"])
        return lambda _, x, y: np.concatenate([x, y])[mask]
    if kind in ("extract", "insert"):
        position = attributes["static_position"][0]
        return (lambda _, x: x[position]) if kind == "extract" else partial(with_part, position)
    if kind == "bitcast":
        dtype = dtype_of(type_)
        return lambda _, x: x.view(dtype)
    if kind == "broadcast":
        shape = type_.shape
        return lambda _, x: np.full(shape, x)
    if kind == "reduction":
        combination = re.search(r"<(\w+)>", str(attributes["kind"]))
        assert combination is not None
        function = REDUCED[combination[1]]
        return lambda _, x: function(x)
    if kind.endswith("strided_slice"):
        (first,) = (n.value for n in attributes["offsets"])
        width = (type_ if kind.startswith("extract") else operation.operands[0].type).shape[0]
        part = slice(first, first + width)
        return (lambda _, x: x[part]) if kind.startswith("extract") else partial(with_part, part)
    raise NotImplementedError(operation.name)


def masked_load(source: Memory, *rest: Any) -> Any:
    """The elements whose bit is set, of which only these are read, and others in the places between."""
    *places, mask, others = rest
    *outer, first = (int(v) for v in places)
    lanes = [source.load([*outer, first + n]) if set_ else others[n] for n, set_ in enumerate(mask)]
    return np.array(lanes, others.dtype)


def masked_store(workgroup: Workgroup, target: Memory, *rest: Any) -> list[Any]:
    """Write the elements whose bit is set."""
    *places, mask, vector = rest
    *outer, first = (int(v) for v in places)
    for lane in np.flatnonzero(mask):
        target.store(vector[lane], [*outer, first + int(lane)], workgroup.number)
    return []


def with_part(at: int | slice, workgroup: Workgroup, part: Any, whole: Any) -> Any:
    """A vector with other elements at some places."""
    changed = whole.copy()
    changed[at] = part
    return changed


def counted_loop(blocks: list[list[Block]]) -> Callable[..., Any]:
    ((body,),) = blocks

    def loop(workgroup: Workgroup, start: Any, stop: Any, step: Any, *carried: Any) -> Any:
        if step <= 0:
            raise KernelFault(f"a loop of step {step}")
        values = list(carried)
        for i in range(int(start), int(stop), int(step)):
            values = workgroup.run(body, [np.int64(i), *values])
        return one_or_all(values)

    return loop


def branch(blocks: list[list[Block]]) -> Callable[..., Any]:
    def choose(workgroup: Workgroup, condition: Any) -> Any:
        chosen = blocks[0 if condition else 1]
        return one_or_all(workgroup.run(chosen[0]) if chosen else [])

    return choose


def while_loop(blocks: list[list[Block]]) -> Callable[..., Any]:
    (before,), (after,) = blocks

    def loop(workgroup: Workgroup, *carried: Any) -> Any:
        values = list(carried)
        for _ in range(1_000_000):
            goes_on, *values = workgroup.run(before, values)
            if not goes_on:
                return one_or_all(values)
            values = workgroup.run(after, values)
        raise KernelFault("a loop without end")

    return loop


def _given(operand: Any, is_tied: bool) -> Any:
    if isinstance(operand, np.ndarray):
        return Memory.of(operand, is_writable=is_tied)
    return np.int64(operand) if isinstance(operand, int) else operand


def counts_of(module: Any, symbol: str, workload: Sequence[int]) -> tuple[int, int, int]:
    """How many workgroups a kernel has, for the numbers of its workload."""
    export = _executable(module, symbol).regions[0].blocks[0].operations[0].operation
    block = Reader().block(export.regions[0].blocks[0])
    x, y, z = Workgroup(0, 1, (0, 0, 0), {}).run(block, [np.int64(n) for n in workload])
    return int(x), int(y), int(z)


def run_kernel(
    module: Any,
    symbol: str,
    operands: Sequence[Any],
    workgroups: int | tuple[int, int, int],
    *,
    tied: Sequence[int] = (),
) -> list[np.ndarray]:
    """The results of a kernel, those in operands (`tied`) first, and scratch among the others.

    `operands` are arrays, numbers, and the dynamic sizes in the order of the kernel's arguments.
    """
    inner = _executable(module, symbol).regions[0].blocks[0].operations[1]
    function = inner.regions[0].blocks[0].operations[0]
    block = Reader().block(function.regions[0].blocks[0])
    given = [_given(x, i in tied) for i, x in enumerate(operands)]
    memories: dict[int, Memory] = {}
    counts = (workgroups, 1, 1) if isinstance(workgroups, int) else workgroups
    with np.errstate(all="ignore"):
        for number, place in enumerate(np.ndindex(counts)):
            workgroup = Workgroup(number, counts[0], (place[0], place[1], place[2]), memories)
            workgroup.run(block, [*given, *range(len(given), len(block.arguments))])
    written = [given[i].elements for i in tied]
    return [*written, *(memory.elements for _, memory in sorted(memories.items()))]


def _executable(module: Any, symbol: str) -> Any:
    return next(
        o.operation
        for o in module.body.operations
        if o.operation.name == "stream.executable" and o.attributes["sym_name"].value == symbol
    )
