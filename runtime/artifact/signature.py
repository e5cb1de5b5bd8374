"""What a compiled function takes and gives: names, dtypes and dims.

Input: the arguments of a call. Output: none, or a `CallError` in the user's own words. IREE checks less than
is needed (equal dynamic dims are not compared, an argument has no name), so all of it is checked here before
the call. Signatures come from a manifest or, for foreign modules, from IREE's own declaration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import dtype_from_name, dtype_name, short_name
from ..errors import ArtifactError, CallError, CallTypeError

# A dim is a number, a name (equal wherever the name stands), of results also an expression of names
# (`2*n + 1`), or None where nothing is known of it.
Dim = int | str | None


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """One argument or result: `ArraySpec("x", float32, ("n", 4))` prints as `x: f32[n,4]`."""

    name: str
    dtype: np.dtype
    shape: tuple[Dim, ...]

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape, where every dim of it is a number."""
        sizes = tuple(dim for dim in self.shape if isinstance(dim, int))
        return sizes if len(sizes) == len(self.shape) else None

    @property
    def type_text(self) -> str:
        """The type as `--in` takes it: `c64[n,4]`."""
        dims = ",".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{short_name(self.dtype)}[{dims}]"

    def __str__(self) -> str:
        return f"{self.name}: {self.type_text}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What sizes a named dim may have: `least` to `most` (None: any), and multiples of a number.

    `str()` of it is `1..1024, %8`.
    """

    least: int = 0
    most: int | None = None
    multiple_of: int = 1

    def __contains__(self, size: int) -> bool:
        return (
            size >= self.least and (self.most is None or size <= self.most) and size % self.multiple_of == 0
        )

    def near(self, size: int) -> int:
        """The least legal size from `size` on, or the largest one where there is none."""
        legal = -(-max(size, self.least) // self.multiple_of) * self.multiple_of
        return legal if self.most is None else min(legal, self.most // self.multiple_of * self.multiple_of)

    def __str__(self) -> str:
        interval = f"{self.least}..{'' if self.most is None else self.most}"
        return interval if self.multiple_of == 1 else f"{interval}, %{self.multiple_of}"


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """An exported function. `str()` of it is `predict(x: f32[n,784]) -> (out: f32[n,10])`.

    `bounds` has an entry for each named dim whose sizes are restricted.
    """

    name: str
    inputs: tuple[ArraySpec, ...]
    outputs: tuple[ArraySpec, ...]
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))})"


def check_arguments(
    signature: FunctionSignature, arguments: Sequence[tuple[tuple[int, ...], np.dtype]]
) -> None:
    """Raise the CallError for arguments of these shapes and dtypes, or return if they fit."""
    if len(arguments) != len(signature.inputs):
        raise CallTypeError(
            f"{signature.name}() takes {_count(len(signature.inputs), 'argument')} and {len(arguments)} "
            f"{'was' if len(arguments) == 1 else 'were'} given",
            hint=f"it is {signature}",
        )
    known: dict[str, tuple[int, str]] = {}
    for spec, (shape, dtype) in zip(signature.inputs, arguments, strict=True):
        if dtype != spec.dtype:
            raise CallTypeError(
                f"{signature.name}(): argument {spec.name!r} is {_type_text(shape, dtype)}: "
                f"expected {spec.type_text}",
                hint=f"convert it: {spec.name}.astype({spec.dtype.name!r})",
            )
        if len(shape) != len(spec.shape):
            raise CallError(
                f"{signature.name}(): argument {spec.name!r} has {_count(len(shape), 'dim')}, {shape}: "
                f"expected {len(spec.shape)}, {spec.type_text}"
            )
        for axis, (have, want) in enumerate(zip(shape, spec.shape, strict=True)):
            _check_dim(signature, spec, axis, have, want, known)


def signature_from_declaration(name: str, declaration: str) -> FunctionSignature:
    """The signature in IREE's `iree.abi.declaration` text, for modules without a manifest."""
    match = re.search(r"@[^(]*\((?P<inputs>.*?)\) -> \((?P<outputs>.*)\)\s*$", declaration)
    if match is None:
        match = re.search(r"@[^(]*\((?P<inputs>.*)\)(?P<outputs>)\s*$", declaration)
    if match is None:
        raise ArtifactError(f"function {name!r} has a declaration that adze cannot read: {declaration}")
    return FunctionSignature(
        name, _specs_from_declaration(name, match["inputs"]), _specs_from_declaration(name, match["outputs"])
    )


