"""The pass `split-lanes`: loops over rows of a few elements become loops over the columns, each a vector.

Input: a module of adze ops. Output: the same; a scan or while that carries rows, each of which is computed
from itself (a batch of small states, as `vmap` makes them), carries one vector for each column of them, and
what it was given and returns is taken apart before and put together behind. Idea: so each element of the
vectors runs by itself, and `select-loops` finds that out; where it would not, the loop stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from .....dialects.types import TensorType
from ....base import Pass, names_of
from ....ir.aliases import Operation, Value
from ....ir.functions import body, functions, is_private
from ....optimize.simplify import drop_unreferenced
from .columns import LEAST_ROWS, ColumnFunctions, NoColumns
from .errors import KernelError
from .pointwise.single import single_element
from .select import is_loop, why_no_kernels

MOST_COLUMNS: Final = 24
"""Of all that a loop carries: more are too many registers."""


@dataclass(frozen=True)
class SplitLanes(Pass):
    """Write loops over rows that are computed each for itself as loops over their columns."""

    name = "split-lanes"
    needs = names_of(Scan, While)
    kernels: str = "on"

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a loop was rewritten."""
        if why_no_kernels(module, self.kernels == "on") is not None:
            return False
        reader, is_changed = Reader(Codec(module.context)), False
        for function in functions(module).values():
            if is_private(function):
                continue
            for child in list(body(function).operations):
                application = reader.read_if(child.operation, is_loop)
                if application is not None:
                    is_changed |= _split(module, child.operation, application, reader)
        if is_changed:
            drop_unreferenced(module, reader)
        return is_changed


def _split(module: mlir.ir.Module, loop: Operation, application: Application, reader: Reader) -> bool:
    by_symbol = functions(module)
    if _runs_by_itself(loop, by_symbol, reader):
        return False
    before = [each.operation for each in loop.block.operations]
    try:
        results = _Splitter(module, by_symbol, reader, application).rewritten(loop)
        new = next(each for each in _added(loop, before) if each.name == loop.name)
        is_split = _runs_by_itself(new, functions(module), reader)
    except NoColumns:
        is_split = False
    if not is_split:
        for operation in reversed(_added(loop, before)):
            operation.erase()
        drop_unreferenced(module, reader)
        return False
    for old, result in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(result)
    loop.erase()
    return True


def _added(loop: Operation, before: Sequence[Operation]) -> list[Operation]:
    return [each.operation for each in loop.block.operations if each.operation not in before]


def _runs_by_itself(loop: Operation, by_symbol: Mapping[str, Operation], reader: Reader) -> bool:
    try:
        single_element(loop, by_symbol, reader, has_dynamic=False)
    except KernelError:
        return False
    return True


class _Splitter:
    """One loop, written over columns."""

    def __init__(
        self,
        module: mlir.ir.Module,
        by_symbol: Mapping[str, Operation],
        reader: Reader,
        loop: Application,
    ) -> None:
        self._reader = reader
        self._loop = loop
        self._module = module
        self._rows = self._count_rows()
        self._functions = ColumnFunctions(module, by_symbol, reader, self._rows)

    def _count_rows(self) -> int:
        """How many rows there are: what all that is carried has first."""
        shapes = [self._type(v).shape for v in self._carried()]
        found = {shape[0] for shape in shapes if shape}
        rows = max((n for n in found if isinstance(n, int)), default=0)
        if rows < LEAST_ROWS:
            raise NoColumns(f"it carries fewer than {LEAST_ROWS} rows")
        return rows

    def _carried(self) -> Sequence[Value]:
        loop, attributes = self._loop, self._loop.attributes
        if loop.op is While:
            return loop.operands[attributes["condition_constants"] + attributes["body_constants"] :]
        first = attributes["constant_count"]
        return loop.operands[first : first + attributes["carry_count"]]

    def _type(self, value: Value) -> TensorType:
        type_ = self._reader.codec.read_type(value.type)
        if not isinstance(type_, TensorType) or not type_.is_static:
            raise NoColumns("it has sizes that are known only when it runs")
        return type_

    def rewritten(self, loop: Operation) -> list[Value]:
        """The results of the loop over columns, put together; all of it is emitted before `loop`."""
        b = Emitter(self._reader.codec, mlir.ir.InsertionPoint(loop), loop.location)
        scanned = len(self._loop.operands)
        if self._loop.op is Scan:
            scanned = self._loop.attributes["constant_count"] + self._loop.attributes["carry_count"]
        taken: dict[tuple[Value, bool], list[Value]] = {}
        operands: list[list[Value]] = []
        for position, value in enumerate(self._loop.operands):
            key = (value, position >= scanned)
            if key not in taken:
                taken[key] = self._taken_apart(b, value, is_scanned=position >= scanned)
            operands.append(taken[key])
        carried = self._carried()
        first = len(operands) - len(carried) if self._loop.op is While else scanned - len(carried)
        count = sum(map(len, operands[first : first + len(carried)]))
        if count > MOST_COLUMNS:
            raise NoColumns(f"it carries {count} columns, more than {MOST_COLUMNS}")
        outputs = iter(self._functions.loop(b, self._loop, operands))
        results = []
        for position, result in enumerate(loop.results):
            type_ = self._type(result)
            is_stack = self._loop.op is Scan and position >= self._loop.attributes["carry_count"]
            columns = self._functions.columns_of(type_.shape[1:] if is_stack else type_.shape)
            parts = [next(outputs) for _ in range(columns.count)]
            results.append(_put_together(b, parts, type_))
        return results

    def _taken_apart(self, b: Emitter, value: Value, *, is_scanned: bool) -> list[Value]:
        """The columns of an operand, of each step where it is scanned over."""
        type_ = self._type(value)
        leading = type_.shape[:1] if is_scanned else ()
        columns = self._functions.columns_of(type_.shape[len(leading) :])
        kept = (*leading, self._rows) if columns.is_of_rows else leading
        if columns.count == 1:
            return [b.reshape(value, shape=kept)]
        flat = b.reshape(value, shape=(*kept, columns.count))
        last = len(kept)
        return [
            b.reshape(
                b.slice(flat, start=(*[0] * last, k), limit=(*kept, k + 1), strides=(1,) * (last + 1)),
                shape=kept,
            )
            for k in range(columns.count)
        ]


def _put_together(b: Emitter, parts: Sequence[Value], type_: TensorType) -> Value:
    """An array of its columns."""
    if len(parts) == 1:
        return b.reshape(parts[0], shape=type_.shape)
    shape = b.tensor_type(parts[0]).shape
    columns = [b.reshape(part, shape=(*shape, 1)) for part in parts]
    return b.reshape(b.concatenate(*columns, axis=len(shape)), shape=type_.shape)
