"""JAX's settings, as far as programs set them: `adze.config.update(...)` and contexts of the same names.

Input: names and values. Output: nothing where adze works in that way anyway (64-bit numbers, full precision,
strict dtypes are no switches here), the same effect where adze has it (`debug_nans`, `disable_jit`), and an
error that says what adze does for every other value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..errors import ArgumentError, UnsupportedError
from ..library.random.reuse import watch_keys
from ..tracing.frames import JIT_DISABLED
from ..tracing.locations import user_location_text
from ..tracing.random_counts import RandomCounts
from . import retraces
from .debug import nans, watch_nans
from .jitted import Jitted

# What each setting may be, None for anything: adze behaves as with the value, which changes nothing.
_ACCEPTED: Final[dict[str, tuple[Any, ...] | None]] = {
    "jax_enable_x64": (True,),
    "jax_default_matmul_precision": None,
    "jax_default_prng_impl": ("threefry2x32",),
    "jax_threefry_partitionable": (True, False),
    "jax_legacy_prng_key": ("allow",),
    "jax_enable_custom_prng": None,
    "jax_numpy_dtype_promotion": ("standard",),
    "jax_numpy_rank_promotion": ("allow",),
    "jax_platform_name": ("cpu", ""),
    "jax_platforms": ("cpu", "", None),
    "jax_log_compiles": (False, True),
    "jax_explain_cache_misses": (False, True),
    "jax_num_cpu_devices": None,
    "jax_remat3": None,
    "jax_check_tracer_leaks": None,
    "jax_enable_checks": None,
    "jax_debug_infs": (False,),
    "jax_debug_nans": (False, True),
    "jax_disable_jit": (False, True),
    "jax_transfer_guard": ("allow",),
    "jax_array_garbage_collection_guard": ("allow",),
    "jax_no_tracing": (False,),
    "jax_softmax_custom_jvp": None,
    "jax_debug_key_reuse": (False, True),
}
_OF_TOOLS: Final = (
    *("jax_compilation_cache_dir", "jax_compilation_cache_max_size", "jax_enable_compilation_cache"),
    *("jax_compilation_cache_check_contents", "jax_compilation_cache_include_metadata_in_key"),
    *("jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"),
    *("jax_persistent_cache_enable_xla_caches", "jax_raise_persistent_cache_errors"),
    *("jax_traceback_filtering", "jax_include_full_tracebacks_in_locations", "jax_pprint_use_color"),
    *("jax_traceback_in_locations_limit", "jax_tracer_error_num_traceback_frames", "jax_logging_level"),
    *("jax_debug_log_modules", "jax_compiler_detailed_logging_min_ops", "jax_captured_constants_warn_bytes"),
    *("jax_captured_constants_report_frames", "jax_log_checkpoint_residuals", "jax_distributed_debug"),
    *("jax_exec_time_optimization_effort", "jax_memory_fitting_effort", "jax_memory_fitting_level"),
    *("jax_optimization_level", "jax_disable_most_optimizations", "jax_compiler_enable_remat_pass"),
    *("jax_cpu_enable_async_dispatch", "jax_cpu_collectives_implementation", "jax_use_shardy_partitioner"),
    *("jax_use_direct_linearize", "jax_embedded_constants_max_bytes", "jax_use_simplified_jaxpr_constants"),
    *("jax_scan3", "jax_custom_vjp3", "jax_threefry_gpu_kernel_lowering", "jax_use_magma"),
    *("jax_cuda_visible_devices", "jax_rocm_visible_devices", "jax_default_device"),
    *("jax_hlo_source_file_canonicalization_regex", "jax_xla_profile_version", "jax_enable_pgle"),
)
"""About XLA's compiler, its caches and messages: what they say has no counterpart here, and changes no value.
(adze keeps compiled programs in `ADZE_CACHE_DIR`.)"""
_ACCEPTED.update(dict.fromkeys(_OF_TOOLS))
_INSTEAD: Final = {
    "jax_dump_ir_to": "set ADZE_DUMP_DIR before the process starts, or print adze.trace(f, x).mlir(stage)",
    "jax_enable_x64": "adze narrows no dtype, so 64-bit numbers cannot be disabled: pass float32 arrays",
    "jax_platforms": "devices are chosen by adze.jit(..., target=...) and ADZE_DEVICE",
    "jax_platform_name": "devices are chosen by adze.jit(..., target=...) and ADZE_DEVICE",
}


_LOGGED: Final = ("jax_log_compiles", "jax_explain_cache_misses")


class Config:
    """What `jax.config` is: settings by name, of which adze takes those that it is like anyway."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {
            name: values[0] if values else None for name, values in _ACCEPTED.items()
        }

    def update(self, name: str, value: Any) -> None:
        """Set `name`; raises `UnsupportedError` for a value that adze does not work by.

        `jax_debug_nans`, `jax_debug_key_reuse` and `jax_disable_jit` hold from now on in this thread, the
        others everywhere.
        `jax_log_compiles` and `jax_explain_cache_misses` log each trace with its reason (logger `adze`).
        `jax_threefry_partitionable` is the order of random numbers, of functions that are traced from now on.
        `jax_num_cpu_devices` is how many devices `jax.devices()` lists in programs written for JAX.
        """
        check(name, value)
        if name == "jax_debug_nans":
            watch_nans(value)
        elif name == "jax_debug_key_reuse":
            watch_keys(value)
        elif name == "jax_threefry_partitionable":
            RandomCounts.are_partitionable = value
        elif name == "jax_disable_jit":
            _Switch.install()
            JIT_DISABLED.set(value)
        self._values[name] = value
        if name in _LOGGED:
            retraces.log_each(any(self._values[setting] for setting in _LOGGED))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"adze.config has no setting {name!r}")
        return self._values[name]


