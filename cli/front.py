"""Typer, or `plain.py` where Typer is not installed: the one name under which commands use either.

The distribution adze-runtime has few commands and few dependencies. A command of it says
`from .front import typer`, and its options are declared once for both.
"""

from __future__ import annotations

__all__ = ["make_app", "typer"]

try:
    import typer

    from .typer_app import make_app
except ModuleNotFoundError as error:
    if error.name != "typer":
        raise
    from . import plain as typer  # type: ignore[no-redef]
    from .plain import make_app  # type: ignore[assignment]
