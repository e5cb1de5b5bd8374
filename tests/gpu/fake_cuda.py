"""IREE's CUDA devices on `fake_cuda.c`, a driver without GPUs: all but what kernels compute.

Input: a script and variables of `fake_cuda.c`. Output: what the script printed as JSON, from a process of its
own, whose loader finds that driver as libcuda.so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import pytest

SOURCE: Final = Path(__file__).with_name("fake_cuda.c")
COMPILER: Final = shutil.which("cc")
MACHINE: Final = Path(__file__).with_name("ptx_machine.py")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler builds the driver")

_BEGINNING: Final = """
import json, os
import numpy as np
import adze
from adze.dialects.errors import AdzeError

said = {}

def attempt(name, function):
    try:
        said[name] = function()
    except AdzeError as error:
        said[name] = [type(error).__name__, error.message, error.hint]
"""


def on_ptx_machine(script: str, *others: str, **variables: str | int) -> dict[str, Any]:
    """As `on_fake_cuda`, with kernels that compute."""
    return on_fake_cuda(script, *others, machine=f"{sys.executable} {MACHINE}", **variables)


def on_fake_cuda(script: str, *others: str, **variables: str | int) -> dict[str, Any]:
    """What `script` left in `said`; the process must end well, also after errors.

    `others` are libraries beside the driver, such as `cupti`.
    """
    folder = driver_folder(*others)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        **{f"FAKE_CUDA_{name.upper()}": str(value) for name, value in variables.items()},
    }
    program = f"{_BEGINNING}\n{script}\nprint(json.dumps(said))\n"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


@cache
def driver_folder(*others: str) -> Path:
    """The folder of the built driver, with `fake_<other>.c` beside it as `lib<other>.so`."""
    folder = Path(mkdtemp(prefix="fake-cuda-"))
    for name in ("cuda", *others):
        library, source = folder / f"lib{name}.so", SOURCE.with_name(f"fake_{name}.c")
        command = [str(COMPILER), "-O1", "-w", "-shared", "-fPIC", "-o", str(library)]
        subprocess.run([*command, str(source), "-lpthread", "-ldl"], check=True)
    return folder
