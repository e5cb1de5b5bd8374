"""The functions of a program with state as functions of arrays alone: state in, changed state out.

Input: what a manifest says of a function and of the arrays that its program keeps, and the kept IR, whose
functions take them as their first arguments and return as their first results those that they change.
Output: the same function with the state in its signature and trees, a dict of arrays by their paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...dialects import mlir
from ...passes.ir.functions import function as find_function
from ...passes.ir.functions import functions
from ...passes.lower.hold_state import CHANGES, HELD, HOLDS
from ...runtime.artifact.manifest import ExportedFunction, Held, Parameters
from ...runtime.artifact.signature import ArraySpec

STATE = "state"


def with_state(
    exported: ExportedFunction, parameters: Parameters | None, module: mlir.ir.Module
) -> ExportedFunction:
    """The function as its IR has it; one that has nothing to do with state is returned as it is."""
    operation = find_function(module, exported.signature.name)
    if parameters is None or HOLDS not in operation.attributes:
        return exported
    kind = mlir.ir.StringAttr(operation.attributes[HOLDS]).value
    changes = [parameters.held[n] for n in mlir.ir.DenseI64ArrayAttr(operation.attributes[CHANGES])]
    taken = () if kind == "sets" else parameters.held
    signature = replace(
        exported.signature,
        inputs=(*_specs(taken, STATE), *exported.signature.inputs),
        outputs=(*_specs(changes, f"new {STATE}"), *exported.signature.outputs),
    )
    positional, named = exported.input_tree["tuple"]
    result = replace(exported, signature=signature, specializations=())
    if taken:
        values = {"tuple": [_tree(taken), *positional["tuple"]]}
        names = exported.arguments if len(exported.arguments) == len(positional["tuple"]) else None
        arguments = () if names is None else (_free(STATE, names), *names)
        result = replace(result, input_tree={"tuple": [values, named]}, arguments=arguments)
    if kind == "updates":
        return replace(result, output_tree={"tuple": [_tree(changes), exported.output_tree]})
    return replace(result, output_tree=_tree(changes)) if kind == "sets" else result


def without_state(module: mlir.ir.Module) -> None:
    """Let the module be one of plain functions, which take and return the state."""
    attributes = module.operation.attributes
    if HELD in attributes:
        del attributes[HELD]
    for operation in functions(module).values():
        for name in (HOLDS, CHANGES):
            if name in operation.attributes:
                del operation.attributes[name]


def _specs(held: Sequence[Held], prefix: str) -> list[ArraySpec]:
    return [replace(each.spec, name=f"{prefix}[{each.spec.name!r}]") for each in held]


def _tree(held: Sequence[Held]) -> Any:
    return {"dict": {each.spec.name: "*" for each in held}}


def _free(name: str, taken: Sequence[str | None]) -> str:
    """A name that no argument has yet."""
    return name if name not in taken else _free(f"_{name}", taken)