def check(name: str, value: Any) -> None:
    """Raise `ArgumentError` for an unknown setting, `UnsupportedError` for a value that has no effect
    here."""
    if name in _INSTEAD and name not in _ACCEPTED:
        raise UnsupportedError(
            f"adze.config: {name} has no effect here", where=user_location_text(), hint=_INSTEAD[name]
        )
    if name not in _ACCEPTED:
        raise ArgumentError(f"adze.config has no setting {name!r}", where=user_location_text())
    accepted = _ACCEPTED[name]
    if accepted is not None and value not in accepted:
        raise UnsupportedError(
            f"adze.config: {name} cannot be {value!r}",
            where=user_location_text(),
            hint=_INSTEAD.get(name, f"it is {accepted[0]!r} in adze"),
        )


config = Config()


def _context(setting: str, default: Any = True) -> Any:
    @contextmanager
    def context(new_val: Any = default) -> Iterator[None]:
        check(setting, new_val)
        yield

    context.__name__ = context.__qualname__ = setting.removeprefix("jax_")
    context.__doc__ = f"A context in which `{setting}` has this value: see `Config`."
    return context


enable_x64 = _context("jax_enable_x64")
default_matmul_precision = _context("jax_default_matmul_precision", "highest")
numpy_dtype_promotion = _context("jax_numpy_dtype_promotion", "standard")
numpy_rank_promotion = _context("jax_numpy_rank_promotion", "allow")
default_prng_impl = _context("jax_default_prng_impl", "threefry2x32")


@contextmanager
def threefry_partitionable(new_val: bool = True) -> Iterator[None]:
    """A context in which random numbers come in this order: see `Config`."""
    before = RandomCounts.are_partitionable
    config.update("jax_threefry_partitionable", new_val)
    try:
        yield
    finally:
        config.update("jax_threefry_partitionable", before)


legacy_prng_key = _context("jax_legacy_prng_key", "allow")
enable_custom_prng = _context("jax_enable_custom_prng")
check_tracer_leaks = checking_leaks = _context("jax_check_tracer_leaks")
enable_checks = _context("jax_enable_checks")


def _logging(setting: str) -> Any:
    @contextmanager
    def context(new_val: bool = True) -> Iterator[None]:
        check(setting, new_val)
        before = retraces.log_each(new_val)
        try:
            yield
        finally:
            retraces.log_each(before)

    context.__name__ = context.__qualname__ = setting.removeprefix("jax_")
    context.__doc__ = "A context that logs each trace of a jitted function with its reason."
    return context


log_compiles = _logging("jax_log_compiles")
explain_cache_misses = _logging("jax_explain_cache_misses")
debug_infs = _context("jax_debug_infs", False)
transfer_guard = _context("jax_transfer_guard", "allow")
softmax_custom_jvp = _context("jax_softmax_custom_jvp")


def debug_nans(new_val: bool = True) -> Any:
    """A context that raises at the first op which makes NaN: `adze.debug.nans`."""
    return nans(new_val)


@contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """A context in which functions of `adze.jit` run as the Python that they are, op by op and at once."""
    _Switch.install()
    token = JIT_DISABLED.set(disable)
    try:
        yield
    finally:
        JIT_DISABLED.reset(token)


class _Switch:
    """Calls of jitted functions ask for `disable_jit` from its first use on, so others pay nothing for it."""

    original: Any = None

    @classmethod
    def install(cls) -> None:
        if cls.original is not None:
            return
        original = cls.original = Jitted.__call__

        def call(self: Jitted, /, *args: Any, **kwargs: Any) -> Any:
            if JIT_DISABLED.get():
                return self.function(*args, **kwargs)
            return original(self, *args, **kwargs)

        Jitted.__call__ = call  # type: ignore[method-assign]
