"""Exported functions as bytes, and back.

Output of `to_bytes`: the parts of a program file (`runtime/artifact/trailer.py`), which has their lengths and
a checksum: no module of machine code, the adze IR, and JSON that says how the function is called. Nothing of
the IR is parsed before the checksum is right.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ...dialects.symbolic_sizes import parse_size
from ...dialects.types import dtype_from_name, dtype_name
from ...runtime.artifact.manifest import ExportedFunction, versions
from ...runtime.artifact.signature import ArraySpec, FunctionSignature
from ...runtime.artifact.trailer import joined, taken_apart
from ...runtime.errors import ArtifactError
from ..sharding.mesh import PartitionSpec
from ..tracing.specs import ShapedArray
from ..tracing.symbolic import SymbolicScope
from . import written_nodes
from .checks import DisabledSafetyCheck
from .description import Description

VERSION: Final = 1
_PART: Final = "exported"


def to_bytes(exported: Description) -> bytes:
    """The bytes of an exported function."""
    signature = exported.function.signature
    data = {
        "version": VERSION,
        "versions": versions(),
        "fun_name": exported.fun_name,
        "symbol": signature.name,
        "inputs": list(map(_written, signature.inputs)),
        "outputs": list(map(_written, signature.outputs)),
        "in_tree": written_nodes.to_json(exported.in_tree),
        "out_tree": written_nodes.to_json(exported.out_tree),
        "platforms": exported.platforms,
        "disabled_checks": list(map(str, exported.disabled_safety_checks)),
        "constraints": exported.constraints,
        "is_symbolic": exported.uses_global_constants,
        "vjp_order": exported.vjp_order,
        "nr_devices": exported.nr_devices,
        "in_specs": list(map(_spec_to_json, exported.in_specs)),
        "out_specs": list(map(_spec_to_json, exported.out_specs)),
        "calling_convention_version": exported.calling_convention_version,
    }
    return joined({"module": b"", _PART: json.dumps(data).encode(), "ir": exported.ir})


def from_bytes(blob: bytearray | bytes) -> Description:
    """What `to_bytes` wrote, or an error that says what the bytes are instead."""
    parts = taken_apart(bytes(blob)).parts
    if _PART not in parts or "ir" not in parts:
        raise ArtifactError(
            "the bytes are a program of adze, no exported function", hint="adze.load reads it"
        )
    data = json.loads(parts[_PART])
    if data["version"] > VERSION:
        raise ArtifactError(
            f"the exported function has version {data['version']}, newer than the {VERSION} of this adze",
            hint="install a newer adze",
        )
    inputs, outputs = (tuple(map(_read, data[key])) for key in ("inputs", "outputs"))
    scope = SymbolicScope(tuple(data["constraints"])) if data["is_symbolic"] else None
    return Description(
        data["fun_name"],
        written_nodes.from_json(data["in_tree"]),
        tuple(_aval(spec, scope) for spec in inputs),
        written_nodes.from_json(data["out_tree"]),
        tuple(_aval(spec, scope) for spec in outputs),
        tuple(data["platforms"]),
        tuple(map(DisabledSafetyCheck, data["disabled_checks"])),
        parts["ir"],
        ExportedFunction(FunctionSignature(data["symbol"], inputs, outputs)),
        tuple(data["constraints"]),
        data["vjp_order"],
        data["calling_convention_version"],
        data["nr_devices"],
        tuple(map(_spec_from_json, data["in_specs"])),
        tuple(map(_spec_from_json, data["out_specs"])),
    )


def _spec_to_json(spec: PartitionSpec | None) -> Any:
    """The axes of a mesh that divide each dimension."""
    return None if spec is None else [list(n) if isinstance(n, tuple) else n for n in spec]


def _spec_from_json(data: Any) -> PartitionSpec | None:
    if data is None:
        return None
    return PartitionSpec(*(tuple(n) if isinstance(n, list) else n for n in data))


def _written(spec: ArraySpec) -> list[Any]:
    return [spec.name, dtype_name(spec.dtype), list(spec.shape)]


def _read(entry: list[Any]) -> ArraySpec:
    name, dtype, shape = entry
    return ArraySpec(name, dtype_from_name(dtype), tuple(shape))


def _aval(spec: ArraySpec, scope: SymbolicScope | None) -> ShapedArray:
    shape = [
        n if scope is None or not isinstance(n, str) else scope.dimension(parse_size(n)) for n in spec.shape
    ]
    return ShapedArray(shape, spec.dtype)
