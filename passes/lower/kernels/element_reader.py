"""Reads kernels of IREE's phase `flow` that compute elements of what lies elsewhere in their arrays, or of
their places as floats, or as many elements as show at the call.

Input: the function of a kernel. Output: a `ReductionProgram` without reductions, or None for another kind.
Idea: IREE makes the loops of such a kernel one loop, whose place is divided again where elements are taken.
What it is divided by says which loops there were; the arrays that the loop goes over are seen with an axis
for each of them. A loop that is one alone is divided as well, so that several workgroups share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from ..tuning.row_tiles import piece_of
from .computed_places import INDEX, Affine, Known, Places
from .copied_elements import GATHER, copy_of, rows_at_places
from .counted_sizes import Counted, Size
from .loop_parts import PLACES, Parts, Product
from .reduction_programs import BITS, Constant, Loaded, Parameter, ReductionProgram, Scalar, Source, Step
from .reduction_reader import Reader, is_inside
from .tensor_sizes import GENERIC, STORE, OfAnotherKind, access_of, kinds_of, require


def read_elements(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where a known number of elements lie where it goes."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    for is_shared in (True, False):  # parts of an array that cannot be divided have one workgroup
        try:
            return _ElementReader(is_shared).program(blocks[0])
        except OfAnotherKind:
            continue
    return None


class _ElementReader(Reader):
    """What is known of the values of a kernel, and how the loops of its only op are divided."""

    def __init__(self, is_shared: bool) -> None:
        super().__init__()
        self._is_shared = is_shared
        self._loops: tuple[Size, ...] = ()
        self._groups: list[tuple[int, ...]] = []
        self._shapes: dict[int, list[Size]] = {}
        self._places: dict[Value, Affine] = {}

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        stores = [each for each in operations if each.name == STORE]
        for operation in operations:
            self._tensors.note_tensor(operation)
            if operation.name not in (GENERIC, STORE, GATHER):
                self._note(operation)
        generics = [each for each in operations if each.name == GENERIC]
        require(len(generics) == 1 if generics else len(stores) == 1)
        root = generics[0] if generics else self._copied(stores[0])
        self._divide(root)
        steps = tuple(self._element(root, number) for number in range(len(root.results)))
        if generics:
            self._known.update(zip(root.results, steps, strict=True))
        else:
            self._known[stores[0].operands[0]] = steps[0]
        arguments = [self._written(each) for each in stores]
        self._require_stored([argument for _, argument in arguments])
        return ReductionProgram(
            self._seen(), self._sizes, (), steps, tuple(arguments), self._places, self._numbers
        )

    def _copied(self, store: Operation) -> Operation:
        """An op that computes what a kernel stores as it is, of elements that do not lie side by side, or of
        rows at places that are read."""
        value = store.operands[0]
        mlir.load_dialects(value.type.context)
        # Where it turns out that IREE's kernel stays, nothing uses these ops.
        if not isinstance(value.owner, mlir.ir.Block) and value.owner.name == GATHER:
            made = rows_at_places(value.owner.operation)
            require(made is not None)
            assert made is not None
            return made
        source = self._known.get(value)
        require(isinstance(source, Loaded))
        assert isinstance(source, Loaded)
        require(bool(source.axes) and source.strides[source.axes[-1]] != 1)
        return copy_of(store)

    def _is_known(self, operation: Operation) -> bool:
        """Also the quotients and remainders that say which loops there were."""
        if super()._is_known(operation) and operation.name != INDEX:
            return True
        places, known = Places(self._loops, self._groups), dict(self._places)
        return len(operation.results) == 1 and _is_sum(operation, places, known)

    def _require_along_memory(self, source: Loaded, loops: tuple[int, ...]) -> None:
        """What differs along the last loop lies along memory, at equal distances."""
        last = len(self._sizes) - 1
        if last in loops:
            require(loops.index(last) == len(loops) - 1 and source.axes[-1] == len(source.offsets) - 1)

    # -- loops -----------------------------------------------------------------------------------------

    def _divide(self, root: Operation) -> None:
        """The loops of the program, and which of them each loop of the op is."""
        require(set(kinds_of(root)) == {"parallel"})
        sizes = [self._tensors.representative(size) for size in self._tensors.of_loops(root)]
        found: list[Size] = []
        for loop, size in enumerate(sizes):
            parts = Parts(root, loop, self._product(size), self._products())
            mine = [size] if parts.sizes is None else parts.sizes
            if self._is_shared and mine == [size] and len(sizes) == 1 and isinstance(size, int):
                piece = piece_of(size)
                mine = [size // piece, piece] if piece else mine
            for value, part in parts.places.items():
                self._places[value] = Affine(0, {len(found) + part: 1})
            self._groups.append(tuple(range(len(found), len(found) + len(mine))))
            found += mine
        self._sizes = self._loops = tuple(found)
        self._kept = tuple(range(len(found)))
        self._places |= self._known_numbers()

    def _product(self, size: Size) -> Product:
        """A size as a product of sizes."""
        if isinstance(size, int):
            return Product(size)
        terms = self._passed.get(size, {})
        ((factors, times),) = terms.items() if len(terms) == 1 else [((size,), 1)]
        sizes = [self._tensors.representative(each) for each in factors]
        known = [each for each in sizes if isinstance(each, int)]
        return Product(times * prod(known), tuple(sorted(s for s in sizes if isinstance(s, Counted))))

    def _products(self) -> dict[Value, Product]:
        """The numbers of the workload as products."""
        return {value: self._product(number) for value, number in self._tensors.numbers.items()}

    def _divided(self, source: Loaded, loops: Sequence[int]) -> tuple[Loaded, tuple[int, ...]]:
        """A part of an argument as the program's loops go over it; `loops`: those of the op."""
        shape = self._sizes_of(source.argument)
        seen: list[Size] = []
        offsets: list[Size] = []
        axes: list[int] = []
        sizes: list[Size] = []
        strides: list[int] = []
        mine: list[int] = []
        for axis, size in enumerate(shape):
            group: tuple[int, ...] = ()
            if axis in source.axes:
                group = self._groups[loops[source.axes.index(axis)]]
                axes += range(len(seen), len(seen) + len(group))
                mine += group
            if len(group) > 1:
                first, step = source.offsets[axis], source.strides[axis]
                parts = [self._loops[loop] for loop in group]
                sizes += parts
                if step == 1:
                    require(first == 0 and self._tensors.are_equal([source.sizes[axis]], [size]))
                else:  # the element at the same place of each `step`
                    count, fastest = source.sizes[axis], parts[-1]
                    require(isinstance(first, int) and first < step and isinstance(fastest, int))
                    assert isinstance(fastest, int)
                    require(isinstance(count, int) and size == count * step)
                    parts = [*parts[:-1], fastest * step]
                seen += parts
                offsets += [*[0] * (len(group) - 1), first]
                strides += [*[1] * (len(group) - 1), step]
            else:
                seen.append(size)
                sizes.append(source.sizes[axis])
                offsets.append(source.offsets[axis])
                strides.append(source.strides[axis])
        self._see(source.argument, seen)
        return Loaded(source.argument, tuple(offsets), tuple(axes), tuple(sizes), tuple(strides)), tuple(mine)

    def _see(self, argument: int, shape: Sequence[Size]) -> None:
        """An argument is seen with these axes, and never with others."""
        kept = [self._tensors.representative(size) for size in shape]
        require(self._shapes.setdefault(argument, kept) == kept)

    def _seen(self) -> tuple[Parameter, ...]:
        """What is passed, arrays with the axes that they are seen with."""
        found, numbers = [], iter(range(len(self._arguments)))
        for each in self._parameters:
            if each.type is not None:
                shape = self._shapes.get(argument := next(numbers), self._sizes_of(argument))
                element = mlir.ir.RankedTensorType(each.type).element_type
                dynamic = mlir.ir.ShapedType.get_dynamic_size()
                sizes = [size if isinstance(size, int) else dynamic for size in shape]
                counted = tuple(size for size in shape if isinstance(size, Counted))
                each = Parameter(mlir.ir.RankedTensorType.get(sizes, element), counted)
            found.append(each)
        return tuple(found)

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
            self._see(source.argument, source.sizes)
        strided = any(isinstance(s, Loaded) and s.axes and s.strides[s.axes[-1]] != 1 for s, _ in inputs)
        counted = any(isinstance(size, Counted) for size in self._sizes)
        numbered = any(o.name == "arith.sitofp" and str(o.operands[0].type) == "i64" for o in body)
        require(bool(gathered) or strided or counted or numbered)
        returned = last.operands[number]
        require(is_inside(returned, root) and str(returned.type) in BITS)
        for argument in list(block.arguments)[len(inputs) :]:
            require(not list(argument.uses))
        return Step(inputs, root, returned, True, tuple(self._groups), 0, gathered=gathered)

    def _taken(self, value: Value, loops: tuple[int, ...]) -> tuple[Source, tuple[int, ...]]:
        source = self._known.get(value)
        require(isinstance(source, Loaded | Constant | Scalar))
        assert isinstance(source, Loaded | Constant | Scalar)
        if isinstance(source, Constant | Scalar):
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


def _is_sum(operation: Operation, places: Places, known: Known) -> bool:
    """Whether an op computes a sum of multiples of places, or what only such sums are computed of."""
    (result,) = operation.results
    if places.of(result, known) is not None:
        return True
    users = [use.owner for use in result.uses]
    return operation.name in PLACES and all(
        len(user.results) == 1 and _is_sum(user, places, known) for user in users
    )
