"""Arrays on a device.

Input: anything NumPy can read. Output: a `DeviceArray`: shape, dtype, device and an immutable buffer. On a
CPU device NumPy views it without a copy; from a GPU it is fetched once and kept. The dtype is recorded
here, since IREE's own element types forget signs.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

import ml_dtypes
import numpy as np

from ...dialects.errors import AdzeError
from ...dialects.types import as_dtype, plain_array
from ..errors import DeviceError, ExportError
from .devices import Device, DeviceKind, get_device
from .gpu_faults import transfer_error
from .native import native
from .transfers import Fetch, moved

# Code built for AVX-512 reads with aligned instructions: memory of another alignment is a segmentation fault.
BUFFER_ALIGNMENT: Final = 64

# Values of iree.runtime.HalElementType, written out so that arrays can be described without the runtime.
# Integers are signless: that is what a lowered program declares.
_BFLOAT16: Final = np.dtype(ml_dtypes.bfloat16)
_UINT16: Final = np.dtype(np.uint16)
_ELEMENT_TYPES: Final[dict[np.dtype, int]] = {
    np.dtype(np.bool_): 0x13000008,
    np.dtype(np.int8): 0x10000008,
    np.dtype(np.uint8): 0x10000008,
    np.dtype(np.int16): 0x10000010,
    np.dtype(np.uint16): 0x10000010,
    np.dtype(np.int32): 0x10000020,
    np.dtype(np.uint32): 0x10000020,
    np.dtype(np.int64): 0x10000040,
    np.dtype(np.uint64): 0x10000040,
    np.dtype(np.float16): 0x21000010,
    _BFLOAT16: 0x22000010,
    np.dtype(np.float32): 0x21000020,
    np.dtype(np.float64): 0x21000040,
    np.dtype(np.complex64): 0x23000040,
    np.dtype(np.complex128): 0x23000080,
}
# What makes a signless element type a signed or an unsigned one, by NumPy's kind of dtype.
_SIGNS: Final = {"i": 0x01000000, "u": 0x02000000}


class DeviceArray:
    """An array on a device; its values never change.

    `numpy()` is a read-only view of the same memory on CPU devices and a copy, made once, on others.
    """

    __slots__ = ("__weakref__", "_host", "device", "dtype", "shape", "view")

    def __init__(self, view: Any, shape: tuple[int, ...], dtype: np.dtype, device: Device) -> None:
        self.view = view
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self._host: np.ndarray | Fetch | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def numpy(self) -> np.ndarray:
        """The values as a read-only NumPy array, without a copy on CPU devices."""
        host = self._host
        if host is None or isinstance(host, Fetch):
            if self.device.is_cpu:
                host = mapped(self.view, self.shape, self.dtype)
            else:
                host = _frozen(_fetched(self) if self.size else np.empty(self.shape, self.dtype))
            self._host = host
        return host

    def start_to_host(self) -> None:
        """Let the elements come to the host while it does other things; `numpy()` waits for them."""
        if self._host is None and self.size and not self.device.is_cpu:
            try:
                self.device.enter()
                self._host = Fetch(self.device, self.view.get_buffer(), self.view.byte_length)
            except Exception as error:
                raise _not_fetched(error, self) from error

    def to(self, device: str | Device) -> DeviceArray:
        """This array on `device`; itself where it is there already.

        Between CUDA devices that reach each other's memory it is copied without the host.
        """
        target = get_device(device)
        if target is self.device:
            return self
        if self.size and self.device.is_peer_of(target):
            return _of_peer(self, target)
        return from_host(self.numpy(), target, copy=None if target.is_cpu else True)

    def item(self) -> Any:
        """The one value of an array of size one, as a Python scalar."""
        return self.numpy().item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        # pickled and deep-copied by value: a buffer cannot leave its process
        return from_host, (self.numpy(), self.device.name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = self.numpy()
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise ValueError(f"cannot convert from {host.dtype} to {np.dtype(dtype)} without a copy")
            return host.astype(dtype)
        return host.copy() if copy else host

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.dlpack_device

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        host_device = (1, 0)
        wanted = dl_device or self.device.dlpack_device
        if wanted != host_device:
            # IREE exports the memory of CUDA devices, and of no Vulkan device.
            if self.device.kind is not DeviceKind.CUDA or wanted != self.device.dlpack_device:
                here, there = self.device.name, tuple(wanted)
                raise ExportError(
                    f"DLPack export from {here} to DLPack device {there} is not possible: only "
                    "the host's memory and that of CUDA devices can be shared, each where it is",
                    hint="pass x.numpy() to the other library",
                )
            # A call returns when its results are there: no stream has to wait for them.
            source = from_host(self.numpy(), self.device) if copy else self
            return _capsule_of_cuda(source)
        if not self.device.is_cpu and copy is False:
            raise ExportError(f"the array is on {self.device.name}: exporting it to the host needs a copy")
        source = self if self.device.is_cpu and not copy else from_host(self.numpy(), "cpu")
        # IREE's own capsule and not NumPy's: it is of the older protocol, which every importer takes, and
        # releases the buffer without Python, also when the importer lets go of it while Python shuts down.
        return source.device.hal.create_dlpack_capsule(_signed_view(source), *host_device)

    def __repr__(self) -> str:
        values = np.array2string(self.numpy(), separator=", ", prefix="DeviceArray(")
        return f"DeviceArray({values}, dtype={self.dtype.name}, device={self.device.name})"


def _capsule_of_cuda(array: DeviceArray) -> Any:
    """The memory of an array on a CUDA device, for another library."""
    hal = array.device.hal
    try:
        return hal.create_dlpack_capsule(_signed_view(array), *array.device.dlpack_device)
    except RuntimeError as error:
        if "not supported for export" not in str(error):
            raise
    array.view = _of_no_pool(array)
    return hal.create_dlpack_capsule(_signed_view(array), *array.device.dlpack_device)


def _of_no_pool(array: DeviceArray) -> Any:
    """A view of the elements in memory that other libraries and devices reach.

    IREE does not export what a program allocated in the order of its queue, as results are. Such an array
    moves, once and within the device; from then on both share that.
    """
    array.device.enter()
    try:
        target = moved(array.device, array.view.get_buffer())
    except Exception as error:
        what = f"an array of {array.nbytes} bytes"
        raise transfer_error(error, array.device.name, what, "within") from error
    return native().HalBufferView(target, list(array.shape), array.view.element_type)


def _of_peer(array: DeviceArray, target: Device) -> DeviceArray:
    """The array on another CUDA device.

    Not tried where the driver may refuse: IREE's device takes no copies after one that failed.
    """
    array.device.enter()
    _capsule_of_cuda(array)  # memory of pools is the device's own
    target.enter()
    try:
        buffer = moved(target, array.view.get_buffer())
    except Exception as error:
        raise transfer_error(error, target.name, f"an array of {array.nbytes} bytes", "to") from error
    return DeviceArray(
        native().HalBufferView(buffer, list(array.shape), array.view.element_type),
        array.shape,
        array.dtype,
        target,
    )


def _signed_view(array: DeviceArray) -> Any:
    """A view whose element type says whether integers have signs, which other libraries ask for."""
    signed = _ELEMENT_TYPES[array.dtype] | _SIGNS.get(array.dtype.kind, 0)
    return native().HalBufferView(array.view.get_buffer(), list(array.shape), signed)


def device_view(device: Device, buffer: Any, shape: tuple[int, ...], dtype: np.dtype) -> DeviceArray:
    """The array in a buffer of `device`; None stands for that of an array without elements."""
    element_type = _ELEMENT_TYPES[dtype]
    if buffer is None:
        return DeviceArray(device.empty_view(shape, element_type), shape, dtype, device)
    return DeviceArray(native().HalBufferView(buffer, list(shape), element_type), shape, dtype, device)


def from_host(value: Any, device: str | Device | None = None, *, copy: bool | None = True) -> DeviceArray:
    """`value` (whatever NumPy reads, or offers `__dlpack__`) as an array on `device`.

    `copy=True` always copies, so that later writes to `value` are not seen. `copy=None` shares memory where
    that is possible: on CPU devices, C-contiguous, native byte order, aligned to 64 bytes. `copy=False` does
    the same and is an error where it is not.
    """
    target = device if isinstance(device, Device) else get_device(device)
    host = as_host_array(value)
    if copy is True:
        return DeviceArray(
            target.copy_in(_raw(host), _ELEMENT_TYPES[host.dtype]), host.shape, host.dtype, target
        )
    shareable = target.is_cpu and host.size > 0 and host is value and is_shareable(host)
    if copy is False and not shareable:
        raise DeviceError(
            f"an array of shape {host.shape} and dtype {host.dtype} cannot be shared with {target.name} "
            "without a copy: that needs a C-contiguous NumPy array on the CPU, aligned to "
            f"{BUFFER_ALIGNMENT} bytes",
            hint="leave copy out",
        )
    if not shareable:
        return DeviceArray(
            target.copy_in(_raw(host), _ELEMENT_TYPES[host.dtype]), host.shape, host.dtype, target
        )
    return DeviceArray(_shared_view(host, target), host.shape, host.dtype, target)


def as_host_array(value: Any) -> np.ndarray:
    """`value` as a C-contiguous NumPy array of a supported dtype in native byte order, itself where it is."""
    if type(value) is np.ndarray and value.dtype in _ELEMENT_TYPES and value.flags.c_contiguous:
        return value  # equal dtypes are native ones: byte order takes part in their comparison
    if isinstance(value, DeviceArray):
        return value.numpy()
    if isinstance(value, np.ndarray):
        plain_array(value)
    elif hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = np.from_dlpack(value)
    array = np.asarray(value)
    dtype = as_dtype(array.dtype)
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    # ascontiguousarray would make 0-d arrays 1-d
    return np.asarray(array, dtype=dtype, order="C")


def is_shareable(array: np.ndarray) -> bool:
    """Whether the memory of this contiguous array may be given to a CPU device as it is."""
    return array.ctypes.data % BUFFER_ALIGNMENT == 0


def buffer_element_type(dtype: np.dtype) -> int | None:
    """IREE's number for elements of `dtype`, or None where Python's buffer protocol has no word for them."""
    return None if dtype == _BFLOAT16 else _ELEMENT_TYPES.get(dtype)


def _raw(host: np.ndarray) -> np.ndarray:
    """The same bytes in a dtype that Python's buffer protocol knows."""
    return host.view(_UINT16) if host.dtype == _BFLOAT16 else host


