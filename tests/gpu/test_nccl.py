"""Collectives that CUDA devices make themselves: what is compiled, and what IREE's driver then asks NCCL for.

The GPUs are those of `fake_cuda.c`, and NCCL is `fake_nccl.c`, between processes: kernels compute nothing
there, so that the programs that run are of collectives alone. What stands around these, `direct-collectives`
writes, is computed in `tests/passes/partition/test_direct.py`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects.communicator import DistributedError
from adze.runtime.compile import compiler
from adze.runtime.compile.invocation import Invocation
from adze.runtime.distributed.imports import MODULE, channel_imports
from adze.runtime.distributed.nccl import unique_id
from adze.runtime.errors import HostCallError
from adze.runtime.execute.host_calls import HostSite
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target
from adze.sharding import PartitionSpec as P

from .fake_cuda import driver_folder, needs_compiler

TARGET = "cuda:sm_80+nccl"
DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def everything(x: Any) -> list[Any]:
    """A result of each collective that an array of this dtype has."""
    results = [
        lax.all_gather(x, "m", axis=1, tiled=True),
        lax.all_to_all(x, "m", split_axis=0, concat_axis=1, tiled=True),
        lax.ppermute(x, "m", [(0, 1)]),
    ]
    if x.dtype != np.bool_:
        results += [lax.psum(x, "m"), lax.psum_scatter(x, "m", scatter_dimension=0, tiled=True)]
        if x.dtype.kind != "c":
            results += [lax.pmax(x, "m"), lax.pmin(x, "m")]
    return results


def lowered(function: Any, *specs: Any, ranks: int = 2, target: str = TARGET) -> Any:
    with adze.distributed.planned(ranks):
        mesh = adze.make_mesh((ranks,), ("m",))
        mapped = adze.shard_map(function, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
        return adze.trace(mapped, *specs).lower(target)


def device_program(module: bytes) -> str:
    """A program for CUDA as IREE has it in its phase `hal`."""
    with Invocation((*parse_target(TARGET).flags, *compiler.CompileOptions().flags()), []) as invocation:
        assert invocation.parse(module) and invocation.advance(compiler.DEVICE_PHASE)
        return invocation.text()


def test_every_collective_of_every_dtype_is_one_of_the_devices() -> None:
    specs = [adze.ShapeDtype((4, 6), np.dtype(getattr(ml_dtypes, d, d))) for d in DTYPES]
    program = lowered(lambda *arrays: [everything(x) for x in arrays], *specs)
    compiled = program.compile()
    imports = {name.split(".")[0] for name in compiled.manifest.extra["job"]["imports"]}
    assert imports == {"channel_id", "channel_rank", "mesh_index"}
    text = str(program)
    kinds = {"all_gather", "all_reduce", "all_to_all", "reduce_scatter", "send_recv"}
    assert set(re.findall(r"flow\.collective\.(\w+)", text)) == kinds
    assert "func.call" not in text
    assert text.count("flow.channel.default") == 1  # one channel for the axis, made once


def test_arrays_without_elements_are_not_sent() -> None:
    text = str(lowered(everything, adze.ShapeDtype((4, 0), np.float32)))
    assert "flow.collective" not in text


def test_iree_still_counts_what_a_rank_gets() -> None:
    """A fault of IREE, of `runtime/compile/faults/gathered_counts.py`."""
    program = lowered(lambda x: lax.all_gather(x, "m", axis=0), adze.ShapeDtype((4, 4), np.float32))
    (line,) = [e for e in device_program(program.bytecode()).splitlines() if "buffer.collective" in e]
    assert re.search(r"op\(<all_gather : si32>\) send\(%\S+ : \S+\)\[%c0, %c64\]", line)
    assert "count(%c32)" in line  # 64 bytes are 16 elements


SCRIPT = """
import json, os, sys, time
from pathlib import Path
import numpy as np
import adze
from adze import lax
from adze.dialects.communicator import bind_process
from adze.sharding import PartitionSpec as P

folder, rank, ranks, dtype = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), np.dtype(sys.argv[4])


class Files:
    "The ranks of processes that exchange arrays in files, as far as loading a program needs it."

    overlaps, has_own_process, rank, size, count = False, True, rank, ranks, 0

    def all_gather(self, group, x):
        self.count += 1
        np.save(folder / f"{rank}.npy", x)
        os.rename(folder / f"{rank}.npy", folder / f"{self.count} {rank}.npy")
        paths = [folder / f"{self.count} {other}.npy" for other in group]
        while not all(path.exists() for path in paths):
            time.sleep(0.002)
        return [np.load(path) for path in paths]


