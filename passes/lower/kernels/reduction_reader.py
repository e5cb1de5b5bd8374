"""Reads what a kernel computes of rows or columns from IREE's phase `flow`.

Input: the function of a kernel. Output: a `ReductionProgram`, or None for a kernel of another kind.
Idea: the ops of a kernel number their loops each in a way of its own, kept ones first where it reduces. An
array that has an axis for every loop says in which order the elements lie in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value
from .computed_places import INDEX, Affine
from .counted_sizes import Counted, Size
from .passed_numbers import Polynomial, numbers_passed_to
from .reduction_programs import (
    BITS,
    CHEAP,
    COMBINING,
    EXTRACT,
    Constant,
    Loaded,
    Parameter,
    ReductionProgram,
    Scalar,
    Source,
    Step,
)
from .tensor_sizes import GENERIC, LOAD, STORE, OfAnotherKind, TensorSizes, access_of, kinds_of, require

_OF_MATH: Final = frozenset(
    f"math.{name}"
    for name in ("absf", "absi", "sqrt", "fma", "floor", "ceil", "roundeven", "trunc", "copysign")
)
_OF_ARITH: Final = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "subf", "mulf", "divf", "negf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"),
        *("addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
        *("maxsi", "minsi", "maxui", "minui", "cmpf", "cmpi", "select", "bitcast"),
        *("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui"),
        *("index_cast", "index_castui"),
    )
)
OF_VECTORS: Final = _OF_ARITH | _OF_MATH
"""The ops of the code of an element that vectors have as well."""
_ARGUMENT: Final = re.compile(r"!iree_tensor_ext\.dispatch\.tensor<(readonly|writeonly):(tensor<.*>)>")


def read(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where it is of another kind."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return Reader().program(blocks[0])
    except OfAnotherKind:
        return None


class Reader:
    """What is known of the values of a kernel."""

    are_sizes_known: ClassVar[bool] = False
    """Whether only kernels are read whose sizes do not depend on the call."""

    def __init__(self) -> None:
        self._known: dict[Value, Source] = {}
        self._arrays: dict[Value, int] = {}
        self._arguments: list[tuple[str, Type]] = []
        self._parameters: tuple[Parameter, ...] = ()
        self._tensors = TensorSizes()
        self._sizes: tuple[Size, ...] = ()
        self._summed: tuple[int, ...] = ()
        self._kept: tuple[int, ...] = ()
        self._passed: Mapping[Counted, Polynomial] = {}
        self._scalars: dict[Value, Counted] = {}
        self._steps: list[Step] = []
        self._smaller: dict[Value, int] = {}

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        for operation in operations:
            self._tensors.note_tensor(operation)
        reductions = [o for o in operations if o.name == GENERIC and "reduction" in kinds_of(o)]
        require(bool(reductions))
        self._order(reductions[-1])
        stores: list[tuple[Step, int]] = []
        for operation in operations:
            if operation.name == GENERIC and self._has_fewer_loops(operation):
                self._smaller.update((result, number) for number, result in enumerate(operation.results))
            elif operation.name == GENERIC:
                for number, result in enumerate(operation.results):
                    self._add(result, self._step(operation, number))
            elif operation.name == STORE:
                stores.append(self._stored(operation))
            else:
                self._note(operation)
        self._require_stored([argument for _, argument in stores])
        sizes = tuple(self._tensors.representative(size) for size in self._sizes)
        made, known = (tuple(self._steps), tuple(stores)), (self._known_numbers(), self._numbers)
        program = ReductionProgram(self._parameters, sizes, self._summed, *made, *known)
        require(isinstance(sizes[-1], int) or not any(step.gathered for step in self._steps))
        return program

    def _read_arguments(self, block: mlir.ir.Block) -> None:
        """The arguments of a function's block: tensors of numbers, and the sizes that are not known."""
        operations = [each.operation for each in block.operations]
        numbers = [each for each in operations if self._tensors.note_number(each)]
        for operation in operations:
            self._tensors.note_array(operation)
        require(not numbers or not self.are_sizes_known)
        parameters = []
        for argument in block.arguments:
            match = _ARGUMENT.fullmatch(str(argument.type))
            if match is None:
                parameters.append(self._passed_number(argument))
                continue
            type_ = mlir.ir.RankedTensorType(mlir.ir.Type.parse(match[2]))
            require(0 not in type_.shape and type_.encoding is None)
            sizes = self._tensors.dynamic_sizes(argument)
            require(len(sizes) == sum(type_.is_dynamic_dim(axis) for axis in range(type_.rank)))
            self._arrays[argument] = len(self._arguments)
            self._arguments.append((match[1], _numeric(type_)))
            parameters.append(Parameter(type_, sizes))
        self._parameters = tuple(parameters)
        self._passed = numbers_passed_to(block.owner.operation) if numbers else {}
        for number, terms in self._passed.items():
            ((product, factor),) = terms.items() if len(terms) == 1 else [((), 0)]
            if factor == 1 and len(product) == 1:
                self._tensors.note_equal(number, product[0])

    def _passed_number(self, argument: Value) -> Parameter:
        """A number that is passed: one of the workload, or another one."""
        if argument in self._tensors.numbers:
            return Parameter(None, (self._tensors.number(argument),))
        require(str(argument.type) in BITS and not isinstance(argument.type, mlir.ir.IndexType))
        require(not self.are_sizes_known)
        last = max((number.number for number in self._tensors.numbers.values()), default=-1)
        number = Counted(max(last, *(n.number for n in self._scalars.values()), -1) + 1)
        self._scalars[argument] = number
        self._known[argument] = Scalar(argument)
        return Parameter(None, (number,), argument.type)

    def _array(self, value: Value) -> int:
        """The number of the array that a value is."""
        argument = self._tensors.argument(value)
        require(argument in self._arrays)
        return self._arrays[argument]

    def _shape(self, value: Value) -> tuple[Size, ...]:
        """The sizes of an array."""
        argument = self._tensors.argument(value)
        type_ = mlir.ir.RankedTensorType(self._arguments[self._array(value)][1])
        return self._tensors.of_argument(argument, type_.shape)

    def _sizes_of(self, argument: int) -> tuple[Size, ...]:
        """The sizes of an argument."""
        arrays = [each for each in self._parameters if each.type is not None]
        counted, dynamic = iter(arrays[argument].sizes), mlir.ir.ShapedType.get_dynamic_size()
        shape = mlir.ir.RankedTensorType(arrays[argument].type).shape
        return tuple(next(counted) if size == dynamic else int(size) for size in shape)

    def _known_numbers(self) -> dict[Value, Affine]:
        """The numbers of the workload as sums of multiples of others, each by one for all that are equal."""
        return {value: self._number(number) for value, number in self._tensors.numbers.items()}

    @property
    def _numbers(self) -> dict[Value, Counted]:
        """The numbers that are passed, by their values."""
        return {**self._tensors.numbers, **self._scalars}

    def _number(self, number: Counted) -> Affine:
        """A number of the workload as a sum of multiples of others."""
        terms = self._passed.get(number, {})
        if not terms or any(len(product) > 1 for product in terms):
            terms = {(number,): 1}
        found = Affine(0, {})
        for product, factor in terms.items():
            size = self._tensors.representative(product[0]) if product else 1
            one = Affine(0, {}, {size: 1}) if isinstance(size, Counted) else Affine(size, {})
            found = found.plus(one, factor)
        return found

    def _require_stored(self, arguments: Sequence[int]) -> None:
        """Each argument that is written is stored once, and these come last."""
        readonly = [access == "readonly" for access, _ in self._arguments]
        require(readonly == sorted(readonly, reverse=True))
        require(sorted(arguments) == [n for n, r in enumerate(readonly) if not r])

    def _order(self, root: Operation) -> None:
        """The loops of the kernel, as those of its last reduction go over memory."""
        kinds, sizes, positions = kinds_of(root), self._tensors.of_loops(root), _positions(root)
        ordered = dict(zip(positions, sizes, strict=True))
        self._sizes = tuple(ordered[position] for position in range(len(sizes)))
        self._summed = tuple(
            sorted(p for p, kind in zip(positions, kinds, strict=True) if kind == "reduction")
        )
        self._kept = tuple(position for position in range(len(sizes)) if position not in self._summed)
        last = len(sizes) - 1
        require(last not in self._summed or self._summed == (last,))

    def _note(self, operation: Operation) -> None:
        """Remember what an op other than those of elements stands for."""
        name = operation.name
        if name == "arith.constant":
            value = operation.attributes["value"]
            if not isinstance(value, mlir.ir.DenseElementsAttr):
                self._known[operation.results[0]] = Constant(value)
            elif value.is_splat:
                self._known[operation.results[0]] = Constant(value.get_splat_value())
        elif name == "linalg.fill":
            filled = self._known.get(operation.operands[0])
            require(isinstance(filled, Constant | Scalar))
            assert isinstance(filled, Constant | Scalar)
            self._known[operation.results[0]] = filled
        elif name == LOAD:
            self._known[operation.results[0]] = self._loaded(operation)
        elif name in OF_VECTORS and all(self._is_scalar(operand) for operand in operation.operands):
            (result,) = operation.results
            require(str(result.type) in BITS)
            self._known[result] = Scalar(result)
        else:
            known = self._tensors.note_number(operation) or self._tensors.note_array(operation)
            require(known or name in ("tensor.empty", "func.return"))

    def _is_scalar(self, value: Value) -> bool:
        """Whether a value is one number for the whole kernel."""
        return value in self._tensors.numbers or isinstance(self._known.get(value), Constant | Scalar)

    def _loaded(self, operation: Operation) -> Loaded:
        argument = self._array(operation.operands[0])
        offsets, sizes, strides = self._tensors.part_of(operation)
        rank = mlir.ir.RankedTensorType(operation.results[0].type).rank
        axes = [a for a, n in enumerate(sizes) if n != 1 or rank == len(sizes)]
        require(len(axes) == rank)
        return Loaded(argument, tuple(offsets), tuple(axes), tuple(sizes), tuple(strides))

    def _stored(self, operation: Operation) -> tuple[Step, int]:
        step = self._known.get(operation.operands[0])
        argument = self._array(operation.operands[1])
        sizes = self._whole(operation)
        require(isinstance(step, Step))
        assert isinstance(step, Step)
        loops = self._axes(step)
        require(loops == tuple(sorted(loops)))
        require(self._tensors.are_equal(sizes, [self._sizes[loop] for loop in loops]))
        return step, argument

    def _whole(self, store: Operation) -> tuple[Size, ...]:
        """The sizes of an array, all of which an op stores."""
        offsets, sizes, strides = self._tensors.part_of(store)
        shape = self._shape(store.operands[1])
        require(not any(offsets) and set(strides) <= {1} and self._tensors.are_equal(sizes, shape))
        return shape

    def _axes(self, step: Step) -> tuple[int, ...]:
        """The loop of each axis of what a step computes."""
        return tuple(loop for loops in step.loops for loop in loops) if step.is_full else self._kept

    def _add(self, result: Value, step: Step) -> None:
        """Remember a step, and that a value is its result."""
        self._known[result] = step
        self._steps.append(step)

    def _has_fewer_loops(self, operation: Operation) -> bool:
        """Whether an op computes elements over a few of the loops, which those that use them tell."""
        kinds = kinds_of(operation)
        return "reduction" not in kinds and len(kinds) not in (len(self._sizes), len(self._kept))

    def _step(self, operation: Operation, number: int, loops: tuple[int, ...] | None = None) -> Step:
        """The result `number` of an op; `loops`: those of an op that has a few alone."""
        kinds, sizes = kinds_of(operation), self._tensors.of_loops(operation)
        count, results = len(self._sizes), len(operation.results)
        has_elements = len(kinds) == count or loops is not None
        positions = loops or (_positions(operation) if has_elements else self._kept)
        sums = "reduction" in kinds
        require(len(positions) == len(kinds))
        require(self._tensors.are_equal(sizes, [self._sizes[p] for p in positions]))
        if sums:
            kept = len(self._kept)
            require(kinds == ["parallel"] * kept + ["reduction"] * (count - kept))
            require(positions[:kept] == self._kept)
        else:
            require(set(kinds) == {"parallel"})
        maps = access_of(operation)
        maps, result_map = maps[:-results], maps[-results + number]
        require(result_map == tuple(range(len(self._kept) if sums else len(kinds))))
        inputs = tuple(
            self._input(value, tuple(positions[loop] for loop in loops))
            for value, loops in zip(operation.operands[: len(maps)], maps, strict=True)
        )
        block = operation.regions[0].blocks[0]
        *body, last = [each.operation for each in block.operations]
        gathered = {v: loaded for each in body for v, loaded in self._checked(each, operation)}
        returned, carried = last.operands[number], block.arguments[len(maps) + number]
        require(is_inside(returned, operation) and str(returned.type) in BITS)
        if not sums:
            require(not list(carried.uses))
            depth = _depth(source for source, _ in inputs)
            own = tuple((position,) for position in positions)
            return Step(inputs, operation, returned, has_elements, own, depth, gathered=gathered)
        # IREE's code is as good where no array has all loops, if it knows how many steps there are.
        is_counted = not all(isinstance(size, int) for size in sizes)
        require(is_counted or bool(gathered) or any(len(loops) == count for loops in maps))
        require(not isinstance(returned.owner, mlir.ir.Block))
        combination = returned.owner.operation
        require(combination.name in COMBINING and len(list(returned.uses)) == 1)
        left, right = combination.operands
        require((left == carried) != (right == carried) and len(list(carried.uses)) == 1)
        added = right if left == carried else left
        require(is_inside(added, operation))
        initial, _ = self._input(operation.operands[len(maps) + number], self._kept)
        require(not (isinstance(initial, Step) and initial.is_full))
        depth = max(_depth(source for source, _ in inputs) + 1, _depth([initial]))
        own = tuple((position,) for position in positions)
        return Step(inputs, operation, added, True, own, depth, combination, initial, gathered)

    def _checked(self, each: Operation, operation: Operation) -> Iterator[tuple[Value, Loaded]]:
        """The array that an op of an element's code takes from; it has to be an op that vectors have."""
        require(self._is_known(each))
        require(len(each.results) == 1 and str(each.results[0].type) in BITS)
        for position, operand in enumerate(each.operands):
            if each.name == EXTRACT and position == 0:
                source = self._known.get(operand)
                require(isinstance(source, Loaded) and self._is_whole(source))
                assert isinstance(source, Loaded)
                yield operand, source
            else:
                require(is_inside(operand, operation) or self._is_scalar(operand))

    def _is_known(self, operation: Operation) -> bool:
        """Whether an op of an element's code is one that vectors have."""
        name = operation.name
        return name in OF_VECTORS or name in ("arith.constant", INDEX, EXTRACT)

    def _is_whole(self, source: Loaded) -> bool:
        """Whether a part of an argument is all of it."""
        shape = self._sizes_of(source.argument)
        is_dense = set(source.strides) <= {1} and source.axes == tuple(range(len(shape)))
        return is_dense and self._tensors.are_equal(source.sizes, shape)

    def _input(self, value: Value, loops: tuple[int, ...]) -> tuple[Source, tuple[int, ...]]:
        """Where an input comes from; what is computed here has to be read as it is written."""
        if value in self._smaller:
            step = self._step(value.owner.operation, self._smaller.pop(value), loops)
            require(step.length <= CHEAP)  # it is computed for each element
            self._add(value, step)
        source = self._known.get(value)
        require(source is not None)
        assert source is not None
        if isinstance(source, Step):
            require(loops == self._axes(source))
        if isinstance(source, Loaded):
            self._require_along_memory(source, loops)
        return source, loops

    def _require_along_memory(self, source: Loaded, loops: tuple[int, ...]) -> None:
        """What differs along the last loop lies along memory."""
        last = len(self._sizes) - 1
        if last in loops:
            require(loops.index(last) == len(loops) - 1 and source.axes[-1] == len(source.offsets) - 1)
            require(isinstance(self._sizes[last], int) or source.strides[-1] == 1)


def _positions(operation: Operation) -> tuple[int, ...]:
    """Where each loop of an op comes in the order of memory, which an array with all of them tells."""
    count = len(kinds_of(operation))
    for value, loops in zip(operation.operands, access_of(operation), strict=True):
        if sorted(loops) != list(range(count)) or isinstance(value.owner, mlir.ir.Block):
            continue
        owner = value.owner.operation
        if owner.name == LOAD:
            inner = tuple(range(count))
        elif owner.name == GENERIC and len(kinds_of(owner)) == count:
            inner = _positions(owner)
        else:
            continue
        found = dict(zip(loops, inner, strict=True))
        return tuple(found[loop] for loop in range(count))
    return tuple(range(count))


def _depth(sources: Iterable[Source]) -> int:
    """How many reductions follow one another until all sources are known."""
    return max((source.depth for source in sources if isinstance(source, Step)), default=0)


def is_inside(value: Value, operation: Operation) -> bool:
    block = operation.regions[0].blocks[0]
    owner = value.owner
    return bool(owner == block if isinstance(owner, mlir.ir.Block) else owner.operation.parent == operation)


def _numeric(type_: Type) -> Type:
    require(str(mlir.ir.RankedTensorType(type_).element_type) in BITS)
    return type_
