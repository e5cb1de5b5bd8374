"""Copies from and to CUDA devices, and between them: on a driver without GPUs (`fake_cuda.c`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .fake_cuda import needs_compiler, on_fake_cuda

pytestmark = [needs_compiler]

SEEN = """
log = os.environ["FAKE_CUDA_LOG"]

def seen(name, function):
    open(log, "w").close()
    result = function()
    said[name] = open(log).read().split("\\n")[:-1]
    return result
"""

PINNED = f"""{SEEN}
host = np.arange(100_000, dtype=np.float32)
x = seen("to", lambda: adze.device_put(host, "cuda:0"))
call = adze.jit(lambda x: x + 1, device="cuda:0")
call(x)
result = seen("called", lambda: call(call(x)))
seen("from", lambda: np.asarray(result))
said["same"] = bool((np.asarray(x) == host).all())
y = seen("to again", lambda: adze.device_put(host + 1, "cuda:0"))
said["same again"] = bool((np.asarray(y) == host + 1).all()) and bool((np.asarray(x) == host).all())
seen("other size", lambda: adze.device_put(host[1:], "cuda:0"))
seen("argument", lambda: call(host))
adze.release_memory()
seen("released", lambda: adze.device_put(host, "cuda:0"))
for dtype in ("bool", "int8", "float16", "float64", "complex128"):
    big = np.arange(70_000).reshape(7, -1).astype(dtype)
    said[dtype] = bool((np.asarray(adze.device_put(big, "cuda:1")) == big).all())
import ml_dtypes
big = np.arange(70_000).astype(ml_dtypes.bfloat16)
said["bfloat16"] = bool((np.asarray(adze.device_put(big, "cuda:1")) == big).all())
"""


def test_pinned_memory_is_used_again(tmp_path: Path) -> None:
    said = on_fake_cuda(PINNED, log=tmp_path / "log")
    pinned, copied = "pinned 400000", "copy 400000 on 0"
    assert said["to"] == [pinned, copied] and said["called"] == ["launch on 0"] * 2
    assert said["from"] == said["to again"] == [copied] and said["same"] and said["same again"]
    assert said["other size"] == ["pinned 399996", "copy 399996 on 0"]
    assert said["argument"] == [copied, "launch on 0"]
    assert said["released"] == [pinned, copied]
    assert all(said[d] for d in ("bool", "int8", "float16", "float64", "complex128", "bfloat16"))


GATE = """
import threading
gate = os.environ["FAKE_CUDA_GATE"]
put = lambda: adze.device_put({"a": np.ones(50_000, np.float32), "b": np.zeros(50_000, np.float32)}, "cuda:0")
opened = []

def open_later():
    opened.append(True)
    open(gate, "w").close()

# Copies wait for the gate: both are in the queue before the first one is waited for.
threading.Timer(0.2, open_later).start()
x = put()
said["put"] = [bool(opened), float(np.asarray(x["a"]).sum()), float(np.asarray(x["b"]).sum())]

call = adze.jit(lambda x: x, device="cuda:0")
y = call(x["a"])
x["a"].block_until_ready()
fresh = adze.device_put(np.full(50_000, 3, np.float32), "cuda:0")
os.remove(gate)
fresh.copy_to_host_async()
fresh.copy_to_host_async()
said["returned before the copy"] = True
open(gate, "w").close()
seen = []
threads = [threading.Thread(target=lambda: seen.append(float(np.asarray(fresh).sum()))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
said["threads"] = seen
several = [adze.device_put(np.full(50_000, n, np.float32), "cuda:0") for n in range(3)]
said["get"] = [float(a[0]) for a in adze.device_get(several)]
"""


def test_copies_are_under_way_beside_the_host(tmp_path: Path) -> None:
    said = on_fake_cuda(GATE, gate=tmp_path / "gate")
    assert said["put"] == [True, 50_000, 0]
    assert said["returned before the copy"] and said["threads"] == [150_000] * 4
    assert said["get"] == [0, 1, 2]


PEERS = f"""{SEEN}
host = np.arange(100_000, dtype=np.float32)
x = adze.device_put(host, "cuda:0")
y = seen("array", lambda: adze.device_put(x, "cuda:1"))
said["values"] = [y.device, x.device, *(bool((np.asarray(a) == host).all()) for a in (x, y))]
result = adze.jit(lambda x: x + 1, device="cuda:0")(x)
z = seen("result", lambda: adze.device_put(result, "cuda:1"))
said["of result"] = [z.device, list(z.shape)]
nothing = adze.device_put(adze.device_put(np.ones((0, 3)), "cuda:0"), "cuda:1")
said["empty"] = [nothing.device, list(nothing.shape)]
back = seen("host", lambda: adze.device_put(z, "cpu"))
said["back"] = back.device
"""


def test_arrays_move_between_gpus_without_the_host(tmp_path: Path) -> None:
    said = on_fake_cuda(PEERS, log=tmp_path / "log")
    assert said["array"] == ["copy 400000 from 0 to 1"]
    assert said["values"] == ["cuda:1", "cuda:0", True, True]
    # Results are in memory of a pool, which is the device's own.
    assert said["result"] == ["copy 400000 on 0", "copy 400000 from 0 to 1"]
    assert said["of result"] == ["cuda:1", [100_000]] and said["empty"] == ["cuda:1", [0, 3]]
    assert said["host"] == ["copy 400000 on 1"] and said["back"].startswith("local")


def test_gpus_that_do_not_reach_each_other_copy_through_the_host(tmp_path: Path) -> None:
    said = on_fake_cuda(PEERS, log=tmp_path / "log", apart=1)
    assert said["values"] == ["cuda:1", "cuda:0", True, True]
    assert said["of result"] == ["cuda:1", [100_000]] and said["empty"] == ["cuda:1", [0, 3]]
    assert said["array"] == ["copy 400000 on 0", "pinned 400000", "copy 400000 on 1"]


EAGER = """
import adze.numpy as xp
host = np.arange(6, dtype=np.float32).reshape(2, 3)
first, second = adze.device_put(host, "cuda:0"), adze.device_put(host * 2, "cuda:1")
results = {
    "sum": first + second,
    "call": xp.matmul(first, second.T),
    "choice": xp.where(first > second, first, second),
    "beside an array of the host": second * np.float32(3),
    "a list": xp.stack([first, second])[1],
    "gradient": adze.grad(lambda x: xp.sum(x * second))(first),
    "loop": adze.lax.fori_loop(0, 3, lambda _, x: x + second, first),
    "batch": adze.vmap(lambda x, y: x - y)(first, second),
}
for name, result in results.items():
    said[name] = np.asarray(result).tolist()
    assert getattr(result, "device", "cpu").split(":")[0] not in ("cuda", "vulkan"), (name, result.device)
said["stay"] = [first.device, second.device, np.asarray(first).tolist(), np.asarray(second).tolist()]
"""


def test_eager_ops_take_arrays_of_two_gpus_and_leave_them_there() -> None:
    """They compute on the host, from the values of both, as everywhere."""
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    said = on_fake_cuda(EAGER)
    assert said.pop("stay") == ["cuda:0", "cuda:1", host.tolist(), (host * 2).tolist()]
    wanted = {
        "sum": host * 3,
        "call": host @ (host * 2).T,
        "choice": host * 2,
        "beside an array of the host": host * 6,
        "a list": host * 2,
        "gradient": host * 2,
        "loop": host * 7,
        "batch": -host,
    }
    assert said == {name: array.tolist() for name, array in wanted.items()}
