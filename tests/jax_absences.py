"""Why names of JAX are absent from adze: the first rule of `REASONS` that matches `module.name` says it."""

from __future__ import annotations

import re
from typing import Final

IGNORED_PARAMETERS: Final = {"out_sharding", "sharding", "spmd_axis_name", "inline", "abstracted_axes"}
"""Parameters about several devices or the tracing of JAX, which mean nothing for adze."""

NOT_YET: Final = "not written yet"
IN_COMPAT: Final = "of programs written for JAX alone: `adze.compat.jax` has it"
_IMPORTED: Final = "a helper that JAX's module imports for itself"

REASONS: Final = (
    (
        r"jax\.lax\.(linalg\.)?\w+_p|jax\.random\.\w+_p|.*\.\w+_p",
        "a primitive whose attributes are JAX's programs or internals; ops are classes here (docs/ops.md)",
    ),
    (r"jax\.(sharding|distributed)\..*", "one device a program"),
    (r"jax\.experimental\.(multihost_utils|mesh_utils)\..*", "one device a program"),
    (r"jax\.profiler\..*", "of XLA's profiler; `adze profile` shows kernels"),
    (r"jax\.monitoring\..*", "events of XLA's compiler"),
    (r"jax\.experimental\.(ode|jet)\.(map|zip|unzip2|safe_map|safe_zip|tree_\w+|treedef_is_leaf)", _IMPORTED),
    (r"jax\.experimental\.(ode|jet)\.(ravel_\w+|promote_dtypes_inexact|register_pytree_node)", _IMPORTED),
    (r"jax\.experimental\.jet\.weakref_lru_cache", _IMPORTED),
    (r"jax\.example_libraries\.optimizers\.(map|zip|unzip2|safe_map|safe_zip)", _IMPORTED),
    (r"jax\.experimental\.sparse\.SparseTracer", "sparsify applies ops of the IR again, without a tracer"),
    (r"jax\.experimental\.jet\.(?!jet$).*", "a part of JAX's interpreter of series"),
    (r"jax\.(NamedSharding|P|Shard|make_mesh|set_mesh|shard_map|smap|reshard|pmap)", "one device a program"),
    (r"jax\.(make_array_from_\w+|remove_size_one_mesh_axis_from_type)", "one device a program"),
    (r"jax\.Array\.(addressable_\w+|global_shards|is_fully_\w+|sharding|committed)", "one device a program"),
    (r"jax\.debug\.(inspect_array_sharding|visualize_\w+)", "one device a program"),
    (r"jax\.lax\.(psend|precv|ragged_all_to_all)", "one device a program"),
    (r"jax\.(random\.)?key_(dtype|impl)", "keys are plain arrays of uint32, without a dtype of their own"),
    (r"jax\.dtypes\.(extended|prng_key)", "keys are plain arrays of uint32, without a dtype of their own"),
    (
        r"jax\.numpy\.(float[468]_\w+|u?int[124])",
        "floats have 16 bits or more here, integers 8",
    ),
    (
        r"jax\.nn\.(scaled_\w+|get_scaled_\w+)|jax\.lax\.scaled_dot",
        "of float8 and float4",
    ),
    (r"jax\.(api_util|custom_derivatives)\..*", "an internal of JAX's tracer"),
    (
        r"jax\.ad_checkpoint\.(Offloadable|Recompute|Saveable)",
        "an offload to the host's memory",
    ),
    (
        r"jax\.lax\.linalg\.(qdwh|tridiagonal)",
        "a step of JAX's eigh and svd",
    ),
    (r"jax\.errors\..*", "an error of JAX's tracer alone"),
    (r"jax\.(allow_f16_reductions|auto_pcast|jax2tf_\w+)", "an option of XLA or of JAX's tracer"),
    (r"jax\.(live_arrays|(array_garbage_collection|thread)_guard)", "watches buffers and threads of JAX's"),
    (r"jax\.(no_tracing|no_execution|make_user_context)", "a switch or a key of JAX's own caches"),
    (r"jax\.memory", "one space of memory a device"),
    (r"jax\.Array\.byteswap", "`view` and shifts move bytes"),
    (r"jax\.copy_to_host_async", "calls return when their results are there"),
    (r"jax\.debug\.\w*DebugEffect", "effects of JAX's runtime; `debug.print` is there"),
    (r"jax\.stages\.ArgInfo", "what is donated; the types of arguments are `in_avals`"),
    (r"jax\.experimental\.(EArray|cur_qdd|primal_tangent_dtype)", "of extended dtypes and types of `hijax`"),
    (r".*", NOT_YET),
)


def reason_of(module: str, name: str) -> str:
    """Why `module.name` of JAX is absent."""
    return next(reason for rule, reason in REASONS if re.fullmatch(rule, f"{module}.{name}"))
