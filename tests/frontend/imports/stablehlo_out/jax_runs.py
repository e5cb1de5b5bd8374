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


def run_export_with_jax(
    text: str, arguments: Sequence[np.ndarray], like: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The results of `main`, whose sizes have names, called as `jax.export` calls its own exports.

    Every size that is known only at run time gets a name of its own. `like` has the types of the results.
    """
    import io

    import jax
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with jax.enable_x64(True):
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            main = next(op for op in module.body.operations if op.attributes["sym_name"].value == "main")
            types = [ir.RankedTensorType(t) for t in main.attributes["function_type"].value.inputs]
            shapes = [
                [f"d{k}_{i}" if t.is_dynamic_dim(i) else str(t.get_dim_size(i)) for i in range(t.rank)]
                for k, t in enumerate(types)
            ]
            bytecode = io.BytesIO()
            module.operation.write_bytecode(bytecode)
            version = stablehlo.get_version_from_compatibility_requirement(
                stablehlo.StablehloCompatibilityRequirement.WEEK_4
            )
            serialized = _jax.mlir.serialize_portable_artifact(bytecode.getvalue(), version, False)
        scope = jax.export.SymbolicScope()
        taken = tuple(
            jax.core.ShapedArray(jax.export.symbolic_shape(",".join(s), scope=scope) if s else (), x.dtype)
            for s, x in zip(shapes, arguments, strict=True)
        )
        returned = tuple(jax.core.ShapedArray(x.shape, x.dtype) for x in like)
        exported = jax.export.Exported(
            fun_name="main",
            in_tree=jax.tree.structure((tuple(arguments), {})),
            in_avals=taken,
            out_tree=jax.tree.structure(tuple(like)),
            out_avals=returned,
            _has_named_shardings=True,
            _in_named_shardings=(None,) * len(taken),
            _out_named_shardings=(None,) * len(returned),
            in_shardings_hlo=(None,) * len(taken),
            out_shardings_hlo=(None,) * len(returned),
            nr_devices=1,
            platforms=("cpu",),
            ordered_effects=(),
            unordered_effects=(),
            disabled_safety_checks=(),
            mlir_module_serialized=serialized,
            calling_convention_version=jax.export.maximum_supported_calling_convention_version,
            module_kept_var_idx=tuple(range(len(taken))),
            uses_global_constants=True,
            _get_vjp=None,
        )
        return [np.asarray(x) for x in jax.jit(exported.call)(*arguments)]
