"""Copies between the host and GPUs, and between GPUs.

Input: an array of the host, or a buffer on a device. Output: a buffer on the device, or an array of the host
that is under way. Idea: a GPU copies from and to memory of the host that is pinned, and pinning takes longer
than a copy: such memory is kept for later copies of as many bytes. A copy is put into the queue of its
device, and whoever uses what it makes waits for it first.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .gpu_faults import transfer_error
from .native import native

if TYPE_CHECKING:
    from .devices import Device

_MOST_BYTES: Final = 1 << 28
"""How much pinned memory that no copy uses is kept, of all devices together."""
_MOST_BLOCKS: Final = 64
"""In how many pieces, one for each size at least."""


class Copy:
    """A copy that is in the queue of a device; `pinned` is the memory of the host that it is from or to."""

    def __init__(self, device: Device, source: Any, target: Any, pinned: Any = None) -> None:
        self.device, self.bytes, self._pinned = device, target.byte_length(), pinned
        self._semaphore = device.hal.create_semaphore(0)
        at = native().HalFence.create_at
        device.hal.queue_copy(source, target, at(self._semaphore, 0), at(self._semaphore, 1))

    def wait(self) -> None:
        """Return when the copy is done; raise what IREE raises where it failed."""
        self._semaphore.wait(1)  # 35 us where waiting on the fence takes 8 ms (seen on Vulkan)

    def end(self) -> None:
        """Let later copies have the pinned memory of this one, which is done."""
        pinned, self._pinned = self._pinned, None
        if pinned is not None:
            _PINNED.give(self.device, pinned)


def send(device: Device, host: np.ndarray) -> Any:
    """A new buffer on `device` with the bytes of `host`, contiguous.

    They are there when this returns, or within `together` at its end.
    """
    pinned = _PINNED.take(device, host.nbytes)
    mapping = pinned.map()
    mapping.asarray((host.nbytes,), np.dtype(np.uint8))[:] = host.reshape(-1).view(np.uint8)
    del mapping  # which ends the host's access
    usage, place = native().BufferUsage.DEFAULT, native().MemoryType.DEVICE_LOCAL
    buffer = device.allocator.allocate_buffer(place, usage, host.nbytes)
    copy = Copy(device, pinned, buffer, pinned)
    waiting = getattr(_waiting, "copies", None)
    if waiting is None:
        copy.wait()
        copy.end()
    else:
        waiting.append(copy)
    return buffer


@contextmanager
def together() -> Iterator[None]:
    """Copies to devices that this thread starts within are waited for at the end, all together."""
    if getattr(_waiting, "copies", None) is not None:
        yield
        return
    copies = _waiting.copies = []
    try:
        yield
    finally:
        _waiting.copies = None
    for copy in copies:
        try:
            copy.wait()
        except Exception as error:
            raise transfer_error(error, copy.device.name, f"an array of {copy.bytes} bytes", "to") from error
        copy.end()


_waiting = threading.local()


def moved(device: Device, buffer: Any) -> Any:
    """A new buffer on `device` with the bytes of one on the same device, or on another one of its driver."""
    usage, place = native().BufferUsage.DEFAULT, native().MemoryType.DEVICE_LOCAL
    target = device.allocator.allocate_buffer(place, usage, buffer.byte_length())
    Copy(device, buffer, target).wait()
    return target


class Fetch:
    """The elements of an array on a device, on their way to the host."""

    def __init__(self, device: Device, buffer: Any, size: int) -> None:
        self._pinned = _PINNED.take(device, size)
        self._copy = Copy(device, buffer, self._pinned, self._pinned)
        self._lock = threading.Lock()
        self._bytes: np.ndarray | None = None

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The elements, when they are there, in memory of their own: a GPU may write to what is pinned."""
        with self._lock:
            if self._bytes is None:
                self._copy.wait()
                self._bytes = np.frombuffer(self._pinned.map(), np.uint8).copy()
                self._pinned = None
                self._copy.end()
            return self._bytes.view(dtype).reshape(shape)


class _PinnedMemory:
    """Pinned memory that no copy uses, by device and size; what was used longest ago goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, tuple[Device, int, Any]] = OrderedDict()
        self._bytes = 0
        self._next = 0

    def take(self, device: Device, size: int) -> Any:
        """A block of `size` bytes that `device` copies from and to."""
        with self._lock:
            for number in reversed(self._blocks):
                owner, length, block = self._blocks[number]
                if owner is device and length == size:
                    del self._blocks[number]
                    self._bytes -= size
                    return block
        usage, place = native().BufferUsage, native().MemoryType
        return device.allocator.allocate_buffer(
            place.HOST_LOCAL | place.DEVICE_VISIBLE, usage.TRANSFER | usage.MAPPING_SCOPED, size
        )

    def give(self, device: Device, block: Any) -> None:
        """Keep a block that no copy uses any more, and let go of others where there are too many bytes."""
        size = block.byte_length()
        freed = []
        with self._lock:
            if size <= _MOST_BYTES:
                self._next += 1
                self._blocks[self._next] = device, size, block
                self._bytes += size
            while self._bytes > _MOST_BYTES or len(self._blocks) > _MOST_BLOCKS:
                _, (_, length, oldest) = self._blocks.popitem(last=False)
                self._bytes -= length
                freed.append(oldest)

    def forget(self) -> None:
        """Never free the blocks, which are those of the parent, in a child that was forked."""
        for _, _, block in self._blocks.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(block))
        self.__init__()  # type: ignore[misc]

    def clear(self) -> None:
        """Let go of everything: blocks must not outlive their devices."""
        with self._lock:
            self._blocks.clear()
            self._bytes = 0


_PINNED: Final = _PinnedMemory()
atexit.register(_PINNED.clear)
release_pinned: Final = _PINNED.clear
forget_pinned: Final = _PINNED.forget
