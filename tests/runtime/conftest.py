"""The hand-written programs of these tests, each compiled once a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adze.runtime.artifact.manifest import ExportedFunction, Manifest, make_manifest
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import CompiledModule, compile_bytecode
from adze.runtime.execute.devices import list_devices
from adze.runtime.targets import parse_target

HERE = Path(__file__).parent
F32 = np.dtype(np.float32)
ADD = FunctionSignature(
    "add", (ArraySpec("left", F32, (4,)), ArraySpec("right", F32, (4,))), (ArraySpec("sum", F32, (4,)),)
)
BOTH = FunctionSignature(
    "both",
    (ArraySpec("left", F32, ("n",)), ArraySpec("right", F32, ("n",))),
    (ArraySpec("sum", F32, ("n",)), ArraySpec("difference", F32, ("n",))),
)


@pytest.fixture(scope="session")
def programs_text() -> bytes:
    return (HERE / "programs.mlir").read_bytes()


@pytest.fixture(scope="session")
def compiled(programs_text: bytes) -> CompiledModule:
    """programs.mlir for this machine's processor."""
    return compile_bytecode(programs_text, parse_target("cpu"))


@pytest.fixture(scope="session")
def portable(programs_text: bytes) -> CompiledModule:
    """programs.mlir for any x86-64 or aarch64 processor, whichever this machine has."""
    from adze.runtime.cpu import host_cpu

    name = "cpu:aarch64" if host_cpu().architecture == "aarch64" else "cpu:generic"
    return compile_bytecode(programs_text, parse_target(name))


@pytest.fixture(scope="session")
def manifest(portable: CompiledModule) -> Manifest:
    functions = (
        ExportedFunction(ADD, {"tuple": [{"tuple": ["*", "*"]}, {"dict": {}}]}, "*"),
        ExportedFunction(BOTH),
    )
    return make_manifest(functions, portable.target, work=4.0, extra={"note": 'ä "quoted"\n'})


@pytest.fixture(scope="session")
def vulkan() -> str:
    """The name of a Vulkan device, or the test is skipped."""
    names = [info.name for info in list_devices() if info.name.startswith("vulkan")]
    if not names:
        pytest.skip("no Vulkan device (Debian package mesa-vulkan-drivers has one in software)")
    return names[0]
