"""The dialect as IRDL text: what any MLIR tool needs to know adze as a registered dialect."""

from __future__ import annotations

from collections.abc import Iterable

from .declaration import DIALECT, Op


def irdl_text(ops: Iterable[type[Op]]) -> str:
    """The IRDL definition of the dialect with one `irdl.operation` an op."""
    return f"irdl.dialect @{DIALECT} {{\n}}\n"
