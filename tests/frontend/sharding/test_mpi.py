"""Ranks that are processes of MPI compute what threads do, and say where their programs differ."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from adze.runtime.distributed.launchers import find_launcher

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py comes with the extra mpi"),
]

ADZE = str(Path(sys.executable).with_name("adze"))
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


OVERLAPPED = """
import sys
import numpy as np
import adze
import adze.numpy as xp
from adze import lax
from adze.sharding import PartitionSpec as P

adze.distributed.initialize(overlap=sys.argv[1] == "on")
mesh = adze.make_mesh((2,), ("d",))
x = np.random.default_rng(0).standard_normal((2, 300, 300)).astype(np.float32) / 17


def of_rank(x):
    totals = []
    y = x[0]
    for _ in range(4):
        totals.append(lax.psum(y, "d"))
        y = xp.tanh(y @ x[0])
    return sum(totals) + lax.pmax(y, "d")


def program(x):
    return adze.shard_map(of_rank, mesh=mesh, in_specs=P("d"), out_specs=P())(x)


compiled = adze.jit(program)
assert '.start"' in compiled.trace(x).lower().mlir()
for _ in range(3):
    np.testing.assert_allclose(compiled(x), program(x), rtol=1e-4, atol=1e-4)
print("ok", adze.distributed.process_index())
"""


FAILS = """
import numpy as np
import adze
from adze import lax
from adze.sharding import PartitionSpec as P

adze.distributed.initialize()
mesh = adze.make_mesh((2,), ("d",))
if adze.distributed.process_index() == 1:
    raise ValueError("unwell")
adze.shard_map(lambda x: lax.psum(x, "d"), mesh=mesh, in_specs=P("d"), out_specs=P())(np.ones(4))
print("not reached")
"""
MODEL = """
import adze
import adze.numpy as xp
from adze import lax
from adze.sharding import PartitionSpec as P


def total(x):
    mesh = adze.make_mesh((2,), ("d",))
    return adze.shard_map(lambda x: lax.psum(xp.sum(x), "d"), mesh=mesh, in_specs=P("d"), out_specs=P())(x)
"""
DIVIDED = """
import numpy as np
import adze
import adze.numpy as xp
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

adze.distributed.initialize()
mesh = adze.make_mesh((2,), ("d",))
rows, columns = NamedSharding(mesh, P("d")), NamedSharding(mesh, P(None, "d"))
x = np.arange(8, dtype=np.float32).reshape(4, 2)
update = adze.jit(lambda w, x: w - 0.1 * x.T @ (x @ w), in_shardings=(columns, rows), out_shardings=columns)
w = adze.device_put(np.ones((2, 4), np.float32), columns)
expected = np.ones((2, 4), np.float32)
for _ in range(3):
    w, expected = update(w, x), expected - np.float32(0.1) * x.T @ (x @ expected)
adze.distributed.save_checkpoint("state", {"w": w})
read = adze.distributed.load_checkpoint("state", {"w": columns})["w"]
for array in (w, read):
    assert array.addressable_data(0).shape == (2, 2)
    whole = adze.device_put(array, NamedSharding(mesh, P()))
    np.testing.assert_allclose(np.asarray(whole), expected, rtol=1e-4)
print("ok", adze.distributed.process_index())
"""
STATED = """
import adze
import adze.numpy as xp
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

mesh = adze.make_mesh((2,), ("d",))
total = adze.jit(lambda x: xp.sum(x), in_shardings=NamedSharding(mesh, P("d")))
"""


def launched(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The script in two processes."""
    (folder / "program.py").write_text(script)
    return in_two_processes([sys.executable, "program.py"], folder)


def in_two_processes(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    launcher = find_launcher()
    return subprocess.run(
        launcher.command(2, words),
        cwd=folder,
        env=launcher.environment(2),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_processes_compute_what_one_does(tmp_path: Path) -> None:
    done = launched(SAME, tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "ok", "ok"]


def test_processes_hold_parts_of_arrays(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, the extra `shard`")
    done = launched(DIVIDED, tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "ok", "ok"]


def test_programs_that_differ_end_the_job_and_add_nothing(tmp_path: Path) -> None:
    done = launched(DIFFERENT, tmp_path)
    assert done.returncode != 0
    assert "ranks run different collectives: rank" in done.stderr
    assert "every rank must run the same program" in done.stderr


@pytest.mark.parametrize("model", [MODEL, STATED], ids=["shard_map", "jit"])
def test_a_saved_program_runs_in_every_process(model: str, tmp_path: Path) -> None:
    """One process builds for two, and every rank reads the whole input; the first one prints the result."""
    (tmp_path / "model.py").write_text(model)
    build = [ADZE, "build", "model.py:total", "--in", "f32[4,3]", "--ranks", "2", "-o", "m.vmfb"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    np.save(tmp_path / "x.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    done = in_two_processes([ADZE, "run", "m.vmfb", "--in", "x.npy"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["result:", "f32[]", "66."]


def test_launched_ranks_end_with_the_one_that_fails(tmp_path: Path) -> None:
    """Rank 0 waits for a collective that rank 1 never reaches."""
    (tmp_path / "program.py").write_text(FAILS)
    words = [ADZE, "launch", "-n", "2", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert "[1] ValueError: unwell" in done.stderr
    assert '[1]   File "program.py", line 10' in done.stderr
    assert "not reached" not in done.stdout


def test_launched_ranks_name_themselves(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SAME)
    words = [ADZE, "launch", "-n", "2", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["[0] ok 0", "[1] ok 1"]


@pytest.mark.parametrize("overlap", ["on", "off"])
def test_sums_travel_while_ranks_compute(overlap: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OVERLAPPED)
    words = [ADZE, "launch", "-n", "2", "program.py", overlap]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["[0] ok 0", "[1] ok 1"]
