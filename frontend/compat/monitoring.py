"""Names of `jax.monitoring`: events that programs record, and the listeners that hear of them.

adze records none of JAX's own events, such as the duration of a compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..errors import ArgumentError
from ..tracing.locations import user_location_text

Listener = Callable[..., None]

_EVENTS: Final[list[Listener]] = []
_DURATIONS: Final[list[Listener]] = []
_SPANS: Final[list[Listener]] = []
_SCALARS: Final[list[Listener]] = []


def record_event(event: str, **tags: str | int) -> None:
    """Tell listeners of an event."""
    for listener in _EVENTS:
        listener(event, **tags)


def record_event_duration_secs(event: str, duration: float, **tags: str | int) -> None:
    """Tell listeners how long something took."""
    for listener in _DURATIONS:
        listener(event, duration, **tags)


def record_event_time_span(event: str, start_time: float, end_time: float, **tags: str | int) -> None:
    """Tell listeners when something began and ended."""
    for listener in _SPANS:
        listener(event, start_time, end_time, **tags)


def record_scalar(event: str, value: float, **tags: str | int) -> None:
    """Tell listeners of a number."""
    for listener in _SCALARS:
        listener(event, value, **tags)


def register_event_listener(callback: Listener) -> None:
    """Call `callback(event, **tags)` for each event from now on."""
    _EVENTS.append(callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Call `callback(event, duration, **tags)` for each duration from now on."""
    _DURATIONS.append(callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Call `callback(event, start_time, end_time, **tags)` for each span from now on."""
    _SPANS.append(callback)


def register_scalar_listener(callback: Listener) -> None:
    """Call `callback(event, value, **tags)` for each number from now on."""
    _SCALARS.append(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Call `callback` for events no more; raises `ArgumentError` where it was not called."""
    _forget(_EVENTS, callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Call `callback` for durations no more; raises `ArgumentError` where it was not called."""
    _forget(_DURATIONS, callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Call `callback` for spans no more; raises `ArgumentError` where it was not called."""
    _forget(_SPANS, callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Call `callback` for numbers no more; raises `ArgumentError` where it was not called."""
    _forget(_SCALARS, callback)


def _forget(listeners: list[Listener], callback: Listener) -> None:
    if callback not in listeners:
        raise ArgumentError(f"{callback!r} is no registered listener", where=user_location_text())
    listeners.remove(callback)


def clear_event_listeners() -> None:
    """Forget all listeners."""
    for listeners in (_EVENTS, _DURATIONS, _SPANS, _SCALARS):
        listeners.clear()


__all__ = [
    *("clear_event_listeners", "record_event", "record_event_duration_secs", "record_event_time_span"),
    *("record_scalar", "register_event_duration_secs_listener", "register_event_listener"),
    *("register_event_time_span_listener", "register_scalar_listener"),
    *("unregister_event_duration_listener", "unregister_event_listener"),
    *("unregister_event_time_span_listener", "unregister_scalar_listener"),
]
