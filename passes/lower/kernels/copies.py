"""The kernel that copies a strided view into a dense array, with zeros around what the view has.

Input: a flat operand and for each axis of the copy its size, its stride in the operand, and the range of
places where the view has elements. Output: the copy, flat. Images are padded and weights are packed by it.
Idea: rows are moved as vectors. Where another axis than the last one lies densely in the operand, squares are
transposed in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..tuning.array_layouts import Layout
from .builder import Array, Number, Place, broadcast, constant, index, loop, when
from .executable import Calls, Kernel, Result, workgroup_id
from .panels import transposed
from .partial_vectors import load_some, store_some


@dataclass(frozen=True, slots=True)
class CopyAxis:
    """An axis of the copy: places `low` to `low + count` are the operand's, `stride` apart; others are 0."""

    size: int
    stride: int
    low: int
    count: int

    @property
    def is_whole(self) -> bool:
        """Whether no place is zero."""
        return self.low == 0 and self.count == self.size


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy: its axes, the first element that it takes, and the width of vectors.

    `tail`: at the last place of the first axis, the last axis has only so many elements before zeros.
    """

    axes: tuple[CopyAxis, ...]
    start: int
    width: int
    tail: int | None = None

    @property
    def workgroups(self) -> int:
        """How many workgroups it takes: one for each place along the first axis."""
        return self.axes[0].size if len(self.axes) > 1 else 1

    def merged(self) -> Copy:
        """The same copy with as few axes as it can have."""
        if self.tail is None:
            return replace(self, axes=merged(self.axes))
        return replace(self, axes=(self.axes[0], *merged(self.axes[1:-1]), self.axes[-1]))

    def for_tail(self) -> Copy:
        """The copy at the last place of the first axis, and there alone."""
        first, *middle, last = self.axes
        assert self.tail is not None
        start = self.start + (first.size - 1) * first.stride
        return replace(
            self, axes=(whole(1, 0), *middle, replace(last, count=self.tail)), start=start, tail=None
        )

    @property
    def size(self) -> int:
        """The elements of the copy."""
        return prod(axis.size for axis in self.axes)


def whole(size: int, stride: int) -> CopyAxis:
    """An axis without zeros."""
    return CopyAxis(size, stride, 0, size)


def merged(axes: Sequence[CopyAxis]) -> tuple[CopyAxis, ...]:
    """The same copy with neighbouring axes made one where the operand has them densely too."""
    kept: list[CopyAxis] = []
    for axis in axes:
        if axis.size == 1 and axis.is_whole:
            continue
        if kept and axis.is_whole and kept[-1].stride == axis.stride * axis.size:
            before, n = kept[-1], axis.size
            kept[-1] = CopyAxis(before.size * n, axis.stride, before.low * n, before.count * n)
        else:
            kept.append(axis)
    return tuple(kept) or (whole(1, 1),)


def copied_array(flat: np.ndarray, copy: Copy) -> np.ndarray:
    """The copy of an array that is known."""
    sizes = [axis.size for axis in copy.axes]
    result = np.zeros(sizes, flat.dtype)
    strides = [axis.stride * flat.itemsize for axis in copy.axes]
    whole_part = replace(copy, tail=None)
    if copy.tail is not None:
        copied = copied_array(flat, copy.for_tail())
        result[-1] = copied.reshape(sizes[1:])
        whole_part = replace(whole_part, axes=(replace(copy.axes[0], count=sizes[0] - 1), *copy.axes[1:]))
    counts = [axis.count for axis in whole_part.axes]
    if 0 not in counts:
        view = np.lib.stride_tricks.as_strided(flat[copy.start :], counts, strides)
        result[tuple(slice(axis.low, axis.low + axis.count) for axis in whole_part.axes)] = view
    return result.reshape(-1)


def copy_strided(kernels: Calls, source: Value, copy: Copy) -> Value:
    """The copy of a flat tensor of f32 or of f64, as a flat tensor."""
    element = mlir.ir.RankedTensorType(source.type).element_type
    out = mlir.ir.RankedTensorType.get([copy.size], element)
    copy = copy.merged()

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Copying(Array(given[0]), Array(written[0]), copy).run()

    kernel = Kernel("copy", (Result(out),), emit, key=copy, workgroups=(copy.workgroups,))
    (result,) = kernels.call(kernel, [source])
    return result


def fill_around(out: Array, layout: Layout, width: int, batch: Number | None, *, has_rows: bool) -> None:
    """Store the zeros around an array; `batch`: those at this place of the outermost axis alone.

    `has_rows`: those before and behind each row are there already.
    """
    sizes = layout.sizes
    axes = [CopyAxis(sizes[a], 0, -layout.ranges[a][0], layout.shape[a]) for a in layout.order]
    start = index(0)
    if batch is not None:
        start = batch * layout.strides[layout.order[0]]
        axes = axes[1:]
    if has_rows:
        axes[-1] = whole(axes[-1].size, 0)
    _Copying(out, out, Copy(tuple(axes), 0, width)).around(axes, start)


@dataclass(frozen=True, slots=True)
class _Copying:
    """The code of a workgroup: one place along the first axis."""

    source: Array
    out: Array
    copy: Copy

    def run(self) -> None:
        """What belongs to the place of the workgroup."""
        axes, number = self.copy.axes, Number(workgroup_id())
        if self.copy.tail is not None:
            last = self.copy.for_tail()
            out = index((axes[0].size - 1) * prod(axis.size for axis in axes[1:]))
            with when(number.equals(axes[0].size - 1)):
                self._axes(last.axes[1:], index(last.start), out)
            if axes[0].size > 1:
                with when(number.differs(axes[0].size - 1)):
                    self._place(number)
            return
        self._place(number)

    def _place(self, number: Number) -> None:
        axes = self.copy.axes
        if len(axes) == 1:
            self._axes(axes, index(self.copy.start), index(0))
            return
        head = axes[0]
        size = prod(axis.size for axis in axes[1:])
        out = number * size
        place = number - head.low
        if head.is_whole:
            self._axes(axes[1:], place * head.stride + self.copy.start, out)
            return
        is_there = place.below(head.count)
        with when(is_there):
            self._axes(axes[1:], place * head.stride + self.copy.start, out)
        with when(is_there.equals(0)):
            self._zeros(out, size)

    def _axes(self, axes: Sequence[CopyAxis], source: Number, out: Number) -> None:
        head, rest = axes[0], axes[1:]
        if not rest:
            self._row(head, source, out)
        elif len(rest) == 1 and head.stride == 1 != rest[0].stride:
            self._square(head, rest[0], source, out)
        else:
            size = prod(axis.size for axis in rest)
            self._zeros(out, head.low * size)
            if head.count == 1:
                self._axes(rest, source, out + head.low * size)
            elif head.count:
                with loop(0, head.count) as place:
                    self._axes(rest, source + place * head.stride, out + (place + head.low) * size)
            self._zeros(out + (head.low + head.count) * size, (head.size - head.low - head.count) * size)

    def around(self, axes: Sequence[CopyAxis], out: Number) -> None:
        """The zeros before and behind what the axes have."""
        if all(axis.is_whole for axis in axes):
            return
        head, rest = axes[0], axes[1:]
        size = prod(axis.size for axis in rest)
        self._zeros(out, head.low * size)
        if head.count == 1:
            self.around(rest, out + head.low * size)
        elif rest:
            with loop(0, head.count) as place:
                self.around(rest, out + (place + head.low) * size)
        self._zeros(out + (head.low + head.count) * size, (head.size - head.low - head.count) * size)

    def _row(self, axis: CopyAxis, source: Number, out: Number) -> None:
        width = self.copy.width
        self._zeros(out, axis.low)
        out = out + axis.low
        if axis.stride == 1:
            whole_part = axis.count // width * width
            for at in self._scan(whole_part, width):
                self.out[out + at] = self.source.vector(width, source + at)
            left = axis.count - whole_part
            if left:
                some = load_some(self.source, width, left, source + whole_part)
                store_some(self.out, some, left, out + whole_part)
        else:
            for at in self._scan(axis.count, 1):
                self.out[out + at] = self.source[source + index(at) * axis.stride]
        self._zeros(out + axis.count, axis.size - axis.low - axis.count)

    def _square(self, dense: CopyAxis, last: CopyAxis, source: Number, out: Number) -> None:
        """`dense` lies densely in the operand, `last` in the copy."""
        width = self.copy.width
        zero = _zero(width, self.out)
        self._zeros(out, dense.low * last.size)
        out = out + dense.low * last.size

        def block(row: Place, rows: int) -> None:
            place = out + index(row) * last.size
            if last.low:
                for r in range(rows):
                    self._zeros(place + r * last.size, last.low)

            def squares(column: Place, columns: int) -> None:
                from_ = source + index(row) + index(column) * last.stride
                vectors = [
                    load_some(self.source, width, rows, from_ + c * last.stride) if c < columns else zero
                    for c in range(width)
                ]
                for r, vector in enumerate(transposed(vectors)[:rows]):
                    store_some(
                        self.out, vector, columns, place + (index(column) + (last.low + r * last.size))
                    )

            whole_part = last.count // width * width
            for column in self._scan(whole_part, width):
                squares(column, width)
            if last.count > whole_part:
                squares(whole_part, last.count - whole_part)
            after = last.size - last.low - last.count
            if after:
                for r in range(rows):
                    self._zeros(place + (r * last.size + last.low + last.count), after)

        whole_part = dense.count // width * width
        for row in self._scan(whole_part, width):
            block(row, width)
        if dense.count > whole_part:
            block(whole_part, dense.count - whole_part)
        self._zeros(out + dense.count * last.size, (dense.size - dense.low - dense.count) * last.size)

    def _zeros(self, out: Number, count: int) -> None:
        """`count` zeros from a place on."""
        width = self.copy.width
        zero = _zero(width, self.out)
        whole_part = count // width * width
        for at in self._scan(whole_part, width):
            self.out[out + at] = zero
        if count > whole_part:
            store_some(self.out, zero, count - whole_part, out + whole_part)

    @staticmethod
    def _scan(size: int, step: int) -> Iterator[Place]:
        """The places below `size`: a loop, or the only one."""
        if size == step:
            yield 0
        elif size:
            with loop(0, size, step) as place:
                yield place


def _zero(width: int, array: Array) -> Number:
    return broadcast(constant(array.element, 0.0), mlir.ir.VectorType.get([width], array.element))
