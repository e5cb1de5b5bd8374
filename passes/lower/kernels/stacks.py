"""The pass `stack-kernels`: kernels that stack a few arrays along the last axis write whole vectors.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel whose last loop is of 2 to 8 steps
and goes along no array that it reads is an executable of our own.
Idea: IREE's innermost loop is the short one, and each element chooses by its number what it is (a stack is a
chain of `select`). Here each step of the short loop is computed for a vector of what lies before the last
axis, where its number is a constant; then the vectors are shuffled into the order of memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from ...base import Pass
from ...ir.aliases import Operation
from ..tuning.product_tiles import ARCHITECTURES
from .builder import Array, Number, Place, branches, index, loop
from .element_code import Code, Scope, in_memory
from .executable import workgroup_id
from .reduced_rows import places_of
from .reduction_programs import BITS, Loaded, Parameter, ReductionProgram, Step
from .reduction_reader import Reader, is_inside
from .tensor_sizes import GENERIC, STORE, OfAnotherKind, access_of, kinds_of, require
from .written_kernels import WrittenKernel, write_kernels

MOST: Final = 8  # arrays
WIDEST: Final = 256  # bits of a vector: wider ones gain nothing, since memory bounds such a kernel
BLOCK: Final = 1 << 14  # elements that a workgroup writes at least, where there are as many


@dataclass(frozen=True)
class StackKernels(Pass):
    """Write the kernels of IREE's phase `flow` that stack arrays along a short last axis as loops."""

    name = "stack-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        return write_kernels(module, read_stack, _code)


def _code(target: Target, program: ReductionProgram) -> WrittenKernel | None:
    """The code of a program, None where it has less than a vector."""
    width = min(target.vector_bits, WIDEST) // _bits(program)
    if target.architecture not in ARCHITECTURES or width < 2 or program.static_sizes[-1] < width:
        return None
    return functools.partial(Stacks, program, width)


def _bits(program: ReductionProgram) -> int:
    """The bits of the widest number that is read, computed or stored, without those of places."""
    types = [mlir.ir.RankedTensorType(type_).element_type for type_ in program.arguments]
    types += [o.results[0].type for step in program.steps for o in step.operations]
    return max(BITS[str(each)] for each in types if not isinstance(each, mlir.ir.IndexType))


