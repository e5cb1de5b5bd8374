"""`Jitted`: a function that is traced and compiled for each new kind of arguments, and called at once after.

Input: a function, which of its arguments are static or donated, calls. Output: what the function returns.
Idea: the key of the in-memory cache is the argument tree, the shape and dtype of each leaf, and the static
values. A miss is kept with its reason, so that `explain_retrace` can say why a function compiled again.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from ...dialects.communicator import bound
from ...dialects.errors import AdzeError
from ...dialects.forks import let_forks_wait
from ...passes.analysis.evaluate import WATCH, is_watching
from .. import tree
from ..sharding.arrays import is_divided
from ..tracing.array import Array
from ..tracing.default_dtypes import CHOICES, chosen, is_float32, names_widening
from ..tracing.frames import JIT_DISABLED, current_frame
from ..tracing.interludes import suspended_frame, trace_of
from ..tracing.interpreter import laid_out
from ..tracing.locations import located, user_location_text
from ..tracing.mesh_in_force import MESH, mesh_in_force
from ..tracing.references import any_alive
from ..tracing.trace import argument_names, function_name, keyword_names, parameter_of, trace_program
from .call_arguments import UNKNOWN, call_key
from .donation import Donation
from .entries import Entry
from .first_call import FirstCall, Pending, evaluates_first, pending_or_failure
from .known_calls import KnownCalls, are_leaves
from .nested_calls import call_nested
from .retraces import Retrace, Signature, difference, kind_of_leaf, log
from .static_arguments import placed, static_parameters, unhashable

if TYPE_CHECKING:  # the passes and the runtime are loaded where a function is first traced or called
    from ..sharding.constraints import Shardings
    from .divided import DividedEntry
    from .lowered import Lowered
    from .traced import Traced


_STATIC: Final = object()
_JITTED: Final[WeakSet[Jitted]] = WeakSet()


def _unlock_after_fork() -> None:
    """In a forked child: what a thread of the parent was compiling, no thread compiles here."""
    for jitted in list(_JITTED):
        jitted._lock = threading.RLock()
        jitted._pending = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)


def _new_known_calls() -> dict[Any, KnownCalls]:
    """Calls by what contexts chose of `default_dtypes` and `debug.widening`, without a mesh in force."""
    return {choice: KnownCalls() for choice in CHOICES}


class Jitted:
    """The result of `jit`; call it like the function it was made of."""

    DECIDES = ("function", "_static_nums", "_static_names")
    """The attributes that decide what a call computes: see `tracing/visible.py`."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: tuple[int, ...],
        static_argnames: tuple[str, ...],
        target: str | None,
        device: str | None,
        first_call: FirstCall | None,
        donated: tuple[tuple[int, ...], tuple[str, ...]] = ((), ()),
        shardings: Shardings | None = None,
    ) -> None:
        functools.update_wrapper(self, function, updated=())  # attributes of a callable object stay its own
        self.function = function
        self._static_nums, self._static_names = static_parameters(function, static_argnums, static_argnames)
        self._target = target
        self._device = device
        self._first_call = first_call
        self._pending: dict[Signature, Pending] = {}
        self._entries: dict[Signature, Entry | DividedEntry] = {}
        self._known = _new_known_calls()
        self._layouts: dict[Signature, Sequence[Any]] = {}
        self._retraces: list[Retrace] = []
        self._transforms: dict[tuple[Any, ...], Jitted] = {}
        self.plans: dict[Any, Any] = {}
        """How calls are made while there are references (`new_ref`)."""
        self._lock = threading.RLock()
        _JITTED.add(self)
        self._has_static = bool(self._static_nums or self._static_names)
        self._places: dict[int, tuple[list[int], list[int]]] = {}
        """Of so many positional arguments, where the static ones are, and the others."""
        nums, names = static_parameters(function, *donated, what="donate")
        self._donation = Donation(function_name(function), nums, names) if nums or names else None
        self._shardings = shardings
        self._is_plain = not self._has_static and self._donation is None and shardings is None

    def transformed(
        self, key: tuple[Any, ...], transform: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> Jitted | None:
        """`transform(function)`, jitted like this one; one for each `key`, None where that has no hash."""
        if JIT_DISABLED.get() or WATCH.get() is not None or any_alive():
            return None
        try:
            known = self._transforms.get(key)
        except TypeError:
            return None
        if known is None:
            static = self._static_nums, self._static_names
            made = transform(self.function)
            known = Jitted(made, *static, self._target, self._device, self._first_call)
            self._transforms[key] = known
        return known

    def share(self, earlier: Jitted) -> None:
        """Let the programs of both be the same: `earlier` is of the same function, with the same options."""
        self._pending, self._entries, self._known = earlier._pending, earlier._entries, earlier._known
        self._layouts, self._retraces, self.plans = earlier._layouts, earlier._retraces, earlier.plans
        self._lock, self._transforms = earlier._lock, earlier._transforms

    def __copy__(self) -> Jitted:
        return self

    def __deepcopy__(self, memo: Any) -> Jitted:
        return self  # as functions are

    def __reduce__(self) -> Any:
        """By name where its module has it under its name, as functions are; else what it is made of.

        Who sends functions by value gets those of `__main__` with what they are made of.
        """
        name = str(getattr(self, "__qualname__", ""))
        is_reference = self.__module__ != "__main__" or not _is_sent_by_value(sys._getframe(1))
        if is_reference and _named(self.__module__, name) is self:
            return name
        static = self._static_nums, self._static_names
        donated = ((), ()) if self._donation is None else (self._donation.positions, self._donation.names)
        return Jitted, (
            *(self.function, *static, self._target, self._device, self._first_call, donated),
            self._shardings,
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Methods: `self` becomes the first argument."""
        return self if instance is None else functools.partial(self, instance)

    # -- calling -------------------------------------------------------------------------------

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._is_plain and current_frame() is None and WATCH.get() is None:
            known = self._known[chosen()] if MESH.get() is None else self._known_calls()
            if not kwargs and args and type(args[0]) is Array:  # what `known.call` does, without that call
                try:
                    if len(args) == 2:
                        known_as: Any = (args[0].call_kind, args[1].call_kind)
                    else:
                        known_as = tuple([arg.call_kind for arg in args])
                    run = known.direct.arrays.get(known_as)
                except (AttributeError, TypeError):
                    run = None
                if run is not None:
                    return run(*args)
            result = known.call_others(args, kwargs)
            if result is not UNKNOWN:
                return result
        if self._shardings is not None and current_frame() is None:
            return self._call_sharded(self._shardings, args, kwargs)
        if self._donation is not None and current_frame() is None:
            return self._call_donating(self._donation, args, kwargs)
        if self._has_static and current_frame() is None:
            results = self._call_known(args, kwargs)
            if results is not UNKNOWN:
                return results
        return self._call(args, kwargs)

    def _known_calls(self, static: tuple[Any, ...] = ()) -> KnownCalls:
        """The calls that are known in this context, with these static arguments."""
        mesh = mesh_in_force()
        key = chosen() if mesh is None and not static else (chosen(), mesh, static)
        known = self._known.get(key)
        return self._known.setdefault(key, KnownCalls()) if known is None else known

    def _call_known(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The results of a call that is known, with its static arguments; else `UNKNOWN`."""
        if is_watching():
            return UNKNOWN
        static: tuple[Any, ...] = ()
        if self._has_static:
            args, kwargs, static = self._split(args, kwargs)
        return self._known_calls(static).call(args, kwargs)

    def _call_sharded(self, shardings: Shardings, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose results lie as they were asked to."""
        donated = [] if self._donation is None else self._donation.arrays(args, kwargs)
        results = shardings.placed(self._call(args, kwargs))
        if self._donation is not None:
            self._donation.use_up(donated, results)
        return results

    def _call_donating(self, donation: Donation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that uses arguments up."""
        donated = donation.arrays(args, kwargs)
        results = self._call_known(args, kwargs)
        if results is UNKNOWN:
            results = self._call(args, kwargs)
        donation.use_up(donated, results)
        return results

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Any call: flatten the arguments, find or make the program, call it."""
        if current_frame() is not None:
            return call_nested(self, *self._split(args, kwargs))
        if suspended_frame() is not None:
            with trace_of(tree.leaves((args, kwargs))):
                if current_frame() is not None:
                    return call_nested(self, *self._split(args, kwargs))
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
        context = is_watching(), is_float32(), names_widening(), mesh_in_force()
        signature = Signature(structure, kinds, static, *context)
        entry = self._entries.get(signature)
        if entry is None:
            let_forks_wait()
            if evaluates_first(self._first_call) and not signature.checks_nans and self._shardings is None:
                pending = self._compile_beside(signature, args, kwargs, static)
                if pending is not None:
                    return self._lying(signature, pending.evaluate(leaves))
            entry = self._compile_entry(signature, args, kwargs, static)
        key = call_key(leaves)
        results = entry.call(leaves)
        if signature in self._layouts:
            return self._lying(signature, results)
        if not signature.checks_nans and isinstance(entry, Entry):
            self._known_calls(static).add(structure, key, leaves, are_leaves(args, kwargs, leaves), entry)
        return results

    def _lying(self, signature: Signature, results: Any) -> Any:
        """Results that lie on a mesh as the trace said, where that is part of their types."""
        layouts = self._layouts.get(signature)
        if layouts is None:
            return results
        leaves, structure = tree.flatten(results)
        return tree.unflatten(structure, list(map(laid_out, leaves, layouts)))

    def _compile_entry(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> Entry | DividedEntry:
        with self._lock:
            known = self._entries.get(signature)
            if known is not None:
                return known
            traced = self._retrace(signature, args, kwargs, static)
            divided = self._divided_entry(traced, args, kwargs)
            if divided is not None:
                self._entries[signature] = divided
                return divided
            with located():
                entry = compiled_entry(traced, self._target or self._default_target(), self._device)
            self._entries[signature] = entry
            return entry

    def _divided_entry(
        self, traced: Traced, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> DividedEntry | None:
        """The program of one rank of a job, where the arguments or the function say that it is divided."""
        leaves = tree.leaves((args, kwargs))
        if self._shardings is None and bound() is None and not any(map(is_divided, leaves)):
            return None
        from .divided import DividedEntry, divided_plan

        plan = divided_plan(traced, leaves, self._shardings, args, kwargs)
        if plan is None:
            return None
        with located():
            lowered = plan.traced.lower(self._target or self._default_target())
            return DividedEntry(lowered.compile(device=self._device), plan)

    def _retrace(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]
    ) -> Traced:
        """Trace for a compile, and note why."""
        traced = self._trace(args, kwargs, static)
        names = [p.name for p in traced.parameters]
        if traced.program.result_layouts:
            self._layouts[signature] = traced.program.result_layouts
        self._retraces.append(Retrace(user_location_text(), self._why(signature, names)))
        log(function_name(self.function), self._retraces[-1])
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
        return get_device(where).target if where else "cpu"

    def _trace(self, args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Any, ...]) -> Traced:
        from .traced import Traced

        names = self._argument_names(args, kwargs, static)
        program = trace_program(self.function, args, kwargs, static=self.of_arrays(static), names=names)
        marked, _ = placed(args, kwargs, tuple((p, t, _STATIC) for p, t, _ in static))
        known = zip(keyword_names(self.function, marked), marked, strict=True)
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
        everything = argument_names(self.function, marked, keywords)
        leaves = tree.leaves((tuple(marked), keywords))
        return [name for name, leaf in zip(everything, leaves, strict=True) if leaf is not _STATIC]

    def trace(self, /, *args: Any, **kwargs: Any) -> Traced:
        """Trace at these arguments, arrays or `ShapeDtype` specs, without compiling."""
        args, kwargs, static = self._split(args, kwargs)
        return self._trace(args, kwargs, static)

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """Trace at these arguments, arrays or specs, and lower for the device that calls would run on.

        `.compile()` makes the program, which is called without static arguments, as JAX's.
        """
        return self.trace(*args, **kwargs).lower(self._target or self._default_target())

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """The types of the results for these arguments, a tree of `ShapeDtype`s."""
        return self.trace(*args, **kwargs).out_info

    # -- static arguments ----------------------------------------------------------------------

    def _split(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]:
        """Array arguments, array keyword arguments, and the static ones with their places."""
        if not self._has_static:
            return tuple(args), dict(kwargs), ()
        count, rest = len(args), dict(kwargs)
        places = self._places.get(count)
        if places is None:
            static_places = sorted({n % count if n < 0 and count else n for n in self._static_nums})
            places = (
                [n for n in static_places if n < count],
                [n for n in range(count) if n not in static_places],
            )
            self._places[count] = places
        static, others = places
        keyed: list[tuple[Any, type, Any]] = [(n, type(args[n]), args[n]) for n in static]
        for name in sorted(self._static_names) if kwargs else ():
            if name in rest:
                value = rest.pop(name)
                keyed.append((name, type(value), value))
        for place, _, value in keyed:
            try:
                hash(value)
            except TypeError:
                raise unhashable(place, value, function_name(self.function)) from None
        return tuple([args[n] for n in others]), rest, tuple(keyed)

    def with_arrays(
        self, change: Callable[[Any], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with `change` of the leaves of those that are not static."""
        arrays, rest, static = self._split(args, kwargs)
        full, keywords = placed(tree.map(change, arrays), tree.map(change, rest), static)
        return tuple(full), dict(keywords)

    def of_arrays(self, static: tuple[Any, ...]) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
        """The function of array arguments only, static ones put back in their places."""

        shardings = self._shardings

        def call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
            if shardings is not None:
                args = shardings.constrained(args)
            full, keywords = placed(args, kwargs, static)
            result = self.function(*full, **keywords)
            return result if shardings is None else shardings.constrained_results(result)

        return call

    # -- explaining ----------------------------------------------------------------------------

    @property
    def retraces(self) -> list[Retrace]:
        """Every trace so far with its reason, oldest first."""
        return list(self._retraces)

    def cache_size(self) -> int:
        """The number of compiled programs."""
        return len(self._entries)

    _cache_size = cache_size
    """JAX's name, which programs ask to see whether a call traced again."""

    def clear_cache(self) -> None:
        """Forget all compiled programs."""
        with self._lock:
            self._entries.clear()
            self.plans.clear()
            for known in list(self._known.values()):
                known.forget()
            self._pending.clear()

    def _why(self, new: Signature, names: Sequence[str]) -> str:
        if not self._entries:
            return "first call"
        reasons = [difference(old, new, names) for old in self._entries]
        return min(reasons, key=len)

    def __repr__(self) -> str:
        return f"<adze.jit of {function_name(self.function)}, {len(self._entries)} compiled>"


def _named(module: str | None, name: str) -> Any:
    """What a loaded module has under a qualified name; None where that is nothing."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_sent_by_value(frame: FrameType | None) -> bool:
    """Whether cloudpickle or dill asks, which send the code of `__main__` to processes without it."""
    while frame is not None:
        if not {"cloudpickle", "dill"}.isdisjoint(str(frame.f_globals.get("__name__")).split(".")):
            return True
        frame = frame.f_back
    return False


def forget_all() -> None:
    """Forget the programs of all jitted functions: what they were traced by has changed."""
    for jitted in list(_JITTED):
        jitted.clear_cache()


def compiled_entry(traced: Traced, target: str, device: str | None) -> Entry:
    """Compile a traced program for `target`, loaded on `device`."""
    from .known_programs import compiled_program

    return Entry(compiled_program(traced, target, device))
