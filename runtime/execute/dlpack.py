"""Arrays of other libraries in a GPU's memory, without a copy, through DLPack.

Input: whatever offers `__dlpack__` and lies on a CUDA device. Output: a `DeviceArray` of the same memory.
(`DeviceArray.__dlpack__` is the other direction.)

**The order of streams.** A call of adze returns when its results are there, so no stream of another
library has to wait for what adze exports. What adze imports is asked for in the order of CUDA's legacy
default stream, and the host waits for that stream before any program uses the memory.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np

from ...dialects.errors import TypeCheckError
from ...dialects.types import ANY
from ..errors import DeviceError, LostDeviceError
from .array import BUFFER_ALIGNMENT, DeviceArray, device_view
from .devices import get_device

_LEGACY_STREAM: Final = 1
_NAMES: Final = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_BOOL: Final = 6


class _Tensor(ctypes.Structure):
    """`DLTensor`, with which the structure of an unversioned capsule begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def import_array(value: Any) -> DeviceArray:
    """The memory of `value` on its CUDA device, which the array shares and keeps alive."""
    device = get_device(f"cuda:{int(value.__dlpack_device__()[1])}")
    capsule = value.__dlpack__(stream=_LEGACY_STREAM)
    tensor = _tensor_of(capsule)
    shape = tuple(tensor.shape[: tensor.ndim])
    dtype = _dtype_of(tensor)
    if 0 in shape:
        return device_view(device, None, shape, dtype)
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    if not _is_dense(shape, strides):
        raise _refused(device.name, shape, f"it has the strides {strides}", "row after row")
    address = (tensor.data or 0) + tensor.byte_offset
    if tensor.byte_offset or address % BUFFER_ALIGNMENT:
        beginning = f"its memory begins at {address:#x}, {tensor.byte_offset} bytes into what is exported"
        raise _refused(device.name, shape, beginning, f"at a multiple of {BUFFER_ALIGNMENT} bytes")
    _wait_for(_LEGACY_STREAM, tensor.device_id)
    buffer = device.hal.from_dlpack_capsule(capsule).get_buffer()
    return device_view(device, buffer, shape, dtype)


def _refused(device: str, shape: tuple[int, ...], seen: str, expected: str) -> DeviceError:
    return DeviceError(
        f"an array of shape {shape} on {device} cannot be shared: {seen}; expected one that lies {expected}",
        hint="copy it in the other library first (torch: `x.contiguous().clone()`)",
    )


def _tensor_of(capsule: Any) -> _Tensor:
    """What the capsule describes; it stays the capsule's."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _Tensor.from_address(pointer_of(capsule, b"dltensor"))


def _dtype_of(tensor: _Tensor) -> np.dtype:
    name = "bool" if tensor.code == _BOOL else f"{_NAMES.get(tensor.code, 'kind')}{tensor.bits}"
    known = {dtype.name: dtype for dtype in ANY}
    if name not in known or tensor.lanes != 1:
        raise TypeCheckError(f"an array of {name} elements ({tensor.lanes} in one) has no dtype in adze")
    return known[name]


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Whether the elements lie in row-major order; the stride of an axis of size 1 says nothing."""
    expected = 1
    for n, stride in zip(reversed(shape), reversed(strides or ()), strict=False):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def _wait_for(stream: int, position: int) -> None:
    """Until the work of a stream of the device's primary context is done, the one that libraries share."""
    library = ctypes.CDLL("libcuda.so")  # IREE has opened a device by it
    context, device = ctypes.c_void_p(), ctypes.c_int()
    failed = library.cuDeviceGet(ctypes.byref(device), position)
    failed = failed or library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    if not failed:
        library.cuCtxPushCurrent_v2(context)
        failed = library.cuStreamSynchronize(ctypes.c_void_p(stream))
        library.cuCtxPopCurrent_v2(ctypes.byref(context))
        library.cuDevicePrimaryCtxRelease_v2(device)
    if failed:
        raise LostDeviceError(f"cuda:{position} does not finish its work: its driver answers {failed}")
