"""`adze run`: call a function of a .vmfb on arrays from files; the compiler is never loaded.

Input: a program, and an array for each of its inputs (a file or numbers, in order or by name). Output: the
results, in files, as text or as JSON. Everything is checked before the program is loaded, in its own names.
"""

from __future__ import annotations

from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .arguments import check_outputs, readable_file
from .front import typer
from .inputs import file_of, pair_inputs, read_inputs
from .outputs import check_count, check_formats, files_of, json_values, write_all
from .reporting import BadUsage, JsonOption, command, print_json, print_note, print_text, usage

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.artifact import LoadedProgram
    from ..runtime.artifact.manifest import Manifest
    from ..runtime.artifact.signature import ArraySpec, FunctionSignature
    from ..runtime.distributed.division import Division


InputsOption = Annotated[
    list[str],
    typer.Option(
        "--in",
        metavar="ARRAY",
        help="One input, in order or by name: x.npy, x=x.csv, x=data.npz:images, numbers such as 3.5 or "
        "'[1, 2]'; or a .npz, .safetensors or .json file of several, by their names. A dtype that a file "
        "states must be the input's; numbers must be values of it.",
        show_default=False,
    ),
]
OutputsOption = Annotated[
    list[Path],
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where to write each result, in order (.npy, .csv, .json, .png), or all (.npz, .safetensors).",
        show_default=False,
    ),
]
FunctionOption = Annotated[
    str | None,
    typer.Option("--function", metavar="NAME", help="Which function, where the program has several."),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", metavar="DEVICE", help="Where to run it: cpu, local-task, vulkan, ..."),
]

KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key", metavar="PUBLIC.pem", help="Whose signature the file must have.", show_default=False
    ),
]
VariantOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="TARGET", help="Which variant, where the file has several."),
]

ParametersOption = Annotated[
    Path | None,
    typer.Option(
        "--parameters",
        metavar="FILE",
        help="The arrays that the program has outside: a .safetensors or .irpa file in place of its own.",
        show_default=False,
    ),
]


@command
def run(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    inputs: InputsOption = [],  # noqa: B006 - typer copies it
    outputs: OutputsOption = [],  # noqa: B006
    function: FunctionOption = None,
    device: DeviceOption = None,
    target: VariantOption = None,
    key: KeyOption = None,
    parameters: ParametersOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which variant of the program was taken, and why.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a .vmfb on arrays and print the results, or write them to files.

    No input is changed silently: a .npy file of another dtype is refused, and so are numbers that the dtype
    does not hold (1.7 or 300 for ui8, 1e300 or 16777217 for f32). Decimal fractions are rounded to the
    nearest float; NaN, Infinity and -Infinity are floats; a complex number is a pair [real, imaginary].

    Example: adze run predict.vmfb --in x.npy --out y.npy
    """
    from ..runtime.artifact.artifact import inspect, load
    from ..runtime.artifact.signing import public_key
    from ..runtime.distributed.jobs import ending_together, process_index
    from ..runtime.distributed.programs import division_of
    from ..runtime.execute.devices import get_device

    public = None if key is None else public_key(readable_file(key, "--key"))
    manifest = inspect(readable_file(file), public).manifest
    division = division_of(manifest)
    signature = choose_function(manifest, function)
    if division is not None:
        signature = division.whole(signature)
    chosen = usage("--device", get_device, device) if device is not None else None
    check_count(outputs, signature)
    texts = pair_inputs(inputs, signature)
    read = [path for text, _ in texts if (path := file_of(text)[0]) is not None]
    destinations = check_outputs(outputs, "--out", keep=[file, *read])
    check_formats(outputs, signature)
    arguments = read_inputs(texts, signature, maps=division is not None)

    with ending_together(manifest.extra):
        loaded = load(file, chosen, public, target, parameters=parameters)
        name, results = called(loaded, signature.name, arguments, division)
    if process_index() != 0:
        return  # every rank has the results: the first one writes them
    if explain:
        reason = f": {loaded.reason}" if loaded.reason else ""
        print_note(f"taken: {loaded.manifest.target} on {loaded.device.name}{reason}")
    if explain and name != signature.name:
        print_note(f"taken: {name}, which is built for these sizes")
    write_all(destinations, signature.outputs, results)
    files = files_of(outputs, len(results))
    described = list(map(describe, signature.outputs, results))
    if not json:
        print_results(described, files, results)
        return
    for position, entry in enumerate(described):
        entry["file" if outputs else "values"] = (
            str(files[position]) if outputs else json_values(results[position])
        )
    names = {"function": signature.name, "device": loaded.device.name, "target": loaded.manifest.target}
    print_json({**names, "outputs": described})


def called(
    loaded: LoadedProgram, function: str, arguments: list[np.ndarray], division: Division | None
) -> tuple[str, list[np.ndarray]]:
    """The results, and which function was taken: the one for arguments of these sizes.

    With a division the program gets this rank's parts, and every rank has the whole results.
    """
    from ..dialects.communicator import bound

    communicator = bound()
    if division is not None and communicator is not None:
        arguments = list(map(division.part, division.inputs, arguments, repeat(communicator.rank)))
    name = loaded.manifest.function(function).for_shapes([array.shape for array in arguments])
    results = [array.numpy() for array in loaded.executable.call(name, arguments)]
    if division is not None and communicator is not None:
        results = list(map(division.gathered, division.outputs, results, repeat(communicator)))
    return name, results


def print_results(described: list[dict[str, Any]], outputs: list[Path], results: list[np.ndarray]) -> None:
    """The values, or the type of what was written to each file."""
    import numpy as np

    if outputs:
        for path, entry in zip(outputs, described, strict=True):
            print_note(f"{path}: {entry['type']}")
    else:
        for entry, result in zip(described, results, strict=True):
            print_text(f"{entry['name']}: {entry['type']}\n{np.array2string(result, threshold=100)}")


def choose_function(manifest: Manifest, name: str | None) -> FunctionSignature:
    """The function called `name`; without a name, the only one."""
    if name is not None:
        return usage("--function", manifest.function, name).signature
    special = {each.function for function in manifest.functions for each in function.specializations}
    signatures = [signature for signature in manifest.signatures if signature.name not in special]
    if len(signatures) != 1:
        names = ", ".join(signature.name for signature in signatures)
        raise BadUsage(f"--function: the program has several functions, name one of {names}")
    return signatures[0]


def describe(spec: ArraySpec, result: np.ndarray) -> dict[str, Any]:
    """Name and type of one result, with the sizes that it has."""
    from ..runtime.artifact.signature import ArraySpec

    shape = tuple(result.shape)
    type_text = ArraySpec(spec.name, result.dtype, shape).type_text
    return {"name": spec.name, "type": type_text, "dtype": result.dtype.name, "shape": list(shape)}
