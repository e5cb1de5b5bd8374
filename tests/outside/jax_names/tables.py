"""Which module of JAX has which names, and the function or class of adze that each name stands for."""

from __future__ import annotations

import functools
import importlib
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import adze
import adze.custom_batching
import adze.debug
import adze.lax
import adze.nn
import adze.numpy
import adze.random
import adze.scipy
import adze.scipy.linalg
import adze.scipy.special
from adze.frontend.errors import ConcretizationError, LeakedTracerError
from adze.frontend.tracing.frames import Tracer

from . import dtypes, finder, trees
from .settings import config, setting

# What these ask for is how a program is compiled or placed, never what it computes.
_OF_PLACEMENT = ("inline", "donate_argnums", "donate_argnames", "keep_unused", "device", "backend")


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`adze.jit`; under `jax.disable_jit()` the function itself runs."""
    if function is None:
        return functools.partial(jit, **options)
    compiled = adze.jit(function, **{k: v for k, v in options.items() if k not in _OF_PLACEMENT})

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if setting("disable_jit").value else compiled(*args, **kwargs)

    for name in ("trace", "lower", "eval_shape"):
        setattr(called, name, getattr(compiled, name, finder.Missing(f"jax.jit(f).{name}")))
    return called


def checkpoint(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`adze.checkpoint`, without the advice to XLA."""
    options.pop("prevent_cse", None)
    return adze.checkpoint(**options) if function is None else adze.checkpoint(function, **options)


def _safe_zip(*sequences: Sequence[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*sequences, strict=True))


def _safe_map(function: Callable[..., Any], *sequences: Any) -> list[Any]:
    return [function(*xs) for xs in zip(*map(list, sequences), strict=True)]


def _unzip(count: int) -> Callable[[Any], tuple[tuple[Any, ...], ...]]:
    def unzip(tuples: Any) -> tuple[tuple[Any, ...], ...]:
        return tuple(zip(*tuples, strict=True)) or ((),) * count

    return unzip