def _shared_view(host: np.ndarray, device: Device) -> Any:
    """A view of the memory of `host` itself.

    It goes through DLPack, whose deleter belongs to the buffer: `import_host_allocation` ties the memory
    to a Python object instead, and a result that is its argument would outlive it.
    """
    # Bytes, since NumPy exports not every dtype; writeable, since it exports nothing else. No program writes
    # to its arguments.
    raw = (host if host.flags.writeable else _writeable_view(host)).reshape(-1).view(np.uint8)
    imported = device.hal.from_dlpack_capsule(raw.__dlpack__())
    return native().HalBufferView(imported.get_buffer(), list(host.shape), _ELEMENT_TYPES[host.dtype])


def mapped(view: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The elements of IREE's `view` of a CPU's memory as a read-only NumPy array, without a copy."""
    if 0 in shape:
        return _frozen(np.empty(shape, dtype))
    # A NumPy array of a memoryview keeps the mapping, and with it the buffer, alive. The array of IREE's own
    # `mapping.asarray` has a base without an owner: it reads memory that was freed with the last reference to
    # the buffer, silently (seen in 3.13). Nobody can make this one writeable: NumPy asks the memoryview.
    host = np.frombuffer(memoryview(view.map()).toreadonly(), dtype, math.prod(shape))
    if len(shape) != 1:
        host = host.reshape(shape)
    # A result may begin anywhere inside a larger buffer.
    return host if host.flags.aligned else _frozen(host.copy())


def _frozen(host: np.ndarray) -> np.ndarray:
    host.flags.writeable = False
    return host


def _fetched(array: DeviceArray) -> np.ndarray:
    """The elements of an array on a GPU in memory of the host's own."""
    try:
        array.start_to_host()
        host = array._host  # another thread may have it already
        return host.array(array.shape, array.dtype) if isinstance(host, Fetch) else cast(np.ndarray, host)
    except Exception as error:
        raise _not_fetched(error, array) from error


def _not_fetched(error: Exception, array: DeviceArray) -> AdzeError:
    return transfer_error(error, array.device.name, f"an array of {array.nbytes} bytes", "from")


def _writeable_view(array: np.ndarray) -> np.ndarray:
    raw = _raw(array)  # the array interface has no word for bfloat16
    interface = dict(raw.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    holder = _ArrayInterface(interface, array)
    return np.asarray(holder)


class _ArrayInterface:
    """Memory described by NumPy's array interface, keeping its owner alive."""

    def __init__(self, interface: dict[str, Any], owner: np.ndarray) -> None:
        self.__array_interface__ = interface
        self.owner = owner
