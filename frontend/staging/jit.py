"""`jit`, and what is asked of jitted functions: their IR, why they were traced again.

Input: a function and options. Output: a `Jitted` function. Idea: options are checked here, calls are
made there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..errors import ArgumentTypeError, UnsupportedError
from ..sharding.constraints import Shardings
from ..sharding.ranks import Rank
from ..tracing.default_dtypes import check as check_default_dtypes
from ..tracing.default_dtypes import default_dtypes as dtypes_context
from ..tracing.jax_rules import follows_jax
from ..tracing.locations import user_location_text
from ..tracing.references import when_used
from .first_call import first_call_of
from .jitted import Jitted
from .reference_calls import install as look_for_references

if TYPE_CHECKING:
    from .traced import Traced

when_used(look_for_references)

_PROGRAMS: Final = "__adze_programs__"


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    target: str | None = None,
    device: Any = None,
    first_call: str | None = None,
    default_dtypes: str | None = None,
    inline: bool = False,
    keep_unused: bool = False,
    backend: str | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    compiler_options: None = None,
) -> Any:
    """Compile `fun` ahead of its calls, once for each tree, shape and dtype of its arguments.

    Arguments are pytrees of NumPy arrays, adze arrays, Python numbers or anything with `__dlpack__`;
    results are `adze.Array`s. `static_argnums` and `static_argnames` name arguments that are Python
    values of the trace (hashable; a new value traces again). `target` is what code is made for (`cpu`,
    `vulkan`, `cuda:sm_80`, ...; by default what the device needs), `device` where it runs (one of
    `devices()` or its name; by default ADZE_DEVICE, else the cheaper CPU driver).

    `donate_argnums` and `donate_argnames` name arguments whose device arrays a call may use up: each of them
    is deleted when the call returns a result of as many bytes, which frees its memory; using it later is a
    `DeletedArrayError`. Other donated arguments, and those of a call inside another trace, stay as they are.

    With `first_call="evaluate"` a call with arguments of new kinds does not wait for the compile: it is
    computed with NumPy, as all calls are until a thread has compiled the program. Such results are arrays in
    host memory, may differ from the compiled ones by rounding, and keep subnormal numbers; a failure of the
    compile is raised by a later call. By default ADZE_FIRST_CALL decides, else the first call compiles.

    `default_dtypes="float32"` lets float64 constants that NumPy made yield to what they meet: see
    `adze.default_dtypes`.

    `in_shardings` and `out_shardings` say how the positional arguments and the results lie on the ranks of
    a mesh: a `NamedSharding`, a `PartitionSpec` over the mesh in force, None for whatever they have, or a
    tree of these. In a job each rank then computes its part, and Shardy finds how everything between lies; so
    it does where an argument is a divided array (`device_put` to a sharding). Where all ranks are local, the
    program computes whole arrays.

    The rest are JAX's: calls inside other functions are inlined and unused arguments stay whatever `inline`
    and `keep_unused` say; `backend` may be "cpu", `compiler_options` None alone.

    Raises `ArgumentError` for arguments that are no arrays, `TraceError` for functions that cannot be
    traced, `CompileError` when IREE cannot compile the program, `ShardingError` for shardings that do not
    fit, `MissingShardyError` where the extra `shard` is not installed.
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            target=target,
            device=device,
            first_call=first_call,
            default_dtypes=default_dtypes,
            backend=backend,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            compiler_options=compiler_options,
        )
    _check_options(backend, compiler_options)
    device = None if isinstance(device, Rank) else getattr(device, "name", device)
    if not callable(fun):
        raise ArgumentTypeError(
            f"jit expects a function, got {type(fun).__name__}", where=user_location_text()
        )
    if default_dtypes is not None:
        check_default_dtypes(default_dtypes)
        fun = dtypes_context(default_dtypes)(fun)
    static = _listed(static_argnums, static_argnames)
    donated = _listed(donate_argnums, donate_argnames)
    shardings = None
    if in_shardings is not None or out_shardings is not None:
        shardings = Shardings(in_shardings, out_shardings)
    jitted = Jitted(fun, *static, target, device, first_call_of(first_call), donated, shardings)
    if shardings is None and isinstance(fun, FunctionType) and follows_jax():
        _share(jitted, fun, (static, donated, target, device, first_call))
    return jitted


class _Programs:
    """What `jit` made of one function, by the options."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.by_options: dict[Any, Jitted] = {}


def _share(jitted: Jitted, function: FunctionType, options: Any) -> None:
    """Let `jit` of one function have one set of programs, as in JAX: programs call `jit(f)(x)` in loops.

    They are kept with the function, so that they go when it goes. What wraps it has a copy of its attributes
    (`functools.wraps`), and is another function.
    """
    programs = vars(function).get(_PROGRAMS)
    if programs is None or programs.function is not function:
        programs = vars(function)[_PROGRAMS] = _Programs(function)
    earlier = programs.by_options.setdefault(options, jitted)
    if earlier is not jitted:
        jitted.share(earlier)


def _check_options(backend: str | None, compiler_options: Any) -> None:
    """Refuse values of JAX's options that would be ignored."""
    if backend not in (None, "cpu"):
        raise UnsupportedError(
            f"jit(backend={backend!r}): expected 'cpu' or None",
            where=user_location_text(),
            hint='write target="cuda", target="vulkan", or another target of `adze targets`',
        )
    if compiler_options:
        raise UnsupportedError(
            "jit(compiler_options=...): these are options of XLA",
            where=user_location_text(),
            hint="leave them out",
        )


def _listed(
    nums: int | Sequence[int] | None, names: str | Sequence[str] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of arguments, which may be one of each, several or None."""
    positions = (nums,) if isinstance(nums, int) else tuple(nums or ())
    return positions, (names,) if isinstance(names, str) else tuple(names or ())


def trace(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Traced:
    """Trace `function` at arrays or `ShapeDtype` specs; print the result to see its IR."""
    jitted = function if isinstance(function, Jitted) else jit(function)
    traced: Traced = jitted.trace(*args, **kwargs)
    return traced


def explain_retrace(function: Jitted) -> str:
    """Why a jitted function was traced, one line a trace."""
    if not isinstance(function, Jitted):
        raise ArgumentTypeError(
            f"explain_retrace expects a function made by adze.jit, got {type(function).__name__}",
            where=user_location_text(),
        )
    return "\n".join(f"{i}. {r.where}: {r.reason}" for i, r in enumerate(function.retraces, 1))
