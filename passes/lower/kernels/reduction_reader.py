"""Reads what a kernel computes of rows or columns from IREE's phase `flow`.

Input: the function of a kernel. Output: a `ReductionProgram`, or None for a kernel of another kind.
Idea: the ops of a kernel number their loops each in a way of its own, kept ones first where it reduces. An
array that has an axis for every loop says in which order the elements lie in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value
from .computed_places import INDEX
from .reduction_programs import (
    BITS,
    COMBINING,
    EXTRACT,
    Constant,
    Loaded,
    ReductionProgram,
    Source,
    Step,
)

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
GENERIC: Final = "linalg.generic"
_ARGUMENT: Final = re.compile(r"!iree_tensor_ext\.dispatch\.tensor<(readonly|writeonly):(tensor<.*>)>")
_LOAD: Final = "iree_tensor_ext.dispatch.tensor.load"
STORE: Final = "iree_tensor_ext.dispatch.tensor.store"


def read(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where it is of another kind."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return Reader().program(blocks[0])
    except OfAnotherKind:
        return None


class OfAnotherKind(Exception):
    """What is read is not a program of rows or columns."""


class Reader:
    """What is known of the values of a kernel."""

    def __init__(self) -> None:
        self._known: dict[Value, Source] = {}
        self._arguments: list[tuple[str, Type]] = []
        self._sizes: tuple[int, ...] = ()
        self._summed: tuple[int, ...] = ()
        self._kept: tuple[int, ...] = ()

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        reductions = [o for o in operations if o.name == GENERIC and "reduction" in kinds_of(o)]
        require(bool(reductions))
        self._order(reductions[-1])
        steps: list[Step] = []
        stores: list[tuple[Step, int]] = []
        for operation in operations:
            if operation.name == GENERIC:
                for number, result in enumerate(operation.results):
                    step = self._step(operation, number)
                    self._known[result] = step
                    steps.append(step)
            elif operation.name == STORE:
                stores.append(self._stored(operation, block))
            else:
                self._note(operation, block)
        self._require_stored([argument for _, argument in stores])
        types = tuple(type_ for _, type_ in self._arguments)
        return ReductionProgram(types, self._sizes, self._summed, tuple(steps), tuple(stores))

    def _read_arguments(self, block: mlir.ir.Block) -> None:
        """The arguments of a function's block: static tensors of numbers."""
        for argument in block.arguments:
            match = _ARGUMENT.fullmatch(str(argument.type))
            require(match is not None)
            assert match is not None
            type_ = mlir.ir.RankedTensorType(mlir.ir.Type.parse(match[2]))
            require(type_.has_static_shape and 0 not in type_.shape and type_.encoding is None)
            self._arguments.append((match[1], _numeric(type_)))

    def _require_stored(self, arguments: Sequence[int]) -> None:
        """Each argument that is written is stored once, and these come last."""
        readonly = [access == "readonly" for access, _ in self._arguments]
        require(readonly == sorted(readonly, reverse=True))
        require(sorted(arguments) == [n for n, r in enumerate(readonly) if not r])

    def _order(self, root: Operation) -> None:
        """The loops of the kernel, as those of its last reduction go over memory."""
        kinds, sizes, positions = kinds_of(root), loop_sizes(root), _positions(root)
        ordered = dict(zip(positions, sizes, strict=True))
        self._sizes = tuple(ordered[position] for position in range(len(sizes)))
        self._summed = tuple(
            sorted(p for p, kind in zip(positions, kinds, strict=True) if kind == "reduction")
        )
        self._kept = tuple(position for position in range(len(sizes)) if position not in self._summed)
        last = len(sizes) - 1
        require(last not in self._summed or self._summed == (last,))

    def _note(self, operation: Operation, block: mlir.ir.Block) -> None:
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
            require(isinstance(filled, Constant))
            assert isinstance(filled, Constant)
            self._known[operation.results[0]] = filled
        elif name == _LOAD:
            self._known[operation.results[0]] = self._loaded(operation, block)
        else:
            require(name in ("tensor.empty", "func.return"))

    def _loaded(self, operation: Operation, block: mlir.ir.Block) -> Loaded:
        argument = list(block.arguments).index(operation.operands[0])
        offsets, sizes, strides = part_of(operation)
        shape = mlir.ir.RankedTensorType(operation.results[0].type).shape
        axes = [a for a, n in enumerate(sizes) if n != 1 or len(shape) == len(sizes)]
        require([sizes[a] for a in axes] == list(shape))
        return Loaded(argument, tuple(offsets), tuple(axes), tuple(sizes), tuple(strides))

    def _stored(self, operation: Operation, block: mlir.ir.Block) -> tuple[Step, int]:
        step = self._known.get(operation.operands[0])
        argument = list(block.arguments).index(operation.operands[1])
        offsets, sizes, strides = part_of(operation)
        shape = list(mlir.ir.RankedTensorType(self._arguments[argument][1]).shape)
        require(not any(offsets) and set(strides) <= {1} and sizes == shape and isinstance(step, Step))
        assert isinstance(step, Step)
        loops = self._axes(step)
        require(loops == tuple(sorted(loops)) and sizes == [self._sizes[loop] for loop in loops])
        return step, argument

    def _axes(self, step: Step) -> tuple[int, ...]:
        """The loop of each axis of what a step computes."""
        return tuple(loop for loops in step.loops for loop in loops) if step.is_full else self._kept

    def _step(self, operation: Operation, number: int) -> Step:
        """The result `number` of an op."""
        kinds, sizes = kinds_of(operation), loop_sizes(operation)
        count, results = len(self._sizes), len(operation.results)
        has_elements = len(kinds) == count
        positions = _positions(operation) if has_elements else self._kept
        sums = "reduction" in kinds
        require(len(positions) == len(kinds))
        require(all(size == self._sizes[p] for size, p in zip(sizes, positions, strict=True)))
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
        require(bool(gathered) or any(len(loops) == count for loops in maps))
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
            source = self._known.get(operand)
            if each.name == EXTRACT and position == 0:
                require(isinstance(source, Loaded) and self._is_whole(source))
                assert isinstance(source, Loaded)
                yield operand, source
            else:
                require(is_inside(operand, operation) or isinstance(source, Constant))

    def _is_known(self, operation: Operation) -> bool:
        """Whether an op of an element's code is one that vectors have."""
        name = operation.name
        return name in OF_VECTORS or name in ("arith.constant", INDEX, EXTRACT)

    def _is_whole(self, source: Loaded) -> bool:
        """Whether a part of an argument is all of it."""
        shape = mlir.ir.RankedTensorType(self._arguments[source.argument][1]).shape
        is_dense = set(source.strides) <= {1}
        return is_dense and source.sizes == tuple(shape) and source.axes == tuple(range(len(shape)))

    def _input(self, value: Value, loops: tuple[int, ...]) -> tuple[Source, tuple[int, ...]]:
        """Where an input comes from; what is computed here has to be read as it is written."""
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


