"""The compact form of adze IR for people: `%3: f32[4,2] = mul(%1, %2)`, one line an op."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.op import Attribute
from ...dialects.types import dtype_name
from .aliases import Operation, Value
from .functions import body, functions, split_body


def pretty(module: mlir.ir.Module) -> str:
    """Every function of `module` in the compact form."""
    reader = Reader(Codec(module.context))
    return "\n\n".join(_function(name, op, reader) for name, op in functions(module).items())


def _function(symbol: str, operation: Operation, reader: Reader) -> str:
    names: dict[Value, str] = {}
    for argument in body(operation).arguments:
        names[argument] = f"%{len(names)}"
    arguments = ", ".join(f"{names[a]}: {reader.codec.read_type(a.type)}" for a in body(operation).arguments)
    lines = [f"{symbol}({arguments}):"]
    operations, terminator = split_body(operation)
    for child in operations:
        application = reader.read(child.operation, lambda v: names[v])
        for result in child.results:
            names[result] = f"%{len(names)}"
        left = ", ".join(f"{names[r]}: {reader.codec.read_type(r.type)}" for r in child.results)
        right = child.operation.name if application is None else _application(application)
        lines.append(f"  {left} = {right}" if left else f"  {right}")
    lines.append(f"  return {', '.join(names[v] for v in terminator.operands)}")
    return "\n".join(lines)


def _application(application: Application) -> str:
    op, operands, attributes = application
    if op.is_constant:
        return f"{op.name}({_short(op.evaluate(**attributes))})"
    texts = [*operands, *(f"{k}={_attribute(op.attributes[k], v)}" for k, v in attributes.items())]
    return f"{op.name}({', '.join(texts)})"


def _attribute(attribute: Attribute, value: Any) -> str:
    if attribute.kind == "dtype":
        return dtype_name(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(str, value))}{',' if len(value) == 1 else ''})"
    return f"@{value}" if attribute.kind == "symbol" else str(value)


def _short(value: np.ndarray) -> str:
    if value.ndim == 0:
        return str(value[()])
    return np.array2string(value, separator=", ", threshold=8, edgeitems=2).replace("\n", " ")
