"""The ops of a traced function applied again, one by one, by whoever wants to see or replace them.

Input: the symbol of a function of a program, values for its parameters, and what to do with each op. Output:
its results. Idea: an op is read from the IR as a class, operands and attributes; the builder of the frame
that is being recorded applies it as it would be applied by a rule.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...passes.ir.functions import body, split_body
from ...passes.ir.functions import function as find_function
from ..errors import UnsupportedError
from ..tracing.interpreter import ops
from ..tracing.locations import user_location_text
from ..tracing.program import Program


def applied(application: Application, operands: Sequence[Any]) -> list[Any]:
    """The results of an op of these operands."""
    name = application.op.name
    function = getattr(ops, f"{name}_" if keyword.iskeyword(name) else name)
    results = function(*operands, **application.attributes)
    if results is None:
        return []
    return list(results) if isinstance(results, (list, tuple)) else [results]


def run_again(
    program: Program,
    symbol: str,
    operands: Sequence[Any],
    apply: Callable[[Application], Sequence[Any]],
    transform: str,
) -> list[Any]:
    """The results of a function, each of whose ops `apply` applies; `transform` is named in errors."""
    operation = find_function(program.module, symbol)
    reader = Reader(program.codec)
    known: dict[Any, Any] = dict(zip(body(operation).arguments, operands, strict=True))
    operations, terminator = split_body(operation)
    for child in operations:
        application = reader.read(child, known.__getitem__)
        if application is None:
            raise UnsupportedError(f"{transform} of '{child.name}'", where=user_location_text())
        known.update(zip(child.results, apply(application), strict=True))
    return [known[v] for v in terminator.operands]
