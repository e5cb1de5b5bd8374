"""CUDA devices, on a driver without GPUs: what is missing, copies, several devices, memory, lost devices.

The driver is `fake_cuda.c`: IREE's own CUDA code runs on it, but for what kernels compute.
"""

from __future__ import annotations

from pathlib import Path

from .fake_cuda import needs_compiler, on_fake_cuda

pytestmark = [needs_compiler]

ABSENT = """
from adze.runtime.execute import devices
for name, value in (("INIT", "100"), ("INIT", "803"), ("DEVICES", "0"), ("WITHOUT", "cuMemPoolCreate")):
    os.environ["FAKE_CUDA_" + name] = value
    attempt(f"{name} {value}", lambda: adze.device_put(np.ones(2), "cuda").shape)
    del os.environ["FAKE_CUDA_" + name]
    devices._DRIVER_OBJECTS.pop("cuda", None)
attempt("second", lambda: adze.device_put(np.ones(2), "cuda:2").shape)
attempt("works", lambda: np.asarray(adze.device_put(np.ones(2), "cuda:1")).tolist())
"""


def test_a_driver_that_cannot_be_used_says_why() -> None:
    said = on_fake_cuda(ABSENT)
    reasons = {name: text[1] for name, text in said.items() if name not in ("works",)}
    start = "there is no device 'cuda:0' on this machine: NVIDIA's driver"
    assert reasons == {
        "INIT 100": f"{start} sees no GPU",
        "INIT 803": f"{start} cannot be used: system has unsupported display driver / cuda driver "
        "combination (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)",
        "DEVICES 0": f"{start} sees no GPU",
        "WITHOUT cuMemPoolCreate": f"{start} is too old: it lacks cuMemPoolCreate, which IREE needs",
        "second": "there is no device 'cuda:2' on this machine",
    }
    assert "install a driver for CUDA 11.6 or newer" in said["WITHOUT cuMemPoolCreate"][2]
    assert said["second"][2].endswith("cuda:0, cuda:1")
    assert said["works"] == [1, 1]


DEVICES = """
x = np.arange(6, dtype=np.float32).reshape(2, 3)
first, second = adze.device_put(x, "cuda:0"), adze.device_put(x * 2, "cuda:1")
said["values"] = [np.asarray(first).tolist(), np.asarray(second).tolist()]
double = adze.jit(lambda x: x + x, device="cuda:1")
result = double(second)
said["result"] = [result.device, list(result.shape)]
attempt("other device", lambda: double(first))
moved = adze.device_put(first, "cuda:1")
said["moved"] = [moved.device, np.asarray(moved).tolist(), double(moved).device]
said["again"] = np.asarray(first).tolist()
from adze.runtime.execute.devices import gpu_facts, list_devices
facts = gpu_facts("cuda:1")
said["facts"] = [facts.driver, facts.memory, facts.peak_flops, facts.bandwidth]
said["names"] = [device.name for device in list_devices()]
"""


def test_programs_and_arrays_are_on_the_device_that_is_named() -> None:
    said = on_fake_cuda(DEVICES)
    x = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert said["values"] == [x, [[2 * n for n in row] for row in x]]
    assert said["result"] == ["cuda:1", [2, 3]]
    kind, message, hint = said["other device"]
    assert (kind, message) == (
        "DeviceError",
        "lambda(): argument 'x' is on cuda:0 and the program on cuda:1",
    )
    assert hint == "move it: adze.device_put(x, 'cuda:1'); or run the program there: device='cuda:0'"
    assert said["moved"] == ["cuda:1", x, "cuda:1"] and said["again"] == x
    # What NVIDIA states for an A100: 19.5 Tflop/s and 1555 GB/s.
    assert said["facts"] == ["CUDA 12.4", 1 << 30, 2 * 64 * 108 * 1.41e9, 1555.2e9]
    assert said["names"][-2:] == ["cuda:0", "cuda:1"]


