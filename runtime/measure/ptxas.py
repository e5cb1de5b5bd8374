"""NVIDIA's assembler, where it is installed: registers, spills and shared memory of kernels.

Input: PTX and an architecture. Output: what `ptxas --verbose` says of each kernel. Idea: it needs no GPU and
no driver; the extra `gpu-check` installs it (`nvidia-cuda-nvcc`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from ...dialects.dataclass import dataclass
from ..errors import CompileError

ABSENT: Final = "ptxas is not installed: pip install 'adze-compiler[gpu-check]'"
_SECTION: Final = re.compile(
    r"Compiling entry function '([^']+)' for '(\w+)'(.*?)(?=Compiling entry function|\Z)", re.S
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A kernel as machine code of `architecture`; `shared_bytes` are those that the code itself states."""

    name: str
    architecture: str
    registers: int
    spilled_bytes: int
    stack_bytes: int
    shared_bytes: int


@cache
def ptxas() -> Path | None:
    """The assembler of this environment's packages, else one of PATH; None where there is neither."""
    for folder in map(Path, sys.path):
        # The wheels of CUDA 13 and of CUDA 12.
        for place in ("nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas"):
            if (folder / place).is_file():
                return folder / place
    found = shutil.which("ptxas")
    return Path(found) if found else None


@cache
def ptxas_version() -> str | None:
    """The release of the assembler, such as `13.0`."""
    tool = ptxas()
    if tool is None:
        return None
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"release ([\d.]+)", said)
    return found[1] if found else None


def assemble(ptx: str, architecture: str) -> list[Assembled]:
    """The kernels of a PTX module as machine code of `architecture` (`sm_90`), in the order of ptxas.

    Raises `CompileError` with what ptxas says where it refuses the text, or where there is no ptxas.
    """
    tool = ptxas()
    if tool is None:
        raise CompileError(ABSENT)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "module.ptx"
        source.write_text(ptx)
        options = ["--verbose", f"--gpu-name={architecture}", "--output-file", f"{source}.cubin"]
        command = [str(tool), *options, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = done.stderr.strip() or f"exit code {done.returncode}"
        raise CompileError(f"ptxas refuses a kernel for {architecture}: {message.splitlines()[0]}")
    return [_kernel(*found.groups()) for found in _SECTION.finditer(done.stderr)]


def _kernel(name: str, architecture: str, text: str) -> Assembled:
    def number(pattern: str) -> int:
        return sum(int(found) for found in re.findall(pattern, text))

    return Assembled(
        name,
        architecture,
        number(r"Used (\d+) registers"),
        number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
        number(r"(\d+) bytes stack frame"),
        number(r"(\d+) bytes smem"),
    )
