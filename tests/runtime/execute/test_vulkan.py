"""Vulkan, through whatever driver is here: Mesa's lavapipe is enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from adze.dialects.types import ANY
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import CompiledModule, compile_bytecode
from adze.runtime.errors import ArtifactError, CallError, DeviceError, ExportError
from adze.runtime.execute.array import from_host
from adze.runtime.execute.devices import get_device
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

from ..conftest import ADD, BOTH

pytestmark = pytest.mark.vulkan
ONES = np.ones(4, np.float32)
DTYPES = sorted(ANY, key=str)


@pytest.fixture(scope="module")
def vulkan_program(vulkan: str, programs_text: bytes) -> bytes:
    return compile_bytecode(programs_text, parse_target("vulkan")).vmfb


@pytest.fixture(scope="module")
def vulkan_dtypes(vulkan: str) -> bytes:
    text = (Path(__file__).parents[1] / "dtypes.mlir").read_bytes()
    return compile_bytecode(text, parse_target("vulkan")).vmfb


def test_the_device_is_listed_once_and_kept(vulkan: str) -> None:
    assert get_device("vulkan") is get_device(vulkan)
    assert get_device(vulkan).dlpack_device == (7, 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_go_in_and_out(vulkan: str, dtype: np.dtype) -> None:
    for shape in ((), (0, 3), (2, 3)):
        host = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        array = from_host(host, vulkan)
        assert (array.shape, array.dtype) == (shape, dtype)
        np.testing.assert_array_equal(array.numpy(), host)


def test_programs_run(vulkan: str, vulkan_program: bytes) -> None:
    program = Executable(vulkan_program, vulkan, [ADD, BOTH])
    [result] = program.call("add", [ONES, ONES])
    assert result.device.name == vulkan
    assert result.tolist() == [2, 2, 2, 2]
    assert program.function("add")(result, result)[0].tolist() == [4, 4, 4, 4]
    with pytest.raises(CallError, match="dim 'n' must be even"):
        program.call("checked", [ONES[:3]])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_computed(vulkan: str, vulkan_dtypes: bytes, dtype: np.dtype) -> None:
    """With IREE's default target f16 comes out wrong and f64 does not compile."""
    name = f"twice_{dtype}"
    spec = ArraySpec("a", dtype, ("n", 2))
    program = Executable(vulkan_dtypes, vulkan, [FunctionSignature(name, (spec,), (spec,))])
    host = np.arange(10).reshape(5, 2).astype(dtype)
    expected = np.zeros_like(host) if dtype == np.bool_ else host + host
    np.testing.assert_array_equal(program.call(name, [host])[0].numpy(), expected)


def test_the_caching_allocator_is_still_unusable(vulkan: str, vulkan_program: bytes, tmp_path: Path) -> None:
    """In another process, as the call fails or crashes. When it no longer does, devices.py may change."""
    script = (
        "import sys\n"
        "import numpy as np\n"
        "from iree import runtime as iree_runtime\n"
        "from adze.runtime.execute.devices import Device, DeviceKind\n"
        "from adze.runtime.execute.program import Executable\n"
        "driver = iree_runtime.get_driver('vulkan')\n"
        "number = driver.query_available_devices()[0]['device_id']\n"
        "hal = driver.create_device(number, allocators=['caching'])\n"
        "device = Device('vulkan:0', DeviceKind.VULKAN, '', hal)\n"
        "ones = np.ones(4, np.float32)\n"
        "Executable(open(sys.argv[1], 'rb').read(), device).call('add', [ones, ones])\n"
    )
    path = tmp_path / "program"
    path.write_bytes(vulkan_program)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode < 0 or "allocator cannot allocate a Vulkan buffer" in done.stderr


def test_arrays_of_the_cpu_are_not_moved_silently(vulkan: str, vulkan_program: bytes) -> None:
    add = Executable(vulkan_program, vulkan, [ADD]).function("add")
    here, there = from_host(ONES), from_host(ONES, vulkan)
    with pytest.raises(DeviceError) as caught:
        add(there, here)
    assert str(caught.value) == (
        f"add(): argument 'right' is on local-sync and the program on {vulkan}\n"
        f"  hint: move it: adze.device_put(right, {vulkan!r}); or run the program there: "
        "device='local-sync'"
    )
    assert add(there, here.to(vulkan))[0].to("cpu").tolist() == [2, 2, 2, 2]


def test_a_cpu_program_is_refused(vulkan: str, compiled: CompiledModule) -> None:
    with pytest.raises(ArtifactError, match=f"the program was not compiled for {vulkan} "):
        Executable(compiled.vmfb, vulkan)


def test_dlpack_goes_through_the_host_on_request(vulkan: str) -> None:
    array = from_host(np.arange(3.0), vulkan)
    with pytest.raises(ExportError, match=r"to DLPack device \(7, 0\) is not possible"):
        array.__dlpack__()
    with pytest.raises(ExportError, match="exporting it to the host needs a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    assert np.from_dlpack(array, device="cpu").tolist() == [0, 1, 2]


def test_bfloat16_keeps_its_bits(vulkan: str) -> None:
    host = np.array([1.5, -0.0, np.inf, 3e38], ml_dtypes.bfloat16)
    assert from_host(host, vulkan).numpy().tobytes() == host.tobytes()