MEMORY = """
x = np.ones(100, np.float32)
here, other = adze.device_put(x, "cuda:0"), adze.device_put(2 * x, "cuda:1")
attempt("array", lambda: adze.device_put(np.ones(1000, np.float32), "cuda:0"))
outer = adze.jit(lambda x: x[:, None] * x, device="cuda:0")
attempt("call", lambda: outer(x))
attempt("argument", lambda: outer(np.ones(200, np.float32)))
said["kept"] = [np.asarray(a)[:2].tolist() for a in (here, other)]
said["goes on"] = list(adze.jit(lambda x: x + 1, device="cuda:0")(x).shape)
"""


def test_a_device_without_memory_goes_on() -> None:
    said = on_fake_cuda(MEMORY, memory=4000)
    reason = "the device has not enough memory: CUDA error 'CUDA_ERROR_OUT_OF_MEMORY' (2): out of memory"
    assert said["array"][:2] == [
        "OutOfMemoryError",
        f"an array of 4000 bytes cannot be copied to cuda:0: {reason}",
    ]
    assert said["call"][:2] == ["FailedCallError", f"lambda(): {reason}"]
    assert said["argument"][1].endswith(reason)
    assert said["kept"] == [[1, 1], [2, 2]] and said["goes on"] == [100]


LOST = """
x = np.ones(4, np.float32)
lost, other = adze.device_put(x, "cuda:0"), adze.device_put(2 * x, "cuda:1")
first, second = (adze.jit(lambda x: x + 1, device=f"cuda:{n}") for n in (0, 1))
first(lost)
attempt("call", lambda: first(lost))
attempt("again", lambda: first(lost))
attempt("values", lambda: np.asarray(lost))
attempt("array", lambda: adze.device_put(x, "cuda:0"))
said["other"] = np.asarray(other).tolist()
said["other call"] = second(other).device
"""


def test_a_lost_device_takes_no_other_with_it() -> None:
    said = on_fake_cuda(LOST, lost=2)
    lost = "the device cuda:0 was lost: CUDA error 'CUDA_ERROR_ILLEGAL_ADDRESS' (700)"
    assert all(said[name][0] == "LostDeviceError" for name in ("call", "again", "values", "array"))
    assert said["call"][1].startswith(f"lambda(): {lost}")
    assert said["values"][1].startswith(f"an array of 16 bytes cannot be copied from cuda:0: {lost}")
    assert "arrays on other devices are as they were" in said["call"][2]
    assert said["other"] == [2, 2, 2, 2] and said["other call"] == "cuda:1"


CODE = """
import adze.cli.targets as targets
from adze.frontend.staging.packages import packed

x = np.ones(3, np.float32)
lowered = lambda target: adze.trace(lambda x: x + 1, x).lower(target).compile()
path = os.path.join(os.environ["FAKE_CUDA_FOLDER"], "newer.vmfb")
attempt("jit", lambda: adze.jit(lambda x: x + 1, device="cuda:0", target="cuda:sm_90")(x).device)
lowered("cuda:sm_90").save(path)
attempt("file", lambda: adze.load(path).device)
with open(path, "wb") as file:
    file.write(packed([lowered("cuda:sm_90"), lowered("cuda:sm_80")]).to_bytes())
attempt("variants", lambda: adze.load(path).device)
said["targets"] = [targets.problem_here(targets.parse_target(f"cuda:{name}")) for name in ("sm_80", "sm_90")]
said["devices"] = [info.architecture for info in adze.devices()][-2:]
os.environ["FAKE_CUDA_VERSION"] = "11050"
attempt("old driver", lambda: adze.jit(lambda x: x + 2, device="cuda:0")(x).device)
os.environ["FAKE_CUDA_VERSION"] = "11060"
attempt("new driver", lambda: adze.jit(lambda x: x + 3, device="cuda:0")(x).device)
os.environ["FAKE_CUDA_CAPABILITY"] = "75"
attempt("old gpu", lambda: adze.jit(lambda x: x + 4, device="cuda:1")(x).device)
lowered("cuda:sm_80").save(path)
attempt("file on old gpu", lambda: adze.load(path, device="cuda:1").device)
"""


