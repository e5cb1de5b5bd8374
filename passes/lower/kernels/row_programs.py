"""What a kernel that IREE has fused computes of each row of its arrays, read from IREE's phase `flow`.

Input: the function of a kernel. Output: a `RowProgram`, or None for a kernel of another kind.
Idea: a kernel of rows has one loop over the elements of a row, the last, and every op in it reduces the row,
or computes an element of it, or a number for the whole row: norms, variances and sums are of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple, TypeAlias

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value


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
_BITS: Final = {"f32": 32, "f64": 64, "i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
_ARGUMENT: Final = re.compile(r"!iree_tensor_ext\.dispatch\.tensor<(readonly|writeonly):(tensor<.*>)>")
_LOAD: Final = "iree_tensor_ext.dispatch.tensor.load"
_STORE: Final = "iree_tensor_ext.dispatch.tensor.store"
CHEAP: Final = 8  # operations of an element that are rather done again in a second loop than kept
GATHER: Final = 8  # operations that take as long as reading an element at any place
INDEX: Final = "linalg.index"
EXTRACT: Final = "tensor.extract"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A part of an argument: its first element along each axis, the axes that it has, its sizes along all."""

    argument: int
    offsets: tuple[int, ...]
    axes: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor full of one number, or a number."""

    attribute: mlir.ir.Attribute


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One result of an op of linalg: its inputs with the loops that access them, and the code of an element.

    `result` is what the code computes. `has_elements`: it is an element of the row, otherwise a number for
    the whole row. Of a reduction it is what `combination` adds to what there is, which begins with `initial`.
    `depth`: how many reductions follow one another until the result is known. `gathered`: the arrays of which
    the code takes elements at places that it computes.
    """

    inputs: tuple[tuple[Source, tuple[int, ...]], ...]
    code: Operation
    result: Value
    has_elements: bool
    depth: int
    combination: Operation | None = None
    initial: Source | None = None
    gathered: Mapping[Value, Loaded] = field(default_factory=dict)

    @property
    def sums(self) -> bool:
        """Whether this reduces the row."""
        return self.combination is not None

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


Source: TypeAlias = "Loaded | Constant | Step"


@dataclass(frozen=True, slots=True)
class RowProgram:
    """The sizes of the loops, the last of which is that of a row; steps in order; what is stored where."""

    arguments: tuple[Type, ...]
    sizes: tuple[int, ...]
    steps: tuple[Step, ...]
    stores: tuple[tuple[Step, int], ...]

    @property
    def bits(self) -> int:
        """The bits of the widest number that is computed."""
        values = [r.type for step in self.steps for o in step.operations for r in o.results]
        elements = [mlir.ir.RankedTensorType(type_).element_type for type_ in self.arguments]
        return max(_BITS[str(type_)] for type_ in (*values, *elements, *(s.result.type for s in self.steps)))

    def in_loop(self, step: Step) -> list[Step]:
        """The steps whose elements the step computes on the way, itself included."""
        found, left = [step], [step]
        while left:
            inputs = [source for source, _ in left.pop().inputs]
            new = [s for s in inputs if isinstance(s, Step) and _is_full(s) and s not in found]
            found += new
            left += new
        return found

    @property
    def operations(self) -> int | None:
        """How many operations an element takes in all loops; None where many were to be done twice."""
        loops: dict[int, list[Step]] = {}
        for step in (*(s for s in self.steps if s.sums), *(s for s, _ in self.stores if _is_full(s))):
            found = loops.setdefault(step.depth if step.sums else 0, [])
            found += [each for each in self.in_loop(step) if each not in found]
        total = 0
        for step in self.steps:
            count = len(step.operations) + GATHER * len(step.gathered)
            visits = sum(step in found for found in loops.values())
            if visits > 1 and count > CHEAP:
                return None
            total += count if visits else 0
        return total


