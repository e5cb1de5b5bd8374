"""`adze run`: call a function of a .vmfb on arrays from files; the compiler is never loaded.

In come a program and one array an input (a .npy file or numbers, in order or by name); out come the results,
as .npy files, as text or as JSON. Shapes and dtypes are checked by the runtime, in the names of the program.
"""

from __future__ import annotations

import io
import json as json_text
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import check_output
from .reporting import BadUsage, JsonOption, command, print_json, print_note

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.manifest import Manifest
    from ..runtime.signature import ArraySpec, FunctionSignature

_NAMED = re.compile(r"([A-Za-z_][\w.\[\]'\"]*)=(.+)", re.DOTALL)


@command
def run(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    inputs: Annotated[
        list[str],
        typer.Option(
            "--in",
            metavar="ARRAY",
            help="One input, in order or by name: x.npy, x=x.npy, or numbers such as 3.5 or '[1, 2]'.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer copies it
    outputs: Annotated[
        list[Path],
        typer.Option(
            "--out", metavar="FILE.npy", help="Where to write each result, in order.", show_default=False
        ),
    ] = [],  # noqa: B006
    function: Annotated[
        str | None,
        typer.Option("--function", metavar="NAME", help="Which function, where the program has several."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="DEVICE", help="Where to run it: cpu, local-task, vulkan, ..."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run a .vmfb on arrays and print the results, or write them to files.

    Example: adze run predict.vmfb --in x.npy --out y.npy
    """
    import numpy as np

    from ..runtime.artifact import inspect, load
    from ..runtime.files import write_atomically

    signature = choose_function(inspect(file).manifest, function)
    if outputs and len(outputs) != len(signature.outputs):
        raise BadUsage(
            f"--out: {signature.name} gives {len(signature.outputs)} results, "
            f"and {len(outputs)} files were named",
            hint=f"it is {signature}",
        )
    destinations = [check_output(path) for path in outputs]
    arguments = [read_array(text, spec) for text, spec in pair_inputs(inputs, signature)]

    loaded = load(file, device)
    results = [array.numpy() for array in loaded.executable.call(signature.name, arguments)]

    for path, result in zip(destinations, results, strict=False):
        content = io.BytesIO()
        np.save(content, result)
        write_atomically(path, content.getvalue())
    described = list(map(describe, signature.outputs, results))
    if json:
        for position, entry in enumerate(described):
            entry["file" if outputs else "values"] = (
                str(outputs[position]) if outputs else json_values(results[position])
            )
        print_json({"function": signature.name, "device": loaded.device.name, "outputs": described})
    elif outputs:
        for path, entry in zip(outputs, described, strict=True):
            print_note(f"{path}: {entry['type']}")
    else:
        for entry, result in zip(described, results, strict=True):
            typer.echo(f"{entry['name']}: {entry['type']}\n{np.array2string(result, threshold=100)}")


def choose_function(manifest: Manifest, name: str | None) -> FunctionSignature:
    """The function called `name`; without a name, the only one."""
    if name is not None:
        return manifest.function(name).signature
    if len(manifest.signatures) != 1:
        names = ", ".join(signature.name for signature in manifest.signatures)
        raise BadUsage(f"--function: the program has several functions, name one of {names}")
    return manifest.signatures[0]


def pair_inputs(texts: list[str], signature: FunctionSignature) -> list[tuple[str, ArraySpec]]:
    """Each input of the function with the text that gives it, in the function's order."""
    given: dict[str, str] = {}
    in_order: list[str] = []
    names = [spec.name for spec in signature.inputs]
    by_path = {dotted(name): name for name in names}
    for text in texts:
        match = _NAMED.fullmatch(text)
        if match is None:
            in_order.append(text)
            continue
        name = by_path.get(dotted(match[1]))
        if name is None:
            raise BadUsage(f"--in: there is no input {match[1]!r}", hint=f"the function is {signature}")
        if name in given:
            raise BadUsage(f"--in: {match[1]!r} is given twice")
        given[name] = match[2]
    unnamed = [name for name in names if name not in given]
    if len(in_order) != len(unnamed):
        raise BadUsage(
            f"--in: {signature.name} takes {len(names)} inputs, and {len(texts)} were given",
            hint=f"the function is {signature}",
        )
    given.update(zip(unnamed, in_order, strict=True))
    return [(given[spec.name], spec) for spec in signature.inputs]


def dotted(name: str) -> str:
    """`params['w'][0]` as `params.w.0`, the way `adze build` takes the leaves of an argument."""
    return re.sub(r"\[['\"]?(.*?)['\"]?\]", r".\1", name)


def read_array(text: str, spec: ArraySpec) -> np.ndarray:
    """The array in the file that `text` names, or the numbers that it writes, in the dtype of `spec`."""
    import numpy as np

    path = Path(text)
    if path.is_file():
        return read_file(path, spec)
    try:
        return np.asarray(json_text.loads(text), dtype=spec.dtype)
    except (ValueError, TypeError):
        raise BadUsage(
            f"--in: {text!r} for {spec} is neither a file nor numbers",
            hint="name a .npy file, or write numbers such as 3.5 or [[1, 2], [3, 4]]",
        ) from None


def read_file(path: Path, spec: ArraySpec) -> np.ndarray:
    """The array in a .npy file. NumPy's format has no bfloat16: its two bytes come back as such."""
    import numpy as np

    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise BadUsage(f"--in: {path} is not a .npy file: {error}") from None
    if not isinstance(array, np.ndarray):
        raise BadUsage(f"--in: {path} holds several arrays: expected one .npy file an input")
    if array.dtype.kind == "V" and array.dtype.itemsize == spec.dtype.itemsize:
        array = array.view(spec.dtype)
    return array


def describe(spec: ArraySpec, result: np.ndarray) -> dict[str, Any]:
    """Name and type of one result, with the sizes that it has."""
    from ..runtime.signature import ArraySpec

    shape = tuple(result.shape)
    type_text = ArraySpec(spec.name, result.dtype, shape).type_text
    return {"name": spec.name, "type": type_text, "dtype": result.dtype.name, "shape": list(shape)}


def json_values(result: np.ndarray) -> object:
    """Nested lists of numbers; complex ones as pairs (real, imaginary), NaN and infinities as text."""
    import numpy as np

    if np.iscomplexobj(result):
        return json_values(np.stack([result.real, result.imag], axis=-1))
    if result.dtype.kind not in "fiub":
        result = result.astype(np.float32)
    if result.dtype.kind == "f" and not np.isfinite(result).all():
        return np.where(np.isfinite(result), result.astype(object), result.astype(str)).tolist()
    return result.tolist()
