"""The kernels of a program: their tiles, their source lines, and their times where they were measured.

Input: the stage `kernels`, and kernels of a profile. Output: a `KernelRow` for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ...dialects.dataclass import dataclass
from ...runtime.measure.profiles import Kernel
from .provenance import Provenance
from .stages import Stage

_EXECUTABLE: Final = re.compile(r"^  (?:flow|stream|hal)\.executable\b")
_EXPORT: Final = re.compile(r"(?:flow|stream|hal)\.executable\.export.* @([\w$.]+)")
_ALIAS: Final = re.compile(r"^(#\w+) = (#\w+\.(?:lowering_config|compilation_info)<.*)$")
_USES: Final = re.compile(r"compilation_info = (#\w+)|lowering_config = (#\w+)")
_LOOPS: Final = re.compile(r"\b(linalg|iree_linalg_ext|scf|vector)\.([a-z_]\w*)")


@dataclass(frozen=True)
class KernelRow:
    """One kernel: where it begins in the stage, its tiles, its ops and lines, and its time."""

    name: str
    line: int
    tiles: list[str]
    ops: list[str]
    origins: list[Provenance]
    measured: Kernel | None = None


def kernel_rows(stage: Stage, measured: Iterable[Kernel] = ()) -> list[KernelRow]:
    """The kernels in a stage, in its order; those that were measured and are not in it come last."""
    by_name = {kernel.name: kernel for kernel in measured}
    aliases = {match[1]: match[2] for match in map(_ALIAS.match, stage.lines) if match is not None}
    starts = [n for n, line in enumerate(stage.lines) if _EXECUTABLE.match(line)]
    rows = []
    for start in starts:
        end = next(
            (n for n in range(start + 1, len(stage.lines)) if stage.lines[n] == "  }"), len(stage.lines)
        )
        rows += _rows(stage, start, end, aliases, by_name)
    rows = [replace(row, origins=_launched(stage, row) or row.origins) for row in rows]
    known = {row.name for row in rows}
    rows += [KernelRow(name, 0, [], [], [], kernel) for name, kernel in by_name.items() if name not in known]
    return rows


def _rows(
    stage: Stage, start: int, end: int, aliases: dict[str, str], measured: dict[str, Kernel]
) -> list[KernelRow]:
    lines = stage.lines[start:end]
    names = [match[1] for match in map(_EXPORT.search, lines) if match is not None]
    used = [a or b for line in lines for a, b in _USES.findall(line)]
    tiles = list(dict.fromkeys(_tiles(name, aliases) for name in used))
    ops = list(dict.fromkeys(f"{a}.{b}" for line in lines for a, b in _LOOPS.findall(line)))
    hidden = ("linalg.yield", "scf.yield", "linalg.fill", "linalg.index")
    origins = list(dict.fromkeys(origin for origin in stage.origins[start:end] if origin.lines))
    shown = [op for op in ops if op not in hidden]
    if lines[0].startswith("  stream.executable"):
        tiles = ["a kernel of adze's own"]
    tiles = [text for text in tiles if text] or ["chosen by IREE"]
    return [KernelRow(name, start, tiles, shown, origins, measured.get(name)) for name in names]


def _launched(stage: Stage, row: KernelRow) -> list[Provenance]:
    """Where the ops that launch a kernel come from: adze's own kernels have no lines inside."""
    if row.origins:
        return []
    call = re.compile(rf"\b(?:flow|stream)\.\S*dispatch @[\w$.]+::@{re.escape(row.name)}\b")
    found = zip(stage.lines, stage.origins, strict=True)
    return list(dict.fromkeys(origin for line, origin in found if origin.lines and call.search(line)))


def _tiles(alias: str, aliases: dict[str, str]) -> str:
    """What an alias says of tiles: `distribution = [16, 32, 0], vector_common_parallel = [4, 16, 0]`."""
    text = aliases.get(alias, "")
    inner = re.search(r"lowering_config = (#\w+)", text)
    if inner:
        text = aliases.get(inner[1], "")
    match = re.search(r"lowering_config<(.*)>$", text)
    return match[1] if match else ""
