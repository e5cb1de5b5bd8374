"""The reference page of the dialect, `docs/ops.md`."""

from __future__ import annotations

from collections.abc import Iterable

from .declaration import Op


def reference_text(ops: Iterable[type[Op]]) -> str:
    """A Markdown page with one section an op."""
    return "# Operations\n" + "".join(f"\n## {op.name}\n\n{op.__doc__}\n" for op in ops)
