"""Forms that read and write at positions given by arrays: dynamic slices, gather, scatter.

Indices are clamped (or masked) before they are used, since IREE reads and writes wherever they point.
Whole rows go through `iree_linalg_ext.gather`, everything else through one `linalg.generic` with
`tensor.extract`. Every scatter becomes an `iree_linalg_ext.scatter` over linear positions, of rows where
windows are rows and else of single elements; out-of-range updates are masked off. Its updates are applied
in order, so that duplicates are deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.ops.indexing.windows import WindowMap, scatter_window
from ....dialects.types import BOOL, INT64, TensorType
from ..builder import Size
from ..iree.overwritten_arguments import OwnershipForms
from ..tuning import configuration
from .movement import MovementForms


class IndexingForms(MovementForms, OwnershipForms):
    """Dynamic slices, gather, scatter."""

    def dynamic_slice(self, x: Any, starts: Sequence[Any], sizes: Sequence[Size]) -> Any:
        """`tensor.extract_slice` at clamped offsets."""
        sizes = [self.size(n) for n in sizes]
        if 0 in sizes:
            return self._empty_like(x, sizes)
        offsets = self._clamped_offsets(self.shape(x), starts, sizes, self.operand_types[1:])
        return self.window(x, offsets, sizes, [1] * len(sizes))

    def dynamic_update_slice(self, x: Any, update: Any, starts: Sequence[Any]) -> Any:
        """`tensor.insert_slice` at clamped offsets."""
        sizes = self.shape(update)
        if 0 in sizes:
            return x
        if sizes == self.shape(x):
            return update
        x = self.owned(x, self.result_type.dtype)
        offsets = self._clamped_offsets(self.shape(x), starts, sizes, self.operand_types[2:])
        return self.insert(update, x, offsets, [1] * len(sizes))

    def _clamped_offsets(
        self, shape: Sequence[Size], starts: Sequence[Any], window: Sequence[Size], types: Sequence[Any]
    ) -> list[Size]:
        offsets: list[Size] = []
        for axis, (n, start, size, type_) in enumerate(zip(shape, starts, window, types, strict=False)):
            self.require_order(size, n, f"adze: the window exceeds axis {axis} of the array")
            if size == n:
                offsets.append(0)
                continue
            last = self._calculated("size_sub", n, size)
            offsets.append(self._clamped(type_.dtype, mlir.tensor.extract(start, []), last)[0])
        return offsets

    def _clamped(self, dtype: np.dtype, index: Any, last: Size) -> tuple[Any, Any]:
        """An index scalar moved into ``0 .. last``, as an `index` value, and whether it was there."""
        arith = mlir.arith
        i64 = self.scalars.element_type(INT64)
        wide = (
            index
            if dtype.itemsize == 8
            else (arith.extui(i64, index) if dtype.kind == "u" else arith.extsi(i64, index))
        )
        most = arith.index_cast(i64, self.size_value(last))
        if dtype.kind == "u":
            clamped = arith.minui(wide, most)
        else:
            clamped = arith.maxsi(arith.minsi(wide, most), arith.constant(i64, 0))
        inside = arith.cmpi(arith.CmpIPredicate.eq, clamped, wide)
        return arith.index_cast(mlir.ir.IndexType.get(self.context), clamped), inside

    # -- gather --------------------------------------------------------------------------------

    def gather(
        self, x: Any, indices: Any, numbers: WindowMap, window: Sequence[Size], fill: np.ndarray | None
    ) -> Any:
        """Rows by `iree_linalg_ext.gather` (a copy of each), windows of any other kind element by element."""
        window = [self.size(n) for n in window]
        shape = self.shape(x)
        result = [self.size(n) for n in numbers.result_shape(self.shape(indices), window)]
        self._require_window(shape, window, numbers, result)
        self._require_batching(x, indices, numbers)
        if 0 in result:
            return self._empty_like(x, result)
        if 0 in shape:  # in mode fill, or where the result turns out to be empty when the program runs
            dtype = self.result_type.dtype
            value = np.zeros((), dtype) if fill is None else fill
            return self.fill(self.scalars.constant(dtype, value[()]), result, dtype)
        can = configuration.gathers_rows(self.target, self.result_type.dtype)
        if can and self._is_rows(shape, numbers, window):
            return self._gather_rows(x, indices, numbers, result, fill)
        return self._gather_elements(x, indices, numbers, window, result, fill)

    def _require_window(
        self, shape: Sequence[Size], window: Sequence[Size], numbers: WindowMap, result: Sequence[Size]
    ) -> None:
        """Windows fit; an axis that the result lacks has an element, if the result has one."""
        for axis, (n, size) in enumerate(zip(shape, window, strict=True)):
            least = size
            if axis in numbers.hidden and not isinstance(n, int):
                least = self._calculated("size_min", 1, self.product(result))
            self.require_order(least, n, f"adze: the window exceeds axis {axis} of the array")

    def _require_batching(self, x: Any, indices: Any, numbers: WindowMap) -> None:
        sizes, others = self.shape(x), self.shape(indices)
        for axis, other in zip(numbers.operand_batching, numbers.indices_batching, strict=True):
            self.require_equal(sizes[axis], others[other], "adze: sizes of axes that run together differ")

    @staticmethod
    def _is_rows(shape: Sequence[Size], numbers: WindowMap, window: Sequence[Size]) -> bool:
        """Whether each window is a whole contiguous row: indexed axes first, all others complete."""
        indexed = len(numbers.start_index_map)
        leading = list(range(indexed))
        return (
            0 < indexed < numbers.rank
            and sorted(numbers.start_index_map) == leading
            and sorted(numbers.collapsed) == leading
            and not numbers.operand_batching
            and list(numbers.batch_axes) == list(range(numbers.indices_rank - 1))
            and all(m == n for m, n in zip(window[indexed:], shape[indexed:], strict=True))
        )

    def _gather_rows(
        self,
        x: Any,
        indices: Any,
        numbers: WindowMap,
        result: Sequence[Size],
        fill: np.ndarray | None,
    ) -> Any:
        shape = self.shape(x)
        indexed = len(numbers.start_index_map)
        rows = self.reshape(x, [self.product(shape[:indexed]), *shape[indexed:]])
        batch = self.shape(indices)[:-1]
        where, inside = self._linear_positions(
            indices, _of_rows(numbers), shape[:indexed], [1] * indexed, batch
        )
        if not batch:
            where = self.reshape(where, [1])
        if not all(isinstance(n, int) for n in self.shape(rows)):
            # Observed: IREE keeps what computes the rows on the stack ("exceeded stack allocation limit").
            rows = self.materialise(rows)
        init = self._empty_like(x, result if batch else [1, *result])
        gathered = mlir.ir.Operation.create(
            "iree_linalg_ext.gather",
            results=[init.type],
            operands=[rows, where, init],
            attributes={"dimension_map": mlir.ir.DenseI64ArrayAttr.get([0], self.context)},
        ).result
        # Observed: fused with a slice or a reverse of it, it is refused ("'vector.store' op write affecting
        # operations on global resources are restricted to workgroup distributed contexts").
        gathered = self.materialise(self.bind_shape(gathered, self.shape(init)))
        if not batch:
            gathered = self.reshape(gathered, result)
        return gathered if fill is None else self._filled(gathered, inside, len(batch), fill)

    def _filled(self, x: Any, inside: Any, batch_rank: int, fill: np.ndarray) -> Any:
        """`x` where its leading coordinates are inside, `fill` elsewhere."""
        shape = self.shape(x)
        rank = len(shape)

        def body(element: Any, here: Any, _: Any) -> Any:
            return mlir.arith.select(here, element, self.scalars.constant(fill.dtype, fill[()]))

        maps = [self.identity_map(rank), self.axes_map(rank, range(batch_rank)), self.identity_map(rank)]
        return self.generic([x, inside], [self.empty(shape, fill.dtype)], maps, ["parallel"] * rank, body)

    def _gather_elements(
        self,
        x: Any,
        indices: Any,
        numbers: WindowMap,
        window: Sequence[Size],
        result: Sequence[Size],
        fill: np.ndarray | None,
    ) -> Any:
        x = self.readable(x)
        shape = self.shape(x)
        rank = len(result)
        lasts = self._last_starts(numbers, shape, window)
        init = self._empty_like(x, result)
        dtype = self.result_type.dtype

        def body(*scalars: Any) -> Any:
            position, inside = self._position(numbers, self._index_dtype, scalars[:-1], lasts)
            element = mlir.tensor.extract(x, position)
            if fill is None or inside is None:
                return element
            return mlir.arith.select(inside, element, self.scalars.constant(dtype, fill[()]))

        columns = self._columns(indices, len(numbers.start_index_map))
        maps = [self.axes_map(rank, numbers.batch_axes)] * len(columns)
        gathered = self.generic(columns, [init], [*maps, self.identity_map(rank)], ["parallel"] * rank, body)
        # Observed: IREE's aggressive fusion overlooks what a body captures and moves readers of the elements
        # before what they were taken from ("operand #0 does not dominate this use").
        return gathered if isinstance(x.owner, mlir.ir.Block) else self.materialise(gathered)

    @property
    def _index_dtype(self) -> np.dtype:
        """The dtype of the indices: operand 1 of gather and scatter."""
        type_ = self.operand_types[1]
        assert isinstance(type_, TensorType)
        return type_.dtype

    def _columns(self, indices: Any, count: int) -> list[Any]:
        """One tensor of batch shape for each of the `count` entries of the index vectors."""
        *batch, entries = self.shape(indices)
        self.require_equal(entries, count, "adze: the index vectors have the wrong number of entries")
        if count == 1:
            return [self.reshape(indices, batch)]
        columns = []
        for k in range(count):
            column = self.window(indices, [0] * len(batch) + [k], [*batch, 1], [1] * (len(batch) + 1))
            columns.append(self.reshape(column, batch))
        return columns

    def _last_starts(
        self, numbers: WindowMap, shape: Sequence[Size], window: Sequence[Size]
    ) -> dict[int, Any]:
        """For each indexed axis, the last position at which a window may start."""
        return {
            axis: self.size_value(self._calculated("size_sub", shape[axis], window[axis]))
            for axis in numbers.start_index_map
        }

    def _position(
        self, numbers: WindowMap, dtype: np.dtype, scalars: Sequence[Any], lasts: dict[int, Any]
    ) -> tuple[list[Any], Any]:
        """Inside a generic over the result: the operand's coordinates, and whether the window is inside."""
        arith = mlir.arith
        position: list[Any] = []
        inside = None
        for axis, (component, along, _) in enumerate(numbers.coordinates()):
            coordinate = None if along is None else mlir.linalg.IndexOp(along).result
            if component is not None:
                start, here = self._clamped(dtype, scalars[component], lasts[axis])
                inside = here if inside is None else arith.andi(inside, here)
                coordinate = start if coordinate is None else arith.addi(coordinate, start)
            position.append(self.size_value(0) if coordinate is None else coordinate)
        return position, inside

    def _linear_positions(
        self,
        indices: Any,
        numbers: WindowMap,
        shape: Sequence[Size],
        window: Sequence[Size],
        result: Sequence[Size],
    ) -> tuple[Any, Any]:
        """Row-major positions in `shape` (i64) and whether they are inside (i1), as tensors."""
        arith = mlir.arith
        rank = len(result)
        lasts = self._last_starts(numbers, shape, window)
        sizes = [self.size_value(n) for n in shape]
        i64 = self.scalars.element_type(INT64)

        def body(*scalars: Any) -> Any:
            position, inside = self._position(numbers, self._index_dtype, scalars[:-2], lasts)
            linear = None
            for coordinate, n in zip(position, sizes, strict=True):
                linear = coordinate if linear is None else arith.addi(arith.muli(linear, n), coordinate)
            linear = self.size_value(0) if linear is None else linear
            return arith.index_cast(i64, linear), self._true() if inside is None else inside

        columns = self._columns(indices, len(numbers.start_index_map))
        maps = [self.axes_map(rank, numbers.batch_axes)] * len(columns)
        maps = [*maps, self.identity_map(rank), self.identity_map(rank)]
        inits = [self.empty(result, INT64), self.empty(result, BOOL)]
        where, inside = self.generic(columns, inits, maps, ["parallel"] * rank, body)
        return where, inside

    def _true(self) -> Any:
        return self.scalars.constant(BOOL, True)

    # -- scatter -------------------------------------------------------------------------------

    def scatter(
        self,
        x: Any,
        indices: Any,
        updates: Any,
        numbers: WindowMap,
        *,
        kind: str,
        drop: bool,
        unique: bool,
    ) -> Any:
        """`iree_linalg_ext.scatter` of rows or of elements to linear positions, in the updates' order."""
        shape, update_shape = self.shape(x), self.shape(updates)
        window = scatter_window(numbers, update_shape)
        self._require_window(shape, window, numbers, update_shape)
        self._require_batching(x, indices, numbers)
        for axis, n in zip(numbers.batch_axes, self.shape(indices)[:-1], strict=True):
            self.require_equal(update_shape[axis], n, "adze: sizes of the indices and the updates differ")
        if 0 in shape or 0 in update_shape:
            return x
        indexed = len(shape)
        if self._is_rows(shape, numbers, window):
            indexed = len(numbers.start_index_map)
            numbers = _of_rows(numbers)
        row = shape[indexed:]
        positions = update_shape[: len(update_shape) - len(row)]
        where, inside = self._linear_positions(indices, numbers, shape[:indexed], window[:indexed], positions)
        count = self.product(positions)
        operands = [self.reshape(updates, [count, *row]), self.reshape(where, [count, 1])]
        if drop:
            operands.append(self.reshape(inside, [count]))
        # Observed: IREE fuses what computes indices or updates into the scatter, keeps its whole result on
        # the stack there, and then refuses it for dynamic sizes ("unbounded stack allocations"). And where it
        # learns a size of one of them it refuses the scatter ("mismatch in shape of indices and update").
        operands = [self.retype(v, self.shape(v)) for v in operands]
        is_static = all(isinstance(n, int) for v in operands for n in self.shape(v))
        operands = [self.materialise(v) if is_static else self.hidden(v) for v in operands]
        x = self.owned(x, self.result_type.dtype)
        target = self.reshape(x, [self.product(shape[:indexed]), *row])
        return self.reshape(self._scatter(kind, operands, target, unique), shape)

    def _scatter(self, kind: str, operands: Sequence[Any], target: Any, unique: bool) -> Any:
        ir = mlir.ir
        dtype = self.result_type.dtype
        op = ir.Operation.create(
            "iree_linalg_ext.scatter",
            results=[target.type],
            operands=[*operands, target],
            attributes={
                "dimension_map": ir.DenseI64ArrayAttr.get([0], self.context),
                "unique_indices": ir.BoolAttr.get(unique, self.context),
            },
            regions=1,
        )
        element = ir.RankedTensorType(target.type).element_type
        location = ir.Location.current
        block = op.regions[0].blocks.append(element, element, arg_locs=[location, location])
        with ir.InsertionPoint(block):
            update, present = block.arguments
            combined = update if kind == "set" else getattr(self.scalars, kind)(dtype, present, update)
            ir.Operation.create("iree_linalg_ext.yield", operands=[combined])
        return self.bind_shape(op.result, self.shape(target))


def _of_rows(numbers: WindowMap) -> WindowMap:
    """The map of a gather or scatter of rows, restricted to the axes that are indexed."""
    indexed = len(numbers.start_index_map)
    return WindowMap(
        indexed, numbers.indices_rank, (), tuple(range(indexed)), numbers.start_index_map, (), ()
    )
