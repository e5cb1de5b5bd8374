"""Names of `jax.monitoring`: events of JAX's compiler, which nobody hears here."""

from __future__ import annotations

from typing import Any


def record_event(event: str, **_: Any) -> None:
    """Nothing: no listener is kept."""


def record_event_duration_secs(event: str, duration: float, **_: Any) -> None:
    """Nothing: no listener is kept."""


def register_event_listener(callback: Any) -> None:
    """Nothing: no event is sent."""


__all__ = ["record_event", "record_event_duration_secs", "register_event_listener"]
