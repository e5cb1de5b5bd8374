"""The pass `matrix-sweeps`: products of a matrix with two vectors, from both sides, as one sweep over rows.

Input: adze IR with a plan. Output: the same, where a `flow.dispatch` computes both `a @ x` and `r @ a`. The
vector `r` may be there before, or follow from `a @ x` element by element, as in the gradient of a linear
model: `a.T @ f(a @ x)`. Matrices that a near cache holds, other dtypes than f32 and f64, and GPUs keep their
ops.
Idea: what both products wait for is the matrix, which is loaded once this way. The ops that the kernel
applies to the sums of rows stay where others use their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.builder.core import Application
from ....dialects.builder.emitter import Emitter, Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.op import DIALECT, Op
from ....dialects.ops.constants import Constant
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.shape.rearrange import BroadcastInDim
from ....dialects.types import BOOL, FLOAT32, FLOAT64, INTEGERS, TensorType
from ....runtime.targets import Target
from ...base import Pass, names_of
from ...ir.aliases import Operation, Value
from ...ir.functions import body, functions, referenced
from ..plan import target_of
from ..tuning.configuration import has_kernels
from ..tuning.sweep_tiles import SweepTiles, sweep_tiles
from .epilogues import CODE, COMPARE
from .executable import Kernels
from .loops.select import KERNEL, marked
from .swept_rows import RowCode, Step, sweep_rows

_PRODUCT: Final = f"{DIALECT}.{DotGeneral.name}"
ROWS, COLUMNS = 1, 0
"""The axis of the matrix that a product sums over: `a @ x` along its rows, `r @ a` along its columns."""
_OTHERS: Final = ("and", "ceil", "convert", "floor", "is_finite", "not", "or", "round", "sign", "sqrt", "xor")
QUICK: Final = frozenset({*CODE, COMPARE, *_OTHERS})
"""Elementwise ops of a few operations."""
MOST_STEPS: Final = 40
MOST_ARRAYS: Final = 8
MOST_MOVED: Final = 32
ARRAYS: Final = frozenset({FLOAT32, FLOAT64}) | INTEGERS
"""Dtypes of arrays with an element for each row."""
NUMBERS: Final = ARRAYS | {BOOL}
"""Dtypes of what follows from them."""


@dataclass(frozen=True)
class MatrixSweeps(Pass):
    """Replace two products of a matrix with vectors, from both sides, by one sweep over its rows."""

    name = "matrix-sweeps"
    needs = names_of(DotGeneral)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there were such products."""
        target = target_of(module)
        if not has_kernels(target):
            return False
        kernels, found = Kernels(module), False
        inside = _inside_kernels(module)
        for symbol, function in functions(module).items():
            if symbol in inside:
                continue
            products = [c.operation for c in body(function).operations if c.operation.name == _PRODUCT]
            if len(products) > 1:
                found |= _Sweeps(target, kernels, body(function)).replace(products)
        return found


def _inside_kernels(module: mlir.ir.Module) -> set[str]:
    """The functions that are, or will be, parts of kernels of loops."""
    reader, known = Reader(Codec(module.context)), functions(module)
    reached: set[str] = set()
    pending = [function for symbol, function in known.items()]
    while pending:
        function = pending.pop()
        is_inside = mlir.ir.StringAttr(function.attributes["sym_name"]).value in reached
        for child in body(function).operations:
            application = reader.read_if(child.operation, lambda op: op.refers_to_functions)
            if application is None or not (is_inside or (marked(child.operation) or "").startswith(KERNEL)):
                continue
            for symbol in referenced(application):
                if symbol not in reached:
                    reached.add(symbol)
                    pending.append(known[symbol])
    return reached


def _only_computes(op: type[Op]) -> bool:
    return not op.has_effect and not op.refers_to_functions


@dataclass(frozen=True, slots=True)
class _Product:
    """The product of a matrix with a vector; `along` is the axis of the matrix that is summed over."""

    operation: Operation
    matrix: Value
    vector: Value
    along: int


@dataclass(frozen=True, slots=True)
class _Row:
    """What the number of a row follows from: its code, and the arrays that have an element for each row."""

    code: RowCode
    arrays: tuple[Value, ...]

    @property
    def functions(self) -> int:
        """How many of its ops take many operations each, as `exp` does."""
        return sum(step.name not in QUICK for step in self.code.steps)


