"""Arrays: in and out of devices, what is shared and what is copied, every dtype and layout."""

from __future__ import annotations

import gc
import pickle
import sys
from copy import deepcopy
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

from adze.dialects.types import ANY
from adze.runtime.compile.compiler import CompiledModule
from adze.runtime.errors import AdzeError, DeviceError, ExportError
from adze.runtime.execute.array import BUFFER_ALIGNMENT, DeviceArray, from_host
from adze.runtime.execute.devices import get_device
from adze.runtime.execute.program import Executable

DTYPES = sorted(ANY, key=str)
CPU_DEVICES = ("local-sync", "local-task")


def aligned(count: int, dtype: Any = np.float32, offset: int = 0) -> np.ndarray:
    """An array whose memory begins `offset` bytes after a multiple of 64."""
    dtype = np.dtype(dtype)
    raw = np.zeros(count * dtype.itemsize + 2 * BUFFER_ALIGNMENT, np.uint8)
    start = (-raw.ctypes.data) % BUFFER_ALIGNMENT + offset
    return raw[start : start + count * dtype.itemsize].view(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("device", CPU_DEVICES)
def test_values_go_in_and_out(dtype: np.dtype, device: str) -> None:
    for shape in ((), (0, 3), (2, 3), (1, 1, 1)):
        host = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        for copy in (True, None):
            array = from_host(host, device, copy=copy)
            assert (array.shape, array.dtype, array.device.name) == (shape, dtype, device)
            assert (array.ndim, array.size, array.nbytes) == (host.ndim, host.size, host.nbytes)
            back = array.numpy()
            assert (back.shape, back.dtype) == (shape, dtype)
            np.testing.assert_array_equal(back, host)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6).reshape(2, 3).T,
        np.arange(10)[::-2],
        np.arange(6, dtype=">f4"),
        np.broadcast_to(np.float32(3), (2, 2)),
        np.zeros((3, 0, 2))[::-1],
        np.array(5, ">i2"),
        np.float32(2),
        True,
        3,
        2.5,
        1j,
        [1.5, 2.0],
        range(4),
        jax.numpy.arange(3),
    ],
    ids=repr,
)
def test_any_layout_and_array_like_is_taken(value: Any) -> None:
    for copy in (True, None):
        array = from_host(value, copy=copy)
        expected = np.asarray(value)
        assert array.dtype == expected.dtype.newbyteorder("=")
        assert array.shape == expected.shape
        np.testing.assert_array_equal(array.numpy(), expected)


@pytest.mark.parametrize(
    "value",
    [np.array(["a"]), np.array([object()]), np.zeros(2, "M8[s]"), "text"],
    ids=["text array", "objects", "dates", "text"],  # not repr: workers must collect equal names
)
def test_other_dtypes_are_refused(value: Any) -> None:
    with pytest.raises(AdzeError, match=r"is not supported: expected one of bool, int8, int16"):
        from_host(value)


def test_a_copy_does_not_see_later_writes() -> None:
    host = aligned(1000)
    array = from_host(host)
    host[0] = 1
    assert array.numpy()[0] == 0


@pytest.mark.parametrize("writeable", [True, False])
def test_aligned_memory_is_shared_on_request(writeable: bool) -> None:
    host = aligned(1000)
    host.flags.writeable = writeable
    shared = from_host(host, copy=None)
    assert np.shares_memory(shared.numpy(), host)
    assert np.shares_memory(from_host(host, copy=False).numpy(), host)


def test_shared_memory_outlives_its_names() -> None:
    host = aligned(100_000)
    host[:] = 3
    shared = from_host(host, copy=None)
    del host
    gc.collect()
    scratch = [np.ones(100_000, np.float32) for _ in range(4)]
    assert shared.numpy().sum() == 300_000
    assert len(scratch) == 4


def test_a_result_that_is_its_argument_keeps_the_shared_memory(compiled: CompiledModule) -> None:
    same = Executable(compiled.vmfb, "local-sync").function("same")

    def result_of_shared_memory() -> DeviceArray:
        host = aligned(100_000)
        host[:] = 3
        return same(from_host(host, "local-sync", copy=False))[0]

    result = result_of_shared_memory()
    gc.collect()
    scratch = [np.ones(100_000, np.float32) for _ in range(4)]
    assert result.numpy().sum() == 300_000
    assert len(scratch) == 4


@pytest.mark.parametrize("offset", [4, 16, 32, 48])
def test_unaligned_memory_is_copied(offset: int) -> None:
    """Programs for AVX-512 read arguments with aligned instructions and would crash."""
    host = aligned(1000, offset=offset)
    assert host.ctypes.data % BUFFER_ALIGNMENT == offset
    array = from_host(host, copy=None)
    assert not np.shares_memory(array.numpy(), host)
    assert array.numpy().ctypes.data % BUFFER_ALIGNMENT == 0
    with pytest.raises(DeviceError, match=r"cannot be shared with local-sync without a copy: that needs"):
        from_host(host, copy=False)


