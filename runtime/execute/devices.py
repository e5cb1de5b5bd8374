"""Devices: which there are, and one handle to each that lives as long as the process.

Input: a name (`cpu`, `local-sync`, `local-task`, `vulkan`, `vulkan:1`, `cuda:0`). Output: a `Device`. A
device must outlive every buffer made on it, also while the interpreter shuts down, so handles are kept
where Python clears them last. Nothing of IREE is imported before the first device is asked for.
"""

from __future__ import annotations

import ctypes
import enum
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ...dialects.dataclass import dataclass
from ..errors import DeviceError
from ..settings import read_setting
from ..threads import thread_count, usable_cpus
from .architectures import cuda_architecture_of, is_lavapipe, vulkan_architecture_of
from .gpu_drivers import Absence, GpuFacts, absence_of, are_peers, enter_cuda, facts_of
from .gpu_faults import transfer_error
from .native import native
from .transfers import forget_pinned, release_pinned, send
from .waits import DeviceLock, NoLock, nice_waiting

if TYPE_CHECKING:
    import numpy as np

# Work (operations of the largest kernel of a call, as `ModuleHints` counts them) from which the thread pool
# pays: about 0.15 ms of one core. Measured on two cores: below it a kernel gains less than its barriers cost.
PARALLEL_WORK: Final = 8e6

_MOST_UNUSED: Final = 64
"""How many pieces of freed memory a device keeps: IREE's own number."""
_EMPTY_BYTES: Final = 64
_PINNED_FROM: Final = 1 << 16
"""Bytes from which IREE copies to CUDA devices through pinned memory: fewer are inside of the command."""
_DRIVERS: Final = ("local-sync", "local-task", "vulkan", "cuda")


