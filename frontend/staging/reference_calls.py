"""Calls of jitted functions that read and write references (`new_ref`).

Input: a jitted function, arguments that may be references. Output: its results; the references hold what it
wrote. Idea: the compiled program is a function of the values of all references that it touches, and returns
them again. Which these are, a trace says that is thrown away, once for each kind of arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from .. import tree
from ..tracing.frames import current_frame
from ..tracing.mesh_in_force import mesh_in_force
from ..tracing.references import Ref, any_alive, require_no_reference, uses
from ..tracing.trace import trace_program
from ..transforms.reference_effects import Split
from .jitted import Jitted
from .retraces import kind_of_leaf


class Plan:
    """A jitted function for one kind of arguments: the references that it uses by itself, and its program."""

    def __init__(self, jitted: Jitted, split: Split, static: tuple[Any, ...]) -> None:
        self._function = jitted.of_arrays(static)
        self._split = split
        self.refs: list[Ref] = []
        self._seen: list[Ref] = []
        trace_program(self.call, ([], *split.args), {})
        self.refs = self._seen
        self.is_needed = bool(self.refs or split.refs)
        self.compiled = type(jitted)(self.call, (), (), jitted._target, jitted._device, jitted._first_call)

    def call(self, values: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The function of values: the result, the values of its own references, those of outer ones."""
        with uses() as inner:
            for ref, value in zip(self.refs, values, strict=True):
                ref.write(value)
            (args, kwargs), own = self._split.inside((args, kwargs))
            result = self._function(args, kwargs)
            require_no_reference(result)
            self._split.require_apart(inner.refs)
            self._seen = list(inner.refs)
            return result, [ref.read() for ref in own], [ref.read() for ref in self.refs]


def call_with_references(jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call while there are references."""
    if current_frame() is not None:
        return jitted.function(*args, **kwargs)
    arrays, keywords, static = jitted._split(args, kwargs)
    split = Split((arrays, keywords))
    leaves, structure = tree.flatten(split.args)
    key = structure, tuple(map(kind_of_leaf, leaves)), tuple(split.places), static, mesh_in_force()
    plans = jitted.plans
    if key not in plans:
        plans[key] = Plan(jitted, split, static)
    plan = plans[key]
    if not plan.is_needed:
        return _call_without(jitted, args, kwargs)
    split.require_apart(plan.refs)
    values = [ref.read() for ref in plan.refs]
    result, own, outer = _call_without(plan.compiled, (values, *split.args), {})
    for ref, value in (*zip(split.refs, own, strict=True), *zip(plan.refs, outer, strict=True)):
        ref.write(value)
    return result


def install() -> None:
    """Let calls of jitted functions look for references, from the first `new_ref` on."""
    original = Jitted.__call__

    def call(self: Jitted, *args: Any, **kwargs: Any) -> Any:
        if any_alive() and (current_frame() is not None or not _WITHOUT.get()):
            return call_with_references(self, args, kwargs)
        return original(self, *args, **kwargs)

    Jitted.__call__ = call  # type: ignore[method-assign]


_WITHOUT: ContextVar[bool] = ContextVar("without_references", default=False)


def _call_without(jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function that touches no reference."""
    token = _WITHOUT.set(True)
    try:
        return jitted(*args, **kwargs)
    finally:
        _WITHOUT.reset(token)
