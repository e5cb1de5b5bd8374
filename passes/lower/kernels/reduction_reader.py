"""Reads what a kernel computes of rows or columns from IREE's phase `flow`.

Input: the function of a kernel. Output: a `ReductionProgram`, or None for a kernel of another kind.
Idea: the ops of a kernel number their loops each in a way of its own, kept ones first where it reduces. An
array that has an axis for every loop says in which order the elements lie in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value
from .reduction_programs import (
    BITS,
    COMBINING,
    EXTRACT,
    INDEX,
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
_GENERIC: Final = "linalg.generic"
_ARGUMENT: Final = re.compile(r"!iree_tensor_ext\.dispatch\.tensor<(readonly|writeonly):(tensor<.*>)>")
_LOAD: Final = "iree_tensor_ext.dispatch.tensor.load"
_STORE: Final = "iree_tensor_ext.dispatch.tensor.store"


def read(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where it is of another kind."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return _Reader().program(blocks[0])
    except _OfAnotherKind:
        return None


class _OfAnotherKind(Exception):
    """What is read is not a program of rows or columns."""


class _Reader:
    """What is known of the values of a kernel."""

    def __init__(self) -> None:
        self._known: dict[Value, Source] = {}
        self._arguments: list[tuple[str, Type]] = []
        self._sizes: tuple[int, ...] = ()
        self._summed: tuple[int, ...] = ()
        self._kept: tuple[int, ...] = ()

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        for argument in block.arguments:
            match = _ARGUMENT.fullmatch(str(argument.type))
            _require(match is not None)
            assert match is not None
            type_ = mlir.ir.RankedTensorType(mlir.ir.Type.parse(match[2]))
            _require(type_.has_static_shape and 0 not in type_.shape and type_.encoding is None)
            self._arguments.append((match[1], _numeric(type_)))
        operations = [each.operation for each in block.operations]
        reductions = [o for o in operations if o.name == _GENERIC and "reduction" in _kinds(o)]
        _require(bool(reductions))
        self._order(reductions[-1])
        steps: list[Step] = []
        stores: list[tuple[Step, int]] = []
        for operation in operations:
            if operation.name == _GENERIC:
                for number, result in enumerate(operation.results):
                    step = self._step(operation, number)
                    self._known[result] = step
                    steps.append(step)
            elif operation.name == _STORE:
                stores.append(self._stored(operation, block))
            else:
                self._note(operation, block)
        readonly = [access == "readonly" for access, _ in self._arguments]
        _require(readonly == sorted(readonly, reverse=True))
        _require(sorted(argument for _, argument in stores) == [n for n, r in enumerate(readonly) if not r])
        types = tuple(type_ for _, type_ in self._arguments)
        return ReductionProgram(types, self._sizes, self._summed, tuple(steps), tuple(stores))

    def _order(self, root: Operation) -> None:
        """The loops of the kernel, as those of its last reduction go over memory."""
        kinds, sizes, positions = _kinds(root), _loops(root), _positions(root)
        ordered = dict(zip(positions, sizes, strict=True))
        self._sizes = tuple(ordered[position] for position in range(len(sizes)))
        self._summed = tuple(
            sorted(p for p, kind in zip(positions, kinds, strict=True) if kind == "reduction")
        )
        self._kept = tuple(position for position in range(len(sizes)) if position not in self._summed)
        last = len(sizes) - 1
        _require(bool(self._kept) and (last not in self._summed or self._summed == (last,)))

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
            _require(isinstance(filled, Constant))
            assert isinstance(filled, Constant)
            self._known[operation.results[0]] = filled
        elif name == _LOAD:
            self._known[operation.results[0]] = self._loaded(operation, block)
        else:
            _require(name in ("tensor.empty", "func.return"))

    def _loaded(self, operation: Operation, block: mlir.ir.Block) -> Loaded:
        argument = list(block.arguments).index(operation.operands[0])
        offsets, sizes = _place(operation)
        shape = mlir.ir.RankedTensorType(operation.results[0].type).shape
        axes = [a for a, n in enumerate(sizes) if n != 1 or len(shape) == len(sizes)]
        _require([sizes[a] for a in axes] == list(shape))
        return Loaded(argument, tuple(offsets), tuple(axes), tuple(sizes))

    def _stored(self, operation: Operation, block: mlir.ir.Block) -> tuple[Step, int]:
        step = self._known.get(operation.operands[0])
        argument = list(block.arguments).index(operation.operands[1])
        offsets, sizes = _place(operation)
        shape = list(mlir.ir.RankedTensorType(self._arguments[argument][1]).shape)
        _require(not any(offsets) and sizes == shape and isinstance(step, Step))
        assert isinstance(step, Step)
        loops = self._axes(step)
        _require(loops == tuple(sorted(loops)) and sizes == [self._sizes[loop] for loop in loops])
        return step, argument

    def _axes(self, step: Step) -> tuple[int, ...]:
        """The loop of each axis of what a step computes."""
        return step.loops if step.is_full else self._kept

    def _step(self, operation: Operation, number: int) -> Step:
        """The result `number` of an op."""
        kinds, sizes = _kinds(operation), _loops(operation)
        count, results = len(self._sizes), len(operation.results)
        has_elements = len(kinds) == count
        positions = _positions(operation) if has_elements else self._kept
        sums = "reduction" in kinds
        _require(len(positions) == len(kinds) and count > 1)
        _require(all(size == self._sizes[p] for size, p in zip(sizes, positions, strict=True)))
        if sums:
            kept = len(self._kept)
            _require(kinds == ["parallel"] * kept + ["reduction"] * (count - kept))
            _require(positions[:kept] == self._kept)
        else:
            _require(set(kinds) == {"parallel"})
        maps = _maps(operation)
        maps, result_map = maps[:-results], maps[-results + number]
        _require(result_map == tuple(range(len(self._kept) if sums else len(kinds))))
        inputs = tuple(
            self._input(value, tuple(positions[loop] for loop in loops))
            for value, loops in zip(operation.operands[: len(maps)], maps, strict=True)
        )
        block = operation.regions[0].blocks[0]
        *body, last = [each.operation for each in block.operations]
        gathered = {v: loaded for each in body for v, loaded in self._checked(each, operation)}
        returned, carried = last.operands[number], block.arguments[len(maps) + number]
        _require(_is_inside(returned, operation) and str(returned.type) in BITS)
        if not sums:
            _require(not list(carried.uses))
            depth = _depth(source for source, _ in inputs)
            return Step(inputs, operation, returned, has_elements, positions, depth, gathered=gathered)
        _require(bool(gathered) or any(len(loops) == count for loops in maps))
        _require(not isinstance(returned.owner, mlir.ir.Block))
        combination = returned.owner.operation
        _require(combination.name in COMBINING and len(list(returned.uses)) == 1)
        left, right = combination.operands
        _require((left == carried) != (right == carried) and len(list(carried.uses)) == 1)
        added = right if left == carried else left
        _require(_is_inside(added, operation))
        initial, _ = self._input(operation.operands[len(maps) + number], self._kept)
        _require(not (isinstance(initial, Step) and initial.is_full))
        depth = max(_depth(source for source, _ in inputs) + 1, _depth([initial]))
        return Step(inputs, operation, added, True, positions, depth, combination, initial, gathered)

    def _checked(self, each: Operation, operation: Operation) -> Iterator[tuple[Value, Loaded]]:
        """The array that an op of an element's code takes from; it has to be an op that vectors have."""
        known = each.name in _OF_ARITH or each.name in _OF_MATH
        _require(known or each.name in ("arith.constant", INDEX, EXTRACT))
        _require(len(each.results) == 1 and str(each.results[0].type) in BITS)
        for position, operand in enumerate(each.operands):
            source = self._known.get(operand)
            if each.name == EXTRACT and position == 0:
                _require(isinstance(source, Loaded) and self._is_whole(source))
                assert isinstance(source, Loaded)
                yield operand, source
            else:
                _require(_is_inside(operand, operation) or isinstance(source, Constant))

    def _is_whole(self, source: Loaded) -> bool:
        """Whether a part of an argument is all of it."""
        shape = mlir.ir.RankedTensorType(self._arguments[source.argument][1]).shape
        return source.sizes == tuple(shape) and source.axes == tuple(range(len(shape)))

    def _input(self, value: Value, loops: tuple[int, ...]) -> tuple[Source, tuple[int, ...]]:
        """Where an input comes from; what is computed here has to be read as it is written."""
        source = self._known.get(value)
        _require(source is not None)
        assert source is not None
        if isinstance(source, Step):
            _require(loops == self._axes(source))
        last = len(self._sizes) - 1
        if isinstance(source, Loaded) and last in loops:
            # What differs along the last loop lies along memory.
            _require(loops.index(last) == len(loops) - 1 and source.axes[-1] == len(source.offsets) - 1)
        return source, loops