def test_code_for_newer_gpus_and_drivers_is_refused_with_what_helps(tmp_path: Path) -> None:
    said = on_fake_cuda(CODE, folder=tmp_path)
    gpu = "cuda:0 is Fake GPU 0, a cuda:sm_80 device"
    newer = "and the program is for newer GPUs (CUDA_ERROR_INVALID_PTX)"
    assert said["jit"][:2] == ["ArtifactError", f"{gpu}, {newer}"]
    assert f"built for cuda:sm_90, and {gpu}: its driver compiles code for older" in said["file"][1]
    assert said["file"][2] == "build it with -t cuda:sm_80"
    assert said["variants"] == "cuda:0" and said["devices"] == ["sm_80", "sm_80"]
    assert said["targets"] == [None, "here there is Fake GPU 0, Fake GPU 1"]
    assert said["old driver"][1].startswith("NVIDIA's driver is too old for the code of the program")
    assert "CUDA 11.6 or newer" in said["old driver"][2] and said["new driver"] == "cuda:0"
    assert "a cuda:sm_75 device, and the program is for newer GPUs" in said["old gpu"][1]
    assert "is for sm_80 (Ampere) and newer GPUs" in said["old gpu"][2] == said["file on old gpu"][2]


FORKED = """
x = np.ones((300, 300), np.float32)
call = adze.jit(lambda x: x + 1, device="cuda:0")
held, result = adze.device_put(x, "cuda:0"), call(x)
pipe = os.pipe()
if os.fork() == 0:
    attempt("call", lambda: call(x).device)
    attempt("values", lambda: np.asarray(result).tolist())
    attempt("move", lambda: adze.device_put(held, "cuda:1").device)
    attempt("cpu", lambda: adze.jit(lambda x: x + 1)(x[0, :2]).tolist())
    os.write(pipe[1], json.dumps(said).encode())
    os._exit(0)
os.wait()
said.update(json.loads(os.read(pipe[0], 1 << 16)))
said["parent"] = [call(held).device, float(np.asarray(held)[0, 0])]
"""


def test_a_forked_child_is_told_that_the_device_is_the_parents() -> None:
    """Its copies and calls would wait for threads of the parent without end."""
    said = on_fake_cuda(FORKED)
    for name in ("call", "values", "move"):
        assert said[name][1] == "cuda:0 was opened before this process forked, and does not work here"
        assert "spawn" in said[name][2]
    assert said["cpu"] == [2, 2] and said["parent"] == ["cuda:0", 1]


CHECKED = """
from adze.frontend.report.gpus import Subject, bandwidth, checked_product, peak_flops
from adze.runtime.execute.devices import gpu_facts
product = checked_product("cuda:1", 64, "float32")
said["product"] = [product.is_right, product.error > 0.1, product.seconds > 0]
facts = gpu_facts("cuda:1")
said["peaks"] = [peak_flops("cuda:1", facts).source, bandwidth("cuda:1", facts).source]
"""


def test_a_gpu_that_computes_nothing_is_noticed() -> None:
    said = on_fake_cuda(CHECKED)
    assert said["product"] == [False, True, True]
    assert said["peaks"] == ["stated by the driver"] * 2


