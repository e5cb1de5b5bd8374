"""`Lowering`: all the forms an op's `lower` rule may use, put together."""

from __future__ import annotations

from .movement import MovementForms


class Lowering(MovementForms):
    """The object that `lower` rules receive as `l`."""
