"""Python functions that a compiled program calls: a module of IREE's whose functions are this process's.

Input: the sites of the calls. Output: a module `adze_host`, which the program imports. Idea: the arguments
come as buffer views, of which the function gets copies; the results are new buffers. An exception of a
function crosses IREE as text; the object waits here for the caller of the program.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.interrupts import noted_interrupts
from ..errors import HostCallError
from .array import DeviceArray, from_host
from .devices import Device, get_device
from .native import native
from .waits import Invoke

if TYPE_CHECKING:
    from iree import runtime as iree_runtime

MODULE: Final = "adze_host"
ARRAYS: Final = "arrays"
BYTES: Final = "bytes"
INTEGER: Final = "integer"
"""What a function gives to the program: arrays, or one array as bytes of the host, or as a number."""


@dataclass(frozen=True)
class HostSite:
    """A call of a Python function by a program: the name that it imports, the function of NumPy arrays, the
    dtypes of its operands, and the number of its results and what they are to the program; `where` is the
    user's line."""

    name: str
    function: Callable[[list[np.ndarray]], Sequence[np.ndarray]]
    operands: tuple[np.dtype, ...]
    result_count: int
    where: str | None
    module: str = MODULE
    gives: str = ARRAYS


class _Raised(threading.local):
    """What a function raised in the call that this thread is making."""

    error: BaseException | None = None


_raised: Final = _Raised()


def take_raised() -> BaseException | None:
    """What a function raised since this was asked last, on this thread."""
    error, _raised.error = _raised.error, None
    return error


@contextmanager
def interrupts_of_functions() -> Iterator[None]:
    """Let Ctrl-C leave a block as it is, where a program in it calls functions.

    Python calls the handler of a signal that came while kernels ran when it enters the next function, which
    is outside of what the function can catch: to IREE it is one more error with a text.
    """
    with noted_interrupts() as raised:
        try:
            yield
        except Exception as error:
            if raised and _raised.error is None:
                raise raised[-1] from error
            raise


def interruptible(invoke: Invoke) -> Invoke:
    """`invoke` of a program that calls functions, which Ctrl-C leaves as KeyboardInterrupt."""

    def call(function: Any, inputs: Any, results: Any) -> None:
        with interrupts_of_functions():
            invoke(function, inputs, results)

    return call


def host_call_error(raised: BaseException, program: str) -> BaseException:
    """What a call of a program raises when a Python function that it calls raised."""
    if not isinstance(raised, Exception) or isinstance(raised, AdzeError):
        return raised  # KeyboardInterrupt and its like go on as they are
    return HostCallError(
        f"{program}(): a Python function that it calls raised {type(raised).__name__}: {raised}"
    )


def modules_of(sites: Sequence[HostSite], device: Device) -> tuple[Callable[[Any], Any], ...]:
    """What makes the modules of `sites`, for programs on `device`; the caller keeps `sites` alive."""
    names = dict.fromkeys(site.module for site in sites)
    return tuple(_module_of(name, [s for s in sites if s.module == name], device) for name in names)


def _module_of(name: str, sites: Sequence[HostSite], device: Device) -> Callable[[Any], Any]:
    def make(instance: iree_runtime.VmInstance) -> iree_runtime.VmModule:
        interface = native().PyModuleInterface(name, _State)
        for site in sites:
            results = "i" if site.gives == INTEGER else "r" * site.result_count or "v"
            convention = f"0{'r' * len(site.operands) or 'v'}_{results}"
            interface.export(site.name, convention, _entry(site, device.name))
        return interface.create()

    return make


class _State:
    """The state of the module in one program: none."""

    def __init__(self, interface: Any) -> None:
        pass


def _entry(site: HostSite, name: str) -> Callable[..., Any]:
    # IREE's objects take part in no garbage collection: a strong reference to the function of a user, whose
    # globals may hold the program, would keep both for ever. The program's owner has the sites.
    weak = weakref.ref(site)

    def call(state: _State, *references: Any) -> Any:
        device = get_device(name)  # a forked child has opened its own
        site = weak()
        assert site is not None
        try:
            arrays = [_array(r, dtype, device) for r, dtype in zip(references, site.operands, strict=True)]
            with device.lock.released():
                results = site.function(arrays)
            if site.gives != ARRAYS:
                return _plain(site.gives, results[0])
            views = [from_host(r, device, copy=True).view.ref for r in results]
        except BaseException as error:
            _raised.error = error
            raise
        return views[0] if len(views) == 1 else tuple(views) if views else None

    return call


def _plain(kind: str, result: np.ndarray) -> Any:
    if kind == INTEGER:
        return int(result)
    buffer = native().VmBuffer(result.nbytes, alignment=16)
    np.frombuffer(buffer, np.uint8)[:] = result.view(np.uint8).reshape(-1)
    return buffer.ref


def _array(reference: Any, dtype: np.dtype, device: Device) -> np.ndarray:
    view = reference.deref(native().HalBufferView)
    # A copy: the function may keep it, and the memory may be a user's array, which he writes to later.
    return DeviceArray(view, tuple(view.shape), dtype, device).numpy().copy()
