"""What reverse mode keeps of a function's values until its backward pass: `print_saved_residuals`.

Input: a function and its arguments (or specs). Output: the type of each array that is kept, and where it
comes from. Idea: the pullback of a function is a pytree of the arrays that it keeps; a traced function that
returns it has them as results, and each is an argument, a constant or the result of an op with the user's
line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...passes.analysis.verify import location_text
from ...passes.ir.functions import function as function_called
from ...passes.ir.functions import split_body
from ...passes.pipeline import OPTIMIZE, run_pipeline
from .. import tree
from ..tracing.locations import detailed
from ..tracing.specs import ShapeDtype
from ..tracing.trace import argument_names
from ..transforms.checkpoints import SAVED_BY_POLICY
from ..transforms.differentiation import vjp
from .jit import trace
from .modules import clone_module


def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[ShapeDtype, str]]:
    """The type of each array that the backward pass of `f` keeps from the forward pass, and its origin.

    An array is kept once. Raises what `vjp` raises.
    """
    leaves, structure = tree.flatten((args, kwargs))
    names = argument_names(f, args, kwargs)

    def pullback(*values: Any) -> list[Any]:
        call_args, call_kwargs = tree.unflatten(structure, values)
        _, pull = vjp(lambda *a: f(*a, **call_kwargs), *call_args)
        return tree.leaves(pull)

    # A Python float is of the default dtype, as it is where it meets an array.
    values = [np.float32(leaf) if type(leaf) is float else leaf for leaf in leaves]
    with detailed():
        program = trace(pullback, *values).program
    module = clone_module(program.module)
    run_pipeline(module, OPTIMIZE)
    operation = function_called(module, program.symbol)
    _, terminator = split_body(operation)
    reader = Reader(program.program.codec)
    kept = dict.fromkeys(terminator.operands)
    types = dict(zip(terminator.operands, program.result_types, strict=True))
    return [
        (ShapeDtype(types[value].static_shape, types[value].dtype), _origin(value, reader, names))
        for value in kept
    ]


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print a line for each array that the backward pass of `f` keeps: its type, and where it comes from."""
    for spec, origin in saved_residuals(f, *args, **kwargs):
        print(f"{spec.type} {origin}")


def _origin(value: Any, reader: Reader, names: list[str]) -> str:
    if isinstance(value.owner, mlir.ir.Block):
        return f"from the argument {names[value.arg_number]}"
    application = reader.read(value.owner)
    assert application is not None
    op, where = application.op, location_text(value.owner.location).removesuffix(":0")
    if op.label_attribute is not None and application.attributes[op.label_attribute] == SAVED_BY_POLICY:
        return _origin(value.owner.operands[0], reader, names)
    if op.label_attribute is not None:
        return f"named {application.attributes[op.label_attribute]!r} from {where}"
    return "from a constant" if op.is_constant else f"output of {op.name} from {where}"
