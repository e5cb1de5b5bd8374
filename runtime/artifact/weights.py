"""Files of parameters: the arrays of a program that stand outside it.

Input: what a manifest says of them, and a `.safetensors` or `.irpa` file, or arrays by name. Output: the
module of IREE that hands them to the program, or an `ArtifactError` that names the array that is missing or
of another type.

IREE looks at keys and sizes only, so that an array of another dtype would be taken as it is: dtypes and
shapes are compared here. A `.irpa` file has neither; of that, the sizes are compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.types import dtype_from_name, short_name
from ..errors import ArtifactError
from ..execute.native import native
from .manifest import Held, Parameters
from .signature import ArraySpec

# Names of dtypes in a .safetensors file.
_DTYPES: Final = {
    "BOOL": "i1",
    "U8": "ui8",
    "I8": "i8",
    "U16": "ui16",
    "I16": "i16",
    "U32": "ui32",
    "I32": "i32",
    "U64": "ui64",
    "I64": "i64",
    "F16": "f16",
    "BF16": "bf16",
    "F32": "f32",
    "F64": "f64",
    "C64": "complex<f32>",
}
_MOST_HEADER_BYTES: Final = 100_000_000  # as the library of the format has it


@dataclass(frozen=True, slots=True)
class Source:
    """Parameters that were compared with what a program needs: a file, or arrays by name."""

    scope: str
    path: Path | None
    arrays: Mapping[str, np.ndarray]

    def module(self, instance: Any) -> Any:
        """IREE's module that hands the parameters to a program."""
        index: Any = native().ParameterIndex()
        if self.path is not None:
            index.load(str(self.path))
        for name, array in self.arrays.items():
            index.add_buffer(name, np.frombuffer(array.tobytes(), np.uint8))
        provider = index.create_provider(scope=self.scope)
        return native().create_io_parameters_module(instance, provider)


def source_of(
    parameters: Parameters | None,
    given: str | Path | Mapping[str, Any] | None,
    folder: Path,
) -> Source | None:
    """The parameters of a program, compared with what it needs; None where it needs none.

    By default they are in the file that was written with the program, in its `folder`, whose hash the
    manifest states: another file there is refused, and has to be `given` by name.
    """
    needed = [held for held in parameters.held if held.is_parameter] if parameters else []
    if parameters is None or not needed:
        if given is not None:
            raise ArtifactError(
                "parameters were given, and the program has all its arrays inside",
                hint="build it with its arrays outside: adze.Program(state, outside=True)",
            )
        return None
    if isinstance(given, Mapping):
        return Source(parameters.scope, None, _arrays(needed, given))
    path = Path(given) if given is not None else None
    if path is None and parameters.file is not None:
        path = folder / parameters.file
    if path is None:
        raise ArtifactError(
            f"the program needs arrays from outside: {_listed(needed)}",
            hint="name the file that has them: adze.load(path, parameters='weights.safetensors')",
        )
    _check_file(path, needed)
    if given is None:
        check_hash(parameters, path)
    return Source(parameters.scope, path, {})


def check_hash(parameters: Parameters, path: Path) -> None:
    """Raise the `ArtifactError` for a file that is not the one which was written with the program."""
    if not parameters.sha256:
        return
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror or error}") from None
    if found != parameters.sha256:
        raise ArtifactError(
            f"{path} is not the file that was written with the program: its SHA-256 is {found[:16]}..., "
            f"expected {parameters.sha256[:16]}...",
            hint="put that file there; to load others, name them: --parameters FILE, or "
            "adze.load(path, parameters=...)",
        )


def _listed(needed: Sequence[Held]) -> str:
    shown = ", ".join(str(held.spec) for held in needed[:4])
    return shown if len(needed) <= 4 else f"{shown} and {len(needed) - 4} more"


