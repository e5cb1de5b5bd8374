"""What `adze bench` and `adze profile` measure: a function of a program, on a device, with arguments.

Input: the options of the command line. Output: a `Subject`. Arguments that are not given are drawn; the sizes
of named dimensions are stated, since a time without its sizes says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..dialects.dataclass import dataclass
from .arguments import readable_file
from .inputs import pair_inputs, read_inputs
from .reporting import BadUsage, usage
from .run import choose_function

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.manifest import Manifest
    from ..runtime.artifact.signature import FunctionSignature
    from ..runtime.execute.devices import Device
    from ..runtime.execute.program import Executable, Function

SizesOption = Annotated[
    list[str],
    typer.Option("--size", metavar="NAME=N", help="The size of a named dimension.", show_default=False),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="What the inputs are drawn by.")]


@dataclass(frozen=True)
class Subject:
    """A function of a program on a device, with arguments for a call; `module` is the code that runs."""

    file: Path
    module: bytes
    manifest: Manifest
    device: str
    function: Function
    arguments: list[np.ndarray]
    parameters: str | None = None
    """Scope and file of weights that are outside of the program: `<scope>=<file>`."""

    @property
    def signature(self) -> FunctionSignature:
        return self.function.signature

    @property
    def sizes(self) -> dict[str, int]:
        """The size that each named dimension has in the arguments."""
        axes = [
            (name, n)
            for spec, array in zip(self.signature.inputs, self.arguments, strict=True)
            for name, n in zip(spec.shape, array.shape, strict=True)
        ]
        return {name: n for name, n in axes if isinstance(name, str)}

    def load(self, device: Device) -> Executable:
        """The same program on another device."""
        from ..runtime.artifact import artifact

        target = self.manifest.target if self.manifest.variants else None
        return artifact.load(self.file, device, target=target).executable

    def caller(self) -> Callable[[], object]:
        """A function that makes one call and waits for its results: arguments are on the device already."""
        from ..runtime.execute.array import from_host

        held: list[Any] = [from_host(array, self.device, copy=True) for array in self.arguments]
        function = self.function
        return lambda: function.call(held)


def subject(
    file: Path,
    function: str | None,
    device: str | None,
    inputs: list[str],
    sizes: list[str],
    seed: int,
    arguments: list[np.ndarray] | None = None,
) -> Subject:
    """The function to measure, checked and loaded; `arguments` may be those of another program."""
    from ..runtime.artifact import artifact
    from ..runtime.artifact.weights import source_of
    from ..runtime.execute.devices import get_device

    signature = choose_function(artifact.inspect(readable_file(file)).manifest, function)
    chosen = usage("--device", get_device, device) if device is not None else None
    if arguments is None:
        arguments = _arguments(signature, inputs, sizes, seed)
    else:
        _check_same(signature, arguments, file)
    contents = artifact.read(file)
    loaded = artifact.load(file, chosen)
    if loaded.manifest.function(signature.name).donated:
        raise BadUsage(
            f"{file}: {signature.name} takes the memory of its arguments: no second call can have them",
            hint="build it without donated arguments to measure it",
        )
    module = contents.module
    for variant in contents.manifest.variants:
        if variant.target == loaded.manifest.target:
            module = contents.module_of(variant)
    callee = loaded.executable.function(signature.name)
    source = source_of(loaded.manifest.parameters, None, file.parent)
    weights = None if source is None else f"{source.scope}={source.path}"
    return Subject(file, module, loaded.manifest, loaded.device.name, callee, arguments, weights)


def _arguments(
    signature: FunctionSignature, inputs: list[str], sizes: list[str], seed: int
) -> list[np.ndarray]:
    """The arguments that the user names, or drawn ones of the sizes that the user states."""
    if inputs:
        if sizes:
            raise BadUsage("--size: the arrays of --in have their sizes already")
        return read_inputs(pair_inputs(inputs, signature), signature)
    from ..frontend.staging.verification import drawn

    names = {n for spec in signature.inputs for n in spec.shape if isinstance(n, str)}
    known = parse_sizes(sizes, names)
    missing = sorted(names - known.keys())
    if missing:
        raise BadUsage(
            f"--size: {signature} has sizes that only a call states: {', '.join(missing)}",
            hint=f"write {' '.join(f'--size {name}=64' for name in missing)}, or arrays with --in",
        )
    try:
        return next(drawn(signature, 1, seed, known))
    except (MemoryError, ValueError, OverflowError):  # the last are NumPy's, for sizes beyond all memory
        stated = ", ".join(f"{name}={n}" for name, n in sorted(known.items()))
        raise BadUsage(f"--size: inputs with {stated or 'these shapes'} do not fit into memory") from None


def parse_sizes(texts: list[str], names: set[str]) -> dict[str, int]:
    """`n=16` and its like, for the dimensions called `names`."""
    sizes: dict[str, int] = {}
    for text in texts:
        name, separator, number = text.partition("=")
        if not separator or not (number.isascii() and number.isdecimal()):
            raise BadUsage(f"--size: {text!r} is not NAME=N", hint="write --size n=16")
        if name not in names:
            raise BadUsage(
                f"--size: the program has no dimension {name!r}: it has {', '.join(sorted(names)) or 'none'}"
            )
        if name in sizes:
            raise BadUsage(f"--size: {name!r} is stated twice")
        sizes[name] = int(number)
    return sizes


def _check_same(signature: FunctionSignature, arguments: list[np.ndarray], file: Path) -> None:
    """That a second program takes the arguments of the first."""
    from ..runtime.artifact.signature import check_arguments
    from ..runtime.errors import CallError

    try:
        check_arguments(signature, [(array.shape, array.dtype) for array in arguments])
    except CallError as error:
        raise BadUsage(
            f"--against: {file} does not take the inputs of the first program: {error.message}",
            hint="compare programs of one signature",
        ) from None


def readable_time(seconds: float) -> str:
    """`0.0000123` as `12.3 us`."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
