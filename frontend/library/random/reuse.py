"""The debug mode that finds a key used twice.

While `debug_key_reuse()` is active, every sampler and `split` notes the key it uses up; a second use raises
`KeyReuseError` with both lines. A concrete key is known by its two words. A traced key is known by how it was
computed: the ops are pure, so that `keys[0]` written twice is one key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.errors import AdzeError
from ...tracing.frames import Frame, Tracer
from ...tracing.locations import user_location_text


class KeyReuseError(AdzeError, RuntimeError):
    """A random key was used twice, so that two draws are not independent."""


@dataclass
class _Ledger:
    """Which keys have been used up, by what and where."""

    used: dict[Any, tuple[str, str]] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    def note(self, function: str, key: Any, uses_up: bool) -> None:
        identity = self._identity(key)
        where = user_location_text()
        earlier = self.used.get(identity)
        if earlier is not None:
            raise KeyReuseError(
                f"{function} was given a key that {earlier[0]} had already used at {earlier[1]}",
                where=where,
                hint="split the key and use each part once: first, second = adze.random.split(key)",
            )
        if uses_up:
            self.used[identity] = (function, where)

    def forget(self, key: Any) -> None:
        self.used.pop(self._identity(key), None)

    def _identity(self, key: Any) -> Any:
        if isinstance(key, Tracer):
            self.frames.append(key.frame)  # kept, so that no other value gets the address of one of its own
            return self._of_value(key.frame, key.value)
        return np.asarray(key).tobytes()

    def _of_value(self, frame: Frame, value: Any) -> Any:
        known = self.known.get((id(frame.program), value))
        if known is None:
            # Descriptions are numbered, so that a long chain of splits stays short.
            description = self._description(frame, value)
            known = description if isinstance(description, bytes) else (len(self.known), description)
            known = self.known.setdefault(("description", description), known)
            self.known[(id(frame.program), value)] = known
        return known

    def _description(self, frame: Frame, value: Any) -> Any:
        for outer, inner in frame.captured.values():
            if inner == value and isinstance(outer, Tracer):
                return self._of_value(outer.frame, outer.value)
        owner = value.owner
        if not hasattr(owner, "operands"):  # a block: the value is an argument
            return ("argument", id(frame), value.arg_number)
        operands = tuple(self._of_value(frame, operand)[0] for operand in owner.operands)
        attributes = [owner.attributes[i] for i in range(len(owner.attributes))]
        stated = tuple((a.name, str(a.attr)) for a in attributes)
        return (owner.name, stated, list(owner.results).index(value), operands)


_ledger: Final[ContextVar[_Ledger | None]] = ContextVar("adze_random_keys", default=None)


@contextmanager
def debug_key_reuse(new_val: bool = True) -> Iterator[None]:
    """Within the block, raise `KeyReuseError` when a key is used for a second time; False: not there.

    `fold_in` does not use a key up, but must not be given one that has been. Calls of a function that has
    been traced and compiled before are not looked into: the check is made while tracing.
    """
    token = _ledger.set(_Ledger() if new_val else None)
    try:
        yield
    finally:
        _ledger.reset(token)


def watch_keys(enabled: bool) -> None:
    """Let keys be watched from now on in this thread, or no longer: `jax_debug_key_reuse`."""
    _ledger.set(_Ledger() if enabled else None)


def allow_again(key: Any) -> None:
    """Tell the debug mode, where it is active, that `key` may be used once more."""
    ledger = _ledger.get()
    if ledger is not None:
        ledger.forget(key)


def watches_keys() -> bool:
    """Whether the debug mode is active."""
    return _ledger.get() is not None


def note_use(function: str, key: Any, uses_up: bool) -> None:
    """Tell the debug mode, where it is active, that `function` uses `key`."""
    ledger = _ledger.get()
    if ledger is not None:
        ledger.note(function, key, uses_up)
