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
from typing import Any

import numpy as np

from adze.dialects import mlir

FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16}

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
        assert all(np.shares_memory(a, b) for a, b in zip(arrays, (elements, known, written_by), strict=True))
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
        if not np.all(self.known[at]):
            raise KernelFault(f"read of {list(places)}, which nothing was written to")
        return self.elements[at].copy()

    def store(self, value: Any, places: Sequence[int], workgroup: int, width: int | None = None) -> None:
        """Write one element, or a vector."""
        if not self.is_writable:
            raise KernelFault(f"write into an operand at {list(places)}")
        at = self.at(places, width)
        if not np.all(np.isin(self.written_by[at], (-1, workgroup))):
            raise KernelFault(f"several workgroups write {list(places)}")
        self.elements[at], self.known[at], self.written_by[at] = value, True, workgroup


def dtype_of(type_: Any) -> Any:
    """The dtype of a scalar type or of a vector's elements."""
    text = str(mlir.ir.VectorType(type_).element_type if isinstance(type_, mlir.ir.VectorType) else type_)
    if text in FLOATS:
        return FLOATS[text]
    return {"index": np.int64, "i1": np.bool_}.get(text) or getattr(np, f"int{text[1:]}")


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


Step = tuple[Any, str, list[Any], list[Any]]
STEPS: dict[Any, list[Step]] = {}


def steps_of(block: Any) -> list[Step]:
    """The ops of a block with their names, operands and results, which are slow to ask for."""
    if block not in STEPS:
        operations = [child.operation for child in block.operations]
        STEPS[block] = [(o, o.name, list(o.operands), list(o.results)) for o in operations]
    return STEPS[block]


