"""`adze import`: a model of another framework as readable Python source, with its weights beside it.

Input: an ONNX or a StableHLO file. Output: a Python file with one function against `adze.numpy`, and an
`.npz` file of the same name.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from .arguments import SpecOption, bind_specs, check_output, readable_file
from .reporting import BadUsage, JsonOption, command, print_json, print_text, working
from .source import MODEL_SUFFIXES, function_name, is_model, load_function


@command
def import_(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The model: .onnx, .mlir.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL.py", help="The file to write.", show_default=False),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    json: JsonOption = False,
) -> None:
    """Write a model as a Python function against adze.numpy, and its weights beside it.

    The weights are an .npz file of the same name.

    The shapes are those that the model declares, or those of --in. Nothing of the model is run.

    Example: adze import model.onnx -o model.py
    """
    from ..frontend.imports.source.files import write_model
    from ..runtime.artifact.files import write_atomically

    if not is_model(str(model)):
        raise BadUsage(f"{str(model)!r} is no file of a model: expected {', '.join(MODEL_SUFFIXES)}")
    if output.suffix != ".py":
        raise BadUsage(f"--output: {str(output)!r} is no Python file", hint="write -o model.py")
    weights = output.with_suffix(".npz")
    source_place = check_output(output, keep=[readable_file(model)])
    weights_place = check_output(weights, keep=[model])
    name = function_name(str(output.with_suffix(".onnx")))
    with working(f"importing {model}"):
        function = load_function(str(model))
        args, named = bind_specs(function, specs)
        parameters = [*_names(function)]
        given = {**dict(zip(parameters, args, strict=False)), **named}
        ordered = {parameter: given[parameter] for parameter in parameters}
        written = write_model(function, ordered, name, model.name, weights.name)
    write_atomically(weights_place, written.weights)
    write_atomically(source_place, written.source.encode())
    if json:
        print_json(
            {
                "output": str(output),
                "weights": str(weights),
                "arrays": written.arrays,
                "function": written.name,
            }
        )
    else:
        print_text(f"{output}: {written.name}(), {written.lines} lines; {weights}: {written.arrays} arrays")


def _names(function: object) -> list[str]:
    return [*inspect.signature(function).parameters]  # type: ignore[arg-type]
