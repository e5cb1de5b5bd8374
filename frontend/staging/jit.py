"""`jit`: a function that is traced and compiled for each new kind of arguments, and called at once after.

The key of the in-memory cache is the argument tree, the shape and dtype of each leaf, and the static
values. A miss is kept with its reason, so that `explain_retrace` can say why a function compiled again.
Inside another trace a jitted function becomes a private function and a call of it, traced once for each
kind of arguments.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from ...dialects.errors import AdzeError
from ...dialects.types import TensorType
from ...passes.analysis.evaluate import is_watching
from .. import tree
from ..errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ..tracing.default_dtypes import check as check_default_dtypes
from ..tracing.default_dtypes import default_dtypes as dtypes_context
from ..tracing.default_dtypes import is_float32
from ..tracing.frames import Frame, current_frame, recording
from ..tracing.function_scope import dimension_names, with_all_names
from ..tracing.interpreter import as_value, as_weak, ops, wide_of
from ..tracing.locations import located, user_location_text
from ..tracing.sizes import Dim
from ..tracing.specs import ShapeDtype
from ..tracing.trace import (
    argument_names,
    definition,
    function_name,
    keyword_names,
    parameter_of,
    result_values,
    trace_program,
)
from .donation import Donation
from .entries import UNKNOWN, Entry, KnownCalls, compiled_entry
from .first_call import FirstCall, Pending, evaluates_first, first_call_of, pending_or_failure
from .retraces import Retrace, Signature, difference, kind_of_leaf
from .static_arguments import placed, static_parameters

if TYPE_CHECKING:  # the passes and the runtime are loaded where a function is first traced or called
    from .stages import Traced


@dataclass(frozen=True)
class _Nested:
    """A jitted function traced inside another program."""

    symbol: str
    result_tree: tree.Structure
    result_types: tuple[TensorType, ...]
    result_names: tuple[tuple[str | None, ...], ...]
    weak_results: tuple[bool, ...]


_STATIC: Final = object()
_JITTED: Final[WeakSet[Jitted]] = WeakSet()


def _unlock_after_fork() -> None:
    """In a forked child: what a thread of the parent was compiling, no thread compiles here."""
    for jitted in list(_JITTED):
        jitted._lock = threading.RLock()
        jitted._pending = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)


class Jitted:
    """The result of `jit`; call it like the function it was made of."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: tuple[int, ...],
        static_argnames: tuple[str, ...],
        target: str | None,
        device: str | None,
        first_call: FirstCall | None,
        donated: tuple[tuple[int, ...], tuple[str, ...]] = ((), ()),
    ) -> None:
        functools.update_wrapper(self, function, updated=())  # attributes of a callable object stay its own
        self._function = function
        self._static_nums, self._static_names = static_parameters(function, static_argnums, static_argnames)
        self._target = target
        self._device = device
        self._first_call = first_call
        self._pending: dict[Signature, Pending] = {}
        self._entries: dict[Signature, Entry] = {}
        self._known = {False: KnownCalls(), True: KnownCalls()}  # by `default_dtypes`
        self._retraces: list[Retrace] = []
        self._lock = threading.RLock()
        _JITTED.add(self)
        self._has_static = bool(self._static_nums or self._static_names)
        nums, names = static_parameters(function, *donated, what="donate")
        self._donation = Donation(function_name(function), nums, names) if nums or names else None
        self._is_plain = not self._has_static and self._donation is None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Methods: `self` becomes the first argument."""
        return self if instance is None else functools.partial(self, instance)

    # -- calling -------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_plain and current_frame() is None and not is_watching():
            result = self._known[is_float32()].call(args, kwargs)
            if result is not UNKNOWN:
                return result
        if self._donation is not None and current_frame() is None:
            return self._call_donating(self._donation, args, kwargs)
        return self._call(args, kwargs)

    def _call_donating(self, donation: Donation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that uses arguments up."""
        donated = donation.arrays(args, kwargs)
        results = UNKNOWN
        if not self._has_static and not is_watching():
            results = self._known[is_float32()].call(args, kwargs)
        if results is UNKNOWN:
            results = self._call(args, kwargs)
        donation.use_up(donated, results)
        return results

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Any call: flatten the arguments, find or make the program, call it."""
        if current_frame() is not None:
            return self._call_nested(args, kwargs)
        static: tuple[Any, ...] = ()
        if self._has_static:
            args, kwargs, static = self._split(args, kwargs)
        leaves, structure = tree.flatten((args, kwargs))
        try:
            kinds = tuple([kind_of_leaf(leaf) for leaf in leaves])
        except AdzeError:
            for leaf, name in zip(leaves, self._argument_names(args, kwargs, static), strict=True):
                parameter_of(leaf, name)  # raises the same with the argument's name
            raise
        signature = Signature(structure, kinds, static, is_watching(), is_float32())
        entry = self._entries.get(signature)
        if entry is None:
            if evaluates_first(self._first_call) and not signature.checks_nans:
                pending = self._compile_beside(signature, args, kwargs, static)
                if pending is not None:
                    return pending.evaluate(leaves)
            entry = self._compile_entry(signature, args, kwargs, static)
        if not static and not signature.checks_nans:
            self._known[signature.default_is_float32].add(
                structure, kinds, leaves, not kwargs and len(leaves) == len(args), entry
            )
        return entry.call(leaves)

    def _compile_entry(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> Entry:
        with self._lock:
            known = self._entries.get(signature)
            if known is not None:
                return known
            traced = self._retrace(signature, args, kwargs, static)
            with located():
                entry = compiled_entry(traced, self._target or self._default_target(), self._device)
            self._entries[signature] = entry
            return entry

    def _retrace(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> Traced:
        """Trace for a compile, and note why."""
        traced = self._trace(args, kwargs, static)
        names = [p.name for p in traced.parameters]
        self._retraces.append(Retrace(user_location_text(), self._why(signature, names)))
        return traced

    def _compile_beside(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> Pending | None:
        """The program that a thread compiles for this call; None where it is there by now."""
        with self._lock:
            if signature in self._entries:
                return None
            if signature in self._pending:
                return pending_or_failure(self._pending, signature)
            traced = self._retrace(signature, args, kwargs, static)
            target = self._target or self._default_target()
            compile_program = functools.partial(compiled_entry, traced, target, self._device)
            pending = Pending(traced, compile_program)
            pending.start(self._lock, self._pending, self._entries, signature)
            return pending

    def _default_target(self) -> str:
        """What the device that was asked for needs code for."""
        from ...runtime.execute.devices import get_device
        from ...runtime.settings import read_settings

        where = self._device or read_settings().device
        return get_device(where).kind.value if where else "cpu"

    def _trace(self, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]) -> Traced:
        from .stages import Traced

        names = self._argument_names(args, kwargs, static)
        program = trace_program(self._function, args, kwargs, static=self._joined(static), names=names)
        marked, _ = placed(args, kwargs, tuple((p, t, _STATIC) for p, t, _ in static))
        known = zip(keyword_names(self._function, marked), marked, strict=True)
        program.argument_names = [name for name, arg in known if arg is not _STATIC]
        if is_watching():
            from .debug import add_checks

            add_checks(program)
        return Traced(program)

    def _argument_names(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> list[str]:
        """A name for each array leaf, static arguments left out."""
        marked, keywords = placed(args, kwargs, tuple((p, t, _STATIC) for p, t, _ in static))
        everything = argument_names(self._function, marked, keywords)
        leaves = tree.leaves((tuple(marked), keywords))
        return [name for name, leaf in zip(everything, leaves, strict=True) if leaf is not _STATIC]

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace at these arguments, arrays or `ShapeDtype` specs, without compiling."""
        args, kwargs, static = self._split(args, kwargs)
        return self._trace(args, kwargs, static)

    # -- static arguments ----------------------------------------------------------------------

    def _split(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]:
        """Array arguments, array keyword arguments, and the static ones with their places."""
        if not self._has_static:
            return tuple(args), dict(kwargs), ()
        positions = {n % len(args) if n < 0 and args else n for n in self._static_nums}
        static = [(i, a) for i, a in enumerate(args) if i in positions]
        static_keywords = [(k, v) for k, v in kwargs.items() if k in self._static_names]
        for place, value in (*static, *static_keywords):
            try:
                hash(value)
            except TypeError:
                raise ArgumentError(
                    f"static argument {place!r} of {function_name(self._function)} is "
                    f"{type(value).__name__}, which cannot be hashed",
                    where=user_location_text(),
                    hint="pass a tuple instead of a list, or make the argument an array argument",
                ) from None
        arrays = tuple(a for i, a in enumerate(args) if i not in positions)
        rest = {k: v for k, v in kwargs.items() if k not in self._static_names}
        keyed = tuple((p, type(v), v) for p, v in (*static, *sorted(static_keywords)))
        return arrays, rest, keyed

    def _joined(self, static: tuple[Any, ...]) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
        """The function of array arguments only, static ones put back in their places."""

        def call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
            full, keywords = placed(args, kwargs, static)
            return self._function(*full, **keywords)

        return call

    # -- inside a trace ------------------------------------------------------------------------

    def _call_nested(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        frame = current_frame()
        assert frame is not None
        args, kwargs, static = self._split(args, kwargs)
        leaves, structure = tree.flatten((args, kwargs))
        given = [as_value(leaf) for leaf in leaves]
        weak, values = [v.weak_type for v in given], [wide_of(v) for v in given]
        key = (
            id(self),
            structure,
            tuple(zip(map(ops.type_of, values), weak, strict=True)),
            static,
            is_float32(),
        )
        # With the jitted function itself: while it is kept, no other one gets its address.
        memo: dict[Any, tuple[Jitted, _Nested]] = frame.program.memo
        captured: list[Any] = []
        if key in memo:
            _, nested = memo[key]
        else:
            nested, captured, asked = self._trace_nested(frame, structure, values, weak, static)
            if not captured and not asked:
                memo[key] = (self, nested)
        results = ops.call(*values, *captured, callee=nested.symbol, results=nested.result_types)
        with_all_names(results, nested.result_names, [*values, *captured])
        placed = zip(results, nested.weak_results, strict=True)
        return tree.unflatten(nested.result_tree, [as_weak(r) if is_weak else r for r, is_weak in placed])

    def _trace_nested(
        self,
        outer: Frame,
        structure: tree.Structure,
        values: Sequence[Any],
        weak: Sequence[bool],
        static: tuple[Any, ...],
    ) -> tuple[_Nested, list[Any], bool]:
        """The function, what it captures, and whether it holds for the present values of those alone."""
        frame = Frame(
            outer.program,
            function_name(self._function),
            outer,
            private=True,
            where=definition(self._function),
        )
        with recording(frame):
            inner = []
            for value, is_weak in zip(values, weak, strict=True):
                names = [n.text if isinstance(n, Dim) else None for n in value.shape]
                tracer = frame.add_argument(ops.tensor_type(value), names)
                inner.append(as_weak(tracer) if is_weak else tracer)
            args, kwargs = tree.unflatten(structure, inner)
            results, result_tree, _ = result_values(self._function, self._joined(static)(args, kwargs))
            weak_results = tuple(r.weak_type for r in results)
            results = [wide_of(r) for r in results]
            frame.finish(results)
        types = tuple(ops.tensor_type(r) for r in results)
        captured = [v for v, _ in frame.captured.values()]
        named = tuple(map(dimension_names, results))
        return _Nested(frame.symbol, result_tree, types, named, weak_results), captured, frame.asked

    # -- explaining ----------------------------------------------------------------------------

    @property
    def retraces(self) -> list[Retrace]:
        """Every trace so far with its reason, oldest first."""
        return list(self._retraces)

    def cache_size(self) -> int:
        """The number of compiled programs."""
        return len(self._entries)

    def clear_cache(self) -> None:
        """Forget all compiled programs."""
        with self._lock:
            self._entries.clear()
            self._known = {False: KnownCalls(), True: KnownCalls()}
            self._pending.clear()

    def _why(self, new: Signature, names: Sequence[str]) -> str:
        if not self._entries:
            return "first call"
        reasons = [difference(old, new, names) for old in self._entries]
        return min(reasons, key=len)

    def __repr__(self) -> str:
        return f"<adze.jit of {function_name(self._function)}, {len(self._entries)} compiled>"


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    target: str | None = None,
    device: str | None = None,
    first_call: str | None = None,
    default_dtypes: str | None = None,
    inline: bool = False,
    keep_unused: bool = False,
    backend: str | None = None,
    in_shardings: None = None,
    out_shardings: None = None,
    compiler_options: None = None,
) -> Any:
    """Compile `function` ahead of its calls, once for each tree, shape and dtype of its arguments.

    Arguments are pytrees of NumPy arrays, adze arrays, Python numbers or anything with `__dlpack__`;
    results are `adze.Array`s. `static_argnums` and `static_argnames` name arguments that are Python
    values of the trace (hashable; a new value traces again). `target` is what code is made for (`cpu`,
    `vulkan`, `cuda:sm_80`, ...; by default what the device needs), `device` where it runs (by default
    ADZE_DEVICE, else the cheaper CPU driver).

    `donate_argnums` and `donate_argnames` name arguments whose device arrays a call may use up: each of them
    is deleted when the call returns a result of as many bytes, which frees its memory; using it later is a
    `DeletedArrayError`. Other donated arguments, and those of a call inside another trace, stay as they are.

    With `first_call="evaluate"` a call with arguments of new kinds does not wait for the compile: it is
    computed with NumPy, as all calls are until a thread has compiled the program. Such results are arrays in
    host memory, may differ from the compiled ones by rounding, and keep subnormal numbers; a failure of the
    compile is raised by a later call. By default ADZE_FIRST_CALL decides, else the first call compiles.

    `default_dtypes="float32"` lets float64 constants that NumPy made yield to what they meet: see
    `adze.default_dtypes`.

    The rest are JAX's: calls inside other functions are inlined and unused arguments stay whatever `inline`
    and `keep_unused` say; `backend` may be "cpu", shardings and `compiler_options` None alone.

    Raises `ArgumentError` for arguments that are no arrays, `TraceError` for functions that cannot be
    traced, `CompileError` when IREE cannot compile the program.
    """
    if function is None:
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
    _check_options(backend, in_shardings, out_shardings, compiler_options)
    if not callable(function):
        raise ArgumentTypeError(
            f"jit expects a function, got {type(function).__name__}", where=user_location_text()
        )
    if default_dtypes is not None:
        check_default_dtypes(default_dtypes)
        function = dtypes_context(default_dtypes)(function)
    static = _listed(static_argnums, static_argnames)
    donated = _listed(donate_argnums, donate_argnames)
    return Jitted(function, *static, target, device, first_call_of(first_call), donated)


