"""What is generated from the declarations: the typed builder, the IRDL text, the reference page.

`python -m adze.dialects.generate` rewrites them in the source tree; a test fails when one is stale.
Each generator is a function from the tuple of ops to text.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Final

from ..op import Attribute, Op, Operand

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
from typing import Any

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
    returns = getattr(op, "builder_result", "V")
    return (
        f"\n    def {method_name(op)}({parameters}) -> {returns}:\n"
        f'        """{summary}"""\n'
        f"        result: {returns} = self.apply("
        f'BY_NAME["{op.name}"], ({fixed}{variadic}), {{{attributes}}})\n'
        f"        return result\n"
    )


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