def _split_list(items: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    rest: Iterator[Any] = iter(items)
    return [*(list(itertools.islice(rest, size)) for size in sizes), list(rest)]


def _promote_dtypes(*args: Any) -> list[Any]:
    arrays = [adze.numpy.asarray(x) for x in args]
    return [x.astype(adze.numpy.result_type(*args)) for x in arrays]


class _Mutex:
    """The lock between tests on threads; the runner has one thread."""

    reader_lock = writer_lock = staticmethod(lambda: None)
    reader_unlock = writer_unlock = staticmethod(lambda: None)


_UTIL = {
    "Mutex": _Mutex,
    "safe_zip": _safe_zip,
    "safe_map": _safe_map,
    "unzip2": _unzip(2),
    "unzip3": _unzip(3),
    "split_list": _split_list,
    "install_failure_signal_handler": lambda: None,
}
_NO_CACHE = types.SimpleNamespace(
    cache_info=lambda: types.SimpleNamespace(misses=0), cache_clear=lambda: None
)
_ERRORS = {
    "ConcretizationTypeError": ConcretizationError,
    "TracerArrayConversionError": ConcretizationError,
    "TracerBoolConversionError": ConcretizationError,
    "TracerIntegerConversionError": ConcretizationError,
    "UnexpectedTracerError": LeakedTracerError,
}
_BACKEND = types.SimpleNamespace(platform="cpu", platform_version="adze", devices=adze.devices)


def _from_public_test_util(name: str) -> Callable[..., Any]:
    """JAX's own checks of derivatives by differences, imported when first called."""
    return lambda *args, **kwargs: getattr(importlib.import_module("jax._src.public_test_util"), name)(
        *args, **kwargs
    )


def _public() -> dict[str, Any]:
    return {
        "config": config,
        "jit": jit,
        "checkpoint": checkpoint,
        "remat": checkpoint,
        "ShapeDtypeStruct": adze.ShapeDtype,
        "float0": dtypes.NAMES["float0"],
        "vectorize": adze.numpy.vectorize,
        "device_count": lambda *_: len(adze.devices()),
        "local_device_count": lambda *_: len(adze.devices()),
        "local_devices": adze.devices,
        "default_backend": lambda: "cpu",
        "block_until_ready": lambda x: x,
        **{
            name: setting(name)
            for name in (
                "disable_jit",
                "enable_checks",
                "legacy_prng_key",
                "numpy_dtype_promotion",
                "numpy_rank_promotion",
                "default_matmul_precision",
            )
        },
    }


def tables() -> tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Sequence[Any]]]:
    """The names of each module, and for some the modules of adze that answer for all others."""
    public, custom_derivatives = _public(), {"custom_jvp": adze.custom_jvp, "custom_vjp": adze.custom_vjp}
    core = {"Tracer": Tracer, "reset_trace_state": lambda: True, "Primitive": finder.Primitive, **_ERRORS}
    names: dict[str, Mapping[str, Any]] = {
        "jax": public,
        "jax.numpy": {"float0": dtypes.NAMES["float0"]},
        "jax.lax": {},
        "jax.lax.linalg": {},
        "jax.nn": {},
        "jax.random": {},
        "jax.scipy": {},
        "jax.scipy.linalg": {},
        "jax.scipy.special": {},
        "jax.numpy.linalg": {},
        "jax.numpy.fft": {},
        "jax.tree": trees.SHORT,
        "jax.tree_util": trees.NAMES,
        "jax.dtypes": dtypes.NAMES,
        "jax.errors": _ERRORS,
        "jax.debug": {},
        "jax.custom_batching": {},
        "jax.custom_derivatives": custom_derivatives,
        "jax.ad_checkpoint": {"checkpoint": checkpoint},
        "jax.test_util": {
            name: _from_public_test_util(name) for name in ("check_grads", "check_jvp", "check_vjp")
        },
        "jax._src": {"config": config},
        "jax._src.api": public,
        "jax._src.core": core,
        "jax._src.custom_derivatives": custom_derivatives,
        "jax._src.dispatch": {
            "xla_primitive_callable": _NO_CACHE,
            "device_put": adze.device_put,
        },
        "jax._src.dtypes": dtypes.NAMES,
        "jax._src.compilation_cache": {"_cache": None},
        "jax._src.interpreters.batching": {"primitive_batchers": {}},
        "jax._src.interpreters.mlir": {"register_lowering": lambda *_, **__: None},
        "jax._src.lax": {},
        "jax._src.lax.lax": {},
        "jax._src.lax.control_flow": {
            "common": types.SimpleNamespace(_dedup_consts=_NO_CACHE, _pad_constvars=_NO_CACHE)
        },
        "jax._src.lax.windowed_reductions": {},
        "jax._src.lax.utils": {},
        "jax._src.lib": {"version": (0, 0, 0)},
        "jax._src.numpy.util": {
            "promote_dtypes": _promote_dtypes,
            "promote_dtypes_inexact": _promote_dtypes,
        },
        "jax._src.tree_util": trees.NAMES,
        "jax._src.typing": {"ArrayLike": Any, "DTypeLike": Any, "Array": adze.Array},
        "jax._src.util": _UTIL,
        "jax._src.cloud_tpu_init": {
            "is_libtpu_at_least": lambda *_: False,
            "running_in_cloud_tpu_vm": False,
        },
        "jax._src.xla_bridge": {
            "get_backend": lambda *_: _BACKEND,
            "devices": adze.devices,
            "local_devices": adze.devices,
            "device_count": lambda *_: len(adze.devices()),
        },
    }
    fallbacks = {
        "jax": (adze,),
        "jax.numpy": (adze.numpy,),
        "jax.numpy.linalg": (adze.numpy.linalg,),
        "jax.numpy.fft": (adze.numpy.fft,),
        "jax.lax": (adze.lax,),
        "jax.lax.linalg": (adze.lax.linalg,),
        "jax._src.api": (adze,),
        "jax._src.lax": (adze.lax,),
        "jax._src.lax.lax": (adze.lax,),
        "jax._src.lax.control_flow": (adze.lax,),
        "jax._src.lax.windowed_reductions": (adze.lax,),
        "jax.nn": (adze.nn,),
        "jax.random": (adze.random,),
        "jax.scipy": (adze.scipy,),
        "jax.scipy.linalg": (adze.scipy.linalg,),
        "jax.scipy.special": (adze.scipy.special,),
        "jax.custom_batching": (adze.custom_batching,),
        "jax.ad_checkpoint": (adze,),
        "jax.debug": (adze.debug,),
    }
    return names, fallbacks
