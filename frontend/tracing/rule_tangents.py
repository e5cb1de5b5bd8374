"""What follows from the tangents of a rule while the rule is traced.

Input: the tangents that a `custom_jvp` rule, or the rule of a client's primitive, is traced at. Output: which
traced values follow from them. Idea: asked only in processes where a client has declared rules of
transposition (`jax.interpreters.ad`), which are called for linear arguments; see `compat/own_transposes.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ...dialects import mlir
from ...dialects.types import INEXACT
from .concrete_values import KnownArgument, source_of
from .frames import Tracer

TRANSPOSES: Final[dict[Any, Any]] = {}
"""Clients' rules of transposition, by primitive."""

_TANGENTS: Final[ContextVar[frozenset[Any]]] = ContextVar("tangents of the rules that are being traced")


@contextmanager
def in_rule(tangents: Sequence[Any]) -> Iterator[None]:
    """While a rule of a derivative is traced at these tangents."""
    moving = frozenset(t.value for t in tangents if isinstance(t, Tracer)) if TRANSPOSES else frozenset()
    token = _TANGENTS.set(_TANGENTS.get(frozenset()) | moving)
    try:
        yield
    finally:
        _TANGENTS.reset(token)


def following(values: Sequence[Any]) -> list[int]:
    """The places of the values that follow from the tangents of a rule that is being traced."""
    tangents = _TANGENTS.get(frozenset())
    return [n for n, value in enumerate(values) if tangents and _follows(value, tangents)]


def _follows(value: Any, tangents: frozenset[Any]) -> bool:
    if not isinstance(value, Tracer) or value.dtype not in INEXACT:
        return False
    pending, seen = [(value.frame, value.value)], set()
    while pending:
        frame, inner = pending.pop()
        if inner in tangents:
            return True
        if inner in seen:
            continue
        seen.add(inner)
        if not isinstance(inner.owner, mlir.ir.Block):
            pending += [(frame, operand) for operand in inner.owner.operands]
            continue
        source = source_of(frame, inner)
        if isinstance(source, KnownArgument) and isinstance(source.value, Tracer):
            pending.append((source.value.frame, source.value.value))
    return False
