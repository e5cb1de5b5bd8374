"""Axes of meshes while a function is traced for one rank: which are bound, and which value varies over what.

Input: each op as it is recorded. Output: its operands, with `vary` where kinds meet, and the axes that its
results vary over. Idea: an invariant operand of an op with a varying one is varied first, so that its
cotangent is summed over the ranks there and nowhere else. Ops that refer to functions get operands as they
are: the function varies them inside.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.dataclass import dataclass
from ...dialects.op import Op
from ...dialects.ops.collectives.mesh_axes import MeshAxisOp, MeshIndex, Vary
from ...dialects.ops.control.cond import Cond
from ...dialects.ops.control.while_loop import While
from ...dialects.types import INEXACT, TensorType
from ...passes.analysis.varying import NOWHERE, Axes, Varying, united
from ..errors import ShardingError
from .locations import user_location_text

if TYPE_CHECKING:
    from .frames import Frame


@dataclass(frozen=True)
class MeshAxis:
    """An axis of the mesh that a function is traced for; `index` is the position along it where it is an
    argument of the function, and None where the rank that runs knows it. Where it is not checked what varies,
    everything counts as varying: sums too, and a loop or branch with a collective is the user's to agree on.
    """

    name: str
    mesh: tuple[int, ...]
    axis: int
    index: Any = field(default=None, compare=False)
    is_checked: bool = True

    @property
    def size(self) -> int:
        """The number of ranks along it."""
        return self.mesh[self.axis]

    @property
    def place(self) -> dict[str, Any]:
        """The attributes that ops along this axis have."""
        return {"axis_name": self.name, "mesh": self.mesh, "axis": self.axis}

    def index_in(self, frame: Frame) -> Any:
        """The position along it as a value of `frame`."""
        if self.index is not None:
            return frame.value_of(self.index)
        if self.name not in frame.indices:
            (frame.indices[self.name],) = frame.emit(MeshIndex, (), self.place)
            frame.varying[frame.indices[self.name]] = frozenset({self.name})
        return frame.indices[self.name]


class _Axes(threading.local):
    def __init__(self) -> None:
        self.bound: dict[str, MeshAxis] = {}
        self.least: Axes = NOWHERE


_axes: Final = _Axes()


def mesh_axes() -> dict[str, MeshAxis]:
    """The axes that are bound on this thread, by name."""
    return _axes.bound


@contextmanager
def bound_mesh(axes: Sequence[MeshAxis]) -> Iterator[None]:
    """Let names mean axes of a mesh while a function is traced for one rank of it."""
    before, _axes.bound = _axes.bound, {axis.name: axis for axis in axes}
    try:
        yield
    finally:
        _axes.bound = before


@contextmanager
def at_least(axes: Axes) -> Iterator[None]:
    """Let everything that functions traced here take from outside vary over `axes`: a predicate does."""
    before, _axes.least = _axes.least, _axes.least | axes
    try:
        yield
    finally:
        _axes.least = before


def least_axes() -> Axes:
    """What `at_least` says."""
    return _axes.least


def axes_of_value(value: Any) -> Axes:
    """The axes that a value varies over; arrays that are no tracers are the same in all ranks."""
    frame = getattr(value, "frame", None)
    return NOWHERE if frame is None else own_axes(frame, value.value)


def own_axes(frame: Frame, value: Any) -> Axes:
    """The axes of a value of `frame`. Under a predicate that varies everything does: what comes from outside
    is varied there, and the rest has no cotangent."""
    return frame.varying.get(value, NOWHERE) | frame.least


def analysis(frame: Frame) -> Varying:
    """The analysis of the program of a frame."""
    memo = frame.program.memo
    if Varying not in memo:
        memo[Varying] = Varying(frame.program.module, Reader(frame.program.codec))
    known: Varying = memo[Varying]
    return known


def varied(frame: Frame, value: Any, wanted: Axes) -> Any:
    """A value of `frame`, varied over those of the axes that it is invariant over."""
    own = own_axes(frame, value)
    for name in sorted(wanted - own):
        axis = _axes.bound[name]
        (value,) = frame.emit(Vary, (value, axis.index_in(frame)), axis.place)
        own = own | {name}
        frame.varying[value] = own
    return value


def prepared(
    frame: Frame, op: type[Op], values: Sequence[Any], types: Sequence[Any], attributes: dict[str, Any]
) -> list[Any]:
    """The operands of an op that is recorded now, varied where it takes them together."""
    axes = [own_axes(frame, v) for v in values]
    if op is Cond:
        _refuse_divergence("cond", frame, Application(op, tuple(values), attributes), axes[0])
        return [
            values[0],
            *(_varied_float(frame, v, t, axes[0]) for v, t in zip(values[1:], types[1:], strict=True)),
        ]
    if op is While:
        wanted = _axes_of_predicate(frame, values, attributes, axes)
        return [_varied_float(frame, v, t, wanted) for v, t in zip(values, types, strict=True)]
    if issubclass(op, MeshAxisOp) or (op.refers_to_functions and not op.is_routine):
        return list(values)
    wanted = united(axes)
    return (
        [_varied_float(frame, v, t, wanted) for v, t in zip(values, types, strict=True)]
        if wanted
        else list(values)
    )


def _varied_float(frame: Frame, value: Any, type_: Any, wanted: Axes) -> Any:
    """Only what may have a cotangent has a kind that matters."""
    if not wanted or not isinstance(type_, TensorType) or type_.dtype not in INEXACT:
        return value
    return varied(frame, value, wanted)


def note(
    frame: Frame, op: type[Op], values: Sequence[Any], results: Sequence[Any], attributes: dict[str, Any]
) -> None:
    """Remember the axes that the results of an op vary over."""
    axes = [frame.varying.get(v, NOWHERE) for v in values]
    if not any(axes) and not issubclass(op, MeshAxisOp) and not op.refers_to_functions:
        return
    of_results = analysis(frame).of_op(op, attributes, axes, len(results))
    frame.varying.update((r, a) for r, a in zip(results, of_results, strict=True) if a)


def _refuse_divergence(name: str, frame: Frame, application: Application, predicate: Axes) -> None:
    checked = {name for name, axis in _axes.bound.items() if axis.is_checked}
    sent = analysis(frame).sent(application) & predicate & checked
    if sent:
        listed = ", ".join(repr(axis) for axis in sorted(sent))
        raise ShardingError(
            f"a collective over {listed} in {name}, whose predicate varies over it: some ranks would wait "
            "for ever for those that go another way",
            where=user_location_text(),
            hint="let all ranks agree on the predicate (lax.pmax(p, axis)), or move the collective out",
        )


def _axes_of_predicate(
    frame: Frame, values: Sequence[Any], attributes: dict[str, Any], axes: Sequence[Axes]
) -> Axes:
    """What the condition of a loop varies over; raises if the loop sends arrays along these axes."""
    k, n = attributes["condition_constants"], attributes["body_constants"]
    known = analysis(frame)
    state = known.of_op(While, attributes, axes, len(values) - k - n)
    (predicate,) = known.of_function(attributes["condition"], [*axes[:k], *state])
    _refuse_divergence("while_loop", frame, Application(While, tuple(values), attributes), predicate)
    return predicate
