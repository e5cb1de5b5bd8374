"""The arrays that `adze run --in` names: files, arrays in files, and numbers written on the command line.

No value is changed on its way into the program. A file that states a dtype must have the input's; numbers
state none and become the input's dtype, where that holds them. Everything else is bad usage (exit code 2)
that names the input, the place in the nested lists, the value, the dtype and the way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .array_files import ARCHIVES, names_in, read_file
from .numbers import array_of, parsed_json, shortened
from .reporting import BadUsage, counted

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.signature import ArraySpec, FunctionSignature

_NAMED = re.compile(r"([A-Za-z_][\w.\[\]'\"]*)=(.+)", re.DOTALL)


def read_inputs(
    texts: list[tuple[str, ArraySpec]], signature: FunctionSignature, *, maps: bool = False
) -> list[np.ndarray]:
    """The arrays that `texts`, one an input in the function's order, name or write.

    With `maps` those of .npy files are mapped into memory, and read where they are used.
    """
    from ..runtime.artifact.signature import check_arguments
    from ..runtime.errors import CallError

    arrays = [read_array(text, spec, maps=maps) for text, spec in texts]
    try:
        check_arguments(signature, [(array.shape, array.dtype) for array in arrays])
    except CallError as error:
        raise BadUsage(f"--in: {error.message}", hint=error.hint) from None
    return arrays


def pair_inputs(texts: list[str], signature: FunctionSignature) -> list[tuple[str, ArraySpec]]:
    """Each input of the function with the text that gives it, in the function's order."""
    given: dict[str, str] = {}
    in_order: list[str] = []
    names = [spec.name for spec in signature.inputs]
    by_path = {dotted(name): name for name in names}
    for text in _one_an_array(texts, by_path):
        match = _NAMED.fullmatch(text)
        if match is None:
            in_order.append(text)
            continue
        name = by_path.get(dotted(match[1]))
        if name is None:
            raise BadUsage(f"--in: there is no input {match[1]!r}", hint=f"the function is {signature}")
        if name in given:
            raise BadUsage(f"--in: {match[1]!r} is given twice")
        given[name] = match[2]
    unnamed = [name for name in names if name not in given]
    if len(in_order) != len(unnamed):
        raise BadUsage(
            f"--in: {signature.name} takes {counted(len(names), 'input')}, and {len(texts)} "
            f"{'was' if len(texts) == 1 else 'were'} given",
            hint=f"the function is {signature}",
        )
    given.update(zip(unnamed, in_order, strict=True))
    return [(given[spec.name], spec) for spec in signature.inputs]


def _one_an_array(texts: list[str], by_path: Mapping[str, str]) -> Iterator[str]:
    """The texts, with a file of several arrays as one text for each: its arrays are inputs by name.

    A file of a single array that has no input's name is that array.
    """
    for text in texts:
        path, member = file_of(text)
        if path is None or member is not None or path.suffix.lower() not in ARCHIVES:
            yield text
            continue
        names = names_in(path)
        if names is None or (len(names) == 1 and dotted(names[0]) not in by_path):
            yield text
            continue
        for name in names:
            if dotted(name) not in by_path:
                raise BadUsage(
                    f"--in: {path} holds an array {name!r}, and there is no such input",
                    hint=f"the inputs are {', '.join(by_path.values()) or 'none'}; one array: {path}:{name}",
                )
            yield f"{by_path[dotted(name)]}={path}:{name}"


def dotted(name: str) -> str:
    """`params['w'][0]` as `params.w.0`, the way `adze build` takes the leaves of an argument."""
    return re.sub(r"\[['\"]?(.*?)['\"]?\]", r".\1", name)


def read_array(text: str, spec: ArraySpec, *, maps: bool = False) -> np.ndarray:
    """The array in the file that `text` names, or the numbers that it writes, in the dtype of `spec`."""
    path, member = file_of(text)
    if path is not None:
        return read_file(path, spec, member, maps=maps)
    try:
        parsed = parsed_json(text)
    except (ValueError, RecursionError):
        raise BadUsage(
            f"--in: {shortened(text)} for {spec} is neither a file nor numbers",
            hint="name a file, such as x.npy, or write numbers such as 3.5 or [[1, 2], [3, 4]]",
        ) from None
    return array_of(parsed, spec)


def file_of(text: str) -> tuple[Path | None, str | None]:
    """The file that `text` names, and which of its arrays: `x.npz:w`. Neither where it names none."""
    try:
        if text and Path(text).exists():
            return Path(text), None
        for colon in re.finditer(":", text[:4096]):
            path = Path(text[: colon.start()])
            if path.suffix.lower() in ARCHIVES and path.is_file():
                return path, text[colon.end() :]
    except (OSError, ValueError):
        pass  # numbers make names that no file can have: too long, or with a zero byte
    return None, None