def read_stack(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, whose last two loops are exchanged; None for another kind."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return _StackReader().program(blocks[0])
    except OfAnotherKind:
        return None


class _StackReader(Reader):
    """What is known of the values of a kernel."""

    are_sizes_known = True

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        for operation in operations:
            self._tensors.note_tensor(operation)
            if operation.name not in (GENERIC, STORE):
                self._note(operation)
        generics = [each for each in operations if each.name == GENERIC]
        stores = [each for each in operations if each.name == STORE]
        require(len(generics) == 1 and len(stores) == 1)
        step = self._stacked(generics[0])
        require(stores[0].operands[0] == generics[0].results[0])
        argument = self._array(stores[0].operands[1])
        shape = self._whole(stores[0])
        require(len(shape) == len(self._sizes))
        self._require_stored([argument])
        known = self._known_numbers(), self._numbers
        return ReductionProgram(self._seen(argument), self._sizes, (), (step,), ((step, argument),), *known)

    def _stacked(self, root: Operation) -> Step:
        """The only result of the op."""
        sizes = [size for size in self._tensors.of_loops(root) if isinstance(size, int)]
        count, maps = len(sizes), access_of(root)
        require(set(kinds_of(root)) == {"parallel"} and len(kinds_of(root)) == count >= 2)
        require(len(root.results) == 1 and maps[-1] == tuple(range(count)) and 2 <= sizes[-1] <= MOST)
        positions = (*range(count - 2), count - 1, count - 2)
        self._sizes = (*sizes[:-2], sizes[-1], sizes[-2])
        self._kept = tuple(range(count))
        inputs = tuple(
            self._input(value, tuple(positions[at] for at in loops))
            for value, loops in zip(root.operands, maps[:-1], strict=False)
        )
        require(any(isinstance(source, Loaded) and count - 1 in loops for source, loops in inputs))
        block = root.regions[0].blocks[0]
        *body, last = [each.operation for each in block.operations]
        require(not any([*self._checked(each, root)] for each in body))
        returned = last.operands[0]
        require(is_inside(returned, root) and str(returned.type) in BITS)
        require(not list(block.arguments[len(inputs)].uses))
        return Step(inputs, root, returned, True, tuple((at,) for at in positions), 0)

    def _seen(self, stored: int) -> tuple[Parameter, ...]:
        """What is passed; what is stored is seen without its last axis."""
        found, number = [], 0
        for each in self._parameters:
            if each.type is not None:
                if number == stored:
                    *others, before, last = mlir.ir.RankedTensorType(each.type).shape
                    element = mlir.ir.RankedTensorType(each.type).element_type
                    each = Parameter(mlir.ir.RankedTensorType.get([*others, before * last], element))
                number += 1
            found.append(each)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Stacks:
    """The code of one workgroup: a block of what lies before the last axis."""

    program: ReductionProgram
    width: int
    arrays: Sequence[Array] = ()
    numbers: Sequence[Number] = ()

    @property
    def workgroups(self) -> tuple[Place, ...]:
        """How many workgroups there are."""
        return (prod(self.program.static_sizes[:-2]) * self._blocks,)

    @property
    def _block(self) -> int:
        """How much of a row a workgroup does at least, in whole vectors."""
        return -(-BLOCK // (self.program.static_sizes[-2] * self.width)) * self.width

    @property
    def _blocks(self) -> int:
        """Workgroups of a row; the last one does what is left, too."""
        return max(self.program.static_sizes[-1] // self._block, 1)

    def run(self) -> None:
        """Each vector of the block."""
        code = Code(self.program, self.arrays, self.width)
        *outer, _, size = self.program.static_sizes
        number, blocks = Number(workgroup_id(0)), self._blocks
        row = Scope(code, dict(enumerate(places_of(number // blocks, outer))))
        row.prepare(self.program.steps)
        first, stop = self._part(number % blocks, size)
        with loop(first, stop, self.width) as at:
            self._write(code, row, at.least(size - self.width) if size % self.width else at)

    def _part(self, block: Number, size: int) -> tuple[Place, Place]:
        if self._blocks == 1:
            return 0, size
        first = block * self._block
        is_last = block.equals(self._blocks - 1)
        stop = branches(is_last, [first.type], lambda: [index(size)], lambda: [first + self._block])
        return first, stop[0]

    def _write(self, code: Code, row: Scope, at: Number) -> None:
        """The elements of all arrays from a place on, which overlap those before where a vector does."""
        ((step, argument),) = self.program.stores
        array, count = code.arrays[argument], self.program.static_sizes[-2]
        each = Scope(code, {**row.places, code.last: at}, self.width, (row,))
        each.prepare([step])
        stacked = []
        for number in range(count):
            places = {**each.places, code.last - 1: index(number)}
            element = Scope(code, places, self.width, (each, row)).of(step)
            stacked.append(in_memory(code.lifted(element), array))
        for number, vector in enumerate(in_turn(stacked)):
            array[(*row.places.values(), at * count + number * self.width)] = vector


def in_turn(vectors: Sequence[Number]) -> list[Number]:
    """As many vectors, with the first elements of all, then the second ones, and so on."""
    (width,), count = mlir.ir.VectorType(vectors[0].type).shape, len(vectors)
    found = []
    for first in range(0, count * width, width):
        wanted = [divmod(place, count) for place in range(first, first + width)]
        chosen = vectors[0].value
        order = [lane for lane, _ in wanted]
        for number in range(1, count):
            lanes = [
                width + lane if source == number else (order[k] if number == 1 else k)
                for k, (lane, source) in enumerate(wanted)
            ]
            chosen = mlir.vector.shuffle(chosen, vectors[number].value, lanes)
        found.append(Number(chosen))
    return found
