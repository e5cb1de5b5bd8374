"""Reads kernels of IREE's phase `flow` that compute elements of what lies elsewhere in their arrays.

Input: the function of a kernel. Output: a `ReductionProgram` without reductions, or None for another kind.
Idea: IREE makes the loops of such a kernel one loop, whose place is divided again where elements are taken.
What it is divided by says which loops there were; the arrays that the loop goes over are seen with an axis
for each of them. A loop that is one alone is divided as well, so that several workgroups share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Type, Value
from ..tuning.row_tiles import piece_of
from .computed_places import INDEX, Places
from .reduction_programs import BITS, Constant, Loaded, Parameter, ReductionProgram, Source, Step
from .reduction_reader import Reader, is_inside
from .tensor_sizes import GENERIC, STORE, OfAnotherKind, access_of, kinds_of, require

_QUOTIENTS: Final = ("arith.divsi", "arith.divui")
_REMAINDERS: Final = ("arith.remsi", "arith.remui")


def read_elements(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where it takes no elements from elsewhere."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return _ElementReader().program(blocks[0])
    except OfAnotherKind:
        return None


class _ElementReader(Reader):
    """What is known of the values of a kernel, and how the loops of its only op are divided."""

    are_sizes_known = True

    def __init__(self) -> None:
        super().__init__()
        self._loops: tuple[int, ...] = ()
        self._groups: list[tuple[int, ...]] = []
        self._shapes: dict[int, list[int]] = {}

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        stores = [each for each in operations if each.name == STORE]
        for operation in operations:
            if operation.name not in (GENERIC, STORE):
                self._note(operation)
        generics = [each for each in operations if each.name == GENERIC]
        require(len(generics) == 1 if generics else len(stores) == 1)
        root = generics[0] if generics else self._copy(stores[0])
        self._divide(root)
        steps = tuple(self._element(root, number) for number in range(len(root.results)))
        if generics:
            self._known.update(zip(root.results, steps, strict=True))
        else:
            self._known[stores[0].operands[0]] = steps[0]
        arguments = [self._written(each) for each in stores]
        self._require_stored([argument for _, argument in arguments])
        seen = tuple(Parameter(self._seen(number)) for number in range(len(self._arguments)))
        return ReductionProgram(seen, self._sizes, (), steps, tuple(arguments))

    def _copy(self, store: Operation) -> Operation:
        """An op that computes what a kernel stores as it is, of elements that do not lie side by side."""
        value = store.operands[0]
        source = self._known.get(value)
        require(isinstance(source, Loaded))
        assert isinstance(source, Loaded)
        require(bool(source.axes) and source.strides[source.axes[-1]] != 1)
        type_ = mlir.ir.RankedTensorType(value.type)
        mlir.load_dialects(type_.context)
        identity = mlir.ir.AffineMap.get_identity(type_.rank)
        kinds = ", ".join(["#linalg.iterator_type<parallel>"] * type_.rank)
        # Where it turns out that IREE's kernel stays, nothing uses this op.
        with mlir.ir.InsertionPoint(store):
            copy = mlir.ir.Operation.create(
                GENERIC,
                results=[type_],
                operands=[value, value],
                attributes={
                    "indexing_maps": mlir.ir.ArrayAttr.get([mlir.ir.AffineMapAttr.get(identity)] * 2),
                    "iterator_types": mlir.ir.Attribute.parse(f"[{kinds}]"),
                    "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([1, 1]),
                },
                regions=1,
            )
            elements = [type_.element_type] * 2
            block = copy.regions[0].blocks.append(*elements, arg_locs=[mlir.ir.Location.current] * 2)
            with mlir.ir.InsertionPoint(block):
                mlir.ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
        return copy

    def _is_known(self, operation: Operation) -> bool:
        """Also the quotients and remainders that say which loops there were."""
        if super()._is_known(operation):
            return True
        places = Places(self._loops, self._groups)
        return len(operation.results) == 1 and places.of(operation.results[0], {}) is not None

    # -- loops -----------------------------------------------------------------------------------------

    def _divide(self, root: Operation) -> None:
        """The loops of the program, and which of them each loop of the op is."""
        require(set(kinds_of(root)) == {"parallel"})
        sizes = [size for size in self._tensors.of_loops(root) if isinstance(size, int)]
        ends = [_parts(root, loop, size) for loop, size in enumerate(sizes)]
        if len(sizes) == 1 and len(ends[0]) == 2:
            piece = piece_of(sizes[0])
            ends = [[1, piece, sizes[0]]] if piece else ends
        found: list[int] = []
        for each in ends:
            parts = [high // low for low, high in pairwise(each)][::-1]
            self._groups.append(tuple(range(len(found), len(found) + len(parts))))
            found += parts
        self._sizes = self._loops = tuple(found)
        self._kept = tuple(range(len(found)))

    def _divided(self, source: Loaded, loops: Sequence[int]) -> tuple[Loaded, tuple[int, ...]]:
        """A part of an argument as the program's loops go over it; `loops`: those of the op."""
        shape = mlir.ir.RankedTensorType(self._arguments[source.argument][1]).shape
        seen: list[int] = []
        parts: dict[str, list[int]] = {name: [] for name in ("offsets", "axes", "sizes", "strides", "loops")}
        source_sizes = [size for size in source.sizes if isinstance(size, int)]
        for axis, size in enumerate(shape):
            group: tuple[int, ...] = ()
            if axis in source.axes:
                group = self._groups[loops[source.axes.index(axis)]]
                parts["axes"] += range(len(seen), len(seen) + len(group))
                parts["loops"] += group
            if len(group) > 1:
                whole = (source.offsets[axis], source_sizes[axis], source.strides[axis]) == (0, size, 1)
                require(whole)
                sizes = [self._loops[loop] for loop in group]
                seen += sizes
                parts["sizes"] += sizes
                parts["offsets"] += [0] * len(group)
                parts["strides"] += [1] * len(group)
            else:
                seen.append(size)
                parts["sizes"].append(source_sizes[axis])
                parts["offsets"].append(source.offsets[axis])
                parts["strides"].append(source.strides[axis])
        self._see(source.argument, seen)
        seen_parts = (tuple(parts[name]) for name in ("offsets", "axes", "sizes", "strides"))
        return Loaded(source.argument, *seen_parts), tuple(parts["loops"])

    def _see(self, argument: int, shape: list[int]) -> None:
        """An argument is seen with these axes, and never with others."""
        require(self._shapes.setdefault(argument, shape) == shape)

    def _seen(self, argument: int) -> Type:
        type_ = mlir.ir.RankedTensorType(self._arguments[argument][1])
        return mlir.ir.RankedTensorType.get(self._shapes.get(argument, type_.shape), type_.element_type)

    # -- the op and its results ------------------------------------------------------------------------

    def _element(self, root: Operation, number: int) -> Step:
        """The result `number` of the op."""
        results = len(root.results)
        maps = access_of(root)
        require(maps[-results + number] == tuple(range(len(self._groups))))
        inputs = tuple(
            self._taken(value, loops) for value, loops in zip(root.operands, maps[:-results], strict=False)
        )
        block = root.regions[0].blocks[0]
        *body, last = [each.operation for each in block.operations]
        gathered = {value: source for each in body for value, source in self._checked(each, root)}
        for source in gathered.values():
            self._see(source.argument, [size for size in source.sizes if isinstance(size, int)])
        strided = any(isinstance(s, Loaded) and s.axes and s.strides[s.axes[-1]] != 1 for s, _ in inputs)
        require(bool(gathered) or strided)
        returned = last.operands[number]
        require(is_inside(returned, root) and str(returned.type) in BITS)
        for argument in list(block.arguments)[len(inputs) :]:
            require(not list(argument.uses))
        return Step(inputs, root, returned, True, tuple(self._groups), 0, gathered=gathered)

    def _taken(self, value: Value, loops: tuple[int, ...]) -> tuple[Source, tuple[int, ...]]:
        source = self._known.get(value)
        require(isinstance(source, Loaded | Constant))
        assert isinstance(source, Loaded | Constant)
        if isinstance(source, Constant):
            return source, ()
        source, mine = self._divided(source, loops)
        self._require_along_memory(source, mine)
        return source, mine

    def _written(self, store: Operation) -> tuple[Step, int]:
        step = self._known.get(store.operands[0])
        require(isinstance(step, Step))
        assert isinstance(step, Step)
        require(len(self._whole(store)) == len(self._groups))
        argument = self._array(store.operands[1])
        self._see(argument, list(self._loops))
        return step, argument