def _positions(operation: Operation) -> tuple[int, ...]:
    """Where each loop of an op comes in the order of memory, which an array with all of them tells."""
    count = len(_kinds(operation))
    for value, loops in zip(operation.operands, _maps(operation), strict=True):
        if sorted(loops) != list(range(count)) or isinstance(value.owner, mlir.ir.Block):
            continue
        owner = value.owner.operation
        if owner.name == _LOAD:
            inner = tuple(range(count))
        elif owner.name == _GENERIC and len(_kinds(owner)) == count:
            inner = _positions(owner)
        else:
            continue
        found = dict(zip(loops, inner, strict=True))
        return tuple(found[loop] for loop in range(count))
    return tuple(range(count))


def _depth(sources: Iterable[Source]) -> int:
    """How many reductions follow one another until all sources are known."""
    return max((source.depth for source in sources if isinstance(source, Step)), default=0)


def _is_inside(value: Value, operation: Operation) -> bool:
    block = operation.regions[0].blocks[0]
    owner = value.owner
    return bool(owner == block if isinstance(owner, mlir.ir.Block) else owner.operation.parent == operation)


def _kinds(operation: Operation) -> list[str]:
    text = str(operation.attributes["iterator_types"])
    return re.findall(r"parallel|reduction|window", text)