class DeviceKind(enum.Enum):
    CPU = "cpu"
    VULKAN = "vulkan"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A device that can be had here: its name, and what its driver calls it.

    `architecture` is that of targets, such as `sm_80` and `ampere`; None of CPUs and of unknown GPUs.
    """

    name: str
    kind: DeviceKind
    description: str
    architecture: str | None = None


class Device:
    """A device in use. Get one with `get_device`; two of the same name are the same object."""

    __slots__ = (
        "_default_usage",
        "_local",
        "_process",
        "allocator",
        "architecture",
        "description",
        "hal",
        "is_cpu",
        "kind",
        "lock",
        "memory",
        "name",
    )

    def __init__(
        self, name: str, kind: DeviceKind, description: str, hal: Any, architecture: str | None = None
    ) -> None:
        self.name = name
        self.kind = kind
        self.description = description
        self.architecture = architecture
        self.hal = hal
        self.allocator = hal.allocator
        self.is_cpu = kind is DeviceKind.CPU
        # Programs of devices with one memory take each other's buffers; both CPU drivers have the process's.
        self.memory = "host" if self.is_cpu else name
        self.lock = DeviceLock() if kind is DeviceKind.VULKAN else NoLock()
        """What a thread holds while a program runs: a Vulkan device runs one at a time. Operations of two
        programs may lose it (`compile/faults/crossed_wakeups.py`). A function that a program calls lets
        others have it: it may wait for their threads."""
        self._process = os.getpid()
        self._local = int(native().MemoryType.DEVICE_LOCAL)
        self._default_usage = int(native().BufferUsage.DEFAULT)

    def enter(self) -> None:
        """Let the thread that calls use this device, which CUDA asks of each thread.

        Raises DeviceError in a forked child, where a GPU of the parent would be waited for without end.
        """
        if not self.is_cpu and not self.is_usable:
            raise DeviceError(
                f"{self.name} was opened before this process forked, and does not work here",
                hint="open it in the child only, or use the spawn method of multiprocessing",
            )
        if self.kind is DeviceKind.CUDA:
            enter_cuda(self.dlpack_device[1])

    def copy_in(self, host: np.ndarray, element_type: int) -> Any:
        """A view of a new buffer with the values of `host`, contiguous and of a dtype that Python knows."""
        if not self.is_cpu:
            self.enter()
        if not self.is_cpu and host.size == 0:
            return self.empty_view(host.shape, element_type)
        try:
            if self.kind is DeviceKind.CUDA and host.nbytes > _PINNED_FROM:
                return native().HalBufferView(send(self, host), list(host.shape), element_type)
            return self.allocator.allocate_buffer_copy(
                self._local, self._default_usage, self.hal, host, element_type
            )
        except Exception as error:
            raise transfer_error(error, self.name, f"an array of {host.nbytes} bytes", "to") from error

    def forget_unused(self) -> None:
        """Give back the memory that is kept of arrays that are gone, before a program of other sizes runs.

        As many pieces as may be kept fill up for good: memory of further sizes would get fresh pages in each
        call.
        """
        if self.is_cpu and self.is_usable:
            self.allocator.trim()

    def empty_view(self, shape: Sequence[int], element_type: int) -> Any:
        """A view of an array without elements: of a few bytes, since drivers of GPUs bind no empty buffer."""
        buffer = self.allocator.allocate_buffer(self._local, self._default_usage, _EMPTY_BYTES)
        return native().HalBufferView(buffer, list(shape), element_type)

    @property
    def target(self) -> str:
        """What programs are compiled for to run here: of several Vulkan devices each has its own family."""
        is_vulkan = self.kind is DeviceKind.VULKAN and self.architecture is not None
        return f"{self.kind.value}:{self.architecture}" if is_vulkan else self.kind.value

    def is_peer_of(self, other: Device) -> bool:
        """Whether arrays move from here to `other` without the host."""
        if not self.kind is other.kind is DeviceKind.CUDA:
            return False
        return are_peers(other.dlpack_device[1], self.dlpack_device[1])

    @property
    def is_usable(self) -> bool:
        """False in a forked child for all but `local-sync`: the worker threads stayed with the parent."""
        return self.name == "local-sync" or self._process == os.getpid()

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """Device type and number as DLPack has them."""
        number = int(self.name.partition(":")[2] or 0)
        return {DeviceKind.CPU: 1, DeviceKind.CUDA: 2, DeviceKind.VULKAN: 7}[self.kind], number

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def list_devices() -> list[DeviceInfo]:
    """Every device that this machine offers, CPU first."""
    devices: list[DeviceInfo] = []
    for driver in _DRIVERS:
        for position, entry in enumerate(_driver_devices(driver)):
            is_local = driver.startswith("local-")
            devices.append(
                DeviceInfo(
                    driver if is_local else f"{driver}:{position}",
                    DeviceKind.CPU if is_local else DeviceKind(driver),
                    _LOCAL_DESCRIPTIONS[driver] if is_local else str(entry["name"]),
                    _architecture(driver, entry),
                )
            )
    return devices


def get_device(name: str | Device | DeviceInfo | None = None, *, work: float | None = None) -> Device:
    """The device called `name`, the same object each time.

    `cpu` (and None) means whichever CPU driver is cheaper for a program of `work` floating point operations a
    call: the caller's own thread for small ones, the thread pool for large ones.
    """
    if isinstance(name, Device):
        return name
    name = name.name if isinstance(name, DeviceInfo) else name
    canonical = _canonical_name(name or "cpu", work)
    with _lock:
        device = _DEVICES.get(canonical)
        if device is None:
            device = _create_device(canonical)
            _DEVICES[canonical] = device
            _keep_until_the_end(device)
        return device


def release_memory() -> None:
    """Have every device in use give the memory that it keeps of arrays that are gone back to the system."""
    with _lock:
        devices = list(_DEVICES.values())
    release_pinned()
    for device in devices:
        if device.is_usable:
            device.allocator.trim()


def new_device(name: str) -> Device:
    """Another handle to the device `name`, whose allocator counts nothing but what is made on it.

    It has a driver of its own: devices of one driver count together.
    """
    canonical = _canonical_name(name, None)
    driver = canonical.partition(":")[0]
    with _lock:
        usual = _DRIVER_OBJECTS.pop(driver, None)
        try:
            device = _create_device(canonical)
        finally:
            if usual is not None:
                _DRIVER_OBJECTS[driver] = usual
    _keep_until_the_end(device)
    return device


def device_uri(name: str) -> str:
    """What IREE's commands call the device `name`: numbers mean nothing to them."""
    canonical = _canonical_name(name, None)
    driver, _, position = canonical.partition(":")
    if not position:
        return canonical
    entries = _driver_devices(driver)
    if int(position) >= len(entries):
        raise _absent(canonical)
    return f"{driver}://{entries[int(position)]['path']}"


