"""The elementwise generics of lowered functions, in parts that can become one op each.

Input: lowered functions. Output: for each long block its parts: generics of which only the last one's result
is used by others. Idea: the bindings are asked once (`elementwise_blocks`), and values and inputs are numbers
from there on; passes that divide the same ops by other limits share that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..ir.aliases import Attribute, Block, Operation, Type, Value
from ..ir.functions import functions

GENERIC: Final = "linalg.generic"
FEWEST: Final = 32  # ops; the time to fuse these is a few milliseconds

_WITHOUT_BLOCKS: Final = frozenset({GENERIC, "tensor.empty", "arith.constant", "func.return"})
"""Most ops, which need not be asked for blocks of ops inside."""

Input = tuple[Value, Attribute]
"""An operand from outside, and the map of its elements."""

Counted = Callable[[Input], Hashable]
"""What counts of an input, where there may be so many only; None for nothing."""


@dataclass(frozen=True)
class Part:
    """Generics, the last one first, of which only the last one's result is used by others."""

    members: list[Operation]
    inputs: list[Input]


class ElementwiseOp(NamedTuple):
    """A generic that computes each element of its one result, of known sizes, of elements of its operands.

    `result` and `values` are the numbers of its result and operands; `made` and `inputs` those of both with
    their maps; `in_place` says of each operand whether its elements are taken in the places of the loops.
    `uses`: how often the result is used.
    """

    operation: Operation
    result: int
    made: int
    values: list[int]
    inputs: list[int]
    in_place: tuple[bool, ...]
    uses: int


@dataclass(frozen=True, slots=True)
class ElementwiseBlock:
    """The elementwise generics of a block of a function, the last one first, and the inputs by number."""

    symbol: str
    ops: list[ElementwiseOp]
    inputs: list[Input]


def elementwise_blocks(module: mlir.ir.Module) -> list[ElementwiseBlock]:
    """The long blocks of functions, those in loops too."""
    return [
        _Reader(block).read(symbol)
        for symbol, function in functions(module).items()
        for block in list(_long_blocks(function.operation))
    ]


def parts_of(block: ElementwiseBlock, most: int, counted: Counted | None = None) -> list[Part]:
    """The generics of a block, each in the part of all its users, or in one of its own.

    `most`: of the inputs of a part, or of what is `counted` of them.
    """
    counts: Sequence[Hashable] = range(len(block.inputs))
    if counted is not None:
        counts = [counted(key) for key in block.inputs]
    parts: list[_Growing] = []
    uses: dict[int, _Uses] = {}
    for op in block.ops:
        users = uses.get(op.result)
        part = users.part if users is not None and users.count == op.uses else None
        if part is None or not part.add(op, counts, most):
            part = _Growing()
            part.add(op, counts, most)
            parts.append(part)
        for value, in_place in zip(op.values, op.in_place, strict=False):
            known = uses.get(value)
            if known is None:
                uses[value] = _Uses(part if in_place else None)
                continue
            known.count += 1
            if known.part is not part or not in_place:
                known.part = None
    return [Part(part.members, [block.inputs[number] for number in part.inputs]) for part in parts]


@dataclass(slots=True)
class _Uses:
    """The part that all elementwise ops are in that use a value in their own places; how often they do."""

    part: _Growing | None
    count: int = 1


@dataclass(slots=True)
class _Growing:
    """A part, its inputs by number, and what is counted of them."""

    members: list[Operation] = field(default_factory=list)
    inputs: dict[int, None] = field(default_factory=dict)
    counted: set[Hashable] = field(default_factory=set)

    def add(self, op: ElementwiseOp, counts: Sequence[Hashable], most: int) -> bool:
        """Put a generic before the others, if the inputs are not too many then; whether it is in the part."""
        counted = self.counted - {counts[op.made]}
        counted.update([counts[number] for number in op.inputs if number not in self.inputs])
        counted.discard(None)
        if self.members and len(counted) > most:
            return False
        self.members.append(op.operation)
        self.inputs.pop(op.made, None)
        self.inputs.update(dict.fromkeys(op.inputs))
        self.counted = counted
        return True


