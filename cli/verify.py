"""`adze verify`: a .vmfb is what its writer signed, and computes what its adze IR says.

Input: a program; a public key to verify its signature by, or, of a program that was built with --keep-ir, its
own inputs, or a seed to draw some. Output: whether the signature is right; for each result the largest error
against NumPy, which evaluates the IR op by op. Exit code 1 where anything is wrong.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .arguments import readable_file
from .front import typer
from .inputs import pair_inputs, read_inputs
from .reporting import BadUsage, JsonOption, command, counted, print_json, print_text, usage, working
from .run import DeviceOption, FunctionOption, InputsOption, KeyOption, choose_function

if TYPE_CHECKING:
    from ..frontend.staging.verification import Agreement
    from ..runtime.artifact.artifact import Inspection, LoadedProgram
    from ..runtime.artifact.signature import FunctionSignature
    from ..runtime.artifact.signing import PublicKey


NumbersOption = Annotated[
    bool | None,
    typer.Option(
        "--numbers/--no-numbers",
        help="Whether to compare numbers; with --key only where --numbers says so.",
        show_default=False,
    ),
]
SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="How many calls with drawn inputs.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="What the inputs are drawn by.")]
SizesOption = Annotated[
    list[str],
    typer.Option("--size", metavar="NAME=N", help="The size of a named dimension.", show_default=False),
]
MaxErrorOption = Annotated[
    float | None,
    typer.Option(
        "--max-error",
        min=0,
        help="The largest relative error of floats.",
        show_default="by dtype: 1e-4 for f32, 1e-10 for f64",
    ),
]


@command
def verify(
    file: Annotated[
        Path, typer.Argument(metavar="OUT.vmfb|MODEL", help="The program, or a model.", show_default=False)
    ],
    key: KeyOption = None,
    numbers: NumbersOption = None,
    inputs: InputsOption = [],  # noqa: B006 - typer copies it
    samples: SamplesOption = 5,
    seed: SeedOption = 0,
    sizes: SizesOption = [],  # noqa: B006
    max_error: MaxErrorOption = None,
    function: FunctionOption = None,
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Check a .vmfb: its signature, or its results against those of its adze IR.

    The file is whole in any case: its checksum and its manifest are looked at first. With --key its signature
    must be by that public key; nothing of the program is run then, unless --numbers says so too. With
    --no-numbers and no key, that it is whole is all that is checked.

    Without a key the program is called, and its results are compared with those of the adze IR that it keeps
    (adze build --keep-ir), evaluated with NumPy. Inputs are drawn: normal floats, integers 0 to 4, named
    dimensions of 1 and then of up to 8. With --in the program is called once, on the arrays that you name.
    An error is relative to the largest magnitude in its result; integers, bools, NaN and infinities must be
    equal.

    A model (.onnx, .mlir) is compiled for this machine first, with the sizes that it declares.

    Example: adze verify predict.vmfb --samples 20

    Example: adze verify predict.vmfb --key release.public.pem
    """
    from ..runtime.artifact.artifact import inspect, load
    from ..runtime.artifact.signing import public_key
    from ..runtime.execute.devices import get_device

    compares = key is None if numbers is None else numbers
    if not compares and (inputs or sizes or max_error is not None or device is not None):
        raise BadUsage("--in, --size, --max-error and --device are for numbers", hint="add --numbers")
    if str(file).lower().endswith((".onnx", ".mlir", ".mlirbc", ".stablehlo")):
        if key is not None or not compares:
            raise BadUsage(
                f"{file}: a model has no signature", hint="build it, sign it, and verify the .vmfb"
            )
        with _built(file) as program:
            verify(program, None, True, inputs, samples, seed, sizes, max_error, function, device, json)
        return
    public = None if key is None else public_key(readable_file(key, "--key"))
    found = inspect(readable_file(file), public)
    _check_weights(found)
    report = _of_the_file(found, public)
    if not json and (public is not None or not compares):
        print_text(f"{file}: whole, {_signature_text(report)}")
    holds = True
    if compares:
        chosen = usage("--device", get_device, device) if device is not None else None
        signature = choose_function(found.manifest, function)
        calls = _calls(signature, inputs, samples, seed, sizes)
        agreements = _compare(lambda: load(file, chosen, public), signature.name, calls, max_error)
        holds = all(a.holds for a in agreements)
        report |= {"calls": len(calls), "results": [_json(a) for a in agreements]}
        if not json:
            _show(len(calls), agreements, [a.result.name for a in agreements if not a.holds])
    _end(report if json else None, holds)