class _Sweeps:
    """The products of one function."""

    def __init__(self, target: Target, kernels: Kernels, block: mlir.ir.Block) -> None:
        self.target, self.kernels, self.block = target, kernels, block
        self.codec = Codec(kernels.module.context)
        self.reader = Reader(self.codec)

    def replace(self, operations: Sequence[Operation]) -> bool:
        """Replace each two that go together; whether there were some."""
        products = [product for operation in operations if (product := self._product(operation)) is not None]
        columns: dict[Value, list[_Product]] = {}
        for product in products:
            if product.along == COLUMNS:
                columns.setdefault(product.matrix, []).append(product)
        found = False
        for rows in products:
            others = columns.get(rows.matrix, []) if rows.along == ROWS else []
            replaced = next((each for each in others if self._replace_both(rows, each)), None)
            if replaced is not None:
                others.remove(replaced)
                found = True
        return found

    def _product(self, operation: Operation) -> _Product | None:
        application = self.reader.read(operation)
        assert application is not None
        left, right = operation.operands
        types = [self.codec.read_type(value.type) for value in (left, right, operation.results[0])]
        contracting, batch = application.attributes["contracting"], application.attributes["batch"]
        if any(map(len, batch)) or len({t.dtype for t in types if isinstance(t, TensorType)}) != 1:
            return None
        ranks = tuple(t.rank for t in types if isinstance(t, TensorType))
        if ranks not in ((2, 1, 1), (1, 2, 1)):
            return None
        number = ranks.index(2)
        matrix, vector = (left, right) if number == 0 else (right, left)
        if self._is_computed(matrix):
            return None
        return _Product(operation, matrix, vector, contracting[number][0])

    def _is_computed(self, matrix: Value) -> bool:
        """Whether a matrix is computed element by element, which IREE does where it is loaded."""
        if isinstance(matrix.owner, mlir.ir.Block):
            return False
        return self.reader.read_if(matrix.owner.operation, lambda op: issubclass(op, Elementwise)) is not None

    def _replace_both(self, rows: _Product, columns: _Product) -> bool:
        """Replace `a @ x` and `r @ a`, if one sweep may compute both."""
        type_ = self.codec.read_type(rows.matrix.type)
        assert isinstance(type_, TensorType)
        count, size = type_.static_shape
        if count is None or size is None or sweep_tiles(self.target, count, size, type_.dtype) is None:
            return False
        row = _Numbers(self.reader, rows.operation.results[0]).of(columns.vector)
        if row is None:
            return False
        tiles = sweep_tiles(self.target, count, size, type_.dtype, row.functions)
        if tiles is None:
            return False
        before = self._place(rows, columns, row)
        if before is None:
            return False
        self._emit(rows, columns, row, tiles, before)
        return True

    def _place(self, rows: _Product, columns: _Product, row: _Row) -> Operation | None:
        """The first op that needs what a sweep computes; None if the sweep needs what follows from it.

        What else the sweep needs, and comes later, is moved before that op.
        """
        order = {child.operation: number for number, child in enumerate(self.block.operations)}
        both = (rows.operation, columns.operation)
        users = [self._of_block(use.owner.operation) for each in both for use in each.results[0].uses]
        first = min(users, key=order.__getitem__, default=None)
        if first is None:
            return None
        late: set[Operation] = set()
        pending = [rows.matrix, rows.vector, *row.arrays]
        while pending:
            owner = pending.pop().owner
            if isinstance(owner, mlir.ir.Block):
                continue
            operation = owner.operation
            if operation in both:
                return None
            if order[operation] < order[first]:
                continue
            if not self._may_move(operation) or len(late) == MOST_MOVED:
                return None
            if operation not in late:
                late.add(operation)
                pending += operation.operands
        for operation in sorted(late, key=order.__getitem__):
            operation.move_before(first)
        return first

    def _may_move(self, operation: Operation) -> bool:
        """Whether an op does nothing but compute its results."""
        return self.reader.read_if(operation, _only_computes) is not None

    def _of_block(self, operation: Operation) -> Operation:
        """The op of the function's own block that an op is, or is part of."""
        while operation.block != self.block:
            operation = operation.parent.operation
        return operation

    def _emit(
        self, rows: _Product, columns: _Product, row: _Row, tiles: SweepTiles, before: Operation
    ) -> None:
        point = mlir.ir.InsertionPoint(before)
        with point, columns.operation.location:
            emitter = Emitter(self.codec, point, columns.operation.location)
            count, size = emitter.tensor_type(rows.matrix).static_shape
            matrix = emitter.reshape(rows.matrix, shape=(1, count, size))
            vector = emitter.reshape(rows.vector, shape=(1, size))
            sums, partial = sweep_rows(self.kernels, matrix, vector, row.arrays, row.code, tiles)
            products = (
                (rows, emitter.reshape(sums, shape=(count,))),
                (columns, emitter.reduce_sum(partial, axes=(0,))),
            )
        for product, result in products:
            product.operation.results[0].replace_all_uses_with(result)
            product.operation.erase()


