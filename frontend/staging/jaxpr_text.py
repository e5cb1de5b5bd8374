"""The text of a jaxpr as JAX writes it, for programs that are written for JAX.

Input: a jaxpr of `equations.py`. Output: `{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }`, over several
lines where it is long. Idea: the equations are those that the jaxpr has. What is of rank 0 and broadcast for
elementwise ops alone is written in its place, as JAX's ops take it.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...dialects.dialect import BY_NAME
from ...dialects.types import short_name
from ..tracing.specs import ShapeDtype

_WIDTH: Final = 100
_NARROW: Final = 80
"""The width of several equations on one line."""
_HIDDEN: Final = ("op", "results", "saved_states")
"""Attributes of adze alone: the op that an equation stands for, what follows from its functions."""
_RULES: Final = ("fwd", "bwd", "rule")
"""Functions that are written by their names, as in JAX: a rule may call the function that it is a rule of."""
_OBVIOUS: Final[dict[str, dict[str, Any]]] = {
    "broadcast_in_dim": {"shape": None, "sharding": None, "broadcast_dimensions": ()},
    "convert_element_type": {"sharding": None},
    "dot_general": {"out_sharding": None, "precision": None},
}
"""Attributes that JAX does not write where they have this value; None: never."""
_LISTED: Final = (("dot_general", "dimension_numbers"),)
"""Attributes whose innermost tuples JAX writes as lists."""


def jax_text(jaxpr: Any) -> str:
    """The jaxpr in JAX's syntax."""
    return _Writer().jaxpr(jaxpr, 0)


def equation_text(eqn: Any) -> str:
    """One equation by itself."""
    return _Writer().equation(eqn, 0, {}, set(eqn.outvars))


def type_text(aval: ShapeDtype) -> str:
    """A type as jaxprs have it: `f32[2,3]`, `bool[]`."""
    name = "bool" if aval.dtype == np.bool_ else short_name(aval.dtype).replace("ui", "u")
    return f"{name}[{','.join('?' if n is None else str(n) for n in aval.shape)}]"


def _letters() -> Iterator[str]:
    """`a` to `z`, then `ba`, `bb`: numbers in base 26, as in JAX."""
    for number in itertools.count():
        name = string.ascii_lowercase[number % 26]
        while number := number // 26:
            name = string.ascii_lowercase[number % 26] + name
        yield name


