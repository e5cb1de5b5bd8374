"""Results in files of the formats that `--in` reads: what is written comes back as the same numbers.

Input: paths and results. Output: one file a result, or one .npz or .safetensors file of all by their names.
What a format cannot hold is bad usage before the program runs, where that is known by then.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .reporting import BadUsage, OutputError, counted

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.signature import ArraySpec, FunctionSignature

TOGETHER: Final = (".npz", ".safetensors")
"""Files that hold all results by name."""
_IMAGES: Final = (".png",)
_ALL: Final = (".npy", ".npz", ".safetensors", ".csv", ".json", *_IMAGES)


def check_count(paths: Sequence[Path], signature: FunctionSignature) -> None:
    """Raise the bad usage for a number of files that the results of a function do not go into."""
    if paths and not _holds_all(paths) and len(paths) != len(signature.outputs):
        raise BadUsage(
            f"--out: {signature.name} returns {counted(len(signature.outputs), 'result')}, "
            f"and {counted(len(paths), 'file')} {'was' if len(paths) == 1 else 'were'} named",
            hint=f"it is {signature}",
        )


def check_formats(paths: Sequence[Path], signature: FunctionSignature) -> None:
    """Raise the bad usage for files of formats that cannot hold the results of a function."""
    for path, spec in zip(files_of(paths, len(signature.outputs)), signature.outputs, strict=False):
        if path.suffix.lower() not in _ALL:
            raise BadUsage(
                f"--out: {str(path)!r} has no format that results are written in",
                hint=f"end its name with one of {', '.join(_ALL)}",
            )
        problem = _problem(path, spec)
        if problem:
            raise BadUsage(
                f"--out: {str(path)!r} for {spec}: a {path.suffix} file holds no {problem}",
                hint="use .npy or .json",
            )


def write_all(paths: Sequence[Path], specs: Sequence[ArraySpec], results: Sequence[np.ndarray]) -> None:
    """Write the results, each file whole or not at all."""
    if not paths:
        return
    if _holds_all(paths):
        arrays = {spec.name: result for spec, result in zip(specs, results, strict=True)}
        contents = [_together(paths[0], arrays)]
    else:
        contents = [_content(path, spec, r) for path, spec, r in zip(paths, specs, results, strict=True)]
    for path, content in zip(paths, contents, strict=True):
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    from ..runtime.artifact.files import write_atomically

    try:
        write_atomically(path, content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def files_of(paths: Sequence[Path], count: int) -> list[Path]:
    """The file that each of `count` results is in."""
    return [paths[0]] * count if paths and _holds_all(paths) else [*paths]


def json_values(result: np.ndarray) -> object:
    """Nested lists of numbers; complex ones as pairs (real, imaginary), NaN and infinities as text."""
    import numpy as np

    if np.iscomplexobj(result):
        return json_values(np.stack([result.real, result.imag], axis=-1))
    if result.dtype.kind not in "fiub":
        result = result.astype(np.float32)
    if result.dtype.kind == "f" and not np.isfinite(result).all():
        return np.where(np.isfinite(result), result.astype(object), result.astype(str)).tolist()
    return result.tolist()


def _holds_all(paths: Sequence[Path]) -> bool:
    return len(paths) == 1 and paths[0].suffix.lower() in TOGETHER


def _problem(path: Path, spec: ArraySpec) -> str | None:
    """What of a result the format of the file has no place for."""
    suffix, rank, dtype = path.suffix.lower(), len(spec.shape), spec.dtype.name
    if suffix == ".csv" and spec.dtype.kind == "c":
        return "complex numbers"
    if suffix == ".csv" and rank > 2:
        return f"arrays of {rank} axes"
    if suffix == ".safetensors" and dtype == "complex128":
        return "arrays of complex128"
    if suffix not in _IMAGES:
        return None
    _pillow(path)
    if dtype not in ("uint8", "uint16", "bool") or (dtype != "uint8" and rank == 3):
        return f"pixels of {dtype}{' in channels' if rank == 3 else ''}"
    channels = spec.shape[2] if rank == 3 else 1
    if rank not in (2, 3) or (isinstance(channels, int) and not 1 <= channels <= 4):
        return f"arrays like {spec.type_text}"
    return None


def _together(path: Path, arrays: dict[str, np.ndarray]) -> bytes:
    """A file of all results."""
    import numpy as np

    from ..runtime.artifact.weights import safetensors_of

    if path.suffix.lower() == ".safetensors":
        return safetensors_of(arrays)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # by hand: np.savez takes no array called "file"
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    return content.getvalue()


def _content(path: Path, spec: ArraySpec, result: np.ndarray) -> bytes:
    """The file of one result."""
    suffix = path.suffix.lower()
    if suffix in TOGETHER:
        return _together(path, {spec.name: result})
    if suffix == ".csv":
        return _csv(path, result)
    if suffix == ".json":
        return (json.dumps(json_values(result)) + "\n").encode()
    if suffix in _IMAGES:
        return _image(path, spec, result)
    import numpy as np

    content = io.BytesIO()
    np.save(content, result)
    return content.getvalue()


def _csv(path: Path, result: np.ndarray) -> bytes:
    """One line a row, an array of one axis as a column; floats with as many digits as tell them apart."""
    if result.ndim == 2 and result.shape[1] == 0 < result.shape[0]:
        raise BadUsage(f"--out: {str(path)!r}: a .csv file has no rows without numbers", hint="use .npy")
    rows = result.reshape(-1, 1) if result.ndim < 2 else result
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[_number(value) for value in row] for row in rows])
    return text.getvalue().encode()


def _number(value: Any) -> str:
    text = str(value)  # of a NumPy scalar: the shortest that is read as the same number of its dtype
    return text.lower() if text in ("True", "False") else text


def _image(path: Path, spec: ArraySpec, result: np.ndarray) -> bytes:
    import numpy as np

    pixels = result[..., 0] if result.ndim == 3 and result.shape[2] == 1 else result
    if 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise BadUsage(f"--out: {str(path)!r}: no image has the shape {list(result.shape)}")
    content = io.BytesIO()
    _pillow(path).fromarray(np.ascontiguousarray(pixels)).save(content, format="PNG")
    return content.getvalue()


def _pillow(path: Path) -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise BadUsage(
            f"--out: {path}: images are written by the package pillow, which is not installed",
            hint="pip install pillow (it is the extra 'images' of adze-compiler and of adze-runtime)",
        ) from None
    return Image
