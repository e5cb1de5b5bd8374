"""Lowering of cumulative ops (cumsum, cumprod, cummax, cummin): prefix scans along an outer axis, in blocks.

Input: a tensor and an axis. Output: the running values along it.
Idea: CPUs and CUDA have kernels of our own (`kernels/running_vectors.py`, `gpu_running.py`). What they do not
take (complex numbers, unknown sizes behind the axis, other targets) is `iree_linalg_ext.scan`, which is
vectorised over the axes inside the one it runs along, so the axis is brought to the front. Where there are
few rows to vectorise over, each is cut into blocks that are scanned like rows. Then the blocks' totals are
scanned, and each block is combined with the total before it. Nothing is multiplied by zero, so that an
infinity reaches only the elements after it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import Cumulative, accumulation_dtype
from ....dialects.types import COMPLEX, FLOAT32, FLOATS
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, Value
from ..iree.extracted_sources import extractable
from ..kernels import running_vectors
from ..kernels.builder import Number
from ..kernels.gpu_running import Running, running_values
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import configuration, gpu_rows, ordering_forms
from .reductions import combine, combine_scalars
from .tensor_ops import (
    collapse_axes,
    convert_elements,
    drop_unit_axes,
    expand_axes,
    extract_slice,
    pad_tensor,
    permute,
)


def lower_cumulative(ctx: LoweringContext, x: Value, *, axis: int, reverse: bool) -> Value:
    """Running values along `axis`, from its end when `reverse`."""
    assert issubclass(ctx.op, Cumulative)
    b, name, dtype = ctx.builder, ctx.op.name, ctx.operand_dtype
    identity = ctx.op.identity(dtype)
    carried = _carried_dtype(name, dtype)
    if ordering_forms.searches_by_kernel(ctx.target, b.shape(x)):
        return _by_kernel(ctx, x, axis, reverse)
    shape = b.shape(x)
    if ordering_forms.runs_by_vectors(ctx.target, shape, axis, carried):
        # IREE expands extrema of halves as if they were scalars: "requires the same shape".
        carried = FLOAT32 if carried in FLOATS and carried.itemsize == 2 else carried
        running = _by_vectors(ctx, convert_elements(b, dtype, carried, x), axis, carried, reverse=reverse)
        return convert_elements(b, carried, dtype, running)
    x = convert_elements(b, dtype, carried, x)
    if reverse:
        x = _reverse_axis(b, x, axis, carried)
    last = len(shape) - 1
    order = [*(a for a in range(len(shape)) if a != axis), axis]
    rows = permute(b, x, order)
    lengths = b.shape(rows)
    groups = [list(range(last)), [last]]
    running = _scan_rows(b, name, collapse_axes(b, rows, groups), identity, carried)
    running = expand_axes(b, running, groups, lengths) if last else drop_unit_axes(b, running, [False, True])
    running = permute(b, running, [order.index(a) for a in range(len(shape))])
    if reverse:
        running = _reverse_axis(b, running, axis, carried)
    return convert_elements(b, carried, dtype, running)


def _by_kernel(ctx: LoweringContext, x: Value, axis: int, reverse: bool) -> Value:
    """Running values by one kernel or two."""
    assert issubclass(ctx.op, Cumulative)
    b, name, dtype, identity = ctx.builder, ctx.op.name, ctx.operand_dtype, ctx.op.identity
    carried = _carried_dtype(name, dtype)
    scalars = Scalars(ctx.target.kind.value)  # one that calls no functions of the module
    how = Running(
        name=f"{name}-{dtype}",
        combine=lambda earlier, here: combine_scalars(scalars, name, carried, earlier, here),
        load=lambda element: scalars.convert(dtype, carried, element),
        store=lambda value: scalars.convert(carried, dtype, value),
        neutral=lambda: scalars.constant(carried, identity(carried)),
        reverse=reverse,
    )
    shape = b.shape(x)
    groups = [list(range(axis)), [axis], list(range(axis + 1, len(shape)))]
    x = collapse_axes(b, x, groups)
    before, size, behind = mlir.ir.RankedTensorType(x.type).shape
    division = gpu_rows.divided(before, size, behind, is_complex=dtype in COMPLEX)
    running = running_values(ctx.kernels, x, how, division, scalars.element_type(carried))
    running = b.bind_shape(running, (before, size, behind))
    kept = drop_unit_axes(b, running, [bool(group) for group in groups]) if not all(groups) else running
    return expand_axes(b, kept, [group for group in groups if group], shape)


def _by_vectors(ctx: LoweringContext, x: Value, axis: int, dtype: np.dtype, *, reverse: bool) -> Value:
    """Running values by the kernel of CPUs."""
    assert issubclass(ctx.op, Cumulative)
    b = ctx.builder
    shape = b.shape(x)
    groups = [list(range(axis)), list(range(axis, len(shape)))]
    rows = collapse_axes(b, x, groups)
    how = running_vectors.Running(
        name=f"{ctx.op.name}-{dtype}",
        combine=_combination(ctx.op.name, dtype),
        neutral=ctx.op.identity(dtype),
        reverse=reverse,
        lanes=ordering_forms.running_lanes(ctx.target, dtype),
    )
    behind = prod(n for n in shape[axis + 1 :] if isinstance(n, int))
    sizes = b.shape(rows)
    running = running_vectors.running_values(ctx.kernels, rows, (sizes[0], sizes[1]), behind, how)
    running = b.bind_shape(running, sizes)
    if not axis:
        running, groups = drop_unit_axes(b, running, [False, True]), groups[1:]
    return expand_axes(b, running, groups, shape)


def _combination(name: str, dtype: np.dtype) -> Callable[[Number, Number], Number]:
    """How numbers of a dtype, and vectors of them, are combined."""
    if name == "cumsum":
        return Number.__add__
    if name == "cumprod":
        return Number.__mul__
    extremum = "max" if name == "cummax" else "min"
    suffix = "imumf" if dtype in FLOATS else "si" if dtype.kind == "i" else "ui"
    build = getattr(mlir.arith, f"{extremum}{suffix}")
    return lambda earlier, here: Number(build(earlier.value, here.value))


def _carried_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """The dtype that running values are computed in."""
    return accumulation_dtype(dtype) if name in ("cumsum", "cumprod") else dtype


def _reverse_axis(b: LinalgBuilder, x: Value, axis: int, dtype: np.dtype) -> Value:
    """`x` with one axis in reverse order."""
    shape = b.shape(x)
    rank = len(shape)
    last = b.size_arithmetic("size_sub", shape[axis], 1)
    x = extractable(b, x)

    def body(_: Value) -> Value:
        at = [mlir.linalg.IndexOp(a).result for a in range(rank)]
        at[axis] = mlir.arith.subi(b.size_value(last), at[axis])
        return mlir.tensor.extract(x, at)

    return b.generic([], [b.empty(shape, dtype)], [b.identity_map(rank)], ["parallel"] * rank, body)


def _scan_rows(b: LinalgBuilder, name: str, x: Value, identity: complex, dtype: np.dtype) -> Value:
    """Running values of each row of a matrix."""
    rows, size = b.shape(x)
    if b.kind is TargetKind.CUDA and isinstance(size, int):
        return _scan_by_doubling(b, name, x, dtype)
    block = configuration.scan_block(rows, size)
    if block is None:
        return permute(b, _emit_scan(b, name, permute(b, x, (1, 0)), 0, identity, dtype), (1, 0))
    count = size // block
    blocks = expand_axes(b, x, [[0], [1, 2]], [rows, count, block])
    blocks = collapse_axes(b, permute(b, blocks, (2, 0, 1)), [[0], [1, 2]])
    within = expand_axes(
        b, _emit_scan(b, name, blocks, 0, identity, dtype), [[0], [1, 2]], [block, rows, count]
    )
    totals = collapse_axes(
        b, extract_slice(b, within, [block - 1, 0, 0], [1, rows, count], [1] * 3), [[0, 1], [2]]
    )
    upto = _scan_rows(b, name, totals, identity, dtype)
    others = extract_slice(b, upto, [0, 0], [rows, count - 1], [1, 1])
    before = pad_tensor(b, others, [0, 1], [0, 0], b.scalars.constant(dtype, identity))
    joined = b.generic(
        [within, before],
        [b.empty([rows, count, block], dtype)],
        [b.axes_map(3, (2, 0, 1)), b.axes_map(3, (0, 1)), b.identity_map(3)],
        ["parallel"] * 3,
        lambda here, earlier, _: combine(b, name, dtype, earlier, here),
    )
    return collapse_axes(b, joined, [[0], [1, 2]])


def _scan_by_doubling(b: LinalgBuilder, name: str, x: Value, dtype: np.dtype) -> Value:
    """Running values of each row of a matrix, by passes over it that reach 1, 2, 4, ... elements back.

    Of rows whose number is not known: kernels of our own have arrays of known sizes. On an NVIDIA H200 IREE's
    scan was wrong for rows of 9 (f64, i64, i8), and took 4 ms for 256 rows of 1,024.
    """
    size = b.shape(x)[1]
    assert isinstance(size, int)
    reach = 1
    while reach < size:
        x = _reaching_back(b, name, x, reach, dtype)
        reach *= 2
    return x


def _reaching_back(b: LinalgBuilder, name: str, x: Value, reach: int, dtype: np.dtype) -> Value:
    """Each element of rows combined with the one `reach` before it, where there is one."""
    source = extractable(b, x)

    def body(here: Value, _: Value) -> Value:
        row, column = (mlir.linalg.IndexOp(axis).result for axis in range(2))
        before = mlir.arith.subi(column, b.size_value(reach))
        has_one = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sge, before, b.size_value(0))
        earlier = mlir.tensor.extract(source, [row, mlir.arith.maxsi(before, b.size_value(0))])
        return mlir.arith.select(has_one, combine(b, name, dtype, earlier, here), here)

    maps = [b.identity_map(2), b.identity_map(2)]
    return b.generic([x], [b.empty(b.shape(x), dtype)], maps, ["parallel"] * 2, body)


def _emit_scan(b: LinalgBuilder, name: str, x: Value, axis: int, identity: complex, dtype: np.dtype) -> Value:
    ir = mlir.ir
    shape = b.shape(x)
    rest = [n for a, n in enumerate(shape) if a != axis]
    start = b.scalars.constant(dtype, identity)
    inits = [b.fill(start, shape, dtype), b.fill(start, rest, dtype)]
    op = ir.Operation.create(
        "iree_linalg_ext.scan",
        results=[v.type for v in inits],
        operands=[x, *inits],
        attributes={
            "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
            "inclusive": ir.BoolAttr.get(True),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 2]),
        },
        regions=1,
    )
    element = ir.RankedTensorType(x.type).element_type
    block = op.regions[0].blocks.append(element, element, arg_locs=[ir.Location.current] * 2)
    with ir.InsertionPoint(block):
        total = combine(b, name, dtype, *block.arguments)
        ir.Operation.create("iree_linalg_ext.yield", operands=[total])
    return b.bind_shape(op.results[0], shape)