class _Numbers:
    """What the numbers of rows follow from, `total` being the sums of the rows."""

    def __init__(self, reader: Reader, total: Value) -> None:
        self.reader, self.total = reader, total
        self.arrays: list[Value] = []
        self.constants: dict[Value, tuple[np.dtype, object]] = {}
        self.inside: dict[Value, Application | None] = {}
        """What follows from the total, in order."""

    def of(self, vector: Value) -> _Row | None:
        """The code and the arrays of a vector of numbers; None where no kernel computes it."""
        if not self._visit(vector):
            return None
        every = [self.total, *self.arrays, *self.constants]
        steps: list[Step] = []
        for value, application in self.inside.items():
            if application is None:
                continue
            dtypes = tuple(self._type(operand).dtype for operand in application.operands)
            operands = tuple(map(every.index, application.operands))
            steps.append(Step(application.op.name, operands, dtypes, tuple(application.attributes.items())))
            every.append(value)
        constants = tuple(self.constants.values())
        return _Row(
            RowCode(len(self.arrays), constants, tuple(steps), every.index(vector)), tuple(self.arrays)
        )

    def _type(self, value: Value) -> TensorType:
        type_ = self.reader.codec.read_type(value.type)
        assert isinstance(type_, TensorType)
        return type_

    def _visit(self, value: Value) -> bool:
        """Note a value and what it follows from; whether a kernel may compute it."""
        if value in self.inside or value in self.constants or value in self.arrays:
            return True
        if value == self.total:
            self.inside[value] = None
            return True
        application = self._elementwise(value)
        if application is not None and len(self.inside) < MOST_STEPS and self._follows(value, MOST_STEPS):
            if not all(map(self._visit, application.operands)):
                return False
            self.inside[value] = application
            return True
        constant = self._constant(value)
        if constant is not None:
            self.constants[value] = constant
            return True
        self.arrays.append(value)
        return len(self.arrays) <= MOST_ARRAYS and self._type(value).dtype in ARRAYS

    def _elementwise(self, value: Value) -> Application | None:
        if isinstance(value.owner, mlir.ir.Block):
            return None
        application = self.reader.read_if(value.owner.operation, lambda op: issubclass(op, Elementwise))
        if application is None or any(
            self._type(v).dtype not in NUMBERS for v in (value, *application.operands)
        ):
            return None
        return application

    def _follows(self, value: Value, most: int) -> bool:
        """Whether a value follows from the total through up to `most` elementwise ops."""
        if value == self.total:
            return True
        application = self._elementwise(value) if most else None
        return application is not None and any(self._follows(v, most - 1) for v in application.operands)

    def _constant(self, value: Value) -> tuple[np.dtype, object] | None:
        """The dtype and the number of a constant of one number, repeated or not."""
        if isinstance(value.owner, mlir.ir.Block):
            return None
        application = self.reader.read(value.owner.operation)
        if application is not None and application.op is BroadcastInDim:
            return self._constant(application.operands[0])
        if application is None or application.op is not Constant:
            return None
        array = Constant.evaluate(**application.attributes)
        return (array.dtype, array.item()) if array.ndim == 0 and array.dtype in NUMBERS else None
