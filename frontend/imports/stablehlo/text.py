"""The text of a StableHLO program, ready to be parsed: read from a file, checked, rid of Shardy's ops.

Input: text, bytes, or the path of a file. Output: the text and the name that errors call it by.

Idea: what MLIR's parser cannot take without harm is refused before it: nesting so deep that the parser's
stack would end, dimension numbers that no array has, names of types that stand for more than anybody can
print. Portable bytecode is read by another process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from ....dialects.dataclass import dataclass
from .portable import MAGIC, portable_text
from .program import StableHLOError
from .shardy import Lines, without_shardy

_MOST_NESTED: Final = 200
_MOST_BYTES: Final = 2**31 - 1
_QUOTED_OR_COMMENT: Final = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|[(\[{<]|[)\]}]|(?<!-)>')
_MOST_AXES: Final = 64
_MOST_WRITTEN: Final = 10**6
_ALIAS: Final = re.compile(r"^[ \t]*([!#][\w.$-]+)[ \t]*=(?!=)(.*)$", re.MULTILINE)
_ALIAS_USE: Final = re.compile(r"[!#][\w.$-]+")
_LAYOUTS: Final = re.compile(r"\[[\w\s,?-]*\]\s*x\s*\[[\w\s,?-]*\]\s*->\s*\[[\w\s,?-]*\]")
_LOOKS_LIKE_MLIR: Final = ("\n", "{", "func.func", "module")
HOW_TO_EXPORT: Final = (
    "save the text instead: open(path, 'w').write(jax.export.export(jax.jit(f))(x).mlir_module())"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A text, where its lines were before it was changed, and what errors call it."""

    text: str
    lines: Lines
    name: str


def source_of(text_or_path: str | bytes | os.PathLike[str]) -> Source:
    """The text that `text_or_path` is, or that the file of that path holds; `StableHLOError` otherwise."""
    if isinstance(text_or_path, bytes):
        return _decoded(text_or_path, "<bytes>")
    if isinstance(text_or_path, str) and any(sign in text_or_path for sign in _LOOKS_LIKE_MLIR):
        path = None if "\n" in text_or_path or len(text_or_path) > 4096 else Path(text_or_path)
        if path is None or not _is_file(path):
            return _prepared(text_or_path, "<text>")
    if not isinstance(text_or_path, (str, os.PathLike)):
        raise StableHLOError(
            f"expected the text or the path of a StableHLO module, got {type(text_or_path).__name__}",
            hint="pass str(module) of MLIR's bindings, or exported.mlir_module() of jax.export",
        )
    path = Path(text_or_path)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise StableHLOError(f"{path} is larger than {_MOST_BYTES} bytes, the most that MLIR parses")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StableHLOError(f"cannot read the StableHLO file {str(path)[:200]!r}: {reason}") from None
    return _decoded(content, str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _decoded(content: bytes, name: str) -> Source:
    if content.startswith(MAGIC):
        return _prepared(portable_text(content, name, HOW_TO_EXPORT), name)
    try:
        return _prepared(content.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        raise StableHLOError(
            f"{name} is no text: byte {error.start} is not UTF-8", hint=HOW_TO_EXPORT
        ) from None


def _prepared(text: str, name: str) -> Source:
    if "\0" in text:
        raise StableHLOError(f"{name} is no text: it holds a zero byte", hint=HOW_TO_EXPORT)
    _check_nesting(text, name)
    _check_layouts(text, name)
    _check_aliases(text, name)
    return Source(*(without_shardy(text, name) if "sdy." in text else (text, Lines())), name)


def _check_nesting(text: str, name: str) -> None:
    depth = 0
    for sign in _QUOTED_OR_COMMENT.finditer(text):
        first = sign[0][0]
        if first in "([{<":
            depth += 1
            if depth > _MOST_NESTED:
                line = text.count("\n", 0, sign.start()) + 1
                raise StableHLOError(
                    f"{name} is nested more than {_MOST_NESTED} levels deep", where=f"{name}:{line}"
                )
        elif first in ")]}>":
            depth = max(depth - 1, 0)


def _check_aliases(text: str, name: str) -> None:
    """Names of types and attributes that stand for others: written out, they may be without end."""
    defined = {found[1]: found for found in _ALIAS.finditer(text)}
    lengths: dict[str, int] = {}
    for alias in defined:
        waiting = [alias]
        while waiting:
            parts = [p for p in _ALIAS_USE.findall(defined[waiting[-1]][2]) if p in defined]
            missing = [p for p in parts if p not in lengths]
            if missing and len(waiting) < len(defined):  # a name within itself is MLIR's to refuse
                waiting.append(missing[0])
                continue
            current = waiting.pop()
            lengths[current] = len(defined[current][2]) + sum(lengths.get(p, 0) for p in parts)
            if lengths[current] > _MOST_WRITTEN:
                line = text.count("\n", 0, defined[current].start()) + 1
                raise StableHLOError(
                    f"{current} stands for more than {_MOST_WRITTEN} characters", where=f"{name}:{line}"
                )


def _check_layouts(text: str, name: str) -> None:
    """Dimension numbers that no array has: the parser allocates as many entries, or aborts."""
    for layouts in _LAYOUTS.finditer(text):
        if any(len(digits) > 2 or int(digits) > _MOST_AXES for digits in re.findall(r"\d+", layouts[0])):
            line = text.count("\n", 0, layouts.start()) + 1
            raise StableHLOError(
                f"the dimension numbers {layouts[0][:80]} name an axis that no array has",
                where=f"{name}:{line}",
            )
