"""The kinds of values in `adze.toml`: what each may be, and what to write instead.

Input: a value as `tomllib` has it. Output: the same as the rest of adze takes it, or `Wrong`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from ...dialects.errors import AdzeError
from ..default_dtypes import NAMES as DTYPE_NAMES

_UNITS: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}

_BOUNDS: Final = re.compile(r"\s*(\d+\s*\.\.\s*\d*)?\s*,?\s*(%\s*\d+)?\s*")
"""Of a dimension; what they mean is checked where the function is traced."""


class Wrong(Exception):
    """A value that means nothing: what was expected, and what to write."""

    def __init__(self, expected: str, hint: str | None = None) -> None:
        super().__init__(expected)
        self.expected = expected
        self.hint = hint


def suggestion(word: str, known: Iterable[str]) -> str:
    """`: did you mean targets?` for a word that is nearly a known one."""
    import difflib  # only for a message

    near = difflib.get_close_matches(word.replace("-", "_"), list(known), n=1)
    return f": did you mean {near[0]}?" if near else ""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong("a text in quotes")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Wrong("a table")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Wrong("true or false")
    return value


def _entry(value: Any) -> tuple[str, ...]:
    """One function, or several that become one program."""
    hint = 'write entry = "model.py:predict"'
    entries = value if isinstance(value, list) and value else [value]
    for entry in entries:
        file, colon, name = entry.rpartition(":") if isinstance(entry, str) else ("", "", "")
        if not colon or not file or not name:
            raise Wrong("a file, a colon and a function", hint)
    return tuple(entries)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
        raise Wrong("a list of texts in quotes")
    return tuple(value)


def _inputs(value: Any) -> tuple[str, ...]:
    """Specs in order, or by name: as `--in` takes them."""
    hint = """write inputs = ["f32[8,3]"], or inputs = { x = "f32[8,3]" }"""
    if isinstance(value, dict):
        if not all(isinstance(spec, str) for spec in value.values()):
            raise Wrong("a spec in quotes for each argument", hint)
        return tuple(f"{name}={spec}" for name, spec in value.items())
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise Wrong("a list of specs in quotes, or a table of them by name", hint)
    return tuple(value)


def _targets(value: Any) -> tuple[str, ...]:
    hint = 'write targets = ["cpu:x86-64-v3"]'
    if not isinstance(value, list) or not value or not all(isinstance(entry, str) for entry in value):
        raise Wrong("a list of targets in quotes", hint)
    if len(set(value)) != len(value):
        raise Wrong("each target once")
    return tuple(_target(entry, hint) for entry in value)


def _target(text: str, hint: str) -> str:
    from ...runtime.targets import TargetKind, parse_target

    try:
        if text != TargetKind.VULKAN.value:  # alone it asks for this machine's device: looked at in the build
            parse_target(text)
    except AdzeError as error:
        raise Wrong("targets that adze knows", f"{error.message}; {hint}") from None
    return text


def _output(value: Any) -> str:
    text = _text(value)
    if text.endswith("/"):
        raise Wrong("the path of a file", 'write output = "out/predict.vmfb"')
    if re.search(r"\{(?!target\})|(?<!\{target)\}", text):
        raise Wrong("a path, in which {target} is the only placeholder")
    return text


def _argnums(value: Any) -> str:
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in entries):
        raise Wrong("a number of an argument from 0, or a list of them", "write argnums = [0, 2]")
    return ",".join(map(str, entries))


def _in_axes(value: Any) -> str:
    entries = value if isinstance(value, list) else [value]
    good = all(n == "None" or (isinstance(n, int) and not isinstance(n, bool) and n >= 0) for n in entries)
    if not entries or not good:
        raise Wrong('an axis from 0, or "None", for each argument', 'write in_axes = [0, "None"]')
    return ",".join(map(str, entries))


def _size(value: Any) -> str:
    is_size = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not is_size and not (isinstance(value, str) and value.isidentifier()):
        raise Wrong("a size or a name", 'write vmap = 8, or vmap = "n"')
    return str(value)


def _dims(value: Any) -> tuple[str, ...]:
    """Named dimensions with their bounds, as `--dim` takes them."""
    hint = 'write dims = { batch = "1..1024, %8" }'
    entries = value if isinstance(value, dict) else {}
    for name, bounds in entries.items():
        match = _BOUNDS.fullmatch(bounds) if isinstance(bounds, str) and name.isidentifier() else None
        if match is None or not any(match.groups()):
            raise Wrong("a table of bounds by the names of dimensions", hint)
    if not entries:
        raise Wrong("a table of bounds by the names of dimensions", hint)
    return tuple(f"{name}: {bounds}" for name, bounds in entries.items())


def _specialize(value: Any) -> tuple[str, ...]:
    """Sizes by the names of dimensions, as `--specialize` takes them."""
    hint = "write specialize = { batch = [1, 8] }"
    entries = value if isinstance(value, dict) else {}
    texts = []
    for name, sizes in entries.items():
        numbers = sizes if isinstance(sizes, list) else [sizes]
        good = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
        if not numbers or not good or not name.isidentifier() or len(set(numbers)) < len(numbers):
            raise Wrong("different sizes for each name of a dimension", hint)
        texts.append(f"{name}={','.join(map(str, numbers))}")
    if not texts:
        raise Wrong("a table of sizes by the names of dimensions", hint)
    return tuple(texts)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Wrong("a whole number of at least 0")
    return value


def _positive(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        raise Wrong("a number of at least 0")
    return float(value)


def _bytes(value: Any) -> int:
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", value.strip())
        if match and match[2].lower() in _UNITS:
            return int(float(match[1]) * _UNITS[match[2].lower()])
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise Wrong("a number of bytes", 'write 500000, or "500 KiB"')


def _default_dtypes(value: Any) -> str:
    if value not in DTYPE_NAMES:
        raise Wrong("'float32' or 'numpy'", 'write default_dtypes = "float32"')
    return str(value)


KINDS: Final[dict[str, Callable[[Any], Any]]] = {
    "text": _text,
    "table": _table,
    "switch": _switch,
    "entry": _entry,
    "texts": _texts,
    "inputs": _inputs,
    "targets": _targets,
    "output": _output,
    "argnums": _argnums,
    "in_axes": _in_axes,
    "size": _size,
    "dims": _dims,
    "specialize": _specialize,
    "count": _count,
    "positive": _positive,
    "bytes": _bytes,
    "default_dtypes": _default_dtypes,
}