@contextlib.contextmanager
def _built(model: Path) -> Iterator[Path]:
    """A model as a program of the sizes that it declares, which is gone afterwards."""
    with _of_the_compiler():
        from ..frontend.imports.loading import declared_specs, load_model
        from ..frontend.staging.jit import trace
        from ..frontend.staging.packages import packed
        from ..runtime.artifact.artifact import save
    loaded = load_model(readable_file(model))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / f"{model.stem}.vmfb"
        with working(f"compiling {model}"):
            compiled = trace(loaded, **(declared_specs(loaded) or {})).lower().compile()
            save(program, packed((compiled,), keep_ir=True))
        yield program


def _check_weights(found: Inspection) -> None:
    """That the file of weights beside the program is the one that was written with it."""
    from ..runtime.artifact.weights import source_of
    from ..runtime.errors import ArtifactError

    parameters = found.manifest.parameters
    if parameters is None or parameters.file is None:
        return
    try:
        source_of(parameters, None, found.path.parent)
    except ArtifactError as error:
        raise ArtifactError(f"{found.path}: {error.message}", hint=error.hint) from None


def _end(report: dict[str, Any] | None, holds: bool) -> None:
    """Print the report where JSON is asked for; exit with 1 unless the numbers agree."""
    if report is not None:
        print_json({**report, "holds": holds})
    if not holds:
        raise typer.Exit(1)


def _of_the_file(found: Inspection, key: PublicKey | None) -> dict[str, Any]:
    """What is known of a file that was found whole, and signed by `key` where one was given."""
    return {
        "file": str(found.path),
        "sha256": found.sha256,
        "signed_by": None if found.signature is None else found.signature.public_key.fingerprint,
        "signature": "not checked" if key is None else "right",
    }


def _signature_text(report: dict[str, Any]) -> str:
    if report["signed_by"] is None:
        return "signature none"
    state = "which is right" if report["signature"] == "right" else "which was not checked"
    return f"signed with key {report['signed_by']}, {state}"


def _calls(
    signature: FunctionSignature, inputs: list[str], samples: int, seed: int, sizes: list[str]
) -> list[Any]:
    """The arguments of each call: those that are named, or else drawn ones."""
    known = _sizes(sizes, {n for spec in signature.inputs for n in spec.shape if isinstance(n, str)})
    if inputs:
        return [read_inputs(pair_inputs(inputs, signature), signature)]
    with _of_the_compiler():
        from ..frontend.staging.verification import drawn
    return list(drawn(signature, samples, seed, known))


def _compare(
    load: Callable[[], LoadedProgram], function: str, calls: list[Any], max_error: float | None
) -> list[Agreement]:
    """How far each result of a function is off."""
    from ..frontend.staging.artifacts import LoadedProgram as Program

    with _of_the_compiler():
        from ..frontend.staging.verification import compare
    with working(f"verifying {function}()"):
        loaded = load()
        loaded = replace(loaded, manifest=loaded.manifest.starting_with(function))
        return compare(Program(loaded), calls, max_error)


@contextlib.contextmanager
def _of_the_compiler() -> Iterator[None]:
    """Say what to do where a module is imported that adze-runtime has not."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("adze."):
            raise
        from ..runtime.errors import MissingCompilerError

        hint = "adze verify --no-numbers, or --key PUBLIC.pem, checks the file alone"
        raise MissingCompilerError("the comparison of numbers", hint=hint) from None


def _json(agreement: Agreement) -> dict[str, Any]:
    error = agreement.error if isfinite(agreement.error) else "inf"
    return {"name": agreement.result.name, "error": error, "allowed": agreement.allowed}


def _show(calls: int, agreements: list[Agreement], wrong: list[str]) -> None:
    for a in agreements:
        print_text(f"{a.result}: error {a.error:.2g}, allowed {a.allowed:.2g}{'' if a.holds else '  WRONG'}")
    print_text(f"{counted(calls, 'call')}: {'wrong: ' + ', '.join(wrong) if wrong else 'all results agree'}")


def _sizes(texts: list[str], names: set[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, separator, number = text.partition("=")
        if not separator or not number.isdecimal():
            raise BadUsage(f"--size: {text!r} is not NAME=N", hint="write --size n=16")
        if name not in names:
            raise BadUsage(
                f"--size: the program has no dimension {name!r}: it has {', '.join(sorted(names)) or 'none'}"
            )
        sizes[name] = int(number)
    return sizes
