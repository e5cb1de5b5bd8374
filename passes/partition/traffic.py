"""What the ranks of a program send: its collectives, each with the bytes that one rank sends.

Input: a module with collectives. Output: a table of them. Numbers are those of the ring algorithms (Thakur,
Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005), which send least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.ops.collectives.mesh_axes import MeshAxisOp
from ...dialects.ops.collectives.shardings import ShardingConstraint
from ...dialects.ops.control.scan import Scan
from ...dialects.ops.control.while_loop import While
from ...dialects.types import TensorType
from ..analysis.verify import location_text
from ..ir.functions import function, functions, referenced, split_body
from .layouts import Grid

_SHARES: Final[Mapping[str, Any]] = {
    "all_reduce": lambda n, p: 2 * n * (p - 1) // p,
    "reduce_scatter": lambda n, p: n * (p - 1) // p,
    "all_gather": lambda n, p: n * (p - 1),
    "all_to_all": lambda n, p: n * (p - 1) // p,
    "ppermute": lambda n, p: n,
}
"""What a rank sends of its `n` bytes to `p` ranks."""


@dataclass(frozen=True)
class Exchange:
    """A collective: its kind, the axis and the number of its ranks, what each rank gives it, the bytes that
    one rank sends at a time, how often a call runs it (None: while a loop goes on), and where it is from."""

    kind: str
    axis: str
    ranks: int
    operand: TensorType
    sent: int
    times: int | None
    where: str | None

    def __str__(self) -> str:
        times = "in a while" if self.times is None else f"{self.times} times" if self.times > 1 else "once"
        what = f"{self.kind} {self.operand} over {self.axis!r} ({self.ranks} ranks)"
        where = f", {self.where}" if self.where else ""
        return f"{what}, {times}: {self.sent} bytes sent{where}"


def exchanges(module: mlir.ir.Module, symbol: str) -> list[Exchange]:
    """The collectives that a call of the function runs, in order, those of its loops included."""
    return [*_of_function(module, Reader(Codec(module.context)), symbol)]


def bytes_sent(found: list[Exchange]) -> int:
    """The bytes that one rank sends in a call; a collective in a while counts once."""
    return sum(each.sent * (1 if each.times is None else each.times) for each in found)


def _of_function(module: mlir.ir.Module, reader: Reader, symbol: str) -> Iterator[Exchange]:
    operations, _ = split_body(function(module, symbol))
    for each in operations:
        application = reader.read(each.operation)
        if application is None:
            continue
        found = _of_op(reader, application, each.operation)
        if found is not None:
            yield found
        for callee in referenced(application):
            for inner in _of_function(module, reader, callee):
                yield _repeated(inner, application)


def _of_op(reader: Reader, application: Application, operation: Any) -> Exchange | None:
    op, attributes = application.op, application.attributes
    if not issubclass(op, MeshAxisOp) or op.name not in _SHARES:
        return None
    ranks = attributes["mesh"][attributes["axis"]]
    operand = reader.codec.read_type(operation.operands[0].type)
    assert isinstance(operand, TensorType)
    size = operand.dtype.itemsize
    for n in operand.static_shape:
        size *= n or 1
    sent = _SHARES[op.name](size, ranks)
    where = location_text(operation.location)
    return Exchange(op.name, attributes["axis_name"], ranks, operand, sent, 1, where)


def _repeated(exchange: Exchange, application: Application) -> Exchange:
    if application.op is While:
        return replace(exchange, times=None)
    if application.op is Scan and exchange.times is not None:
        return replace(exchange, times=exchange.times * int(application.attributes["length"][0] or 1))
    return exchange


def stated_grids(module: mlir.ir.Module) -> set[Grid]:
    """The meshes that statements of shardings in a module name."""
    reader = Reader(Codec(module.context))
    found = set()
    for each in functions(module).values():
        for operation in split_body(each)[0]:
            application = reader.read(operation.operation)
            if application is not None and application.op is ShardingConstraint:
                names = tuple(application.attributes["axis_names"].split(","))
                found.add(Grid(application.attributes["mesh"], names))
    return found