DLPACK = """
import ctypes
from adze.runtime.execute.devices import get_device
from adze.runtime.execute.dlpack import _tensor_of

class Foreign:
    \"""An array of another library on cuda:1: the capsule is all that it shows.\"""

    def __init__(self, array, change=None):
        self.array, self.change, self.streams = array, change, []

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, *, stream=None, **options):
        self.streams.append(stream)
        capsule = self.array.__dlpack__(stream=stream)
        if self.change is not None:
            self.change(_tensor_of(capsule))
        return capsule

def address(array, **options):
    capsule = array.__dlpack__(**options)
    return _tensor_of(capsule).data

def strided(tensor):
    Foreign.kept = (ctypes.c_int64 * 2)(1, 2)
    tensor.strides = Foreign.kept

def shifted(tensor):
    tensor.byte_offset = 4

def quarter(tensor):
    tensor.code, tensor.bits = 2, 8

x = np.arange(6, dtype=np.int32).reshape(2, 3)
held = adze.device_put(x, "cuda:1")
said["place"] = list(held.__dlpack_device__())
foreign = Foreign(held)
shared = adze.dlpack.from_dlpack(foreign)
said["shared"] = [shared.device, str(shared.dtype), np.asarray(shared).tolist(), foreign.streams]
said["same memory"] = address(shared) == address(held)
said["copy"] = address(shared) != address(held, copy=True)
del held, foreign
said["kept alive"] = np.asarray(shared).tolist()
log = os.environ["FAKE_CUDA_LOG"]
open(log, "w").close()
call = adze.jit(lambda a: a + a, device="cuda:1")
said["called"] = call(Foreign(shared)).device
said["log"] = open(log).read().splitlines()
for change in (strided, shifted, quarter):
    attempt(change.__name__, lambda: adze.dlpack.from_dlpack(Foreign(shared, change)))
attempt("other device", lambda: shared.__dlpack__(dl_device=(2, 0)))
for dtype in ("bool", "uint8", "float64", "complex64"):
    one = adze.device_put(np.ones(3, dtype), "cuda:1")
    attempt(dtype, lambda: str(adze.dlpack.from_dlpack(Foreign(one)).dtype))
nothing = adze.device_put(np.ones((0, 3)), "cuda:1")
attempt("empty", lambda: list(adze.dlpack.from_dlpack(Foreign(nothing)).shape))
"""


def test_other_libraries_share_the_memory_of_cuda_devices(tmp_path: Path) -> None:
    said = on_fake_cuda(DLPACK, log=tmp_path / "log")
    x = [[0, 1, 2], [3, 4, 5]]
    assert said["place"] == [2, 1] and said["shared"] == ["cuda:1", "int32", x, [1]]
    assert said["same memory"] and said["copy"] and said["kept alive"] == x
    assert said["called"] == "cuda:1"
    assert "waited for the legacy stream of 1" in said["log"]
    assert not [line for line in said["log"] if line.startswith("copy")]
    assert said["strided"][1].startswith("an array of shape (2, 3) on cuda:1 cannot be shared: it has the")
    assert "4 bytes into what is exported; expected one that lies at a multiple" in said["shifted"][1]
    assert said["quarter"][1] == "an array of float8 elements (1 in one) has no dtype in adze"
    assert said["other device"][0] == "ExportError"
    assert [said[name] for name in ("bool", "uint8", "float64", "complex64")] == [
        "bool",
        "uint8",
        "float64",
        "complex64",
    ]
    assert said["empty"] == [0, 3]


SHARING = """
import threading
from adze.runtime.execute.dlpack import import_array

class Held:
    def __dlpack__(self, stream): return result.__dlpack__()
    def __dlpack_device__(self): return result.__dlpack_device__()

result = adze.jit(lambda x: x.T, device="cuda:1")(np.ones((2, 3), np.float32))
shared = import_array(Held())
said["shared"] = [shared.device.name, np.asarray(shared).tobytes() == np.asarray(result).tobytes()]

def compile_and_call():
    plus_two = adze.jit(lambda x: x + 2, device="cuda:1")
    attempt("thread", lambda: list(plus_two(np.ones((2, 3), np.float32)).shape))

thread = threading.Thread(target=compile_and_call)
thread.start()
thread.join()
"""


def test_results_are_shared_through_dlpack_and_threads_load_programs() -> None:
    """IREE exports no memory of its pools, and loads kernels only in threads that have a context."""
    said = on_fake_cuda(SHARING)
    assert said["shared"] == ["cuda:1", True]
    assert said["thread"] == [2, 3]
