"""Small tools that the forms of reductions, contractions, convolutions and sorts share.

Scalar constants, conversion between dtypes, collapsing and expanding groups of axes, permuting, padding:
each takes lowered tensors and remembers the shape of what it gives back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX
from ..builder import DYNAMIC, LoweringCore, Size


class RearrangementForms(LoweringCore):
    """Reshaping, permuting, padding, converting."""

    def attribute(self, text: str | None) -> Any:
        """The MLIR attribute written as `text`, None for none."""
        return None if text is None else mlir.ir.Attribute.parse(text, self.context)

    def scalar_constant(self, dtype: np.dtype, value: Any) -> Any:
        """A scalar constant of `dtype`; integers wrap."""
        return self.scalars.constant(dtype, value)

    def repeated_constant(self, value: np.ndarray, shape: Sequence[Size]) -> Any:
        """An array of equal elements; unlike `fill`, IREE can do it for complex128."""
        rank = len(shape)
        maps = [self.axes_map(rank, ()), self.identity_map(rank)]
        init = self.empty(shape, value.dtype)
        made = self.generic([self.constant(value)], [init], maps, ["parallel"] * rank, lambda v, _: v)
        if value.dtype in COMPLEX:
            self.complex_numbers[made] = value.reshape(-1)[0]
        return made

    def convert(self, source: np.dtype, target: np.dtype, x: Any) -> Any:
        """`x` with its elements converted, itself when they already are of dtype `target`."""
        if source == target:
            return x
        shape = self.shape(x)
        maps = [self.identity_map(len(shape))] * 2
        return self.generic(
            [x],
            [self.empty(shape, target)],
            maps,
            ["parallel"] * len(shape),
            lambda element, _: self.scalars.convert(source, target, element),
        )

    def permute(self, x: Any, order: Sequence[int]) -> Any:
        """Axis `i` of the result is axis `order[i]` of `x`; `x` itself where nothing moves."""
        shape = self.shape(x)
        rank = len(shape)
        if list(order) == list(range(rank)):
            return x
        element = mlir.ir.RankedTensorType(x.type).element_type
        init = self.empty_like_element(element, [shape[a] for a in order])
        inverse = [list(order).index(a) for a in range(rank)]
        maps = [self.axes_map(rank, inverse), self.identity_map(rank)]
        return self.generic([x], [init], maps, ["parallel"] * rank, lambda value, _: value)

    def readable(self, x: Any) -> Any:
        """`x` as `tensor.extract` may read it: written to memory before.

        Observed: IREE moves some of what computes `x` into the kernel that extracts from it, such as strided
        slices, and then leaves an `unrealized_conversion_cast`.
        """
        return x if isinstance(x.owner, mlir.ir.Block) else self.materialise(x)

    def empty_like_element(self, element: Any, shape: Sequence[Size]) -> Any:
        """An uninitialised tensor of a given MLIR element type."""
        shape = [self.size(n) for n in shape]
        return self.bind_shape(mlir.tensor.EmptyOp(shape, element).result, shape)

    def product(self, sizes: Sequence[Size]) -> Size:
        """The product of sizes, folded where known."""
        total: Size = 1
        for n in sizes:
            if isinstance(n, int) and n == 1:
                continue
            total = n if isinstance(total, int) and total == 1 else self._times(total, n)
        return total

    def _times(self, m: Size, n: Size) -> Size:
        return self.size(self.size_arithmetic("size_mul", m, n))

    def collapse(self, x: Any, groups: Sequence[Sequence[int]]) -> Any:
        """Merge each group of neighbouring axes into one; an empty group becomes an axis of size 1."""
        shape = self.shape(x)
        if all(len(g) == 1 for g in groups):
            return x
        merged = [self.product([shape[a] for a in g]) for g in groups if g]
        if any(len(g) > 1 for g in groups) or (not merged and shape):
            type_ = self._typed(x, merged)
            rows = [list(g) for g in groups if g]
            x = self.bind_shape(mlir.tensor.collapse_shape(type_, x, rows), merged)
        if all(groups):
            return x
        full = [self.product([shape[a] for a in g]) for g in groups]
        return self.expand(x, units_beside([bool(g) for g in groups]), full)

    def drop_units(self, x: Any, keep: Sequence[bool]) -> Any:
        """`x` without the axes, of size 1, that `keep` is False for."""
        kept = [n for n, here in zip(self.shape(x), keep, strict=True) if here]
        rows = units_beside(keep) if kept else []
        return self.bind_shape(mlir.tensor.collapse_shape(self._typed(x, kept), x, rows), kept)

    def expand(self, x: Any, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Any:
        """The inverse of `collapse`: axis `i` of `x` becomes the axes `groups[i]` of `shape`."""
        shape = [self.size(n) for n in shape]
        if all(len(g) == 1 for g in groups) and len(groups) == len(shape):
            return x
        static = [n if isinstance(n, int) else DYNAMIC for n in shape]
        dynamic = [n for n in shape if not isinstance(n, int)]
        rows = [list(g) for g in groups]
        value = mlir.tensor.expand_shape(self._typed(x, shape), x, rows, dynamic, static)
        return self.bind_shape(value, shape)

    def _typed(self, x: Any, shape: Sequence[Size]) -> Any:
        static = [n if isinstance(n, int) else DYNAMIC for n in shape]
        return mlir.ir.RankedTensorType.get(static, mlir.ir.RankedTensorType(x.type).element_type)

    def pad_with(self, x: Any, low: Sequence[Size], high: Sequence[Size], scalar: Any) -> Any:
        """`tensor.pad` with non-negative amounts."""
        low, high = [self.size(n) for n in low], [self.size(n) for n in high]
        if all(isinstance(n, int) and n == 0 for n in (*low, *high)):
            return x
        shape = [
            self._plus(self._plus(n, before), after)
            for n, before, after in zip(self.shape(x), low, high, strict=True)
        ]
        ir = mlir.ir
        element = ir.RankedTensorType(x.type).element_type
        if isinstance(element, ir.ComplexType):
            # IREE 3.13 crashes on a tensor.pad of complex elements.
            whole = mlir.linalg.fill(scalar, outs=[self.empty_like_element(element, shape)])
            return self.insert(x, self.bind_shape(whole, shape), low, [1] * len(shape))
        sizes = [[n if isinstance(n, int) else DYNAMIC for n in part] for part in (low, high)]
        values = [[n for n in part if not isinstance(n, int)] for part in (low, high)]
        op = mlir.tensor.PadOp(self._typed(x, shape), x, *values, *sizes)
        index = ir.IndexType.get(self.context)
        rank = len(shape)
        block = op.regions[0].blocks.append(*[index] * rank, arg_locs=[ir.Location.current] * rank)
        with ir.InsertionPoint(block):
            mlir.tensor.yield_(scalar)
        return self.bind_shape(op.result, shape)

    def _plus(self, m: Size, n: Size) -> Size:
        if isinstance(n, int) and n == 0:
            return m
        return self.size(self.size_arithmetic("size_add", m, n))

    def window(self, x: Any, offsets: Sequence[Size], sizes: Sequence[Size], strides: Sequence[int]) -> Any:
        """`tensor.extract_slice`; the caller answers for its bounds."""
        offsets, sizes = [self.size(n) for n in offsets], [self.size(n) for n in sizes]
        static = [[n if isinstance(n, int) else DYNAMIC for n in part] for part in (offsets, sizes)]
        values = [[n for n in part if not isinstance(n, int)] for part in (offsets, sizes)]
        type_ = self._typed(x, sizes)
        value = mlir.tensor.extract_slice(type_, x, values[0], values[1], [], *static, list(strides))
        return self.bind_shape(value, sizes)

    def insert(self, part: Any, whole: Any, offsets: Sequence[Size], strides: Sequence[int]) -> Any:
        """`tensor.insert_slice` of all of `part`; the caller answers for its bounds."""
        offsets, sizes = [self.size(n) for n in offsets], self.shape(part)
        static = [[n if isinstance(n, int) else DYNAMIC for n in group] for group in (offsets, sizes)]
        values = [[n for n in group if not isinstance(n, int)] for group in (offsets, sizes)]
        value = mlir.tensor.insert_slice(part, whole, values[0], values[1], [], *static, list(strides))
        return self.bind_shape(value, self.shape(whole))


def units_beside(present: Sequence[bool]) -> list[list[int]]:
    """Reassociation that puts an axis of size 1 wherever `present` is False."""
    groups: list[list[int]] = []
    waiting: list[int] = []
    for position, here in enumerate(present):
        if here:
            groups.append([*waiting, position])
            waiting = []
        elif groups:
            groups[-1].append(position)
        else:
            waiting.append(position)
    return groups
