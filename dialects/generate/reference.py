"""The reference page of the dialect, `docs/ops.md`, from the declarations and their docstrings.

In: the ops in the order of the page. Out: Markdown, a section for each family (a file of `ops/`) with a
table of its ops, then one section an op: mathematics, operands, attributes, result, rules.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Iterable

import numpy as np

from .. import types
from ..op import RULES, Attribute, Op, Operand, Undefined
from .irdl import result_kinds

_HEADER = """\
# Operations

Every op of the adze dialect. This page is generated from the declarations in `dialects/ops/` by
`python -m adze.dialects.generate`; a test fails when it is stale.

Operands and results are ranked tensors whose dimensions may be dynamic (`?`); a *size* is a value of MLIR's
`index` type. There is no implicit broadcasting and no implicit promotion: the frontend writes both out.
Groups of dtypes:

{groups}
"""
_GROUPS = {
    "bool": types.BOOLS,
    "signed": types.SIGNED,
    "unsigned": types.UNSIGNED,
    "integer": types.INTEGERS,
    "float": types.FLOATS,
    "complex": types.COMPLEX,
    "inexact": types.INEXACT,
    "real": types.REALS,
    "number": types.NUMBERS,
    "integer or bool": types.INTEGERS | types.BOOLS,
    "real or bool": types.REALS | types.BOOLS,
    "any": types.ANY,
}
_NAMED = ("signed", "unsigned", "integer", "float", "complex", "inexact", "real", "number", "any")


def reference_text(ops: Iterable[type[Op]]) -> str:
    """The whole page."""
    groups = "\n".join(f"- *{name}*: {_spelled(_GROUPS[name])}" for name in _NAMED)
    parts = [_HEADER.format(groups=groups)]
    for module, members in itertools.groupby(ops, key=lambda op: op.__module__):
        parts.append(_family(module, list(members)))
    return "\n".join(parts)


def _family(module: str, members: list[type[Op]]) -> str:
    documentation = inspect.cleandoc(sys.modules[module].__doc__ or "")
    title = module.rsplit(".", 1)[-1].capitalize()
    table = ["| op | operands | what it computes |", "|---|---|---|"]
    for op in members:
        operands = ", ".join(f"{o.name}{'...' if o.variadic else ''}" for o in op.operands)
        table.append(f"| [`{op.name}`](#{op.name}) | {operands} | {_summary(op).replace('|', '&#124;')} |")
    sections = [_section(op) for op in members]
    return "\n".join([f"## {title}\n", documentation, "", *table, "", *sections])


def _section(op: type[Op]) -> str:
    lines = [f"### {op.name}\n", inspect.cleandoc(op.__doc__ or ""), ""]
    lines += [_operand(o) for o in op.operands]
    lines += [_attribute(name, a) for name, a in op.attributes.items()]
    lines.append(f"- result: {_result(op)}")
    if op.has_effect:
        lines.append("- it has an effect: it is never removed, merged or moved")
    lines.append(f"- rules: {_rules(op)}\n")
    return "\n".join(lines)


def _summary(op: type[Op]) -> str:
    """The first paragraph of the docstring, on one line."""
    return " ".join(inspect.cleandoc(op.__doc__ or "").split("\n\n")[0].split())


def _operand(operand: Operand) -> str:
    kind = "a size" if operand.dtypes is None else _dtypes(operand.dtypes)
    return f"- operand `{operand.name}`{' (any number)' if operand.variadic else ''}: {kind}"


def _attribute(name: str, attribute: Attribute) -> str:
    choices = f", one of {', '.join(attribute.choices)}" if attribute.choices else ""
    return f"- attribute `{name}` ({attribute.kind}{choices}): {attribute.doc}"


def _dtypes(dtypes: frozenset[np.dtype]) -> str:
    named = next((name for name, group in _GROUPS.items() if group == dtypes), None)
    return named or _spelled(dtypes)


def _spelled(dtypes: frozenset[np.dtype]) -> str:
    return ", ".join(f"`{types.dtype_name(d)}`" for d in sorted(dtypes, key=_order))


def _order(dtype: np.dtype) -> tuple[int, int, str]:
    kind = "biufc".index("f" if dtype == types.BFLOAT16 else dtype.kind)
    return kind, dtype.itemsize, types.dtype_name(dtype)


def _result(op: type[Op]) -> str:
    """What a declaration states as its `result_rule`, or else only what kind of value comes out."""
    names = {"size": "a size", "tensor": "an array"}
    plain = ["any number of arrays" if variadic else names[kind] for kind, variadic in result_kinds(op)]
    return str(getattr(op, "result_rule", " and ".join(plain) or "none"))


def _rules(op: type[Op]) -> str:
    """Which rules there are, and why the others are not."""
    defined = [rule for rule in RULES if not isinstance(getattr(op, rule), Undefined)]
    if op.simplify is not None:
        defined.append("simplify")
    text = ", ".join(defined)
    missing = {rule: getattr(op, rule) for rule in RULES if isinstance(getattr(op, rule), Undefined)}
    return "; ".join([text, *(f"no {rule} ({why.reason})" for rule, why in missing.items())])