def _arrays(needed: Sequence[Held], given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    arrays = {}
    for held in needed:
        if held.spec.name not in given:
            raise _missing(held, "the parameters", given)
        array = np.asarray(given[held.spec.name])
        _check_type("the parameters", held, array.dtype, array.shape)
        arrays[held.spec.name] = np.ascontiguousarray(array)
    return arrays


def _check_file(path: Path, needed: Sequence[Held]) -> None:
    if not path.is_file():
        raise ArtifactError(
            f"there is no file {str(path)!r}, which has the parameters of the program",
            hint="put it there, or name another: adze.load(path, parameters='weights.safetensors')",
        )
    if path.suffix == ".safetensors":
        specs = read_header(path)
        for held in needed:
            if held.spec.name not in specs:
                raise _missing(held, str(path), specs)
            spec = specs[held.spec.name]
            _check_type(str(path), held, spec.dtype, spec.static_shape or ())
        return
    if path.suffix == ".irpa":
        _check_sizes(path, needed)
        return
    raise ArtifactError(f"{path}: parameters are read from .safetensors and .irpa files")


def _missing(held: Held, where: str, there: Mapping[str, Any]) -> ArtifactError:
    names = ", ".join(sorted(there)[:8]) or "none"
    return ArtifactError(
        f"{where}: there is no array {held.spec.name!r}, which is {held.spec}: it has {names}"
    )


def _check_type(where: str, held: Held, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    if dtype != held.spec.dtype or tuple(shape) != held.spec.shape:
        try:
            actual = ArraySpec(held.spec.name, dtype, tuple(shape)).type_text
        except Exception:  # a dtype that adze does not know
            actual = f"{dtype}{list(shape)}"
        raise ArtifactError(
            f"{where}: {held.spec.name!r} is {actual}, and the program needs {held.spec.type_text}"
        )


def _check_sizes(path: Path, needed: Sequence[Held]) -> None:
    index: Any = native().ParameterIndex()
    try:
        index.load(str(path))
        sizes = {str(key): int(entry.length) for key, entry in index.items()}
    except Exception as error:
        why = str(error).rpartition("; ")[2]  # behind a place in IREE's source
        raise ArtifactError(f"{path}: no file of parameters that IREE reads: {why}") from None
    for held in needed:
        if held.spec.name not in sizes:
            raise _missing(held, str(path), sizes)
        expected = int(np.prod(held.spec.static_shape or ())) * held.spec.dtype.itemsize
        if sizes[held.spec.name] != expected:
            raise ArtifactError(
                f"{path}: {held.spec.name!r} has {sizes[held.spec.name]} bytes, and the program needs "
                f"{held.spec.type_text}, which has {expected}"
            )


def parameters_of(parameters: Parameters | None, folder: Path) -> dict[str, np.ndarray]:
    """The arrays of a program in the `.safetensors` file beside it; none where it is of another kind."""
    source = source_of(parameters, None, folder) if parameters and parameters.file else None
    if source is None or source.path is None or source.path.suffix != ".safetensors":
        return {}
    with source.path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
    content = np.memmap(source.path, np.uint8, "r", start) if source.path.stat().st_size > start else b""
    arrays = {}
    for name, spec in read_header(source.path).items():
        first, last = header[name]["data_offsets"]
        arrays[name] = np.frombuffer(bytes(content[first:last]), spec.dtype).reshape(spec.static_shape or ())
    return arrays


def read_header(path: Path) -> dict[str, ArraySpec]:
    """The types of the arrays in a .safetensors file; an `ArtifactError` for what is none."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(_MOST_HEADER_BYTES, path.stat().st_size - 8):
                raise ValueError("its header has no legal length")
            header = json.loads(file.read(length))
        size = path.stat().st_size - 8 - length
        return {name: _spec(name, entry, size) for name, entry in header.items() if name != "__metadata__"}
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(f"{path}: no .safetensors file, or a damaged one: {error}") from None


def _spec(name: str, entry: Any, size: int) -> ArraySpec:
    shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"{name!r} is of dtype {entry['dtype']!r}, which adze does not have")
    dtype = dtype_from_name(_DTYPES[entry["dtype"]])
    if not all(type(n) is int and n >= 0 for n in (*shape, start, end)):
        raise ValueError(f"{name!r} has no legal shape")
    if end > size or end - start != int(np.prod(shape, dtype=object)) * dtype.itemsize:
        raise ValueError(f"{name!r} is not whole")
    return ArraySpec(name, dtype, shape)


def safetensors_of(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A .safetensors file with these arrays: equal arrays, equal bytes.

    The arrays stand in the order of their names, the first at a multiple of 64 bytes.
    """
    names = {dtype_from_name(ours): theirs for theirs, ours in _DTYPES.items()}
    header: dict[str, Any] = {}
    position = 0
    for name, array in sorted(arrays.items()):
        if array.dtype not in names:
            raise ArtifactError(
                f"{name!r} is {short_name(array.dtype)}, which .safetensors files cannot hold"
            )
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes],
        }
        position += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    body = [np.ascontiguousarray(array).tobytes() for _, array in sorted(arrays.items())]
    return b"".join([len(text).to_bytes(8, "little"), text, *body])