def of_rank(x):
    results = [
        lax.psum(x, "m"),
        lax.all_gather(x, "m", axis=0, tiled=True),
        lax.psum_scatter(x, "m", scatter_dimension=0, tiled=True),
        lax.all_to_all(x, "m", split_axis=0, concat_axis=0, tiled=True),
        lax.ppermute(x, "m", [(0, 1)]),
        lax.ppermute(x, "m", [(i, (i + 1) % ranks) for i in range(ranks)]),
    ]
    return results + [lax.pmax(x, "m"), lax.pmin(x, "m")] if dtype.kind == "i" else results


bind_process(Files())
mesh = adze.make_mesh((ranks,), ("m",))
function = adze.shard_map(of_rank, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
x = (np.arange(ranks * 8).reshape(ranks * 2, 4) - 9) * (rank + 1)
compiled = adze.trace(function, adze.ShapeDtype(x.shape, dtype)).lower("cuda:sm_80+nccl").compile()
for _ in range(2):
    results = [np.asarray(y).tolist() for y in compiled(x.astype(dtype))]
print(json.dumps([compiled.device, results]))
"""


@needs_compiler
@pytest.mark.parametrize(
    ("ranks", "dtype"), [(2, "float32"), pytest.param(4, "int64", marks=pytest.mark.thorough)]
)
def test_devices_exchange_what_ranks_would(ranks: int, dtype: str, tmp_path: Path) -> None:
    folder = driver_folder("nccl")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path), str(rank), str(ranks), dtype],
            env={
                **os.environ,
                "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                "FAKE_CUDA_DEVICES": str(ranks),
                "FAKE_NCCL_RANKS": str(ranks),
                "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0] * ranks, said
    arrays = [(np.arange(ranks * 8).reshape(ranks * 2, 4) - 9) * (rank + 1) for rank in range(ranks)]
    for rank, (text, _) in enumerate(said):
        device, results = json.loads(text.splitlines()[-1])
        want = [
            sum(arrays),
            np.concatenate(arrays),
            np.split(np.asarray(sum(arrays)), ranks)[rank],
            np.concatenate([np.split(x, ranks)[rank] for x in arrays]),
            arrays[0] if rank == 1 else arrays[0] * 0,
            arrays[rank - 1],
            np.max(arrays, axis=0),
            np.min(arrays, axis=0),
        ]
        assert device == f"cuda:{rank}"  # each rank takes the GPU of its place on the machine
        for one, other in zip(results, want, strict=False):
            np.testing.assert_array_equal(one, other)
        assert len(results) == (8 if dtype == "int64" else 6)


def test_without_nccl_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adze.runtime.distributed.nccl._LIBRARY", "libnccl-that-nobody-has.so")
    with pytest.raises(DistributedError, match="exchange arrays by NCCL, which is not here") as caught:
        unique_id()
    assert "libnccl.so (LD_LIBRARY_PATH), or build for cuda without +nccl" in str(caught.value)


def test_threads_of_one_process_are_refused() -> None:
    """NCCL waits for all ranks, and IREE's Python package holds the interpreter meanwhile."""
    from adze.runtime.distributed.imports import sites_of

    name, _, count = channel_imports("channel.axis-0.mesh-2")
    assert count == 2
    (site,) = sites_of(name)
    with pytest.raises(DistributedError, match="between processes, and the ranks are threads of this one"):
        adze.distributed.run(lambda: site.function([]), 2)


@pytest.mark.parametrize("name", ["", "channel", "channel.axis-0", "other.axis-0.mesh-2"])
def test_other_names_are_no_channels(name: str) -> None:
    with pytest.raises(ValueError, match="no channel"):
        channel_imports(name)


def test_what_a_function_raises_while_a_program_is_loaded_reaches_the_caller() -> None:
    """As `channel_id` is asked then; a program of the CPU has no channels, but may ask too."""
    text = b"""
    func.func private @adze_dist.first() -> tensor<i32>
    util.global private @kept : tensor<i32>
    util.initializer {
      %value = func.call @adze_dist.first() : () -> tensor<i32>
      util.global.store %value, @kept : tensor<i32>
      util.return
    }
    func.func @main() -> tensor<i32> {
      %value = util.global.load @kept : tensor<i32>
      return %value : tensor<i32>
    }
    """
    compiled = compiler.compile_bytecode(text, parse_target("cpu"))

    def loaded(function: Any) -> Executable:
        site = HostSite("first", function, (), 1, None, MODULE)
        return Executable(compiled.vmfb, "local-sync", sites=[site])

    def refuse(_: Any) -> Any:
        raise DistributedError("not today")

    with pytest.raises(DistributedError, match="not today"):
        loaded(refuse)
    with pytest.raises(HostCallError, match=r"load\(\): a Python function that it calls raised ZeroDivision"):
        loaded(lambda _: 1 // 0)
    kept = loaded(lambda _: [np.asarray(7, np.int32)]).function("main")
    assert kept.call([])[0].numpy() == 7
