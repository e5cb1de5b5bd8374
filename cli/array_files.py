"""Arrays in files of the formats that people have: .npy, .npz, .safetensors, .csv, .json and images.

Input: a path, and the input of a program that the array is for. Output: the array, or bad usage that says
what the file holds. A format with dtypes must state the input's. Numbers in a text and pixels have none: they
become the input's dtype where that holds them, and no pixel is scaled.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .arguments import readable_file, reason
from .numbers import Decimal, array_of, parsed_json, shortened
from .reporting import BadUsage

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.signature import ArraySpec

ARCHIVES: Final = (".npz", ".safetensors", ".json")
"""Files that may hold several arrays, each by a name."""
IMAGES: Final = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")

_INTEGER: Final = re.compile(r"[+-]?\d+")
_FLOAT: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORDS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity", "infinity": "Infinity"}
_WORDS_BELOW: Final = {"-infinity": "-Infinity", "+inf": "Infinity"}
# Modes of images whose pixels are the numbers of an array: bool, 8 bits in one to four channels, 16 and 32.
_MODES: Final = ("1", "L", "LA", "RGB", "RGBA", "I;16", "I", "F")


def names_in(path: Path) -> list[str] | None:
    """The names of the arrays in a file that may hold several; None for a JSON text of numbers alone."""
    readable_file(path, "--in")
    suffix = path.suffix.lower()
    if suffix == ".npz":
        with _opened(path) as archive:
            return [str(name) for name in archive.files]
    if suffix == ".safetensors":
        return [*_safetensors(path)]
    parsed = _json(path)
    return [*parsed] if isinstance(parsed, dict) else None


def read_file(path: Path, spec: ArraySpec, member: str | None = None, *, maps: bool = False) -> np.ndarray:
    """The array in a file, or the one called `member` of several, for the input `spec`.

    With `maps` that of a .npy file is mapped into memory, and read where it is used.
    """
    readable_file(path, "--in")
    suffix = path.suffix.lower()
    if suffix in ARCHIVES:
        names = names_in(path)
        if names is not None:
            return _of_archive(path, spec, _member(path, spec, names, member))
        if member is not None:
            raise BadUsage(f"--in: {path} holds numbers, and no array called {member!r}")
        return array_of(_json(path), spec, str(path))
    if suffix == ".csv":
        return _csv(path, spec)
    if suffix in IMAGES:
        return _image(path, spec)
    return _npy(path, spec, maps)


def _member(path: Path, spec: ArraySpec, names: list[str], member: str | None) -> str:
    """Which array of a file is meant."""
    if member is None and len(names) != 1:
        shown = ", ".join(names) or "none"
        raise BadUsage(
            f"--in: {path} holds {len(names)} arrays for {spec}: {shown}",
            hint=f"name one of them: {spec.name}={path}:{names[0] if names else 'NAME'}",
        )
    if member is not None and member not in names:
        raise BadUsage(f"--in: {path} holds no array {member!r}: it has {', '.join(names) or 'none'}")
    return names[0] if member is None else member


def _of_archive(path: Path, spec: ArraySpec, name: str) -> np.ndarray:
    label = f"{path}:{name}"
    suffix = path.suffix.lower()
    if suffix == ".json":
        return array_of(_json(path)[name], spec, label)
    if suffix == ".safetensors":
        return _typed(_safetensors(path, name)[name], spec, label)
    with _opened(path) as archive:
        try:
            return _typed(archive[name], spec, label)
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, MemoryError, KeyError) as error:
            if isinstance(error, BadUsage):
                raise
            raise BadUsage(f"--in: {label} cannot be read: {error}") from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The archive in a .npz file."""
    import numpy as np

    with path.open("rb") as file:
        if file.read(4) not in (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUM"):
            raise BadUsage(f"--in: {path} is not a .npz file")
        file.seek(0)
        try:
            archive = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, MemoryError, SyntaxError) as error:
            raise BadUsage(f"--in: {path} is not a .npz file: {error}") from None
        if isinstance(archive, np.ndarray):
            raise BadUsage(f"--in: {path} is a .npy file by another name", hint="call it .npy")
        with archive:
            yield archive


def _npy(path: Path, spec: ArraySpec, maps: bool) -> np.ndarray:
    import numpy as np

    try:
        if maps:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with path.open("rb") as file:
                array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile, MemoryError, SyntaxError) as error:
        # NumPy takes any other file for pickled objects, and says how to load those without protection
        text = "it holds Python objects, or is of another format" if "pickle" in str(error) else error
        raise BadUsage(f"--in: {path} is not a .npy file: {text}") from None
    if not isinstance(array, np.ndarray):
        raise BadUsage(f"--in: {path} holds several arrays: call it .npz, and its arrays are inputs by name")
    return _typed(array, spec, str(path))


def _typed(array: np.ndarray, spec: ArraySpec, label: str) -> np.ndarray:
    """The array of a format that states dtypes; one of another byte order is the same to us."""
    import numpy as np

    if spec.dtype.name == "bfloat16" and array.dtype == np.dtype("V2"):
        array = array.view(spec.dtype)  # NumPy's format has no word for it: its two bytes come back as such
    if array.dtype.newbyteorder("=") != spec.dtype:
        raise BadUsage(
            f"--in: {label} holds {array.dtype.name}{list(array.shape)} for {spec}: "
            "a file is never converted",
            hint=f"write one of that dtype: np.save(file, array.astype({spec.dtype.name!r}))",
        )
    return array.astype(spec.dtype, copy=False)