def _check_options(backend: str | None, in_shardings: Any, out_shardings: Any, compiler_options: Any) -> None:
    """Refuse values of JAX's options that would be ignored."""
    if backend not in (None, "cpu"):
        raise UnsupportedError(
            f"jit(backend={backend!r})",
            where=user_location_text(),
            hint='write target="vulkan", or another target of `adze targets`',
        )
    if in_shardings is not None or out_shardings is not None:
        raise UnsupportedError("jit with shardings: a program runs on one device", where=user_location_text())
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


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Traced:
    """Trace `function` at arrays or `ShapeDtype` specs; print the result to see its IR."""
    jitted = function if isinstance(function, Jitted) else jit(function)
    traced: Traced = jitted.trace(*args, **kwargs)
    return traced


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The results of `fun` as a tree of `ShapeDtype`, found by tracing: nothing is computed.

    Arguments are arrays or specs. A dynamic dimension of a result has a name where an argument gave it one,
    and is None otherwise.
    """
    frame = current_frame()
    if frame is not None:
        return _shapes_inside(frame, fun, args, kwargs)
    program = trace(fun, *args, **kwargs).program
    kinds = zip(program.result_shapes, program.result_types, strict=True)
    leaves = [ShapeDtype(shape, t.dtype) for shape, t in kinds]
    return tree.unflatten(program.result_tree, leaves)


def _shapes_inside(
    outer: Frame, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """As `eval_shape`, in a trace whose values `fun` may use."""
    leaves, structure = tree.flatten((args, kwargs))
    frame = Frame(outer.program, function_name(fun), outer, private=True, where=definition(fun))
    with recording(frame):
        inner = []
        for leaf in leaves:
            value = leaf if isinstance(leaf, ShapeDtype) else as_value(leaf)
            kind = value.type if isinstance(value, ShapeDtype) else ops.tensor_type(value)
            inner.append(frame.add_argument(kind, _names_of(value.shape)))
        inner_args, inner_kwargs = tree.unflatten(structure, inner)
        results, result_tree, _ = result_values(fun, fun(*inner_args, **inner_kwargs))
        specs = [ShapeDtype([_size_text(n) for n in r.shape], r.dtype) for r in results]
        frame.discard()
    return tree.unflatten(result_tree, specs)


def _names_of(shape: Sequence[Any]) -> list[str | None]:
    texts = [n.text if isinstance(n, Dim) else n for n in shape]
    return [n if isinstance(n, str) else None for n in texts]


def _size_text(size: Any) -> int | None:
    return size if isinstance(size, int) else None


def explain_retrace(function: Jitted) -> str:
    """Why a jitted function was traced, one line a trace."""
    if not isinstance(function, Jitted):
        raise ArgumentTypeError(
            f"explain_retrace expects a function made by adze.jit, got {type(function).__name__}",
            where=user_location_text(),
        )
    return "\n".join(f"{i}. {r.where}: {r.reason}" for i, r in enumerate(function.retraces, 1))
