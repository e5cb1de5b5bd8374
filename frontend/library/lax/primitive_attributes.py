"""What an op of adze is among JAX's primitives: the primitive, its operands and its attributes.

Input: an op as it is read from the IR. Output: an object with JAX's name and `bind`, the operands in JAX's
order, the attributes under JAX's names, so that `primitive.bind(*operands, **attributes)` applies it again.
This is the way back from what `attributed_primitives.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ....dialects.builder.core import Application
from .contractions import ConvDimensionNumbers
from .indexing import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from .primitives import PRIMITIVES, Primitive

Attributes = Mapping[str, Any]


class Described(NamedTuple):
    """An application of a primitive, as JAX states it."""

    primitive: Primitive
    operands: tuple[Any, ...]
    attributes: dict[str, Any]


def described(application: Application) -> Described | None:
    """An op as an application of a primitive of JAX; None for an op that is none of them."""
    name, operands = application.op.name, application.operands
    if name == "select":
        predicate, if_true, if_false = operands
        return Described(PRIMITIVES["select_n_p"], (predicate, if_false, if_true), {})
    attributes = _ATTRIBUTES.get(name, dict)(application.attributes)
    primitive = PRIMITIVES.get(f"{_name(name, application.attributes)}_p")
    return None if primitive is None else Described(primitive, operands, attributes)


def _name(name: str, attributes: Attributes) -> str:
    if name == "compare":
        direction: str = attributes["direction"]
        return direction.lower()
    if name == "scatter":
        kind: str = attributes["kind"]
        return "scatter" if kind == "set" else f"scatter_{kind}"
    return _NAMES.get(name, name)


_NAMES: Final = {
    "bitcast_convert": "bitcast_convert_type",
    "conv_general": "conv_general_dilated",
    "convert": "convert_element_type",
    "popcount": "population_count",
    "reverse": "rev",
}
"""JAX's names of primitives where they are not those of adze's ops."""


def _renamed(names: Attributes, more: Attributes) -> Callable[[Attributes], dict[str, Any]]:
    return lambda attributes: {names.get(k, k): v for k, v in attributes.items()} | dict(more)


def _dot_general(attributes: Attributes) -> dict[str, Any]:
    return {
        "dimension_numbers": (attributes["contracting"], attributes["batch"]),
        "precision": None,
        "preferred_element_type": attributes["dtype"],
        "out_sharding": None,
    }


def _convolution(attributes: Attributes) -> dict[str, Any]:
    rest = dict(attributes)
    numbers = ConvDimensionNumbers(*(rest.pop(spec) for spec in ("lhs_spec", "rhs_spec", "out_spec")))
    return rest | {"dimension_numbers": numbers, "precision": None, "preferred_element_type": None}


def _gather(attributes: Attributes) -> dict[str, Any]:
    names = GatherDimensionNumbers.__dataclass_fields__
    fills = attributes["mode"] == "fill"
    return {
        "dimension_numbers": GatherDimensionNumbers(**{name: attributes[name] for name in names}),
        "slice_sizes": attributes["slice_sizes"],
        "indices_are_sorted": False,
        "unique_indices": False,
        "mode": GatherScatterMode.FILL_OR_DROP if fills else GatherScatterMode.CLIP,
        "fill_value": attributes["fill_value"] if fills else None,
    }


def _scatter(attributes: Attributes) -> dict[str, Any]:
    names = ScatterDimensionNumbers.__dataclass_fields__
    clips = attributes["mode"] == "clip"
    return {
        "dimension_numbers": ScatterDimensionNumbers(**{name: attributes[name] for name in names}),
        "indices_are_sorted": attributes["indices_are_sorted"],
        "unique_indices": attributes["unique_indices"],
        "mode": GatherScatterMode.CLIP if clips else GatherScatterMode.FILL_OR_DROP,
        "update_jaxpr": None,
        "update_consts": (),
    }


def _position(attributes: Attributes) -> dict[str, Any]:
    return {"axes": (attributes["axis"],), "index_dtype": attributes["index_dtype"]}


def _pad(attributes: Attributes) -> dict[str, Any]:
    return {"padding_config": [*zip(*(attributes[k] for k in ("low", "high", "interior")), strict=True)]}


def _slice(attributes: Attributes) -> dict[str, Any]:
    strides = attributes["strides"]
    return {
        "start_indices": attributes["start"],
        "limit_indices": attributes["limit"],
        "strides": None if all(type(n) is int and n == 1 for n in strides) else strides,
    }


_ATTRIBUTES: Final[dict[str, Callable[[Attributes], dict[str, Any]]]] = {
    "argmax": _position,
    "argmin": _position,
    "bitcast_convert": _renamed({"dtype": "new_dtype"}, {}),
    "broadcast_in_dim": _renamed({"dimensions": "broadcast_dimensions"}, {"sharding": None}),
    "compare": lambda attributes: {},
    "concatenate": _renamed({"axis": "dimension"}, {}),
    "conv_general": _convolution,
    "convert": _renamed({"dtype": "new_dtype"}, {"weak_type": False, "sharding": None}),
    "dot_general": _dot_general,
    "gather": _gather,
    "iota": _renamed({"axis": "dimension"}, {"sharding": None}),
    "pad": _pad,
    "reshape": _renamed({"shape": "new_sizes"}, {"dimensions": None, "sharding": None}),
    "reverse": _renamed({"axes": "dimensions"}, {}),
    "scatter": _scatter,
    "reduce_sum": _renamed({}, {"out_sharding": None}),
    "slice": _slice,
    "sort": _renamed({"axis": "dimension"}, {}),
}
"""The attributes under JAX's names, for ops whose attributes have others."""