# -- reading ---------------------------------------------------------------------------------------


def _long_blocks(operation: Operation) -> Iterator[Block]:
    """The blocks of at least `FEWEST` ops within, but for bodies of generics."""
    for region in operation.regions:
        for block in region.blocks:
            operations = [child.operation for child in block.operations]
            if len(operations) >= FEWEST:
                yield block
            for child in operations:
                if child.name not in _WITHOUT_BLOCKS and len(child.regions):
                    yield from _long_blocks(child)


@dataclass(frozen=True, slots=True)
class _Form:
    """The maps of a generic, each with a number, and whether it takes elements in the places of the loops."""

    maps: tuple[Attribute, ...]
    numbers: tuple[int, ...]
    in_place: tuple[bool, ...]


class _Reader:
    """Reads the elementwise generics of a block. Most have the maps, loops and types of others."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._forms: dict[tuple[Attribute, Attribute], _Form | None] = {}
        self._maps: dict[Attribute, int] = {}
        self._is_static: dict[Type, bool] = {}
        self._values: dict[Value, int] = {}
        self._numbers: dict[tuple[int, int], int] = {}
        self._inputs: list[Input] = []

    def read(self, symbol: str) -> ElementwiseBlock:
        """The block, which is one of the function `symbol`."""
        ops: list[ElementwiseOp] = []
        for child in reversed(list(self._block.operations)):
            operation = child.operation
            if operation.name != GENERIC or (form := self._form(operation.attributes)) is None:
                continue
            results = operation.results
            if len(results) != 1 or not self._has_known_sizes((result := results[0]).type):
                continue
            destination = operation.regions[0].blocks[0].arguments[-1]
            if next(destination.uses, None) is None:
                ops.append(self._read(operation, result, form))
        return ElementwiseBlock(symbol, ops, self._inputs)

    def _read(self, operation: Operation, result: Value, form: _Form) -> ElementwiseOp:
        known, pairs, inputs = self._values, self._numbers, self._inputs
        values, numbers = list[int](), list[int]()
        operands = list(operation.operands)
        operands[-1] = result  # which lies as the destination does
        for value, map_, of_map in zip(operands, form.maps, form.numbers, strict=True):
            of_value = known.setdefault(value, len(known))
            number = pairs.setdefault((of_value, of_map), len(inputs))
            if number == len(inputs):
                inputs.append((value, map_))
            values.append(of_value)
            numbers.append(number)
        uses = len(list(result.uses))
        return ElementwiseOp(operation, values.pop(), numbers.pop(), values, numbers, form.in_place, uses)

    def _form(self, attributes: Mapping[str, Attribute]) -> _Form | None:
        """The form of generics with such attributes; None if they are not elementwise, or have tiles."""
        key = (attributes["indexing_maps"], attributes["iterator_types"])
        if key not in self._forms:
            self._forms[key] = self._read_form(*key)
        form = self._forms[key]
        return None if form is None or "compilation_info" in attributes else form

    def _read_form(self, maps: Attribute, iterators: Attribute) -> _Form | None:
        """What maps and loops say; None unless all are parallel and the result lies as they do."""
        if len(maps) < 2 or any("parallel" not in str(kind) for kind in iterators):
            return None
        in_place = tuple(map(_maps_to_itself, maps))
        numbers = tuple(self._maps.setdefault(each, len(self._maps)) for each in maps)
        return _Form(tuple(maps), numbers, in_place) if in_place[-1] else None

    def _has_known_sizes(self, type_: Type) -> bool:
        is_static = self._is_static.get(type_)
        if is_static is None:
            is_static = self._is_static[type_] = mlir.ir.RankedTensorType(type_).has_static_shape
        return is_static


def _maps_to_itself(map_: Attribute) -> bool:
    affine = mlir.ir.AffineMapAttr(map_).value
    return bool(affine == mlir.ir.AffineMap.get_identity(affine.n_dims, context=map_.context))
