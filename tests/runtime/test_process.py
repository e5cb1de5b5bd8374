"""The process around the runtime: what it imports, and that it ends without a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adze.runtime.artifact import artifact
from adze.runtime.artifact.manifest import Manifest
from adze.runtime.compile.compiler import CompiledModule


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def saved(tmp_path: Path, portable: CompiledModule, manifest: Manifest) -> Path:
    return artifact.save(tmp_path / "program.vmfb", artifact.Contents(portable.vmfb, manifest))


def test_importing_the_folder_loads_nothing_of_iree() -> None:
    script = (
        "import importlib, pkgutil, sys\n"
        "import adze.runtime\n"
        "for module in pkgutil.walk_packages(adze.runtime.__path__, 'adze.runtime.'):\n"
        "    if module.name != 'adze.runtime.distributed.mpi':  # needs the extra mpi\n"
        "        importlib.import_module(module.name)\n"
        "print([name for name in sys.modules if name.startswith(('iree', 'jax', 'scipy'))])\n"
    )
    done = run(script)
    assert done.stdout.strip() == "[]", done.stderr


def test_running_a_program_never_loads_the_compiler(saved: Path) -> None:
    script = (
        "import sys\n"
        "import numpy as np\n"
        "from adze.runtime.artifact import artifact\n"
        "program = artifact.load(sys.argv[1])\n"
        "ones = np.ones(4, np.float32)\n"
        "print(program.executable.call('add', [ones, ones])[0].tolist())\n"
        "print([name for name in sys.modules if name.startswith('iree.compiler')])\n"
    )
    done = run(script, saved)
    assert done.stdout.split("\n")[:2] == ["[2.0, 2.0, 2.0, 2.0]", "[]"], done.stderr


def test_inspecting_a_program_loads_nothing_of_iree(saved: Path) -> None:
    script = (
        "import sys\n"
        "from adze.runtime.artifact import artifact\n"
        "print(artifact.inspect(sys.argv[1]).manifest.target)\n"
        "print([name for name in sys.modules if name.startswith('iree')])\n"
    )
    done = run(script, saved)
    assert done.stdout.split("\n")[1] == "[]", done.stderr


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_a_process_ends_well_with_results_still_in_use(saved: Path, device: str) -> None:
    """A device that is freed before a view of its memory ends the process with a segmentation fault."""
    script = (
        "import builtins, sys\n"
        "import jax\n"
        "import numpy as np\n"
        "from adze.runtime.artifact import artifact\n"
        "from adze.runtime.execute import array\n"
        "program = artifact.load(sys.argv[1], sys.argv[2])\n"
        "ones = np.ones(4, np.float32)\n"
        "[result] = program.executable.call('add', [ones, ones])\n"
        "class Cycle: pass\n"
        "cycle = Cycle()\n"
        "cycle.self, cycle.view = cycle, result.numpy()\n"
        "builtins.kept = result.numpy()\n"
        "theirs, exported = np.from_dlpack(result), jax.numpy.from_dlpack(result)\n"
        "capsule = result.__dlpack__()\n"
        "shared = array.from_host(np.zeros(10**5), sys.argv[2], copy=None)\n"
        "print('end')\n"
    )
    done = run(script, saved, device)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_programs_of_the_parent_run_in_a_forked_child(saved: Path) -> None:
    """The threads of `local-task` stayed with the parent: its device is opened again, or calls never end."""
    script = (
        "import os, sys\n"
        "import numpy as np\n"
        "from adze.runtime.artifact import artifact\n"
        "ones = np.ones(4, np.float32)\n"
        "pooled = artifact.load(sys.argv[1], 'local-task').executable\n"
        "single = artifact.load(sys.argv[1], 'local-sync').executable\n"
        "early = pooled.call('add', [ones, ones])[0]\n"
        "single.call('add', [ones, ones])\n"
        "if os.fork() == 0:\n"
        "    print(pooled.call('add', [early, ones])[0].tolist(), flush=True)\n"
        "    print(early.tolist())\n"
        "    del early\n"
        "    print(single.call('add', [ones, ones])[0].tolist(), flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = run(script, saved)
    assert done.stdout.split("\n")[:3] == [str([3.0] * 4), str([2.0] * 4), str([2.0] * 4)], done.stderr
