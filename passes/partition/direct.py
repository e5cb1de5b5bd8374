"""The pass `direct-collectives`: collectives in the form in which devices exchange arrays themselves.

Input: a module with collectives, for a target whose devices have channels (NCCL). Output: the same, in place,
with collectives that NCCL has: along the first axis, sums of the dtypes that it adds up as adze does, extrema
of integers. Before and after stand moves of elements and conversions. A maximum of floats is gathered and
computed here, since NCCL says nothing of NaN; halves are added in float32 and rounded once, as between hosts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op
from ...dialects.ops.collectives.exchanges import AllGather, AllToAll, Permute, ReduceScatter
from ...dialects.ops.collectives.mesh_axes import AllReduce
from ...dialects.types import FLOAT32, FLOAT64, INT32, TensorType
from ...runtime.targets import parse_target
from ..analysis.verify import location_text
from ..base import Pass
from ..ir.aliases import Operation, Value
from ..ir.functions import functions

_ADDED: Final = frozenset("bilqBILQfd")
"""The dtypes, by their character, that NCCL adds up."""


@dataclass(frozen=True)
class DirectCollectives(Pass):
    """Write collectives as the devices of the target make them, where these have channels."""

    name = "direct-collectives"
    target: str = "cpu"

    def __post_init__(self) -> None:
        parse_target(self.target)  # a wrong one is a mistake in the pipeline, whatever the module is

    def run(self, module: mlir.ir.Module) -> bool:
        if not parse_target(self.target).has_channels:
            return False
        codec = Codec(module.context)
        reader = Reader(codec)
        found = [o for f in functions(module).values() for o in _collectives(f, reader)]
        return sum(_rewrite(operation, codec, reader) for operation in found) > 0


def _collectives(function: Operation, reader: Reader) -> list[Operation]:
    operations = [o.operation for region in function.regions for b in region for o in b.operations]
    return [o for o in operations if o.name in _NAMES and _size(reader, o) > 1]


def _size(reader: Reader, operation: Operation) -> int:
    application = reader.read(operation)
    assert application is not None
    return int(application.attributes["mesh"][application.attributes["axis"]])


def _rewrite(operation: Operation, codec: Codec, reader: Reader) -> bool:
    """Replace the collective where NCCL has none like it; whether it did."""
    application = reader.read(operation)
    assert application is not None
    kind = codec.read_type(operation.operands[0].type)
    assert isinstance(kind, TensorType)
    where = location_text(operation.location)
    if not kind.is_static:
        raise MissingRuleError(
            f"{application.op.name}: devices exchange arrays of known sizes, and this one is {kind}",
            where=where,
            hint="fix the sizes, or build for cuda without +nccl",
        )
    b = Emitter(codec, mlir.ir.InsertionPoint(operation), operation.location)
    x, index = operation.operands
    site = _Site(b, application.op, kind, index, _size(reader, operation), application.attributes)
    result = _halved(site, x) if kind.dtype.kind == "c" else _RULES[application.op](site, x)
    if result is None:
        return False
    operation.results[0].replace_all_uses_with(result)
    operation.erase()
    return True


@dataclass(frozen=True)
class _Site:
    """Where a collective stands: what emits, the op, its operand's type, the position, the ranks, the op's
    attributes."""

    b: Emitter
    op: type[Op]
    kind: TensorType
    index: Value
    ranks: int
    attributes: dict[str, Any]

    @property
    def place(self) -> dict[str, Any]:
        return {name: self.attributes[name] for name in ("axis_name", "mesh", "axis")}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(n or 0 for n in self.kind.static_shape)


def _halved(site: _Site, x: Value) -> Value:
    """The collective of complex numbers: of their real parts, and of their imaginary parts."""
    b = site.b
    parts = replace(site, kind=TensorType(site.shape, FLOAT32 if site.kind.dtype.itemsize == 8 else FLOAT64))

    def exchanged(part: Value) -> Value:
        result = _RULES[site.op](parts, part)
        if result is not None:
            return result
        (same,) = b.apply(site.op, (part, site.index), site.attributes)
        return same

    return b.complex(exchanged(b.real(x)), exchanged(b.imag(x)))


def _all_reduce(site: _Site, x: Value) -> Value | None:
    b, kind = site.b, site.attributes["kind"]
    if kind == "sum":
        reduce = lambda y: b.all_reduce(y, site.index, kind=kind, **site.place)  # noqa: E731
        return _added(site, x, reduce)
    if site.kind.dtype.kind in "iub":
        wide = site.kind.dtype.itemsize == 2
        if not wide:
            return None
        y = b.all_reduce(b.convert(x, dtype=INT32), site.index, kind=kind, **site.place)
        return b.convert(y, dtype=site.kind.dtype)
    every = b.reshape(x, shape=(1, *site.shape))
    every = b.all_gather(every, site.index, dim=0, is_invariant=True, **site.place)
    return (b.reduce_max if kind == "max" else b.reduce_min)(every, axes=(0,))


def _added(site: _Site, x: Value, reduce: Callable[[Value], Value]) -> Value | None:
    """The sum in a dtype that NCCL adds up; None where `x` has one, and `reduce` would change nothing."""
    b, dtype = site.b, site.kind.dtype
    if dtype.char in _ADDED:
        return None
    wide = INT32 if dtype.kind in "iu" else FLOAT32
    return b.convert(reduce(b.convert(x, dtype=wide)), dtype=dtype)


def _all_gather(site: _Site, x: Value) -> Value | None:
    b, dim = site.b, site.attributes["dim"]
    if dim == 0:
        return None
    every = b.reshape(x, shape=(1, *site.shape))
    every = b.all_gather(every, site.index, **{**site.attributes, "dim": 0})
    return _merged(b, _moved(b, every, 0, dim, len(site.shape) + 1), dim, (site.ranks, *site.shape))


def _reduce_scatter(site: _Site, x: Value) -> Value | None:
    b, dim = site.b, site.attributes["dim"]

    def scatter(y: Value) -> Value:
        if dim == 0:
            return b.reduce_scatter(y, site.index, **site.attributes)
        part = _part(site.shape, dim, site.ranks)
        own = b.reduce_scatter(_divided(b, site, y, dim), site.index, **{**site.attributes, "dim": 0})
        return b.reshape(own, shape=part)

    result = _added(site, x, scatter)
    return scatter(x) if result is None and dim != 0 else result


def _all_to_all(site: _Site, x: Value) -> Value | None:
    b, split, concat = site.b, site.attributes["split"], site.attributes["concat"]
    if split == concat == 0:
        return None
    sent = _divided(b, site, x, split)
    received = b.all_to_all(sent, site.index, split=0, concat=0, **site.place)
    part = _part(site.shape, split, site.ranks)
    moved = _moved(b, received, 0, concat, len(part) + 1)
    return _merged(b, moved, concat, (site.ranks, *part))


def _part(shape: tuple[int, ...], dim: int, ranks: int) -> tuple[int, ...]:
    return (*shape[:dim], shape[dim] // ranks, *shape[dim + 1 :])


def _divided(b: Emitter, site: _Site, x: Value, dim: int) -> Value:
    """The parts of `x` along an axis, one after the other along a new first axis."""
    part = _part(site.shape, dim, site.ranks)
    split = b.reshape(x, shape=(*part[:dim], site.ranks, *part[dim:]))
    return _moved(b, split, dim, 0, len(part) + 1)


def _moved(b: Emitter, x: Value, source: int, target: int, rank: int) -> Value:
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return x if source == target else b.transpose(x, permutation=tuple(order))


def _merged(b: Emitter, x: Value, dim: int, shape: tuple[int, ...]) -> Value:
    """`x`, whose first axis moved to `dim`, with this axis and the next as one; `shape` is of before."""
    ranks, *part = shape
    part[dim] *= ranks
    return b.reshape(x, shape=tuple(part))


_RULES: Final[dict[type[Op], Callable[[_Site, Value], Value | None]]] = {
    AllReduce: _all_reduce,
    AllGather: _all_gather,
    ReduceScatter: _reduce_scatter,
    AllToAll: _all_to_all,
    Permute: lambda site, x: None,
}
_NAMES: Final = frozenset(f"adze.{op.name}" for op in _RULES)
