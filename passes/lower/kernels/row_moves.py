"""The pass `row-moves`: chains of ops that put whole rows of one array elsewhere become one copy each.

Input: adze IR with a plan. Output: the same, where a `flow.dispatch` copies what transposes, reversals,
slices, reshapes and joined parts of one array (`roll`) made of it. Short rows and GPUs keep their ops.
Idea: the chain is evaluated on the places of elements instead of elements. Places that follow one another are
a row; where rows begin is a table of the kernel, without what repeats along the outermost axes (a batch).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.builder.emitter import Emitter, Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.dialect import OPS
from ....dialects.op import DIALECT
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.shape.rearrange import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from ....dialects.ops.shape.slicing import Slice
from ....dialects.types import BOOL, FLOATS, INTEGERS, TensorType
from ....runtime.targets import Target
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import body, functions
from ..plan import target_of
from ..tuning.configuration import has_kernels
from .builder import Array, Number, loop
from .executable import Kernel, Kernels, Result, workgroup_id
from .loops.times import elements
from .partial_vectors import load_some, store_some

_ROOTS: Final = frozenset(f"{DIALECT}.{op.name}" for op in (Transpose, Concatenate, Reverse))
_NAMES: Final = _ROOTS | {f"{DIALECT}.{op.name}" for op in (Slice, Reshape, BroadcastInDim)}
_RESHAPE: Final = f"{DIALECT}.{Reshape.name}"
_JOINING: Final = frozenset({f"{DIALECT}.{Concatenate.name}"})
_ELEMENTWISE: Final = frozenset(f"{DIALECT}.{op.name}" for op in OPS if issubclass(op, Elementwise))
DTYPES: Final = FLOATS | INTEGERS | {BOOL}
LEAST_ELEMENTS: Final = 1 << 10
MOST_ELEMENTS: Final = 1 << 23
"""Of arrays whose places are computed here, in 32 bits."""
LEAST_ROW: Final = 32
"""Bytes of a row that is worth a place in the table."""
MOST_ROWS: Final = 1 << 16
"""Of the table."""
WORKGROUP: Final = 1 << 16
"""Bytes that a workgroup copies."""
UNROLLED: Final = 8
"""Vectors of a row that need no loop."""


@dataclass(frozen=True)
class RowMoves(Pass):
    """Replace chains of ops that put whole rows of one array elsewhere by one copy each."""

    name = "row-moves"
    needs = _NAMES
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there was such a chain."""
        target = target_of(module)
        if not has_kernels(target):
            return False
        codec, kernels = Codec(module.context), Kernels(module)
        found = False
        for function in functions(module).values():
            chains = Chains(codec, Reader(codec))
            for operation in reversed([child.operation for child in body(function).operations]):
                if operation.name not in _NAMES:
                    continue
                if not any(True for _ in operation.results[0].uses):  # of a chain that was replaced
                    operation.erase()
                    continue
                rows = chains.rows(operation)
                if rows is not None:
                    found = True
                    _replace(kernels, target, chains, operation, rows)
        return found


def _replace(kernels: Kernels, target: Target, chains: Chains, operation: Operation, rows: Rows) -> None:
    (result,) = operation.results
    source = chains.source(result)
    with mlir.ir.InsertionPoint(operation), operation.location:
        emitter = Emitter(chains.codec, mlir.ir.InsertionPoint(operation), operation.location)
        flat = emitter.reshape(source, shape=(elements(emitter.tensor_type(source)),))
        copied = copy_rows(kernels, flat, rows, target)
        moved = emitter.reshape(copied, shape=emitter.tensor_type(result).static_shape)
    result.replace_all_uses_with(moved)
    operation.erase()