@dataclass
class Workgroup:
    """One run of a kernel's function."""

    number: int
    count: int
    place: tuple[int, int, int]
    memories: dict[int, Memory]  # of results, by the position of their argument
    values: dict[Any, Any] = field(default_factory=dict)

    def block(self, block: Any) -> list[Any]:
        """Run a block; the values of its terminator."""
        for operation, name, uses, results in steps_of(block):
            operands = [self.values[v] for v in uses]
            if name in ("scf.yield", "scf.condition", "func.return"):
                return operands
            actual = self.run(operation, name, operands)
            if len(results) == 1:
                self.values[results[0]] = actual
            else:
                self.values.update(zip(results, actual, strict=True))
        raise AssertionError("a block without a terminator")

    def enter(self, block: Any, arguments: Sequence[Any]) -> list[Any]:
        """Run a block with arguments."""
        self.values.update(zip(block.arguments, arguments, strict=True))
        return self.block(block)

    def run(self, operation: Any, name: str, operands: list[Any]) -> Any:
        """The result of an op, or a list of several."""
        dialect, kind = name.split(".", 1)
        if dialect == "scf":
            return getattr(self, f"scf_{kind}")(operation, operands)
        if dialect == "stream":
            return self.bind(operation, operands)
        if dialect in ("memref", "vector", "hal"):
            return self.memory(operation, kind, operands)
        return self.number_op(operation, name, operands)

    def bind(self, operation: Any, operands: list[Any]) -> Memory:
        """The memory of an argument: an operand's, or that of a result, in all workgroups the same."""
        source, _, *sizes = operands
        if isinstance(source, Memory):
            return source
        type_ = mlir.ir.MemRefType(operation.results[0].type)
        left = iter(sizes)
        shape = [int(next(left)) if type_.is_dynamic_dim(a) else n for a, n in enumerate(type_.shape)]
        fresh = Memory.fresh(shape, dtype_of(type_.element_type))
        return self.memories.setdefault(source, fresh)

    def number_op(self, operation: Any, name: str, operands: list[Any]) -> Any:
        """Arithmetic."""
        type_ = operation.results[0].type
        dtype, kind = dtype_of(type_), name.split(".")[1]
        with np.errstate(all="ignore"):
            if name == "arith.constant":
                value = operation.attributes["value"]
                if isinstance(value, mlir.ir.DenseElementsAttr):
                    return np.array(value).astype(dtype)
                return np.asarray(value.value, dtype)[()]
            if kind in BINARY:
                return np.asarray(BINARY[kind](*operands)).astype(dtype)[()]
            if name in UNARY:
                return UNARY[name](*operands)
            if name == "math.fma":
                x, y, z = (np.asarray(v, np.longdouble) for v in operands)
                return (x * y + z).astype(dtype)[()]
            if kind == "cmpi":
                return np.bool_(INTEGER_COMPARISONS[operation.attributes["predicate"].value](*operands))
            if kind == "cmpf":
                return np.asarray(FLOAT_COMPARISONS[operation.attributes["predicate"].value](*operands))[()]
            if kind == "select":
                return np.where(*operands)[()]
            if kind in ("index_castui", "extui"):
                return np.asarray(unsigned(operands[0])).astype(dtype)[()]
            if kind in ("index_cast", "extsi", "extf", "truncf", "trunci"):
                return np.asarray(operands[0]).astype(dtype)[()]
            if kind == "bitcast":
                return operands[0].view(dtype)
        raise NotImplementedError(name)

    def memory(self, operation: Any, kind: str, operands: list[Any]) -> Any:
        """Loads, stores and what is known of the workgroup."""
        if kind == "interface.workgroup.id":
            return np.int64(self.place[operation.attributes["dimension"].value])
        if kind == "interface.workgroup.count":
            return np.int64(self.count)
        if kind == "alloca":
            type_ = mlir.ir.MemRefType(operation.results[0].type)
            return Memory.fresh(type_.shape, dtype_of(type_.element_type))
        is_vector = operation.name.startswith("vector.")
        if kind == "load":
            width = operation.results[0].type.shape[0] if is_vector else None
            return operands[0].load([int(v) for v in operands[1:]], width)
        if kind == "store":
            value, target, *places = operands
            width = len(value) if is_vector else None
            target.store(value, [int(v) for v in places], self.number, width)
            return []
        if kind == "collapse_shape":
            return operands[0].seen_as(operation.results[0].type.shape)
        if kind == "dim":
            return np.int64(operands[0].elements.shape[int(operands[1])])
        if kind == "shuffle":
            return np.concatenate(operands)[list(operation.attributes["mask"])]
        if kind == "extract":
            return operands[0][operation.attributes["static_position"][0]]
        if kind == "insert":
            changed = operands[1].copy()
            changed[operation.attributes["static_position"][0]] = operands[0]
            return changed
        if kind == "broadcast":
            return np.full(operation.results[0].type.shape, operands[0])
        if kind == "reduction":
            combination = re.search(r"<(\w+)>", str(operation.attributes["kind"]))
            assert combination is not None
            return REDUCED[combination[1]](operands[0])
        if kind == "shuffle":
            return np.concatenate(operands)[list(operation.attributes["mask"])]
        if kind.endswith("strided_slice"):
            (first,) = (n.value for n in operation.attributes["offsets"])
            if kind.startswith("extract"):
                return operands[0][first : first + operation.results[0].type.shape[0]]
            inserted = operands[1].copy()
            inserted[first : first + len(operands[0])] = operands[0]
            return inserted
        raise NotImplementedError(operation.name)

    def scf_for(self, operation: Any, operands: list[Any]) -> Any:
        """A counted loop."""
        start, stop, step, *values = operands
        if step <= 0:
            raise KernelFault(f"a loop of step {step}")
        for i in range(int(start), int(stop), int(step)):
            values = self.enter(operation.regions[0].blocks[0], [np.int64(i), *values])
        return values[0] if len(values) == 1 else values

    def scf_if(self, operation: Any, operands: list[Any]) -> Any:
        """A branch."""
        region = operation.regions[0 if operands[0] else 1]
        values = self.block(region.blocks[0]) if len(region.blocks) else []
        return values[0] if len(values) == 1 else values

    def scf_while(self, operation: Any, operands: list[Any]) -> Any:
        """A loop as long as a condition holds."""
        before, after = (region.blocks[0] for region in operation.regions)
        values = operands
        for _ in range(1_000_000):
            goes_on, *values = self.enter(before, values)
            if not goes_on:
                return values[0] if len(values) == 1 else values
            values = self.enter(after, values)
        raise KernelFault("a loop without end")


def _given(operand: Any, is_tied: bool) -> Any:
    if isinstance(operand, np.ndarray):
        return Memory.of(operand, is_writable=is_tied)
    return np.int64(operand) if isinstance(operand, int) else operand


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
    STEPS.clear()  # a block of another module, freed since, may have had the address of one of this
    executable = next(
        o.operation
        for o in module.body.operations
        if o.operation.name == "stream.executable" and o.attributes["sym_name"].value == symbol
    )
    inner = executable.regions[0].blocks[0].operations[1]
    function = inner.regions[0].blocks[0].operations[0]
    block = function.regions[0].blocks[0]
    given = [_given(x, i in tied) for i, x in enumerate(operands)]
    memories: dict[int, Memory] = {}
    counts = (workgroups, 1, 1) if isinstance(workgroups, int) else workgroups
    for number, place in enumerate(np.ndindex(counts)):
        workgroup = Workgroup(number, counts[0], (place[0], place[1], place[2]), memories)
        workgroup.enter(block, [*given, *range(len(given), len(block.arguments))])
    written = [given[i].elements for i in tied]
    return [*written, *(memory.elements for _, memory in sorted(memories.items()))]
