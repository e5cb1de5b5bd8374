"""The builder of the code of a loop that becomes one kernel: tensors, and scalars where one will do.

Input and output: as `LinalgBuilder`. Idea: an array of one element is `tensor.from_elements` of a scalar, so
that what follows from it is scalar code; nothing has a barrier, a tile or a copy for a buffer of its own,
since bufferization decides what is updated in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....runtime.targets import TargetKind
from ...builder import DYNAMIC, Attribute, Body, LinalgBuilder, ScalarRule, Size, Value
from ...forms.movement import reshape as reshape_at_call
from ...named_ops import filled
from ...scalars import Scalars
from .counted import Counted

if TYPE_CHECKING:
    from iree.compiler import ir


@dataclass(frozen=True, slots=True)
class Progression:
    """The numbers `first + step * k` of a vector, of an MLIR integer type."""

    first: int
    step: int


class KernelBuilder(LinalgBuilder):
    """Emits the code of a loop on tensors.

    `progressions` holds the vectors whose elements follow from their position, `repeated` the arrays of
    dynamic sizes whose elements are one number; `counted` has, by the symbols
    of their condition and body, the whiles that count. Numbers are computed as on a device of `kind`; what
    is done to arrays is as for a CPU.
    """

    repeats_ops = False

    def __init__(
        self,
        context: ir.Context,
        counted: Mapping[tuple[str, str], Counted],
        kind: TargetKind = TargetKind.CPU,
    ) -> None:
        super().__init__(context, TargetKind.CPU)
        self.scalars = Scalars(kind.value)
        self.counted = counted
        self.progressions: dict[Value, Progression] = {}
        self.repeated: dict[Value, Value] = {}

    # -- single elements -----------------------------------------------------------------------

    def is_single(self, x: Value) -> bool:
        """Whether an array has one element."""
        return all(n == 1 for n in x.type.shape)

    def element(self, x: Value) -> Value:
        """The only element of an array."""
        owner = x.owner
        if not isinstance(owner, mlir.ir.Block) and owner.operation.name == "tensor.from_elements":
            (scalar,) = owner.operation.operands
            return scalar
        return mlir.tensor.extract(x, [self.size_value(0)] * len(x.type.shape))

    def single(self, scalar: Value, shape: Sequence[Size]) -> Value:
        """The array of `shape`, all sizes 1, of one element."""
        type_ = mlir.ir.RankedTensorType.get([1] * len(shape), scalar.type)
        return mlir.tensor.from_elements(type_, [scalar])

    def host_number(self, scalar: Value, dtype: np.dtype) -> Value:
        return self.single(scalar, ())

    # -- what IREE's host needs and a kernel does not -------------------------------------------

    def materialise(self, x: Value) -> Value:
        return x

    def materialise_opaque(self, x: Value) -> Value:
        return x

    # -- arrays --------------------------------------------------------------------------------

    def constant(self, array: np.ndarray) -> Value:
        """A constant; one of equal elements is filled, a vector in even steps is remembered."""
        flat = array.reshape(-1)
        if flat.size and flat.tobytes() == flat[:1].tobytes() * flat.size:
            scalar = self.scalars.constant(array.dtype, flat[0])
            if flat.size == 1:
                return self.single(scalar, array.shape)
            return self.fill(scalar, array.shape, array.dtype)
        value = super().constant(array)
        if array.ndim == 1 and array.dtype.kind in "iu":
            steps = np.diff(array.astype(object))
            if (steps == steps[0]).all():
                self.progressions[value] = Progression(int(array[0]), int(steps[0]))
        return value

    def _complex_constant(self, array: np.ndarray) -> Value:
        real, imaginary = self.constant(array.real.copy()), self.constant(array.imag.copy())
        return self.map_elements(
            array.dtype, lambda s, dtypes, re, im: s.complex(dtypes[0], re, im), real, imaginary
        )

    def generics(
        self,
        inputs: Sequence[Value],
        inits: Sequence[Value],
        maps: Sequence[Attribute],
        iterators: Sequence[str],
        body: Body,
        configuration: Attribute | None = None,
    ) -> tuple[Value, ...]:
        """A `linalg.generic` whose body captures inputs of one element; without loops, the body itself."""
        captured = {k: self.element(v) for k, v in enumerate(inputs) if self.is_single(v)}
        if not iterators:
            elements = [captured[k] for k in range(len(inputs))]
            yielded = body(*elements, *(self.element(v) for v in inits))
            values = [yielded] if isinstance(yielded, mlir.ir.Value) else list(yielded)
            return tuple(self.single(v, ()) for v in values)
        kept = [k for k in range(len(inputs)) if k not in captured]

        def inner(*scalars: Value) -> Value | Sequence[Value]:
            rest = iter(scalars)
            elements = [captured[k] if k in captured else next(rest) for k in range(len(inputs))]
            return body(*elements, *rest)

        kept_maps = [*(maps[k] for k in kept), *maps[len(inputs) :]]
        return super().generics([inputs[k] for k in kept], inits, kept_maps, iterators, inner)

    def elementwise(
        self,
        rule: ScalarRule,
        dtypes: tuple[np.dtype, ...],
        result: np.dtype,
        operands: Sequence[Value],
        attributes: Mapping[str, object],
    ) -> Value:
        """As its base, for one element by scalar code alone."""
        shape = self.merged_shape(*operands)

        def body(*scalars: Value) -> Value:
            return rule(self.scalars, dtypes, *scalars[: len(operands)], **attributes)

        operands = [self.retype(v, shape) for v in operands]
        if self.is_single(operands[0]):
            return self.single(body(*map(self.element, operands)), shape)
        maps = [self.identity_map(len(shape))] * (len(operands) + 1)
        return self.generic(operands, [self.empty(shape, result)], maps, ["parallel"] * len(shape), body)

    def empty_like(self, x: Value, shape: Sequence[Size]) -> Value:
        """An uninitialised tensor with the element type of `x`."""
        return self.empty_of_element(x.type.element_type, shape)

    # -- windows -------------------------------------------------------------------------------

    def window(
        self, x: Value, offsets: Sequence[Size], sizes: Sequence[Size], strides: Sequence[int] | None = None
    ) -> Value:
        """`x` at `sizes` positions from `offsets` on, which the caller knows to be inside."""
        strides = strides or [1] * len(sizes)
        if all(n == 1 for n in sizes):
            return self.single(mlir.tensor.extract(x, [self.size_value(n) for n in offsets]), sizes)
        return self._extract(x, offsets, sizes, strides, list(sizes))

    def repeat(self, scalar: Value, shape: Sequence[Size]) -> Value:
        """The array of `shape` all of whose elements are one number."""
        if all(n == 1 for n in shape):
            return self.single(scalar, shape)
        whole = filled(scalar, self.empty_of_element(scalar.type, shape))
        if not whole.type.has_static_shape:
            self.repeated[whole] = scalar
        return self.bind_shape(whole, shape)

    def row(self, x: Value, position: Value) -> Value:
        """`x[position]`."""
        progression = self.progressions.get(x)
        shape = list(self.shape(x))
        if progression is not None:
            element = x.type.element_type
            count = mlir.arith.index_cast(element, position)
            step = mlir.arith.constant(element, progression.step)
            first = mlir.arith.constant(element, progression.first)
            return self.single(mlir.arith.addi(mlir.arith.muli(count, step), first), ())
        if x in self.repeated:
            return self.repeat(self.repeated[x], shape[1:])
        if all(n == 1 for n in shape[1:]):
            at = [position, *[self.size_value(0)] * (len(shape) - 1)]
            return self.single(mlir.tensor.extract(x, at), shape[1:])
        ones = [1] * len(shape)
        return self._extract(x, [position, *[0] * (len(shape) - 1)], [1, *shape[1:]], ones, shape[1:])

    def _extract(
        self,
        x: Value,
        offsets: Sequence[Size],
        sizes: Sequence[Size],
        strides: Sequence[int],
        shape: Sequence[Size],
    ) -> Value:
        (places, at), (counts, many) = _mixed(offsets), _mixed(sizes)
        type_ = mlir.ir.RankedTensorType.get(_mixed(shape)[0], x.type.element_type)
        part = mlir.tensor.extract_slice(type_, x, at, many, [], places, counts, list(strides))
        return self.bind_shape(part, shape)

    def insert(
        self, part: Value, whole: Value, offsets: Sequence[Size], strides: Sequence[int] | None = None
    ) -> Value:
        """`whole` with `part` from `offsets` on, which the caller knows to fit."""
        shape = list(self.shape(part))
        strides = strides or [1] * len(shape)
        if all(n == 1 for n in shape):
            at = [self.size_value(n) for n in offsets]
            return mlir.tensor.insert(self.element(part), whole, at)
        return self.insert_part(
            self.reshape(part, [n for n in shape if n != 1]), whole, offsets, shape, strides
        )

    def insert_part(
        self,
        part: Value,
        whole: Value,
        offsets: Sequence[Size],
        sizes: Sequence[Size],
        strides: Sequence[int],
    ) -> Value:
        """`whole` with a window replaced by `part`, which may lack axes of size 1."""
        (places, at), (counts, many) = _mixed(offsets), _mixed(sizes)
        inserted = mlir.tensor.insert_slice(part, whole, at, many, [], places, counts, list(strides))
        return self.bind_shape(inserted, self.shape(whole))

    def reshape(self, x: Value, shape: Sequence[Size]) -> Value:
        """`x` in another shape of as many elements, as a view; a check where that shows at the call."""
        source = list(self.shape(x))
        if source == list(shape):
            return x
        if self.is_single(x) and all(n == 1 for n in shape):
            return self.single(self.element(x), shape)
        owner = None if isinstance(x.owner, mlir.ir.Block) else x.owner.operation
        if not all(isinstance(n, int) for n in (*source, *shape)):
            if (
                owner is not None
                and owner.name == "tensor.extract_slice"
                and self._drops_units(source, shape)
            ):
                return self.bind_shape(self._extract_again(owner, shape), shape)
            return reshape_at_call(self, x, shape)
        if owner is None:
            return self._regroup(x, source, list(shape))
        if owner.name == "tensor.expand_shape" and list(owner.operands[0].type.shape) == list(shape):
            return owner.operands[0]
        if owner.name == "tensor.extract_slice" and self._drops_units(source, shape):
            return self._extract_again(owner, shape)
        return self._regroup(x, source, list(shape))

    @staticmethod
    def _drops_units(source: Sequence[Size], shape: Sequence[Size]) -> bool:
        return [n for n in source if n != 1] == list(shape)

    def _extract_again(self, owner: mlir.ir.Operation, shape: Sequence[Size]) -> Value:
        """A slice without its axes of size 1, which buffers have as a view where they have no reshape."""
        type_ = mlir.ir.RankedTensorType.get(_mixed(shape)[0], owner.results[0].type.element_type)
        names = ("static_offsets", "static_sizes", "static_strides", "operandSegmentSizes")
        attributes = {name: owner.attributes[name] for name in names}
        return mlir.ir.Operation.create(
            "tensor.extract_slice", results=[type_], operands=list(owner.operands), attributes=attributes
        ).results[0]

    def _regroup(self, x: Value, source: list[int], shape: list[int]) -> Value:
        groups = list(_common_groups(source, shape))
        middle = [int(np.prod([source[a] for a in before])) for before, _ in groups]
        if middle != source:
            type_ = mlir.ir.RankedTensorType.get(middle, x.type.element_type)
            x = mlir.tensor.collapse_shape(type_, x, [before for before, _ in groups])
        if middle != shape:
            type_ = mlir.ir.RankedTensorType.get(shape, x.type.element_type)
            x = mlir.tensor.expand_shape(type_, x, [after for _, after in groups], [], shape)
        return x


def _mixed(sizes: Sequence[Size]) -> tuple[list[int], list[Value]]:
    """Sizes as attributes of ops have them, and the values of the dynamic ones."""
    return [n if isinstance(n, int) else DYNAMIC for n in sizes], [n for n in sizes if not isinstance(n, int)]


def _common_groups(source: Sequence[int], shape: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Neighbouring axes of both shapes that have as many elements; no size is 0."""
    i = j = 0
    while i < len(source) or j < len(shape):
        before, after = [i] if i < len(source) else [], [j] if j < len(shape) else []
        m, n = source[i] if before else 1, shape[j] if after else 1
        i, j = i + 1, j + 1
        while m != n:
            if m < n:
                before.append(i)
                m, i = m * source[i], i + 1
            else:
                after.append(j)
                n, j = n * shape[j], j + 1
        is_last = all(k == 1 for k in source[i:]) and all(k == 1 for k in shape[j:])
        if is_last:
            before += range(i, len(source))
            after += range(j, len(shape))
            i, j = len(source), len(shape)
        yield before, after
