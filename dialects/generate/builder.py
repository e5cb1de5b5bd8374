"""Generates the typed builder, `dialects/generated/builder.py`: one method for each op.

Input: the ops. Output: the source text of the module.
Idea: the method of an op with one result returns that value, of an op without results None, and of any other
op the tuple of its results; which of them it is, the annotation of its `infer` rule says.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Final

from ..op import Attribute, Op, Operand
from .irdl import result_kinds

_KINDS: Final = {
    "int": "int",
    "ints": "Sequence[int]",
    "pairs": "Sequence[Sequence[int]]",
    "sizes": "Sequence[int | V]",
    "bool": "bool",
    "float": "float",
    "choice": "str",
    "text": "str",
    "dtype": "np.dtype",
    "types": "Sequence[ValueType]",
    "elements": "np.ndarray",
    "symbol": "str",
    "symbols": "Sequence[str]",
}
_HEADER = '''"""Typed builder methods, one an op. Generated from the declarations; do not edit.

Regenerate with `python -m adze.dialects.generate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..builder.core import BuilderCore, V
from ..dialect import BY_NAME
from ..types import ValueType


class Builder(BuilderCore[V]):
    """Makes values by applying ops: `b.mul(x, b.cos(x))`."""
'''


def builder_text(ops: Iterable[type[Op]]) -> str:
    """The source of `builder.py`."""
    return _HEADER + "".join(_method(op) for op in ops)


def _method(op: type[Op]) -> str:
    positional = [_parameter(o) for o in op.operands]
    keyword = [f"{name}: {_annotation(a)}" for name, a in op.attributes.items()]
    star = ["*"] if keyword and not any(o.variadic for o in op.operands) else []
    parameters = ", ".join(["self", *positional, *star, *keyword])
    fixed = "".join(f"{o.name}, " for o in op.operands if not o.variadic)
    variadic = "".join(f"*{o.name}, " for o in op.operands if o.variadic)
    attributes = ", ".join(f'"{name}": {_pass(name, a)}' for name, a in op.attributes.items())
    summary = " ".join((op.__doc__ or "").split("\n\n")[0].split()).replace("\\", "\\\\")
    applied = f'self.apply(BY_NAME["{op.name}"], ({fixed}{variadic}), {{{attributes}}})'
    match result_kinds(op):
        case []:
            returns, body = "None", f"        {applied}\n"
        case [(_, False)]:
            returns, body = "V", f"        (result,) = {applied}\n        return result\n"
        case _:
            returns, body = "tuple[V, ...]", f"        return {applied}\n"
    return f'\n    def {method_name(op)}({parameters}) -> {returns}:\n        """{summary}"""\n{body}'


def method_name(op: type[Op]) -> str:
    """The builder method of an op: its name, with an underscore where Python reserves it (`and_`)."""
    return f"{op.name}_" if keyword.iskeyword(op.name) else op.name


def _parameter(operand: Operand) -> str:
    return f"*{operand.name}: V" if operand.variadic else f"{operand.name}: V"


def _annotation(attribute: Attribute) -> str:
    return _KINDS[attribute.kind]


def _pass(name: str, attribute: Attribute) -> str:
    """Sequences become tuples, so that attributes are hashable however they were written."""
    if attribute.kind == "pairs":
        return f"tuple(tuple(row) for row in {name})"
    return f"tuple({name})" if _KINDS[attribute.kind].startswith("Sequence") else name