def _parts(root: Operation, loop: int, size: int) -> list[int]:
    """What the place of a loop is divided by, with 1 and the loop's size around."""
    ends = {1, size}
    known: dict[Value, tuple[int, int | None]] = {}  # (place // first) % second
    for each in root.regions[0].blocks[0].operations:
        operation = each.operation
        if operation.name == INDEX:
            if int(mlir.ir.IntegerAttr(operation.attributes["dim"]).value) == loop:
                known[operation.results[0]] = (1, None)
        elif operation.name in (*_QUOTIENTS, *_REMAINDERS) and operation.operands[0] in known:
            by = operation.operands[1].owner
            if isinstance(by, mlir.ir.Block) or by.operation.name != "arith.constant":
                continue
            divisor = int(mlir.ir.IntegerAttr(by.operation.attributes["value"]).value)
            first, second = known[operation.operands[0]]
            if divisor < 1 or (second is not None and second % divisor):
                continue
            ends.add(first * divisor)
            is_quotient = operation.name in _QUOTIENTS
            left = second // divisor if second is not None else None
            known[operation.results[0]] = (first * divisor, left) if is_quotient else (first, divisor)
    ordered = sorted(ends)
    divide = all(high % low == 0 for low, high in pairwise(ordered))
    return ordered if divide and ordered[-1] == size else [1, size]