def _positions(operation: Operation) -> tuple[int, ...]:
    """Where each loop of an op comes in the order of memory, which an array with all of them tells."""
    count = len(kinds_of(operation))
    for value, loops in zip(operation.operands, access_of(operation), strict=True):
        if sorted(loops) != list(range(count)) or isinstance(value.owner, mlir.ir.Block):
            continue
        owner = value.owner.operation
        if owner.name == _LOAD:
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


def kinds_of(operation: Operation) -> list[str]:
    text = str(operation.attributes["iterator_types"])
    return re.findall(r"parallel|reduction|window", text)


def access_of(operation: Operation) -> list[tuple[int, ...]]:
    found = []
    for attribute in mlir.ir.ArrayAttr(operation.attributes["indexing_maps"]):
        places = list(mlir.ir.AffineMapAttr(attribute).value.results)
        require(all(isinstance(place, mlir.ir.AffineDimExpr) for place in places))
        found.append(tuple(place.position for place in places))
    return found


def loop_sizes(operation: Operation) -> tuple[int, ...]:
    """The size of each loop of a generic."""
    sizes: dict[int, int] = {}
    for value, loops in zip(operation.operands, access_of(operation), strict=True):
        require(isinstance(value.type, mlir.ir.RankedTensorType))
        type_ = mlir.ir.RankedTensorType(value.type)
        require(type_.has_static_shape)
        sizes.update(zip(loops, type_.shape, strict=True))
    count = len(kinds_of(operation))
    require(sorted(sizes) == list(range(count)))
    return tuple(sizes[loop] for loop in range(count))


def part_of(operation: Operation) -> tuple[list[int], list[int], list[int]]:
    """The static offsets, sizes and strides of what a kernel loads or stores."""
    segments = list(mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    expected = 1 if operation.name == _LOAD else 2
    require(sum(segments) == expected)
    offsets, sizes, strides = (
        list(mlir.ir.DenseI64ArrayAttr(operation.attributes[f"static_{what}"]))
        for what in ("offsets", "sizes", "strides")
    )
    return offsets, sizes, strides


def _numeric(type_: Type) -> Type:
    require(str(mlir.ir.RankedTensorType(type_).element_type) in BITS)
    return type_


def require(holds: bool) -> None:
    if not holds:
        raise OfAnotherKind
