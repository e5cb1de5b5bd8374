"""The manifest: what a program says of itself.

Input: the facts of a build. Output: JSON that the `.vmfb` holds twice: as reflection of the exported
function, for any IREE host, and in the file's trailer, where it is read before any native code is. The same
build always writes the same text: there are no dates and no paths in it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ...dialects.types import dtype_from_name, dtype_name
from ..errors import ArtifactError
from ..targets import Target
from .schema import check_manifest, shortened
from .signature import ArraySpec, FunctionSignature

FORMAT_VERSION: Final = 1
REFLECTION_KEY: Final = "adze.manifest"

_DISTRIBUTIONS: Final = {
    "adze": "adze-compiler",
    "iree_compiler": "iree-base-compiler",
    "iree_runtime": "iree-base-runtime",
}

Json = Any  # what the json module reads and writes


@dataclass(frozen=True, slots=True)
class ExportedFunction:
    """A function of a program, with the trees that its flat arguments and results are leaves of."""

    signature: FunctionSignature
    input_tree: Json = None
    output_tree: Json = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a host must know to run a program and to refuse one that it cannot run.

    `work` is the number of floating point operations of a call, where known: it chooses the CPU driver.
    `extra` is free for what the front end wants to find again.
    """

    functions: tuple[ExportedFunction, ...]
    target: str
    architecture: str
    required_features: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    ir_sha256: str = ""
    work: float | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @property
    def signatures(self) -> tuple[FunctionSignature, ...]:
        return tuple(function.signature for function in self.functions)

    def function(self, name: str) -> ExportedFunction:
        """The exported function called `name`."""
        for function in self.functions:
            if function.signature.name == name:
                return function
        names = ", ".join(signature.name for signature in self.signatures) or "none"
        raise ArtifactError(f"the program has no function {name!r}: it has {names}")

    def to_json(self) -> str:
        """Canonical JSON text: keys in one order, no spaces, so that equal manifests are equal bytes.

        The keys are not sorted by JSON: dicts in trees are in the order of their leaves, 2 before 10.
        """
        return json.dumps(
            {
                "architecture": self.architecture,
                "extra": dict(sorted(self.extra.items())),
                "flags": list(self.flags),
                "format_version": self.format_version,
                "functions": [_function_to_json(function) for function in self.functions],
                "ir_sha256": self.ir_sha256,
                "required_features": list(self.required_features),
                "target": self.target,
                "versions": dict(sorted(self.versions.items())),
                "work": self.work,
            },
            separators=(",", ":"),
            ensure_ascii=False,
        )


def make_manifest(
    functions: tuple[ExportedFunction, ...],
    target: Target,
    *,
    flags: tuple[str, ...] = (),
    ir_sha256: str = "",
    work: float | None = None,
    extra: Mapping[str, Json] | None = None,
) -> Manifest:
    """The manifest of a program built here and now for `target`."""
    return Manifest(
        functions=functions,
        target=target.name,
        architecture=target.architecture,
        required_features=target.required_features,
        versions=versions(),
        flags=flags,
        ir_sha256=ir_sha256,
        work=work,
        extra=extra or {},
    )


def versions() -> dict[str, str]:
    """The versions that a program depends on, read from package metadata: nothing is imported for it."""
    return dict(_installed_versions())


@functools.cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    import importlib.metadata  # slow to import, and needed only here

    versions = []
    for name, distribution in _DISTRIBUTIONS.items():
        try:
            versions.append((name, importlib.metadata.version(distribution)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(versions)


def manifest_from_json(text: str) -> Manifest:
    """The manifest in `text`; an ArtifactError says what is wrong with it."""
    try:
        data = json.loads(text)
        version = data["format_version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArtifactError(f"its manifest cannot be read: {error}") from None
    if isinstance(version, bool) or version != FORMAT_VERSION:
        age = "newer" if isinstance(version, int) and version > FORMAT_VERSION else "older"
        raise ArtifactError(
            f"its manifest has format version {shortened(version)}, {age} than the {FORMAT_VERSION} "
            "of this adze",
            hint="build the program again with this version of adze",
        )
    check_manifest(data)
    return Manifest(
        functions=tuple(map(_function_from_json, data["functions"])),
        target=data["target"],
        architecture=data["architecture"],
        required_features=tuple(data["required_features"]),
        versions=data["versions"],
        flags=tuple(data["flags"]),
        ir_sha256=data["ir_sha256"],
        work=None if data["work"] is None else float(data["work"]),
        extra=data["extra"],
    )


def reflection_text(manifest: Manifest) -> str:
    """The attribute that carries the manifest inside the program, as MLIR text.

    It goes onto the exported `func.func`: `attributes {iree.reflection = <this text>}`.
    """
    return f"{{{REFLECTION_KEY} = {_mlir_string(manifest.to_json())}}}"


def manifest_from_reflection(reflection: Mapping[str, str]) -> Manifest | None:
    """The manifest that a loaded function carries, or None where it was not built by adze."""
    text = reflection.get(REFLECTION_KEY)
    return None if text is None else manifest_from_json(text)


def _function_to_json(function: ExportedFunction) -> Json:
    signature = function.signature
    return {
        "name": signature.name,
        "inputs": [_spec_to_json(spec) for spec in signature.inputs],
        "outputs": [_spec_to_json(spec) for spec in signature.outputs],
        "input_tree": function.input_tree,
        "output_tree": function.output_tree,
    }


def _function_from_json(data: Json) -> ExportedFunction:
    signature = FunctionSignature(
        data["name"],
        tuple(map(_spec_from_json, data["inputs"])),
        tuple(map(_spec_from_json, data["outputs"])),
    )
    return ExportedFunction(signature, data["input_tree"], data["output_tree"])


def _spec_to_json(spec: ArraySpec) -> Json:
    return {"name": spec.name, "dtype": dtype_name(spec.dtype), "shape": list(spec.shape)}


def _spec_from_json(data: Json) -> ArraySpec:
    return ArraySpec(data["name"], dtype_from_name(data["dtype"]), tuple(data["shape"]))


def _mlir_string(text: str) -> str:
    """An MLIR string literal: everything but plain ASCII is written as two hex digits a byte."""
    return '"' + "".join(_mlir_character(byte) for byte in text.encode()) + '"'


def _mlir_character(byte: int) -> str:
    is_plain = 32 <= byte < 127 and byte not in (34, 92)
    return chr(byte) if is_plain else f"\\{byte:02X}"
