"""Runs StableHLO text with JAX's compiler, the oracle of what is exported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def run_with_jax(text: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of `main`, parsed by JAX's bindings, compiled and run by XLA for CPUs."""
    import jax
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    with jax.enable_x64(True):
        backend = xla_bridge.get_backend("cpu")
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
        program = backend.compile_and_load(module, devices, xla_client.CompileOptions())
        results = program.execute_sharded([jax.device_put(x) for x in arguments])
        return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]
