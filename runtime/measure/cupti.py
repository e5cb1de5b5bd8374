"""When each kernel of a CUDA device began and ended, by the device's own clock.

Input: a function that makes calls. Output: its kernels, in nanoseconds since the first. IREE has no profiles
of CUDA, and its streams are its own, so that no event of ours is in their order: NVIDIA's CUPTI writes the
times of every kernel of the process. It comes with the CUDA toolkit, and with JAX's and PyTorch's packages.

The library writes records to buffers that it asks for; the first fields of a kernel's record have had their
places since CUDA 9 (`CUpti_ActivityKernel4` to `13` in `cupti_activity.h`).
"""

from __future__ import annotations

import ctypes
import functools
import glob
import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..errors import DeviceError

PACKAGE: Final = "nvidia-cuda-cupti"
_NAMES: Final = ("libcupti.so", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11")
_TOOLKIT: Final = "/usr/local/cuda/extras/CUPTI/lib64"
_KERNELS: Final = 10
"""`CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`: kernels that may run beside each other, also those of graphs."""
_FORCED: Final = 1  # of a flush: buffers that are not full as well
_BUFFER_BYTES: Final = 1 << 20
_ALIGNMENT: Final = 8


class _Kernel(ctypes.Structure):
    """What a record of a kernel begins with."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("cache", ctypes.c_uint8 * 2),
        ("registers", ctypes.c_uint16),
        ("partitions", ctypes.c_uint32 * 2),
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("completed", ctypes.c_uint64),
        ("device", ctypes.c_uint32),
        ("context", ctypes.c_uint32),
        ("stream", ctypes.c_uint32),
        ("grid", ctypes.c_int32 * 3),
        ("block", ctypes.c_int32 * 3),
        ("memory", ctypes.c_int32 * 2),
        ("local", ctypes.c_uint32 * 2),
        ("correlation", ctypes.c_uint32),
        ("number", ctypes.c_int64),
        ("name", ctypes.c_char_p),
    )


@dataclass(frozen=True, slots=True)
class KernelRun:
    """A kernel that ran on a CUDA device: nanoseconds since the first of a recording, and its workgroups."""

    name: str
    device: int
    start: int
    duration: int
    workgroups: tuple[int, int, int]


_Request = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
_Complete = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)


@functools.cache
def works() -> bool:
    """Whether there is a CUPTI that records kernels for this process."""
    if _library() is None:
        return False
    try:
        kernel_runs(lambda: None)
    except DeviceError:
        return False
    return True


def kernel_runs(function: Callable[[], object]) -> list[KernelRun]:
    """The kernels that CUDA devices run while `function` is called, in the order of their start.

    Raises `DeviceError` where there is no CUPTI, or it records nothing here (as where only administrators may
    profile, or another profiler does).
    """
    library = _library()
    if library is None:
        raise DeviceError(
            "the kernels of CUDA are timed by NVIDIA's CUPTI, which is not here",
            hint=f"install the package {PACKAGE} of the CUDA release that `nvidia-smi` shows",
        )
    with _lock:
        recorder = _recorder(library)
        recorder.runs.clear()
        _checked(library, library.cuptiActivityEnable(_KERNELS))
        try:
            function()
            _checked(library, library.cuptiActivityFlushAll(_FORCED))
        finally:
            library.cuptiActivityDisable(_KERNELS)
        runs = sorted(recorder.runs, key=lambda run: run.start)
    first = runs[0].start if runs else 0
    return [KernelRun(run.name, run.device, run.start - first, run.duration, run.workgroups) for run in runs]


class _Recorder:
    """The buffers that CUPTI fills, and what was in them. It lives as long as the process, as CUPTI does."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.runs: list[KernelRun] = []
        self._buffers: dict[int, Any] = {}
        self._callbacks = _Request(self._request), _Complete(self._complete)
        _checked(library, library.cuptiActivityRegisterCallbacks(*self._callbacks))

    def _request(self, buffer: Any, size: Any, most: Any) -> None:
        memory = ctypes.create_string_buffer(_BUFFER_BYTES + _ALIGNMENT)
        place = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
        self._buffers[place] = memory
        buffer[0], size[0], most[0] = place, _BUFFER_BYTES, 0

    def _complete(self, context: Any, stream: int, buffer: int, size: int, used: int) -> None:
        del context, stream, size
        record = ctypes.c_void_p()
        next_record = self.library.cuptiActivityGetNextRecord
        while used and not next_record(ctypes.c_void_p(buffer), ctypes.c_size_t(used), ctypes.byref(record)):
            kernel = _Kernel.from_address(record.value or 0)
            if kernel.kind == _KERNELS:
                name = (kernel.name or b"kernel").decode(errors="replace")
                x, y, z = kernel.grid
                lasted = kernel.end - kernel.start
                self.runs.append(KernelRun(name, kernel.device, kernel.start, lasted, (x, y, z)))
        self._buffers.pop(buffer, None)


@functools.cache
def _recorder(library: Any) -> _Recorder:
    return _Recorder(library)


_lock = threading.Lock()


def _checked(library: Any, code: int) -> None:
    if not code:
        return
    text = ctypes.c_char_p()
    library.cuptiGetResultString(code, ctypes.byref(text))
    reason = (text.value or b"it gives no reason").decode(errors="replace")
    raise DeviceError(
        f"NVIDIA's CUPTI records no kernels here: {reason} ({code})",
        hint="one profiler runs at a time; where privileges are missing, the driver lets all users profile "
        "with its option NVreg_RestrictProfilingToAdminUsers=0",
    )


@functools.cache
def _library() -> Any:
    """CUPTI as the loader, a Python package or the toolkit has it; None where none does."""
    for name in (*_NAMES, *_in_packages(), *sorted(glob.glob(f"{_TOOLKIT}/libcupti.so*"))):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _in_packages() -> list[str]:
    """CUPTI in NVIDIA's packages for Python, which keep their libraries to themselves; the newest first."""
    found = importlib.util.find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    return sorted(
        (str(path) for folder in folders for path in Path(os.fspath(folder)).glob("*/lib/libcupti.so*")),
        reverse=True,
    )
