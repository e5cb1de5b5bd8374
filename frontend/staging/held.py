"""The arrays that a program keeps: their names, types and first values, as the pass `hold-state` reads them.

Input: the leaves of a program's state. Output: names, types, and an attribute of MLIR for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.codec import Codec
from ...dialects.types import TensorType, storage
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.locations import user_location_text
from ..tracing.specs import ShapeDtype
from ..tracing.trace import HeldArray, parameter_of
from .exports import SCOPE


def names_of(structure: tree.Structure) -> list[str]:
    """The path of each leaf with dots: `layers.0.w`; a tree that is one array is called `state`."""
    names = [".".join(map(str, accessor.path)) or "state" for accessor in structure.accessors()]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"two arrays of the state are called {name!r}", where=user_location_text())
    return names


def type_of(leaf: np.ndarray | ShapeDtype) -> TensorType:
    """The type of a leaf."""
    return leaf.type if isinstance(leaf, ShapeDtype) else TensorType(tuple(leaf.shape), leaf.dtype)


def zeros_of(leaf: np.ndarray | ShapeDtype) -> np.ndarray:
    """An array of this type that takes no memory."""
    shape = tuple(n for n in type_of(leaf).static_shape if n is not None)
    return np.broadcast_to(np.zeros((), leaf.dtype), shape)


def array_of(leaf: Any, name: str) -> np.ndarray:
    """A leaf as an array; raises `ArgumentTypeError` for what is none."""
    try:
        parameter = parameter_of(leaf, name)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(
            f"the state of a program: {error.message.removeprefix('argument ')}",
            where=user_location_text(),
            hint="let its functions close over what is no array",
        ) from None
    return np.asarray(leaf, dtype=parameter.type.dtype)


def written_array(codec: Codec, held: HeldArray, leaf: np.ndarray | ShapeDtype) -> Any:
    """What the pass reads of an array: name, type, first value or scope, in the context that is entered."""
    signless = TensorType(held.type.shape, np.dtype(str(held.type.dtype).replace("uint", "int")))
    type_ = codec.write_type(signless if held.type.dtype.kind == "u" else held.type)
    entry: dict[str, Any] = {
        "name": mlir.ir.StringAttr.get(held.name),
        "type": mlir.ir.TypeAttr.get(type_),
        "mutable": mlir.ir.BoolAttr.get(held.is_mutable),
    }
    if held.is_parameter:
        entry["scope"] = mlir.ir.StringAttr.get(SCOPE)
    elif isinstance(leaf, ShapeDtype):
        entry["later"] = mlir.ir.UnitAttr.get()
        entry["initial"] = _dense(zeros_of(leaf), type_)
    else:
        entry["initial"] = _dense(leaf, type_)
    return mlir.ir.DictAttr.get(entry)


def _dense(array: np.ndarray, type_: Any) -> Any:
    """The elements of an array as an attribute of this type."""
    if array.dtype.kind == "u":
        array = array.view(str(array.dtype).replace("uint", "int"))
    return mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(storage(array)), type=type_)