@dataclass(frozen=True, slots=True)
class _Chain:
    """Ops that move one array: the array, how many of them move rows, whether they join parts of it."""

    source: Value
    moves: int = 0
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of `length` elements that begin at `starts`; all of them `count` times, `step` elements apart."""

    length: int
    starts: np.ndarray
    count: int
    step: int


@dataclass(slots=True)
class Chains:
    """The chains of the ops of one function; `known` are those behind values."""

    codec: Codec
    reader: Reader
    known: dict[Value, _Chain] = field(default_factory=dict)

    def source(self, value: Value) -> Value:
        """The array that a chain moves which ends here."""
        return self._chain(value).source

    def rows(self, operation: Operation) -> Rows | None:
        """The rows that a chain puts elsewhere which ends here, None where it stays."""
        if operation.name not in _ROOTS:
            return None
        (result,) = operation.results
        type_ = self._copied(result)
        if type_ is None or elements(type_) < LEAST_ELEMENTS:
            return None
        chain = self._chain(result)
        if not chain.moves or not self._is_worth(result, chain):
            return None
        rows = rows_of(self._places(result, chain.source))
        if rows is None or rows.length * type_.dtype.itemsize < LEAST_ROW or len(rows.starts) > MOST_ROWS:
            return None
        return rows

    @staticmethod
    def _is_worth(result: Value, chain: _Chain) -> bool:
        """Whether IREE would make several kernels of a chain, or one that does no more than copy."""
        if chain.moves > 1 and chain.is_joined:
            return True
        owner = chain.source.owner
        is_computed = not isinstance(owner, mlir.ir.Block) and owner.operation.name in _ELEMENTWISE
        return _is_returned(result) and not is_computed

    def _chain(self, value: Value) -> _Chain:
        """The ops that made a value of one array: none, where it is no such array."""
        if value not in self.known:
            self.known[value] = self._through(value) or _Chain(value)
        return self.known[value]

    def _through(self, value: Value) -> _Chain | None:
        if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name not in _NAMES:
            return None
        if any(self._copied(each) is None for each in (value, *value.owner.operation.operands)):
            return None
        parts = [self._chain(operand) for operand in value.owner.operation.operands]
        if any(part.source != parts[0].source for part in parts):
            return None
        name = value.owner.operation.name
        moves = max(part.moves for part in parts) + (name in _ROOTS)
        return _Chain(parts[0].source, moves, name in _JOINING or any(part.is_joined for part in parts))

    def _places(self, value: Value, source: Value) -> np.ndarray:
        """Which element of `source` each of a value is, for a chain behind it."""
        if value == source:
            sizes = value.type.shape
            return np.arange(prod(sizes), dtype=np.int32).reshape(sizes)
        application = self.reader.read(value.owner.operation)
        assert application is not None
        parts = [self._places(operand, source) for operand in application.operands]
        return np.asarray(application.op.evaluate(*parts, **application.attributes))

    def _copied(self, value: Value) -> TensorType | None:
        """The type of an array of known sizes whose elements are copied as numbers, None of others."""
        type_ = self.codec.read_type(value.type)
        if not isinstance(type_, TensorType) or not type_.is_static or elements(type_) > MOST_ELEMENTS:
            return None
        return type_ if type_.dtype in DTYPES else None


def before_reshapes(value: Value) -> Value:
    """What a value is a reshape of, itself where it is none's."""
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name == _RESHAPE:
        value = value.owner.operation.operands[0]
    return value


def _is_returned(value: Value) -> bool:
    """Whether `return` is the only user, also of what is reshaped."""
    users = [use.owner.operation for use in value.uses]
    return all(
        user.name == "func.return" or (user.name == _RESHAPE and _is_returned(user.results[0]))
        for user in users
    )


def rows_of(places: np.ndarray) -> Rows | None:
    """The rows that places consist of, None where they are what they were."""
    flat = places.reshape(-1)
    breaks = np.flatnonzero(np.diff(flat) != 1) + 1
    if not breaks.size:
        return None
    length = int(np.gcd.reduce(breaks, initial=flat.size))
    starts = flat[::length].astype(np.int64)
    for count in range(len(starts), 0, -1):
        if len(starts) % count == 0:
            groups = starts.reshape(count, -1)
            step = int(groups[1, 0] - groups[0, 0]) if count > 1 else 0
            if (groups == groups[0] + step * np.arange(count)[:, None]).all():
                return Rows(length, groups[0].astype(np.int32), count, step)
    return None


def copy_rows(kernels: Kernels, source: Value, rows: Rows, target: Target) -> Value:
    """The rows of a flat array, one behind the other."""
    type_ = mlir.ir.RankedTensorType(source.type)
    table = len(rows.starts)
    result = mlir.ir.RankedTensorType.get([rows.count * table * rows.length], type_.element_type)
    bits = result.element_type.width
    at_once = max(8 * WORKGROUP // (rows.length * bits), 1)
    block, groups = min(at_once, table), min(max(at_once // table, 1), rows.count)
    width = max(target.vector_bits // bits, 1)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Copy(Array(given[0]), Array(given[1]), Array(written[0]), rows, width).run(block, groups)

    kernel = Kernel(
        "row_move",
        (Result(result),),
        emit,
        key=(rows.length, rows.count, rows.step, rows.starts.tobytes()),
        workgroups=(-(-table // block), -(-rows.count // groups)),
        constants=(rows.starts,),
    )
    (copied,) = kernels.call(kernel, [source])
    return copied


@dataclass(frozen=True, slots=True)
class _Copy:
    """The code of a workgroup: some rows of the table, in some of the groups that have them."""

    source: Array
    table: Array
    out: Array
    rows: Rows
    width: int

    def run(self, block: int, groups: int) -> None:
        """Copy `block` rows of `groups` groups, or what is left of them."""
        rows, table = self.rows, len(self.rows.starts)
        in_table, of_groups = _part(0, block, table), _part(1, groups, rows.count)
        with loop(*of_groups) as group, loop(*in_table) as row:
            start = self.table[row].as_index() + group * rows.step
            self._row(start, (group * table + row) * rows.length)

    def _row(self, source: Number, out: Number) -> None:
        length, width = self.rows.length, self.width
        whole = length // width * width
        if whole <= UNROLLED * width:
            for at in range(0, whole, width):
                self.out[out + at] = self.source.vector(width, source + at)
        else:
            with loop(0, whole, width) as place:
                self.out[out + place] = self.source.vector(width, source + place)
        if length > whole:
            left = length - whole
            store_some(self.out, load_some(self.source, width, left, source + whole), left, out + whole)


def _part(dimension: int, block: int, total: int) -> tuple[Number, Number]:
    """From where to where a workgroup goes of `total`, `block` at once."""
    first = Number(workgroup_id(dimension)) * block
    last = first + block
    return first, last if total % block == 0 else last.least(total)