def _maps(operation: Operation) -> list[tuple[int, ...]]:
    found = []
    for attribute in mlir.ir.ArrayAttr(operation.attributes["indexing_maps"]):
        places = list(mlir.ir.AffineMapAttr(attribute).value.results)
        _require(all(isinstance(place, mlir.ir.AffineDimExpr) for place in places))
        found.append(tuple(place.position for place in places))
    return found


def _loops(operation: Operation) -> tuple[int, ...]:
    """The size of each loop of a generic."""
    sizes: dict[int, int] = {}
    for value, loops in zip(operation.operands, _maps(operation), strict=True):
        _require(isinstance(value.type, mlir.ir.RankedTensorType))
        type_ = mlir.ir.RankedTensorType(value.type)
        _require(type_.has_static_shape)
        sizes.update(zip(loops, type_.shape, strict=True))
    count = len(_kinds(operation))
    _require(sorted(sizes) == list(range(count)))
    return tuple(sizes[loop] for loop in range(count))


def _place(operation: Operation) -> tuple[list[int], list[int]]:
    """The static offsets and sizes of what a kernel loads or stores; strides are 1."""
    segments = list(mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    expected = 1 if operation.name == _LOAD else 2
    _require(sum(segments) == expected)
    offsets, sizes, strides = (
        list(mlir.ir.DenseI64ArrayAttr(operation.attributes[f"static_{what}"]))
        for what in ("offsets", "sizes", "strides")
    )
    _require(set(strides) <= {1})
    return offsets, sizes


def _numeric(type_: Type) -> Type:
    _require(str(mlir.ir.RankedTensorType(type_).element_type) in BITS)
    return type_


def _require(holds: bool) -> None:
    if not holds:
        raise _OfAnotherKind