def read(function: Operation) -> RowProgram | None:
    """The program of a kernel's function, None where it is of another kind."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return _Reader().program(blocks[0])
    except _OfAnotherKind:
        return None


class _OfAnotherKind(Exception):
    """What is read is not a program of rows."""


class _Reader:
    """What is known of the values of a kernel."""

    def __init__(self) -> None:
        self._known: dict[Value, Source] = {}
        self._arguments: list[tuple[str, Type]] = []
        self._sizes: tuple[int, ...] = ()

    def program(self, block: mlir.ir.Block) -> RowProgram:
        """The program of a function's block."""
        for argument in block.arguments:
            match = _ARGUMENT.fullmatch(str(argument.type))
            _require(match is not None)
            assert match is not None
            type_ = mlir.ir.RankedTensorType(mlir.ir.Type.parse(match[2]))
            _require(type_.has_static_shape and 0 not in type_.shape and type_.encoding is None)
            self._arguments.append((match[1], _numeric(type_)))
        operations = [each.operation for each in block.operations]
        reductions = [o for o in operations if o.name == "linalg.generic" and "reduction" in _kinds(o)]
        _require(bool(reductions))
        self._sizes = _loops(reductions[-1])
        steps: list[Step] = []
        stores: list[tuple[Step, int]] = []
        for operation in operations:
            if operation.name == "linalg.generic":
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
        return RowProgram(types, self._sizes, tuple(steps), tuple(stores))

    def _note(self, operation: Operation, block: mlir.ir.Block) -> None:
        """Remember what an op other than those of elements stands for."""
        name = operation.name
        if name == "arith.constant":
            self._known[operation.results[0]] = Constant(operation.attributes["value"])
        elif name == "linalg.fill":
            value = self._known.get(operation.operands[0])
            _require(isinstance(value, Constant))
            assert isinstance(value, Constant)
            self._known[operation.results[0]] = value
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
        _require(
            not any(offsets) and sizes == list(mlir.ir.RankedTensorType(self._arguments[argument][1]).shape)
        )
        _require(
            isinstance(step, Step) and sizes == list(self._sizes if _is_full(step) else self._sizes[:-1])
        )
        assert isinstance(step, Step)
        return step, argument

    def _step(self, operation: Operation, number: int) -> Step:
        """The result `number` of an op."""
        kinds, sizes = _kinds(operation), _loops(operation)
        count, results = len(self._sizes), len(operation.results)
        sums = "reduction" in kinds
        has_elements = len(kinds) == count
        _require(kinds == (["parallel"] * (count - 1) + ["reduction"] if sums else ["parallel"] * len(kinds)))
        _require(sizes == (self._sizes if has_elements else self._sizes[:-1]) and count > 1)
        maps = _maps(operation)
        maps, result_map = maps[:-results], maps[-results + number]
        _require(result_map == tuple(range(count - 1 if sums else len(kinds))))
        inputs = tuple(
            (self._source(value, loops), loops)
            for value, loops in zip(operation.operands[: len(maps)], maps, strict=True)
        )
        block = operation.regions[0].blocks[0]
        *body, last = [each.operation for each in block.operations]
        gathered = {v: loaded for each in body for v, loaded in self._checked(each, operation)}
        returned, carried = last.operands[number], block.arguments[len(maps) + number]
        _require(_is_inside(returned, operation) and str(returned.type) in _BITS)
        if not sums:
            _require(not list(carried.uses))
            depth = _depth(source for source, _ in inputs)
            return Step(inputs, operation, returned, has_elements, depth, gathered=gathered)
        _require(bool(gathered) or any(loops == tuple(range(count)) for loops in maps))
        _require(not isinstance(returned.owner, mlir.ir.Block))
        combination = returned.owner.operation
        _require(combination.name in COMBINING and len(list(returned.uses)) == 1)
        left, right = combination.operands
        _require((left == carried) != (right == carried) and len(list(carried.uses)) == 1)
        added = right if left == carried else left
        _require(_is_inside(added, operation))
        initial = self._source(operation.operands[len(maps) + number], result_map)
        _require(not _is_full(initial))
        depth = max(_depth(source for source, _ in inputs) + 1, _depth([initial]))
        return Step(inputs, operation, added, True, depth, combination, initial, gathered)

    def _checked(self, each: Operation, operation: Operation) -> Iterator[tuple[Value, Loaded]]:
        """The array that an op of an element's code takes from; it has to be an op that vectors have."""
        known = each.name in _OF_ARITH or each.name in _OF_MATH
        _require(known or each.name in ("arith.constant", INDEX, EXTRACT))
        _require(len(each.results) == 1 and str(each.results[0].type) in _BITS)
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

    def _source(self, value: Value, loops: tuple[int, ...]) -> Source:
        """Where an input comes from; what is computed here has to be read as it is written."""
        source = self._known.get(value)
        _require(source is not None and list(loops) == sorted(loops))
        assert source is not None
        if isinstance(source, Step):
            _require(loops == tuple(range(len(self._sizes) if _is_full(source) else len(self._sizes) - 1)))
        if isinstance(source, Loaded) and len(self._sizes) - 1 in loops:
            _require(source.axes[-1] == len(source.offsets) - 1)  # the row lies along memory
        return source


def captured(value: Value) -> mlir.ir.Attribute:
    """The constant that code outside of an element's is."""
    return value.owner.attributes["value"]


def _is_full(step: Source | None) -> bool:
    """Whether the result of a step has the elements of rows."""
    return isinstance(step, Step) and step.has_elements and not step.sums


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
    _require(str(mlir.ir.RankedTensorType(type_).element_type) in _BITS)
    return type_


def _require(holds: bool) -> None:
    if not holds:
        raise _OfAnotherKind
