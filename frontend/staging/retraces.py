"""Why a jitted function was traced again: what a call is to the cache, and how two calls differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType
from .. import tree
from ..errors import ArgumentTypeError
from ..sharding.arrays import ShardedArray
from ..tracing.array import Array
from ..tracing.default_dtypes import narrowed
from ..tracing.frames import Tracer, leaked
from ..tracing.interpreter import scalar_value
from ..tracing.locations import user_location_text
from ..tracing.scalars import is_python_scalar
from ..tracing.specs import ShapeDtype
from ..tracing.trace import parameter_of


@dataclass(frozen=True)
class Retrace:
    """One trace of a jitted function: where it was called, and what about the call was new."""

    where: str
    reason: str


class _Log:
    is_on = False


def log_each(is_on: bool) -> bool:
    """Log each trace of a jitted function from now on, or none; what was before."""
    before, _Log.is_on = _Log.is_on, is_on
    return before


def log(name: str, retrace: Retrace) -> None:
    """Log one, where that is wanted."""
    if _Log.is_on:
        import logging  # takes 3 ms, and few programs ask for it

        logging.getLogger("adze").warning(
            "Compiling %s (called at %s): %s", name, retrace.where or "<unknown>", retrace.reason
        )


class Signature(NamedTuple):
    """What a call is to the cache."""

    structure: tree.Structure
    leaves: tuple[Any, ...]
    static: tuple[Any, ...]
    checks_nans: bool
    default_is_float32: bool = False
    names_widening: bool = False
    mesh: Any = None


def difference(old: Signature, new: Signature, names: Sequence[str]) -> str:
    """What about the call `new` is not as in `old`; `names` are those of the argument leaves."""
    if old.structure != new.structure:
        before, after = map(tree.describe_arguments, (old.structure, new.structure))
        return f"the arguments changed from {before} to {after}"
    changes = []
    if old.checks_nans != new.checks_nans:
        changes.append(f"checks for NaN were switched {'on' if new.checks_nans else 'off'}")
    if old.default_is_float32 != new.default_is_float32:
        changes.append(f"default_dtypes became {'float32' if new.default_is_float32 else 'numpy'}")
    if old.names_widening != new.names_widening:
        changes.append(f"debug.widening was switched {'on' if new.names_widening else 'off'}")
    if old.mesh != new.mesh:
        before, after = ("none" if s.mesh is None else str(s.mesh[0]) for s in (old, new))
        changes.append(f"the mesh in force changed from {before} to {after}")
    for name, was, is_ in zip(names, old.leaves, new.leaves, strict=True):
        if was != is_:
            changes.append(f"argument {name} changed from {describe(was)} to {describe(is_)}")
    olds, news = ({place: value for place, _, value in s.static} for s in (old, new))
    for place in dict.fromkeys((*olds, *news)):
        was, is_ = (repr(values[place]) if place in values else "its default" for values in (olds, news))
        if was != is_:
            changes.append(f"static argument {place!r} changed from {was} to {is_}")
    return "; ".join(changes) or "a static argument is another object of the same text"


def describe(kind: Any) -> str:
    """The kind of a leaf as errors and explanations show it: `f32[2,3]`, `float`."""
    if isinstance(kind, type):
        return kind.__name__
    shape, dtype, *rest = kind
    lies = "".join(f" as {each.spec}" for each in rest if not isinstance(each, str))
    return f"{'weak ' if 'weak' in rest else ''}{TensorType(shape, dtype)}{lies}"


def kind_of_leaf(leaf: Any) -> Any:
    """What a leaf is to the cache; the frequent kinds first."""
    cls = type(leaf)
    if cls is float or cls is bool or cls is complex:
        return cls
    if cls is Array:
        if leaf.weak_type:
            return (leaf.shape, leaf.dtype, "weak", *(() if leaf.wide is None else ("of 64 bits",)))
        return (leaf.shape, leaf.dtype)
    if cls is ShardedArray:
        is_told = leaf.sharding.is_remote or leaf.layout is not None
        return (leaf.shape, leaf.dtype, leaf.sharding) if is_told else (leaf.shape, leaf.dtype)
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.isnative:
        return (leaf.shape, narrowed(leaf.dtype))
    if is_python_scalar(leaf):
        scalar_value(leaf, None)  # an integer beyond 64 bits is an error
        return cls
    if isinstance(leaf, ShapeDtype):
        raise ArgumentTypeError(
            f"a compiled function was called with a spec, {leaf}",
            where=user_location_text(),
            hint="specs are for .trace(); call with arrays",
        )
    if isinstance(leaf, Tracer):
        if leaf.kept is None:
            raise leaked(leaf)
        return kind_of_leaf(leaf.kept)
    parameter = parameter_of(leaf, "argument")
    return (parameter.type.shape, parameter.type.dtype)