def _safetensors(path: Path, *wanted: str) -> dict[str, Any]:
    """The arrays of a .safetensors file; of those that are not wanted, None."""
    import numpy as np

    from ..runtime.artifact.weights import read_header
    from ..runtime.errors import ArtifactError

    try:
        specs = read_header(path)
        content = path.read_bytes() if wanted else b""
    except ArtifactError as error:
        raise BadUsage(f"--in: {error.message}") from None
    start = 8 + int.from_bytes(content[:8], "little")
    arrays: dict[str, Any] = dict.fromkeys(specs)
    for name in wanted:
        spec = specs[name]
        entry = json.loads(content[8:start])[name]
        begin, end = (start + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(content[begin:end], spec.dtype).reshape(spec.static_shape or ())
    return arrays


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadUsage(f"--in: {path} is not a text in UTF-8") from None
    except OSError as error:
        raise BadUsage(f"--in: cannot read {str(path)!r}: {reason(error)}") from None


def _json(path: Path) -> Any:
    try:
        return parsed_json(_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadUsage):
            raise
        raise BadUsage(f"--in: {path} is not JSON: {error}") from None


def _csv(path: Path, spec: ArraySpec) -> np.ndarray:
    """Rows of numbers; for an input of one axis a single row or a single column, for one of none a cell."""
    try:
        lines = [row for row in csv.reader(io.StringIO(_text(path)), strict=True) if row]
    except csv.Error as error:
        raise BadUsage(f"--in: {path} is not a .csv file: {error}") from None
    rows = [[_cell(path, cell, y, x) for x, cell in enumerate(row)] for y, row in enumerate(lines)]
    rank = len(spec.shape)
    if rank > 2 or spec.dtype.kind == "c":
        what = "complex numbers" if spec.dtype.kind == "c" else f"arrays of {rank} axes"
        raise BadUsage(f"--in: {path} for {spec}: a .csv file holds no {what}", hint="use .npy or .json")
    if rank == 2:
        return array_of(rows, spec, str(path))
    cells = rows[0] if len(rows) == 1 else [cell for row in rows for cell in row]
    is_line = len(rows) <= 1 or all(len(row) == 1 for row in rows)
    if not is_line or (rank == 0 and len(cells) != 1):
        shape = f"{len(rows)} rows of {len(rows[0]) if rows else 0}"
        expected = "a single number" if rank == 0 else "a single row or a single column"
        raise BadUsage(f"--in: {path} for {spec}: it has {shape}: expected {expected}")
    return array_of(cells[0] if rank == 0 else cells, spec, str(path))


def _cell(path: Path, cell: str, row: int, column: int) -> Any:
    text = cell.strip()
    lowered = text.lower()
    if _INTEGER.fullmatch(text) and len(text) < 4000:
        return int(text)
    if _FLOAT.fullmatch(text):
        return Decimal(text)
    if lowered in ("true", "false"):
        return lowered == "true"
    word = _WORDS.get(lowered) or _WORDS_BELOW.get(lowered)
    if word is not None:
        return Decimal(word)
    hint = "a .csv file has commas between its numbers" if ";" in text or "\t" in text else None
    if row == 0 and hint is None:
        hint = "a line of names is no row of numbers: leave it out"
    shown = shortened(text) if text else "nothing"
    raise BadUsage(f"--in: {path}: line {row + 1}, column {column + 1}: {shown} is no number", hint=hint)


def _image(path: Path, spec: ArraySpec) -> np.ndarray:
    """The pixels as they are stored: rows, columns and, where there are several, channels."""
    import numpy as np

    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise BadUsage(
            f"--in: {path}: images are read by the package pillow, which is not installed",
            hint="pip install pillow (it is the extra 'images' of adze-compiler and of adze-runtime)",
        ) from None
    try:
        with path.open("rb") as file, Image.open(file) as image:
            image.load()
            if getattr(image, "n_frames", 1) != 1:
                raise BadUsage(f"--in: {path} holds several images: expected one")
            if image.mode not in _MODES:
                raise BadUsage(
                    f"--in: {path} is an image of mode {image.mode!r}, whose pixels are no plain numbers",
                    hint="save it as grey (L), RGB or RGBA",
                )
            pixels = np.array(image)
            if pixels.dtype == np.bool_:
                pixels = pixels.view(np.uint8) != 0  # pillow writes 255 for true
    except BadUsage:
        raise
    except Exception as error:  # of many classes, one for each format
        raise BadUsage(f"--in: {path} is not an image that pillow reads: {error}") from None
    if spec.dtype == pixels.dtype:
        return pixels
    with np.errstate(all="ignore"):
        converted = pixels.astype(spec.dtype)
    same_kind = (pixels.dtype.kind == "b") == (spec.dtype.kind == "b") and spec.dtype.kind != "c"
    if not same_kind or not np.array_equal(converted.astype(np.float64), pixels.astype(np.float64)):
        raise BadUsage(
            f"--in: {path} holds pixels of {pixels.dtype.name}, from {pixels.min()} to {pixels.max()}, "
            f"which {spec.dtype.name} does not hold",
            hint="build the program for another dtype of its input",
        )
    return converted
