"""What a kernel that IREE has fused computes of the rows or columns of its arrays.

A `ReductionProgram` is read from IREE's phase `flow` (`reduction_reader.py`) and written as loops
(`reduced_rows.py`, `reduced_columns.py`).
Idea: its loops are ordered as the elements lie in memory, and every op in it goes over some of them: it
reduces those that are summed, or computes an element, or a number that holds for all that are summed. Norms,
variances, moments and sums are of this kind. The last loop runs along memory: of rows it is the one that is
summed, of columns it is kept. Where none is summed, only elements are computed (`element_kernels.py`).
A size that shows only at the call is one of the numbers that the call counts workgroups with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import inf, prod
from typing import Final, NamedTuple, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Operation, Type, Value
from .computed_places import Affine
from .counted_sizes import Counted, Size


def _greatest(type_: Type, is_signed: bool) -> int:
    """The greatest integer of a type."""
    return int(2 ** (mlir.ir.IntegerType(type_).width - is_signed) - 1)


class Combining(NamedTuple):
    """The kind of `vector.reduction` that does the same, and what changes no number of a type."""

    kind: str
    identity: Callable[[Type], float | int]


COMBINING: Final[Mapping[str, Combining]] = {
    "arith.addf": Combining("ADD", lambda _: 0.0),
    "arith.addi": Combining("ADD", lambda _: 0),
    "arith.mulf": Combining("MUL", lambda _: 1.0),
    "arith.muli": Combining("MUL", lambda _: 1),
    "arith.maximumf": Combining("MAXIMUMF", lambda _: -inf),
    "arith.minimumf": Combining("MINIMUMF", lambda _: inf),
    "arith.maxsi": Combining("MAXSI", lambda type_: -_greatest(type_, True) - 1),
    "arith.minsi": Combining("MINSI", lambda type_: _greatest(type_, True)),
    "arith.maxui": Combining("MAXUI", lambda _: 0),
    "arith.minui": Combining("MINUI", lambda type_: _greatest(type_, False)),
    "arith.andi": Combining("AND", lambda type_: _greatest(type_, False)),
    "arith.ori": Combining("OR", lambda _: 0),
    "arith.xori": Combining("XOR", lambda _: 0),
}
"""The ops that combine two elements in a reduction."""

BITS: Final = {
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "i1": 8,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "index": 64,
}
"""The bits of each element type that these kernels compute with, as it lies in memory."""

CHEAP: Final = 8  # operations of an element that are rather done again in a second loop than kept
GATHER: Final = 8  # operations that take as long as reading an element at any place
EXTRACT: Final = "tensor.extract"


class Parameter(NamedTuple):
    """What a call passes to a kernel: an array with the sizes of its dynamic axes; without a type, a number.

    A number of the workload has its place there, and one of another type (`scalar`) a place behind these.
    """

    type: Type | None
    sizes: tuple[Counted, ...] = ()
    scalar: Type | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A part of an argument: its first element along each axis, the axes that it has, and along all axes its
    sizes and how much further the next element lies."""

    argument: int
    offsets: tuple[Size, ...]
    axes: tuple[int, ...]
    sizes: tuple[Size, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor full of one number, or a number."""

    attribute: mlir.ir.Attribute


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that is passed, or computed of such for the whole kernel, or a tensor full of it."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One result of an op of linalg: its inputs with the loops that access them, and the code of an element.

    `result` is what the code computes. `has_elements`: there is one for every element, otherwise one for all
    that are summed. Of a reduction it is what `combination` adds to what there is, which begins with
    `initial`. `loops`: which of the program's loops each loop of the op is, several where they are one for
    the op. `depth`: how many reductions follow one another until the result is known. `gathered`: the arrays
    of which the code takes elements at places that it computes.
    """

    inputs: tuple[tuple[Source, tuple[int, ...]], ...]
    code: Operation
    result: Value
    has_elements: bool
    loops: tuple[tuple[int, ...], ...]
    depth: int
    combination: Operation | None = None
    initial: Source | None = None
    gathered: Mapping[Value, Loaded] = field(default_factory=dict)

    @property
    def sums(self) -> bool:
        """Whether this reduces elements."""
        return self.combination is not None

    @property
    def is_full(self) -> bool:
        """Whether the result has every element."""
        return self.has_elements and not self.sums

    @property
    def length(self) -> int:
        """How many operations an element takes, those that take long several times."""
        return len(self.operations) + GATHER * len(self.gathered)

    @property
    def operations(self) -> list[Operation]:
        """What the result takes, in turn."""
        needed = {self.result}
        found = []
        for each in reversed([each.operation for each in self.code.regions[0].blocks[0].operations]):
            if any(result in needed for result in each.results):
                needed.update(each.operands)
                found.append(each)
        return found[::-1]


Source: TypeAlias = "Loaded | Constant | Scalar | Step"


@dataclass(frozen=True, slots=True)
class ReductionProgram:
    """What is passed; the sizes of the loops as the elements lie in memory; which loops are summed; steps in
    order; what is stored in which array; what values of the code of elements are that IREE computes of places
    and of sizes; and which values are numbers that are passed."""

    parameters: tuple[Parameter, ...]
    sizes: tuple[Size, ...]
    summed: tuple[int, ...]
    steps: tuple[Step, ...]
    stores: tuple[tuple[Step, int], ...]
    known: Mapping[Value, Affine] = field(default_factory=dict)
    numbers: Mapping[Value, Counted] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Type, ...]:
        """The types of the arrays."""
        return tuple(each.type for each in self.parameters if each.type is not None)

    @property
    def known_sizes(self) -> tuple[int | None, ...]:
        """The sizes of the loops, None for those that show at the call."""
        return tuple(size if isinstance(size, int) else None for size in self.sizes)

    @property
    def static_sizes(self) -> tuple[int, ...]:
        """The sizes of the loops of a program that has no others."""
        return tuple(size for size in self.known_sizes if size is not None)

    @property
    def is_of_rows(self) -> bool:
        """Whether the elements that are summed lie side by side."""
        return self.summed == (len(self.sizes) - 1,)

    @property
    def kind(self) -> str:
        """What this is a kernel of, for people."""
        return "rows" if self.is_of_rows else "columns" if self.summed else "elements"

    @property
    def outer(self) -> tuple[int, ...]:
        """The loops that are kept, but for the last loop."""
        return tuple(loop for loop in range(len(self.sizes) - 1) if loop not in self.summed)

    @property
    def reductions(self) -> list[list[Step]]:
        """The steps that reduce elements, those together that do not depend on each other."""
        sums = [step for step in self.steps if step.sums]
        return [[step for step in sums if step.depth == n] for n in sorted({step.depth for step in sums})]

    @property
    def bits(self) -> int:
        """The bits of the widest number that is computed."""
        values = [r.type for step in self.steps for o in step.operations for r in o.results]
        elements = [mlir.ir.RankedTensorType(type_).element_type for type_ in self.arguments]
        return max(BITS[str(type_)] for type_ in (*values, *elements, *(s.result.type for s in self.steps)))

    def count(self, loops: tuple[int, ...]) -> int | None:
        """How often some loops go around, None where that shows at the call."""
        sizes = [self.sizes[loop] for loop in loops]
        known = [size for size in sizes if isinstance(size, int)]
        return prod(known) if len(known) == len(sizes) else None

    def in_loop(self, step: Step) -> list[Step]:
        """The steps whose elements the step computes on the way, itself included."""
        found, left = [step], [step]
        while left:
            inputs = [source for source, _ in left.pop().inputs]
            new = [s for s in inputs if isinstance(s, Step) and s.is_full and s not in found]
            found += new
            left += new
        return found

    @property
    def scans(self) -> list[list[Step]]:
        """For each time that the elements are gone over, the steps that are computed of them."""
        stored = [step for step, _ in self.stores if step.is_full]
        return [self.closure(steps) for steps in (*self.reductions, stored) if steps]

    def closure(self, steps: Sequence[Step]) -> list[Step]:
        """The steps whose elements some steps compute on the way, themselves included."""
        return list(dict.fromkeys(each for step in steps for each in self.in_loop(step)))

    @property
    def repeated(self) -> list[Step]:
        """Steps whose elements take long and are needed in several scans: those to keep if there is room."""
        scans = self.scans
        return [
            step
            for step in self.steps
            if step.length > CHEAP and not step.sums and sum(step in scan for scan in scans) > 1
        ]

    @property
    def places(self) -> Mapping[Step, int]:
        """Of the steps to keep, those that a result has room for until its own elements are stored there."""
        free = {argument: step.result.type for step, argument in self.stores if step.is_full}
        found: dict[Step, int] = {}
        for step in self.repeated:
            argument = next((n for n, type_ in free.items() if type_ == step.result.type), None)
            if argument is not None:
                del free[argument]
                found[step] = argument
        return found

    @property
    def operations(self) -> int:
        """How many operations an element takes."""
        scans = self.scans
        return sum(step.length for step in self.steps if any(step in scan for scan in scans))