def cpu_driver_for(work: float | None) -> str:
    """The CPU driver that is cheaper for `work`; without a hint, programs are taken to be small."""
    if work is None or work < PARALLEL_WORK or min(thread_count(), usable_cpus()) == 1:
        return "local-sync"
    return "local-task"


def vulkan_architecture(position: int = 0) -> str | None:
    """The name that `vulkan:<name>` targets have for this machine's Vulkan device, where adze knows it."""
    devices = _driver_devices(DeviceKind.VULKAN.value)
    return _architecture(DeviceKind.VULKAN.value, devices[position]) if position < len(devices) else None


_LOCAL_DESCRIPTIONS: Final = {
    "local-sync": "CPU, on the thread of the caller",
    "local-task": "CPU, on a pool of threads",
}
_lock = threading.Lock()
_DEVICES: Final[dict[str, Device]] = {}
_DRIVER_OBJECTS: Final[dict[str, Any]] = {}


def _after_fork_in_child() -> None:
    """Never free the parent's devices, since that waits for threads that are not here, and forget those that
    work on such threads. (A child that shuts Python down is told by nanobind that they were not freed.)"""
    global _lock
    _lock = threading.Lock()  # some thread of the parent may have held it
    for held in (*(device.hal for device in _DEVICES.values()), *_DRIVER_OBJECTS.values()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    _DRIVER_OBJECTS.clear()
    forget_pinned()
    for device in [device for device in _DEVICES.values() if not device.is_usable]:
        del _DEVICES[device.name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def _canonical_name(name: str, work: float | None) -> str:
    if not isinstance(name, str):
        raise DeviceError(
            f"device is {type(name).__name__}: {name!r}, expected the name of one",
            hint='write device="cuda:0"',
        )
    if name == "cpu":
        return cpu_driver_for(work)
    driver, colon, position = name.partition(":")
    is_local = driver in _LOCAL_DESCRIPTIONS
    if driver in ("rocm", "metal"):
        raise DeviceError(
            f"adze has no devices of the kind {driver}: it compiles programs for them, and runs none",
            hint=f"a host with IREE's runtime for {driver} runs the file that `adze build` writes",
        )
    is_numbered = position.isascii() and position.isdecimal() and not is_local
    if driver not in _DRIVERS or (colon and not is_numbered):
        raise DeviceError(
            f"unknown device {name!r}: expected cpu, local-sync, local-task, vulkan, vulkan:<number>, cuda "
            "or cuda:<number>",
            hint=f"here there are {_names_here()}",
        )
    return driver if is_local else f"{driver}:{int(position or _own_number(driver))}"


_PLACES: Final = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
"""Variables by which launchers of MPI say which of the ranks of its machine a process is."""


def _own_number(driver: str) -> int:
    """The GPU of this process where none is named: each rank of a job takes the next one of its machine."""
    place = next((os.environ[name] for name in _PLACES if os.environ.get(name, "").isdigit()), "0")
    return int(place) % (len(_driver_devices(driver)) or 1) if place != "0" else 0


def _create_device(name: str) -> Device:
    driver, _, position = name.partition(":")
    entries = _driver_devices(driver)
    if int(position or 0) >= len(entries):
        raise _absent(name)
    entry = entries[int(position or 0)]
    try:
        # Without the caching allocator every large result on the CPU pays for fresh pages. With it, Vulkan
        # fails at the first call ("allocator cannot allocate a Vulkan buffer") or crashes. CUDA has pools.
        allocators = [_caching_allocator()] if driver in _LOCAL_DESCRIPTIONS else None
        with _without_mpi(), nice_waiting(is_lavapipe(str(entry["name"]))):
            hal = _driver(driver).create_device(entry["device_id"], allocators=allocators)
    except Exception as error:
        raise DeviceError(f"device {name!r} is here but cannot be used: {_last_line(error)}") from error
    if driver in _LOCAL_DESCRIPTIONS:
        return Device(name, DeviceKind.CPU, _LOCAL_DESCRIPTIONS[driver], hal)
    return Device(name, DeviceKind(driver), str(entry["name"]), hal, _architecture(driver, entry))


def _architecture(driver: str, entry: dict[str, Any]) -> str | None:
    """The architecture of an entry of a driver's list."""
    if driver == DeviceKind.VULKAN.value:
        return vulkan_architecture_of(str(entry["name"]))
    if driver == DeviceKind.CUDA.value:
        return cuda_architecture_of(facts_of(_driver(driver), entry["device_id"]).capability)
    return None


def _absent(name: str) -> DeviceError:
    """The error for a device that is not here: the driver's part in it, where it offers none at all."""
    why = absence(name.partition(":")[0])
    here = f"here there are {_names_here()}"
    if why is None:
        return DeviceError(f"there is no device {name!r} on this machine", hint=here)
    return DeviceError(
        f"there is no device {name!r} on this machine: {why.reason}", hint=f"{why.hint}; {here}"
    )


def absence(driver: str) -> Absence | None:
    """Why `driver` (`vulkan` or `cuda`) offers no device at all, None where it offers one."""
    try:
        entries = _driver(driver).query_available_devices()
    except Exception as error:
        return absence_of(driver, error)
    return None if entries else absence_of(driver, None)


def gpu_facts(name: str) -> GpuFacts:
    """What the driver tells of the GPU `name`."""
    driver, _, position = _canonical_name(name, None).partition(":")
    entry = _driver_devices(driver)[int(position)]
    return facts_of(
        _driver(driver),
        entry["device_id"],
        cuda_position=int(position) if driver == DeviceKind.CUDA.value else None,
    )


def _caching_allocator() -> str:
    """The allocator that keeps freed memory, as IREE spells it.

    For every heap: the largest size that is kept, which has no effect, the sum of all, and how many there are
    at most. IREE looks at the sum before it keeps one more.
    """
    kept: int = read_setting("unused_max_bytes")
    return f"caching:*={kept};{kept};{_MOST_UNUSED if kept else 0}"


# Set by `mpirun` and its kin. IREE takes either for an order to load libmpi, and opens no device without it.
_MPI_SIZES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


@contextmanager
def _without_mpi() -> Iterator[None]:
    """Hide from IREE that this process is one of several: a local device has no use for the others."""
    hidden = {name: os.environ.pop(name) for name in _MPI_SIZES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _driver_devices(driver: str) -> list[dict[str, Any]]:
    """What the driver lists; nothing, where its library is missing on this machine."""
    try:
        return list(_driver(driver).query_available_devices())
    except Exception:
        return []


def load_runtime() -> None:
    """Import IREE's runtime, as the first program that is loaded does."""
    native()


def _driver(name: str) -> Any:
    """The driver called `name`, the same object each time.

    Not the one that IREE keeps for the process: a driver owns worker threads, and a child that is forked
    later would wait for them when IREE frees it.
    """
    if name not in _DRIVER_OBJECTS:
        if name == "local-task" and thread_count() < usable_cpus():
            # Otherwise IREE makes a worker for each CPU of the affinity mask.
            native().parse_flags(f"--task_topology_max_group_count={thread_count()}")
        _DRIVER_OBJECTS[name] = native().create_hal_driver(name)
    return _DRIVER_OBJECTS[name]


def _names_here() -> str:
    return ", ".join(["cpu", *(info.name for info in list_devices())])


def _last_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__


def _keep_until_the_end(device: Device) -> None:
    """Keep `device` in the interpreter's own dict, which Python clears after all modules and their arrays.

    Freed earlier, as a module's global would be, the device takes the memory of results with it that are
    still alive, and the process ends with a segmentation fault (seen with local-task, 5 of 5 runs).
    """
    api = ctypes.pythonapi
    current = api.PyInterpreterState_Get
    current.restype = ctypes.c_void_p
    get_dict = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("PyInterpreterState_GetDict", api))
    state: dict[str, list[Device]] = ctypes.cast(get_dict(current()), ctypes.py_object).value
    state.setdefault("adze.runtime.execute.devices", []).append(device)
