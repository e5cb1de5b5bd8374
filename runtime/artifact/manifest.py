"""The manifest: what a program says of itself.

Input: the facts of a build. Output: JSON that the `.vmfb` holds twice: as reflection of the exported
function, for any IREE host, and in the file's trailer, where it is read before any native code is. The same
build always writes the same text: there are no dates and no paths in it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...dialects.types import dtype_from_name, dtype_name
from ..errors import ArtifactError
from ..targets import Target
from .schema import check_manifest, shortened
from .signature import ArraySpec, Bounds, FunctionSignature

FORMAT_VERSION: Final = 2
"""Version 1 (adze 0.1.0) had no dims, donated arguments, parameters or variants; it is read too."""
REFLECTION_KEY: Final = "adze.manifest"
GETTER: Final = "state.get"
SETTER: Final = "state.set"
"""The functions of a program that keeps arrays which return, and set, those that its calls change."""

_DISTRIBUTIONS: Final = {
    "adze": "adze-compiler",
    "iree_compiler": "iree-base-compiler",
    "iree_runtime": "iree-base-runtime",
}

_NOT_PLAIN: Final = re.compile(rb"[^ !#-\[\]-~]")

Json = Any  # what the json module reads and writes


@dataclass(frozen=True, slots=True)
class Specialization:
    """Another function of the program, which computes the same for these sizes of named dims."""

    sizes: Mapping[str, int]
    function: str


@dataclass(frozen=True, slots=True)
class ExportedFunction:
    """A function of a program, with the trees that its flat arguments and results are leaves of.

    `arguments` are the names of its positional arguments, None for one that has none; the tuple is empty
    where they are not known. `donated` are the positions of inputs whose memory may hold results.
    """

    signature: FunctionSignature
    input_tree: Json = None
    output_tree: Json = None
    arguments: tuple[str | None, ...] = ()
    donated: tuple[int, ...] = ()
    specializations: tuple[Specialization, ...] = ()

    def for_shapes(self, shapes: Sequence[tuple[int, ...]]) -> str:
        """The name of the function that is called for arguments of these shapes: this one, or a special one.

        Shapes that do not fit are for this one, which says what is wrong with them.
        """
        if not self.specializations:
            return self.signature.name
        sizes: dict[str, int] = {}
        for spec, shape in zip(self.signature.inputs, shapes, strict=False):
            if len(spec.shape) != len(shape):
                return self.signature.name
            for name, size in zip(spec.shape, shape, strict=True):
                if (isinstance(name, int) and name != size) or (
                    isinstance(name, str) and sizes.setdefault(name, size) != size
                ):
                    return self.signature.name
        fitting = [each for each in self.specializations if each.sizes.items() <= sizes.items()]
        return max(fitting, key=lambda each: len(each.sizes)).function if fitting else self.signature.name


@dataclass(frozen=True, slots=True)
class Held:
    """An array that a program keeps between calls: its pytree path, type, and whether calls change it.

    `is_parameter` says that its first value is outside the program, under this name in the scope of the
    manifest's `Parameters`.
    """

    spec: ArraySpec
    is_mutable: bool
    is_parameter: bool


@dataclass(frozen=True, slots=True)
class Parameters:
    """The arrays that a program keeps: the scope of those outside, and the file that was written with it.

    `sha256` is the hash of that file, empty where none is known.
    """

    scope: str
    file: str | None
    held: tuple[Held, ...]
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the modules of a file, all of which compute the same: what it was built for, and its size."""

    target: str
    architecture: str
    required_features: tuple[str, ...]
    flags: tuple[str, ...]
    work: float | None
    bytes: int
    kernels: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a host must know to run a program and to refuse one that it cannot run.

    `target`, `architecture`, `required_features`, `flags` and `work` are those of the first module in the
    file, and of the module that was chosen in the manifest of a loaded program. `variants` are all modules,
    in their order, and empty where there is one only.

    `work` is the number of floating point operations of a call, where known, dynamic sizes counted as 1: it
    chooses the CPU driver.
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
    parameters: Parameters | None = None
    variants: tuple[Variant, ...] = ()
    format_version: int = FORMAT_VERSION

    @property
    def signatures(self) -> tuple[FunctionSignature, ...]:
        return tuple(function.signature for function in self.functions)

    @property
    def loaded_signatures(self) -> tuple[FunctionSignature, ...]:
        """Those of all functions that a program exports: also of the two that get and set its state."""
        changing = [held.spec for held in self.parameters.held if held.is_mutable] if self.parameters else []
        if not changing:
            return self.signatures
        specs = tuple(changing)
        return (
            *self.signatures,
            FunctionSignature(GETTER, (), specs),
            FunctionSignature(SETTER, specs, ()),
        )

    def starting_with(self, name: str) -> Manifest:
        """The manifest with the function called `name` as the first one."""
        first = self.function(name)
        return replace(self, functions=(first, *(f for f in self.functions if f is not first)))

    def of(self, variant: Variant) -> Manifest:
        """The manifest as that of one of the modules."""
        return replace(
            self,
            target=variant.target,
            architecture=variant.architecture,
            required_features=variant.required_features,
            flags=variant.flags,
            work=variant.work,
        )

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
                "parameters": _parameters_to_json(self.parameters),
                "required_features": list(self.required_features),
                "target": self.target,
                "variants": [_variant_to_json(variant) for variant in self.variants],
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
    parameters: Parameters | None = None,
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
        parameters=parameters,
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
    if isinstance(version, bool) or version not in (1, FORMAT_VERSION):
        age = "newer" if isinstance(version, int) and version > FORMAT_VERSION else "older"
        raise ArtifactError(
            f"its manifest has format version {shortened(version)}, {age} than the {FORMAT_VERSION} "
            "of this adze",
            hint="build the program again with this version of adze",
        )
    data = check_manifest(data)
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
        parameters=_parameters_from_json(data["parameters"]),
        variants=tuple(map(_variant_from_json, data["variants"])),
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
        "arguments": list(function.arguments),
        "dims": {
            name: {"min": bounds.least, "max": bounds.most, "multiple_of": bounds.multiple_of}
            for name, bounds in sorted(signature.bounds.items())
        },
        "donated": list(function.donated),
        "specializations": [
            {"sizes": dict(sorted(each.sizes.items())), "function": each.function}
            for each in function.specializations
        ],
    }