class _Writer:
    """Names variables in the order in which they are written."""

    def __init__(self) -> None:
        self._fresh = _letters()
        self._names: dict[Any, str] = {}

    def jaxpr(self, jaxpr: Any, indent: int) -> str:
        """The text, whose first line stands at column `indent`."""
        numbers = _numbers_in_place(jaxpr)
        eqns = [e for e in jaxpr.eqns if not any(v in numbers for v in e.outvars)]
        named = [*(v for e in eqns for v in e.invars), *jaxpr.outvars]
        written = (v if _is_number(v) else numbers.get(v, v) for v in named)
        used = {v for v in written if not _is_number(v)}
        binders = [" ".join(map(self.bound, vs)) for vs in (jaxpr.constvars, jaxpr.invars)]
        head = f"{{ lambda {binders[0]}; {binders[1]}. let"
        lines = [self.equation(e, indent + 4, numbers, used) for e in eqns]
        results = ", ".join(self.operand(v, numbers) for v in jaxpr.outvars)
        tail = f"in ({results}{',' if len(jaxpr.outvars) == 1 else ''}) }}"
        whole = f"{head} {'; '.join(lines)} {tail}"
        if "\n" not in whole and indent + len(whole) <= (_WIDTH if len(lines) < 2 else _NARROW):
            return whole
        body = "".join(f"\n{' ' * (indent + 4)}{line}" for line in lines)
        return f"{head}{body}\n{' ' * (indent + 2)}{tail}"

    def equation(self, eqn: Any, indent: int, numbers: dict[Any, Any], used: set[Any]) -> str:
        """One equation, at column `indent`."""
        outs = " ".join(self.bound(v) if v in used else f"_:{type_text(v.aval)}" for v in eqn.outvars)
        hidden = _OBVIOUS.get(eqn.primitive.name, {})
        params = [
            (key, value)
            for key, value in sorted(eqn.params.items(), key=lambda item: (item[0] != "name", item[0]))
            if key not in _HIDDEN and not (key in hidden and hidden[key] in (None, value))
        ]
        start, end = f"{outs} = {eqn.primitive}", "".join(f" {self.operand(v, numbers)}" for v in eqn.invars)
        if not params:
            return start + end
        if eqn.primitive.name == "jit":
            self._share_names(eqn)
        texts = []
        for key, value in params:
            shown = _listed(value) if (eqn.primitive.name, key) in _LISTED else value
            texts.append(f"{key}={value.symbol if key in _RULES else self.attribute(shown, indent + 2)}")
        whole = f"{start}[{' '.join(texts)}]{end}"
        if eqn.primitive.name != "jit" and "\n" not in whole and indent + len(whole) <= _WIDTH:
            return whole
        inner = "".join(f"\n{' ' * (indent + 2)}{text}" for text in texts)
        return f"{start}[{inner}\n{' ' * indent}]{end}"

    def _share_names(self, eqn: Any) -> None:
        """Let the variables of a jitted function have the names of what they are in its call."""
        inner = eqn.params["jaxpr"].jaxpr
        pairs = [*zip(inner.invars, eqn.invars, strict=False), *zip(inner.outvars, eqn.outvars, strict=False)]
        for own, outer in pairs:
            if not _is_number(own) and outer in self._names:
                self._names.setdefault(own, self._names[outer])

    def attribute(self, value: Any, indent: int) -> str:
        """An attribute, whose name stands at column `indent`."""
        if _is_jaxpr(value):
            return self.jaxpr(getattr(value, "jaxpr", value), indent)
        if isinstance(value, np.dtype):
            return value.name
        if not _has_jaxpr(value):
            return str(value)
        items = [self.attribute(item, indent + 2) for item in value]
        inner = "".join(f"\n{' ' * (indent + 2)}{item}" for item in items)
        return f"({inner}\n{' ' * indent})"

    def bound(self, variable: Any) -> str:
        """A variable where it is bound, with its type."""
        return f"{self.name(variable)}:{type_text(variable.aval)}"

    def name(self, variable: Any) -> str:
        """The name of a variable."""
        if variable not in self._names:
            self._names[variable] = next(self._fresh)
        return self._names[variable]

    def operand(self, value: Any, numbers: dict[Any, Any]) -> str:
        """A variable or a number where it is used."""
        written = value if _is_number(value) else numbers.get(value, value)
        return f"{written.val}:{type_text(written.aval)}" if _is_number(written) else self.name(written)


def _listed(numbers: Any) -> Any:
    """Nested tuples, of which those of numbers alone are lists."""
    if any(isinstance(n, tuple) for n in numbers):
        return tuple(map(_listed, numbers))
    return list(numbers)


def _is_jaxpr(value: Any) -> bool:
    return hasattr(value, "eqns")


def _is_number(operand: Any) -> bool:
    """Whether an operand is a literal, not a variable."""
    return hasattr(operand, "val")


def _has_jaxpr(value: Any) -> bool:
    items: Sequence[Any] = value if isinstance(value, (tuple, list)) else (value,)
    return any(_is_jaxpr(item) for item in items)


def _numbers_in_place(jaxpr: Any) -> dict[Any, Any]:
    """Variables that are a number, or an array of rank 0, broadcast for elementwise ops alone."""
    found = {
        e.outvars[0]: e.invars[0]
        for e in jaxpr.eqns
        if e.primitive.name == "broadcast_in_dim" and not e.invars[0].aval.shape
    }
    for e in jaxpr.eqns:
        if not _is_elementwise(e) or all(v in found or _is_number(v) for v in e.invars):
            for v in e.invars:
                found.pop(v, None)
    for v in jaxpr.outvars:
        found.pop(v, None)
    return found


def _is_elementwise(eqn: Any) -> bool:
    op = BY_NAME.get(eqn.primitive.name)
    return eqn.primitive.name in _COMPARISONS or (op is not None and op.is_elementwise)


_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge", "select_n")
