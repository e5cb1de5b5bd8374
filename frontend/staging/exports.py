"""What a manifest says of traced programs: signatures and trees of their functions, and the arrays they keep.

Input: a traced program. Output: the parts of its manifest, and its signature as text.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.artifact.manifest import ExportedFunction, Held, Parameters, Specialization
from ...runtime.artifact.signature import ArraySpec, FunctionSignature
from .. import tree
from ..tracing.specs import ShapeDtype
from ..tracing.trace import Parameter, TracedProgram

SCOPE = "model"
"""The scope of the arrays of a program that are outside its file: what IREE's `--parameters=` calls them."""


def exported_functions(program: TracedProgram) -> tuple[ExportedFunction, ...]:
    """The functions of the program, in the order in which they were traced."""
    return tuple(entry.exported or _exported_function(entry, program.entries) for entry in program.entries)


def _exported_function(program: TracedProgram, all_entries: Sequence[TracedProgram]) -> ExportedFunction:
    inputs = tuple(ArraySpec(p.name, p.type.dtype, _named_shape(p)) for p in program.parameters)
    results = zip(program.result_names, program.result_types, program.result_shapes, strict=True)
    outputs = tuple(ArraySpec(name, t.dtype, shape) for name, t, shape in results)
    return ExportedFunction(
        FunctionSignature(program.symbol, inputs, outputs, dict(program.bounds)),
        tree.to_json(program.argument_tree),
        tree.to_json(program.result_tree),
        tuple(program.argument_names),
        specializations=tuple(
            Specialization(dict(each.specializes[1]), each.symbol)
            for each in all_entries
            if each.specializes is not None and each.specializes[0] == program.symbol
        ),
    )


def kept_arrays(program: TracedProgram) -> Parameters | None:
    """The arrays that the program keeps between calls, None where there are none."""
    if not program.held:
        return None
    held = tuple(
        Held(ArraySpec(h.name, h.type.dtype, h.type.static_shape), h.is_mutable, h.is_parameter)
        for h in program.held
    )
    return Parameters(SCOPE, None, held)


def _named_shape(parameter: Parameter) -> tuple[int | str | None, ...]:
    names = parameter.dimensions or (None,) * parameter.type.rank
    return tuple(
        n if n is not None else name for n, name in zip(parameter.type.static_shape, names, strict=True)
    )


def signature_text(program: TracedProgram) -> str:
    """The signature of a program as one line."""
    arguments = ", ".join(f"{p.name}: {p}" for p in program.parameters)
    kinds = zip(program.result_shapes, program.result_types, strict=True)
    results = ", ".join(str(ShapeDtype(shape, t.dtype)) for shape, t in kinds)
    return f"{program.symbol}({arguments}) -> ({results})"
