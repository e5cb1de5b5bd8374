"""Compiles a module of adze IR for this machine and calls its functions: the tests' own short way.

In: a module of adze ops, which is lowered in place. Out: a callable a function. Only what is needed to
check single ops; the product's way through caches and drivers is tested with `runtime/`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import iree.runtime as iree_runtime
import numpy as np
from iree.compiler import api

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)
_sessions: list[Any] = []
_devices: list[Any] = []


def compile_module(module: Any) -> Callable[..., tuple[np.ndarray, ...]]:
    """Lower, compile and load `module`; the result takes a function's name and its arrays."""
    from adze.passes.lower.conversion import lower

    lower(module, SimpleNamespace(kind="cpu"))
    data = io.BytesIO()
    module.operation.write_bytecode(data)
    return _load(_compile(data.getvalue()))


def _compile(bytecode: bytes) -> bytes:
    if not _sessions:
        _sessions.append(api.Session())
        _sessions[0].set_flags(*FLAGS)
    session = _sessions[0]
    messages: list[str] = []
    invocation = session.invocation()
    source = api.Source.wrap_buffer(session, bytecode)
    invocation.enable_console_diagnostics()
    if not invocation.parse_source(source) or not invocation.execute():
        raise AssertionError("IREE did not compile the module; its messages are on standard error")
    output = api.Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    del messages
    return bytes(output.map_memory())


def _load(binary: bytes) -> Callable[..., tuple[np.ndarray, ...]]:
    if not _devices:
        _devices.append(iree_runtime.get_device("local-sync"))
    config = iree_runtime.Config(device=_devices[0])
    context = iree_runtime.SystemContext(config=config)
    context.add_vm_module(iree_runtime.VmModule.copy_buffer(config.vm_instance, binary))
    loaded = context.modules.module

    def call(name: str, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        results = loaded[name](*arguments)
        if results is None:
            return ()
        listed = results if isinstance(results, (tuple, list)) else (results,)
        return tuple(np.array(r.to_host()) for r in listed)

    return call
