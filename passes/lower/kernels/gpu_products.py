"""The kernel of NVIDIA's GPUs that multiplies matrices of float64 by tensor cores.

Input: arrays `[b, m, k]` and `[b, k, n]`, the last two axes of each in either order, whose sizes a
`TensorBlock` divides. Output: `[b, m, n]`.
Idea: a workgroup computes one block of a result. Its threads copy parts of both operands along `k` to the
workgroup's memory, a few parts ahead of the one that they multiply, and do not wait for the copies
(`cp.async`). Lines of that memory are four numbers longer than they need be, so that the numbers that the
lanes of a warp take lie in different banks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Value
from ..tuning.gpu_products import TensorBlock
from .builder import Array, Number, Place, carried, constant, index, of_workgroup, when
from .executable import Kernel, Kernels, Result, barrier, thread_id, workgroup_id

WARP: Final = 32
ROWS, COLUMNS, TERMS = 8, 8, 4
"""What one instruction multiplies: lane `4 i + j` has number `(i, j)` of the left operand, `(j, i)` of the
right one, and `(i, 2 j)` and `(i, 2 j + 1)` of the sums (PTX ISA, `mma.m8n8k4`)."""
COPIED: Final = 2  # numbers of one copy, of 16 bytes
APART: Final = 4  # numbers that lines are longer


def multiply_on_tensor_cores(
    kernels: Kernels, left: Value, right: Value, block: TensorBlock, *, along_k: tuple[bool, bool]
) -> Value:
    """The products `[b, m, n]`; `along_k`: whether the terms of the left and of the right operand lie side by
    side."""
    count, *of_left = mlir.ir.RankedTensorType(left.type).shape
    _, *of_right = mlir.ir.RankedTensorType(right.type).shape
    rows, depth = of_left if along_k[0] else of_left[::-1]
    columns = of_right[0] if along_k[1] else of_right[1]
    element = mlir.ir.RankedTensorType(left.type).element_type
    type_ = mlir.ir.RankedTensorType.get([count, rows, columns], element)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        x, y = map(Array, operands)
        first = _Operand(x, along_k[0], block.rows, block)
        second = _Operand(y, along_k[1], block.columns, block)
        _Product(block, depth // block.depth, first, second, Array(written[0])).run()

    workgroups = (columns // block.columns, rows // block.rows, count)
    kernel = Kernel(
        "tensor_product", (Result(type_),), emit, (block, along_k), workgroups, threads=block.threads
    )
    return kernels.call(kernel, [left, right])[0]


class _Operand:
    """The part of an operand that a workgroup has in its memory: `width` rows or columns, some terms."""

    def __init__(self, source: Array, along_k: bool, width: int, block: TensorBlock) -> None:
        self.source, self.along_k, self.block = source, along_k, block
        self.lines, length = (width, block.depth) if along_k else (block.depth, width)
        self.copies = length // COPIED
        self.distance = length + APART
        self.size = self.lines * self.distance
        self.kept = of_workgroup(block.stages * self.size, source.element)

    def copy(self, stage: Place, batch: Number, first: Number, term: Place, own: Number) -> None:
        """Begin to copy what a thread has of a part, from a row or column and a term on."""
        for number in range(self.lines * self.copies // self.block.threads):
            mine = own + number * self.block.threads
            line, along = mine // self.copies, mine % self.copies * COPIED
            place = (first + line, along + term) if self.along_k else (line + term, first + along)
            _copy(
                self.kept,
                index(stage) * self.size + line * self.distance + along,
                self.source,
                (batch, *place),
            )

    def numbers(self, stage: Number, first: Number, term: int, lane: Number) -> Number:
        """What a lane has of eight rows or columns and four terms, as an operand of the instruction."""
        own, along = first + lane // TERMS, lane % TERMS + term
        line, place = (own, along) if self.along_k else (along, own)
        return self.kept[stage * self.size + line * self.distance + place]


@dataclass(frozen=True, slots=True)
class _Product:
    """The code of a thread."""

    block: TensorBlock
    parts: int
    left: _Operand
    right: _Operand
    target: Array

    def run(self) -> None:
        """The sums of all parts, and what the thread writes of the block."""
        block, own = self.block, Number(thread_id())
        batch = Number(workgroup_id(2))
        row, column = Number(workgroup_id(1)) * block.rows, Number(workgroup_id(0)) * block.columns
        warp, lane = own // WARP, own % WARP
        down = warp // block.warps_across * block.rows_of_warp
        across = warp % block.warps_across * block.columns_of_warp

        def copy(stage: Place, part: Place) -> None:
            self.left.copy(stage, batch, row, part * block.depth, own)
            self.right.copy(stage, batch, column, part * block.depth, own)

        ahead = block.stages - 1
        for part in range(ahead):
            if part < self.parts:
                copy(part, part)
            group = _end_of_group()

        def step(part: Number, *sums: Number) -> Sequence[Number]:
            _wait_for(group, ahead - 1)
            barrier()
            with when(part + ahead < self.parts):
                copy((part + ahead) % block.stages, part + ahead)
            _end_of_group()
            return self._multiplied(part % block.stages, down, across, lane, sums)

        none = constant(self.target.element, 0.0)
        sums = carried(0, self.parts, [none] * (2 * block.sums), step)
        for number, (first, second) in enumerate(_in_pairs(sums)):
            i, j = divmod(number, block.columns_of_warp // COLUMNS)
            at = row + down + (i * ROWS) + lane // TERMS
            beside = column + across + (j * COLUMNS) + lane % TERMS * 2
            self.target[batch, at, beside] = first
            self.target[batch, at, beside + 1] = second

    def _multiplied(
        self, stage: Number, down: Number, across: Number, lane: Number, sums: Sequence[Number]
    ) -> Sequence[Number]:
        """The sums of a thread after the products of one part."""
        block = self.block
        for term in range(0, block.depth, TERMS):
            rows = [
                self.left.numbers(stage, down + i, term, lane) for i in range(0, block.rows_of_warp, ROWS)
            ]
            columns = [
                self.right.numbers(stage, across + j, term, lane)
                for j in range(0, block.columns_of_warp, COLUMNS)
            ]
            pairs = ((x, y) for x in rows for y in columns)
            added = zip(pairs, _in_pairs(sums), strict=True)
            sums = [each for (x, y), totals in added for each in _product(x, y, totals)]
        return sums


# -- what one instruction does --


def _in_pairs(sums: Sequence[Number]) -> list[tuple[Number, Number]]:
    return list(zip(sums[::2], sums[1::2], strict=True))


def _product(left: Number, right: Number, totals: Sequence[Number]) -> list[Number]:
    """`totals + left @ right` of the lanes of a warp."""
    ir = mlir.ir
    mlir.load_dialect("nvvm")
    mlir.load_dialect("llvm")
    element, place = left.type, ir.DenseI64ArrayAttr.get
    op = ir.Operation.create(
        "nvvm.mma.sync",
        [ir.Type.parse(f"!llvm.struct<({element}, {element})>")],
        [each.value for each in (left, right, *totals)],
        attributes={
            "shape": ir.Attribute.parse(f"#nvvm.shape<m = {ROWS}, n = {COLUMNS}, k = {TERMS}>"),
            "layoutA": ir.Attribute.parse("#nvvm.mma_layout<row>"),
            "layoutB": ir.Attribute.parse("#nvvm.mma_layout<col>"),
            "multiplicandAPtxType": ir.Attribute.parse("#nvvm.mma_type<f64>"),
            "multiplicandBPtxType": ir.Attribute.parse("#nvvm.mma_type<f64>"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 2]),
        },
    )
    return [
        Number(
            ir.Operation.create(
                "llvm.extractvalue", [element], [op.result], attributes={"position": place([k])}
            ).result
        )
        for k in range(2)
    ]


def _copy(target: Array, place: Number, source: Array, places: Sequence[Number]) -> None:
    """Begin to copy 16 bytes to the workgroup's memory."""
    operands = [target.memref, place.value, source.memref, *(each.value for each in places)]
    segments = mlir.ir.DenseI32ArrayAttr.get([1, 1, 1, len(places), 0])
    _nvgpu(
        "device_async_copy",
        [_token()],
        operands,
        dstElements=mlir.ir.IntegerAttr.get(mlir.ir.IndexType.get(), COPIED),
        bypassL1=mlir.ir.UnitAttr.get(),
        operandSegmentSizes=segments,
    )


def _end_of_group() -> Value:
    """The copies that a thread began since the last call are one group."""
    return _nvgpu("device_async_create_group", [_token()], [])


def _wait_for(group: Value, later: int) -> None:
    """Wait for the copies of all groups but the last `later` ones; the op wants a group, whichever."""
    number = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(32), later)
    _nvgpu("device_async_wait", [], [group], numGroups=number)


def _token() -> mlir.ir.Type:
    mlir.load_dialect("nvgpu")
    return mlir.ir.Type.parse("!nvgpu.device.async.token")


def _nvgpu(
    name: str, results: Sequence[mlir.ir.Type], operands: Sequence[Value], **attributes: mlir.ir.Attribute
) -> Value:
    """The result of an op of MLIR's dialect for NVIDIA's GPUs."""
    mlir.load_dialect("nvgpu")
    op = mlir.ir.Operation.create(f"nvgpu.{name}", list(results), list(operands), attributes=attributes)
    return op.results[0] if results else None