def test_results_are_read_only_and_made_once() -> None:
    array = from_host(np.arange(3))
    host = array.numpy()
    assert host is array.numpy()
    with pytest.raises(ValueError, match="read-only"):
        host[0] = 1


@pytest.mark.parametrize("device", CPU_DEVICES)
def test_a_view_outlives_array_and_program(device: str, compiled: CompiledModule) -> None:
    def views() -> list[np.ndarray]:
        executable = Executable(compiled.vmfb, device)
        ones = np.ones(4, np.float32)
        return [executable.call("add", [ones, ones])[0].numpy(), executable.call("constant", [])[0].numpy()]

    kept = [views() for _ in range(5)]
    gc.collect()
    for total, constant in kept:
        assert total.tolist() == [2, 2, 2, 2]
        assert constant.sum() == 7000


def test_the_array_protocol_follows_numpy() -> None:
    array = from_host(np.arange(3, dtype=np.int32))
    assert np.asarray(array) is array.numpy()
    assert np.asarray(array, np.float64).dtype == np.float64
    copied = np.array(array, copy=True)
    copied[0] = 9
    assert array.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="cannot convert from int32 to float64 without a copy"):
        np.asarray(array, np.float64, copy=False)
    assert np.add(array, 1).tolist() == [1, 2, 3]


def test_arrays_are_pickled_and_copied_by_value() -> None:
    array = from_host(np.arange(3, dtype=np.uint8), "local-task")
    for other in (pickle.loads(pickle.dumps(array)), deepcopy(array)):
        assert (other.tolist(), other.dtype, other.device) == ([0, 1, 2], np.uint8, array.device)
        assert other is not array


def test_one_value_becomes_a_scalar() -> None:
    assert from_host(2.5).item() == 2.5
    assert len(from_host(np.zeros((3, 2)))) == 3
    with pytest.raises(TypeError, match="0-d"):
        len(from_host(1))


def test_repr_shows_values_dtype_and_device() -> None:
    assert repr(from_host(np.array([1.5, 2.0], np.float32))) == (
        "DeviceArray([1.5, 2. ], dtype=float32, device=local-sync)"
    )
    assert len(repr(from_host(np.zeros(100_000)))) < 200


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_jax_reads_the_same_memory_through_dlpack(dtype: np.dtype) -> None:
    with jax.enable_x64(True):
        array = from_host(np.arange(8).astype(dtype))
        theirs = jax.numpy.from_dlpack(array)
        assert theirs.dtype == dtype
        np.testing.assert_array_equal(np.asarray(theirs), array.numpy())
        if dtype != np.bool_:  # JAX copies booleans
            assert theirs.unsafe_buffer_pointer() == array.numpy().ctypes.data


def test_numpy_reads_through_dlpack_without_writing() -> None:
    array = from_host(np.arange(3.0))
    theirs = np.from_dlpack(array)
    assert np.shares_memory(theirs, array.numpy())
    assert not theirs.flags.writeable
    assert not np.shares_memory(np.from_dlpack(array, copy=True), array.numpy())
    assert array.__dlpack_device__() == (1, 0)


def test_dlpack_to_another_device_is_refused() -> None:
    with pytest.raises(ExportError, match=r"from local-sync to DLPack device \(2, 0\) is not possible"):
        from_host(1.0).__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        from_host(1.0).__dlpack__(dl_device=(2, 0))


def test_anything_with_dlpack_is_taken() -> None:
    class OnlyDlpack:
        values = np.arange(3.0)

        def __dlpack__(self, **arguments: Any) -> Any:
            return self.values.__dlpack__(**arguments)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.values.__dlpack_device__()

    assert from_host(OnlyDlpack()).tolist() == [0, 1, 2]


def test_moving_between_the_cpu_drivers_shares_memory() -> None:
    array = from_host(np.arange(3), "local-sync")
    moved = array.to("local-task")
    assert moved.device is get_device("local-task")
    assert np.shares_memory(moved.numpy(), array.numpy())
    assert array.to("local-sync") is array
    assert isinstance(from_host(array), DeviceArray)


def test_bfloat16_keeps_its_bits() -> None:
    host = np.array([1.5, -0.0, np.inf, 3e38], ml_dtypes.bfloat16)
    assert from_host(host).numpy().tobytes() == host.tobytes()


def test_reading_does_not_leak() -> None:
    array = from_host(np.zeros(4))
    before = sys.getrefcount(array.view)
    for _ in range(100):
        DeviceArray(array.view, array.shape, array.dtype, array.device).numpy()
    assert sys.getrefcount(array.view) <= before + 1  # the bindings drop the last one later