def _function_from_json(data: Json) -> ExportedFunction:
    signature = FunctionSignature(
        data["name"],
        tuple(map(_spec_from_json, data["inputs"])),
        tuple(map(_spec_from_json, data["outputs"])),
        {name: Bounds(each["min"], each["max"], each["multiple_of"]) for name, each in data["dims"].items()},
    )
    return ExportedFunction(
        signature,
        data["input_tree"],
        data["output_tree"],
        tuple(data["arguments"]),
        tuple(data["donated"]),
        tuple(Specialization(each["sizes"], each["function"]) for each in data["specializations"]),
    )


def _parameters_to_json(parameters: Parameters | None) -> Json:
    if parameters is None:
        return None
    held = [
        {**_spec_to_json(each.spec), "mutable": each.is_mutable, "parameter": each.is_parameter}
        for each in parameters.held
    ]
    return {
        "scope": parameters.scope,
        "file": parameters.file,
        "sha256": parameters.sha256,
        "held": held,
    }


def _parameters_from_json(data: Json) -> Parameters | None:
    if data is None:
        return None
    held = tuple(Held(_spec_from_json(each), each["mutable"], each["parameter"]) for each in data["held"])
    return Parameters(data["scope"], data["file"], held, data["sha256"])


def _variant_to_json(variant: Variant) -> Json:
    return {
        "target": variant.target,
        "architecture": variant.architecture,
        "required_features": list(variant.required_features),
        "flags": list(variant.flags),
        "work": variant.work,
        "bytes": variant.bytes,
        "kernels": variant.kernels,
    }


def _variant_from_json(data: Json) -> Variant:
    return Variant(
        data["target"],
        data["architecture"],
        tuple(data["required_features"]),
        tuple(data["flags"]),
        None if data["work"] is None else float(data["work"]),
        data["bytes"],
        data["kernels"],
    )


def _spec_to_json(spec: ArraySpec) -> Json:
    return {"name": spec.name, "dtype": dtype_name(spec.dtype), "shape": list(spec.shape)}


def _spec_from_json(data: Json) -> ArraySpec:
    return ArraySpec(data["name"], dtype_from_name(data["dtype"]), tuple(data["shape"]))


def _mlir_string(text: str) -> str:
    """An MLIR string literal: everything but plain ASCII is written as two hex digits a byte."""
    escaped = _NOT_PLAIN.sub(lambda found: b"\\%02X" % found[0][0], text.encode())
    return f'"{escaped.decode()}"'
