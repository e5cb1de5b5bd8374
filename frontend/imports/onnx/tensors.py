"""Tensors of ONNX protobufs as NumPy arrays: inline data, and data in files beside the model.

Input: `TensorProto`s, and the folder of the model's file. Output: arrays. Idea: what a tensor declares is
compared with what is there before anything is allocated, and no file outside the folder is opened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..errors import ModelError, ModelUnsupportedError

DTYPES: Final[Mapping[int, np.dtype]] = {
    code: np.dtype(dtype)
    for code, dtype in {
        1: np.float32,
        2: np.uint8,
        3: np.int8,
        4: np.uint16,
        5: np.int16,
        6: np.int32,
        7: np.int64,
        9: np.bool_,
        10: np.float16,
        11: np.float64,
        12: np.uint32,
        13: np.uint64,
        14: np.complex64,
        15: np.complex128,
        16: ml_dtypes.bfloat16,
    }.items()
}
"""The element types that adze has, by their code in ONNX."""

_OTHERS: Final = {
    8: "string",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
}
_OTHERS_4_BIT: Final = {21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2"}
_LARGEST: Final = 2**40
"""More bytes than a tensor of a model has."""

# The field that holds elements of a dtype which are not raw bytes, and the elements' own type there.
_FIELDS: Final = {
    "float32": ("float_data", np.float32),
    "complex64": ("float_data", np.float32),
    "float64": ("double_data", np.float64),
    "complex128": ("double_data", np.float64),
    "int64": ("int64_data", np.int64),
    "uint32": ("uint64_data", np.uint64),
    "uint64": ("uint64_data", np.uint64),
}


class Tensors:
    """Where a model's tensors have their data: `folder` is that of its file, None where there is no file."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    @staticmethod
    def dtype(code: int, owner: str) -> np.dtype:
        """The dtype of an element type; raises `ModelUnsupportedError` for those that adze has not."""
        if code in DTYPES:
            return DTYPES[code]
        name = {**_OTHERS, **_OTHERS_4_BIT}.get(code, f"number {code}")
        raise ModelUnsupportedError(
            f"{owner} has elements of the type {name}, which adze has not",
            hint="convert the model to float32, float16, bfloat16 or an integer type of 8 bits or more",
        )

    def array(self, proto: Any, owner: str) -> np.ndarray:
        """The elements of a tensor; raises `ModelError` where its data is not what it declares."""
        dtype = self.dtype(proto.data_type, owner)
        shape = tuple(proto.dims)
        count = _count(shape, dtype, owner)
        if proto.data_location == 1:
            raw = self._external(proto, count * dtype.itemsize, owner)
        elif proto.HasField("raw_data"):
            raw = proto.raw_data
        else:
            return _from_field(proto, dtype, shape, count, owner)
        if len(raw) != count * dtype.itemsize:
            raise ModelError(
                f"{owner} declares {_text(shape, dtype)}, {count * dtype.itemsize} bytes, "
                f"and has {len(raw)} bytes of data"
            )
        return np.frombuffer(raw, dtype=dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(shape)

    def dense(self, proto: Any, owner: str) -> np.ndarray:
        """A sparse tensor with its zeros."""
        values, indices = self.array(proto.values, owner), self.array(proto.indices, owner)
        shape = tuple(proto.dims)
        _count(shape, values.dtype, owner)
        if math.prod(shape) * values.dtype.itemsize > max(2**28, 2**10 * values.nbytes):
            raise ModelError(f"{owner} declares {_text(shape, values.dtype)} for {values.size} values")
        result = np.zeros(math.prod(shape), values.dtype)
        try:
            at = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), shape)
        except ValueError:
            raise ModelError(f"{owner} has indices outside {list(shape)}") from None
        if at.size != values.size or (at.size and not (at.min() >= 0 and at.max() < result.size)):
            raise ModelError(f"{owner} has indices outside {list(shape)}")
        result[at] = values
        return result.reshape(shape)

    def _external(self, proto: Any, size: int, owner: str) -> bytes:
        """The bytes of a tensor in another file of the model's folder."""
        entries = {entry.key: entry.value for entry in proto.external_data}
        path = self._inside(entries.get("location", ""), owner)
        try:
            offset, length = int(entries.get("offset", "0")), int(entries.get("length", str(size)))
        except ValueError:
            raise ModelError(f"{owner} has external data at no number: {entries}") from None
        if length != size:
            raise ModelError(f"{owner} declares {size} bytes, and its external data has {length} bytes")
        try:
            there = path.stat().st_size
            if offset < 0 or offset + length > there:
                raise ModelError(
                    f"{owner} has bytes {offset} to {offset + length} of {path.name!r}, "
                    f"which has {there} bytes"
                )
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except OSError as error:
            raise ModelError(
                f"{owner} has its data in {path.name!r} beside the model: {error.strerror or error}",
                hint="put the file of external data into the folder of the model",
            ) from None

    def _inside(self, location: str, owner: str) -> Path:
        if self.folder is None:
            raise ModelError(
                f"{owner} has its data in another file, and the model is not from a file",
                hint="pass the path of the model, or load the data: onnx.load(path)",
            )
        root = self.folder.resolve()
        try:
            path = (root / location).resolve()
        except (OSError, ValueError, RuntimeError):
            path = root
        if not location or Path(location).is_absolute() or path == root or not path.is_relative_to(root):
            raise ModelError(
                f"{owner} has its data in {location!r}, which is no file inside the folder of the model",
                hint="external data is looked for in the model's own folder only",
            )
        return path


def _count(shape: tuple[int, ...], dtype: np.dtype, owner: str) -> int:
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize > _LARGEST:
        raise ModelError(f"{owner} declares {_text(shape, dtype)}, which no array can be")
    return math.prod(shape)


def _from_field(proto: Any, dtype: np.dtype, shape: tuple[int, ...], count: int, owner: str) -> np.ndarray:
    name, carrier = _FIELDS.get(dtype.name, ("int32_data", np.int32))
    field = getattr(proto, name)
    parts = 2 if dtype.kind == "c" else 1
    if len(field) != count * parts:
        raise ModelError(
            f"{owner} declares {_text(shape, dtype)}, {count} elements, and has {len(field) // parts} of them"
        )
    items = np.array(field, dtype=carrier)
    if dtype.kind == "c":
        return items.view(dtype).reshape(shape)
    if dtype.name in ("float16", "bfloat16"):  # their bits, as integers
        return items.astype(np.uint16).view(dtype).reshape(shape)
    return items.astype(dtype).reshape(shape)


def _text(shape: tuple[int, ...], dtype: np.dtype) -> str:
    return f"{dtype.name}[{','.join(map(str, shape))}]"