def check_signature(stated: FunctionSignature, declared: FunctionSignature) -> None:
    """Raise the ArtifactError where a manifest states what the module in its file does not take or give.

    IREE would read memory by the module's types and adze by the manifest's. The module's know no signs.
    """
    for kind, here, there in (
        ("input", stated.inputs, declared.inputs),
        ("result", stated.outputs, declared.outputs),
    ):
        if len(here) != len(there):
            raise ArtifactError(
                f"its manifest is damaged: {stated.name}() has {_count(len(here), kind)} in it, and "
                f"{len(there)} in the module"
            )
        for spec, actual in zip(here, there, strict=True):
            if not _same_memory(spec, actual):
                raise ArtifactError(
                    f"its manifest is damaged: {kind} {spec.name!r} of {stated.name}() is {spec.type_text} "
                    f"in it, and {actual.type_text} in the module"
                )


def _same_memory(spec: ArraySpec, actual: ArraySpec) -> bool:
    signless = dtype_name(spec.dtype).removeprefix("u") == dtype_name(actual.dtype).removeprefix("u")
    sizes = zip(spec.shape, actual.shape, strict=False)
    return (
        signless
        and len(spec.shape) == len(actual.shape)
        and all((a if isinstance(a, int) else None) == b for a, b in sizes)
    )


_DECLARED: Final = re.compile(r"%(\w+): tensor<((?:(?:\d+|\?)x)*)([^<>]*(?:<[^<>]*>)?)>")


def _specs_from_declaration(function: str, text: str) -> tuple[ArraySpec, ...]:
    specs = []
    for declared in re.finditer(r"%\w+: (?:[^,<]|<(?:[^<>]|<[^<>]*>)*>)+", text):
        match = _DECLARED.match(declared[0])
        if match is None:
            raise ArtifactError(
                f"function {function!r} has an argument or result that adze cannot pass: {declared[0]}"
            )
        dims: tuple[Dim, ...] = tuple(
            None if dim == "?" else int(dim) for dim in match[2].split("x") if dim != ""
        )
        specs.append(ArraySpec(match[1], dtype_from_name(match[3].strip()), dims))
    return tuple(specs)


def _check_dim(
    signature: FunctionSignature,
    spec: ArraySpec,
    axis: int,
    have: int,
    want: Dim,
    known: dict[str, tuple[int, str]],
) -> None:
    function = signature.name
    if want is None:
        return
    if isinstance(want, int):
        if have != want:
            raise CallError(
                f"{function}(): argument {spec.name!r} has size {have} along axis {axis}: "
                f"expected {want}, {spec.type_text}"
            )
        return
    size, origin = known.setdefault(want, (have, f"axis {axis} of {spec.name!r}"))
    if have != size:
        raise CallError(
            f"{function}(): argument {spec.name!r} has size {have} along axis {axis}, which is dim {want!r}: "
            f"expected {size}, the size of {origin}"
        )
    if want in signature.bounds and have not in signature.bounds[want]:
        raise CallError(
            f"{function}(): argument {spec.name!r} has size {have} along axis {axis}, which is dim {want!r}: "
            f"expected {signature.bounds[want]}"
        )


def _type_text(shape: tuple[int, ...], dtype: np.dtype) -> str:
    try:
        name = short_name(dtype)
    except Exception:
        name = str(dtype)
    return f"{name}[{','.join(map(str, shape))}]"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
