"""Ranks that are processes of MPI compute what threads do, and say where their programs differ."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py comes with the extra mpi"),
]

SAME = """
import numpy as np
import adze
import adze.numpy as xp
from adze import lax
from adze.sharding import PartitionSpec as P

adze.distributed.initialize()
mesh = adze.make_mesh((2,), ("d",))
x = np.arange(8, dtype=np.float32).reshape(4, 2)


def step(w, x):
    return adze.grad(lambda w: lax.psum(xp.sum((x @ w) ** 2), "d"))(w)


sharded = adze.shard_map(step, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
for function in (sharded, adze.jit(sharded)):
    np.testing.assert_allclose(function(np.ones(2, np.float32), x), 2 * x.T @ x.sum(1), rtol=1e-5)
print("ok", adze.distributed.process_index())
"""
DIFFERENT = """
import numpy as np
import adze
from adze import lax
from adze.sharding import PartitionSpec as P

adze.distributed.initialize()
mesh = adze.make_mesh((2,), ("d",))
dtype = [np.float32, np.int32][adze.distributed.process_index()]
adze.shard_map(lambda x: lax.psum(x, "d"), mesh=mesh, in_specs=P("d"), out_specs=P())(np.ones(4, dtype))
"""


def launched(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The script in two processes, which share the cores with whatever else runs."""
    (folder / "program.py").write_text(script)
    here = Path(sys.executable).with_name("mpirun")
    launcher = str(here) if here.exists() else shutil.which("mpirun")
    assert launcher is not None, "the package openmpi brings mpirun"
    calm = {
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    return subprocess.run(
        [launcher, "--oversubscribe", "-n", "2", sys.executable, str(folder / "program.py")],
        env={**os.environ, **calm},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_processes_compute_what_one_does(tmp_path: Path) -> None:
    done = launched(SAME, tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "ok", "ok"]


def test_programs_that_differ_end_the_job_and_add_nothing(tmp_path: Path) -> None:
    done = launched(DIFFERENT, tmp_path)
    assert done.returncode != 0
    assert "ranks run different collectives: rank" in done.stderr
    assert "every rank must run the same program" in done.stderr
