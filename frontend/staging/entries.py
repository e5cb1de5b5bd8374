"""Compiled programs ready to be called, and the short ways from the arguments of a call to one of them.

Input: the arguments of a call. Output: its results, where a program for arguments of their kinds is known.

Idea: an array on a device carries its `Kind`, one object for shape, dtype and device. A tuple of kinds finds
the program and says at once that its checks have been passed before, so that only the views of the arrays
are left to hand over. Trees are taken apart by code for their structure (`tree_code.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn
from weakref import WeakSet

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from .. import tree
from ..tracing.array import Array, array_of_view
from ..tracing.kinds import Kind, kind_of
from ..tracing.locations import user_location_text
from .call_code import CallCode, call_code
from .host import runtime_argument, view_on_cpu
from .tree_code import Flatten, flatten_code, unflatten_code

if TYPE_CHECKING:
    from ...runtime.execute.program import Function
    from .compiled import Compiled

UNKNOWN: Final = object()
"""What `KnownCalls.call` returns for arguments of kinds that it does not know."""

MOST_KINDS: Final = 64
"""Kinds of arguments that a program whose sizes show at the call is known for."""

MOST_TREES: Final = 4
"""Structures of arguments that have a short way, of one function: each is tried in turn."""


class Entry:
    """A compiled program, ready to be called with leaves.

    Where sizes show at the call, an entry is for arguments of the shapes of an earlier call, whose results
    are given, with those shapes: the results of arguments of the same shapes have the same shapes.
    """

    def __init__(
        self, compiled: Compiled, results: Any = None, shapes: Sequence[tuple[int, ...]] | None = None
    ) -> None:
        self.compiled = compiled
        self._shapes = shapes
        self.function: Function = compiled.function
        program = compiled.program
        self.dtypes = tuple(p.type.dtype for p in program.parameters)
        self.result_tree = program.result_tree
        self.is_single = program.result_tree.is_leaf()
        self.unflatten = unflatten_code(self.result_tree) or self.result_tree.unflatten
        self._device = self.function.device
        specs = self.function.signature.inputs
        self.is_static = all(spec.static_shape is not None for spec in specs)
        """Whether the program takes arguments of one shape each."""
        count = len(self.function.signature.outputs)
        self._weak_results = program.weak_results if len(program.weak_results) == count else [False] * count
        self._result_kinds = self._kinds_of_results(results)

    def _kinds_of_results(self, results: Any) -> tuple[Kind, ...] | None:
        """The kinds of the results on the function's device, None where a shape shows only after a call.

        `results`: those of an earlier call, None for none.
        """
        specs = self.function.signature.outputs
        leaves = [None] * len(specs) if results is None else tree.flatten(results)[0]
        kinds = []
        for spec, result, is_weak in zip(specs, leaves, self._weak_results, strict=True):
            shape = spec.static_shape if result is None else result.shape
            if shape is None:
                return None
            kinds.append(kind_of(shape, spec.dtype, self._device, is_weak))
        return tuple(kinds)

    def takes(self, leaves: Sequence[Any]) -> bool:
        """Whether arrays of the kinds of these leaves, which fit the program, may go to `call_arrays`."""
        memory = self.function.device.memory
        return self._result_kinds is not None and all(
            type(leaf) is Array
            and leaf.kind is not None
            and (not leaf.weak_type or leaf.kind.is_weak)
            and leaf.kind.device.memory == memory
            for leaf in leaves
        )

    def call_arrays(self, arrays: Sequence[Array]) -> Any:
        """As `call`, for arrays whose kinds are those of leaves that it `takes`: nothing is checked again."""
        function, kinds = self.function, self._result_kinds
        if not function.is_usable or function.device is not self._device or kinds is None:
            return self._call_elsewhere(arrays)
        return self._called([array._view for array in arrays], arrays, kinds)

    def code(self) -> CallCode:
        """As `call_arrays`, of single arguments, for this process; see `KnownCalls`."""
        return self._written(of_views=False) or (lambda *arrays: self.call_arrays(arrays))

    def code_of_views(self) -> CallCode | None:
        """As `code`, of the arguments and of what `views` makes of them; None where there is none."""
        return self._written(of_views=True)

    def _written(self, *, of_views: bool) -> CallCode | None:
        function, kinds = self.function, self._result_kinds
        is_here = function.is_usable and function.device is self._device
        if not is_here or kinds is None:
            return None
        result_tree, shapes = self.result_tree, self._shapes
        return call_code(function, kinds, result_tree, self._fail, of_views=of_views, shapes=shapes)

    def call_direct(self, args: Sequence[Any]) -> Any:
        """As `call`, for NumPy arrays and arrays of the right shapes and dtypes."""
        function, kinds = self.function, self._result_kinds
        if not function.is_usable or function.device is not self._device or kinds is None:
            return self._call_elsewhere(args)
        views = self.views(args)
        return self._call_converted(args) if views is None else self._called(views, args, kinds)

    def views(self, leaves: Sequence[Any]) -> list[Any] | None:
        """The runtime's views of strong arrays and small NumPy arrays; None where a leaf is another one."""
        device = self._device
        views = []
        for leaf, dtype, element_type in zip(leaves, self.dtypes, self.function.copied_types, strict=True):
            if type(leaf) is Array:
                if leaf.kind is None:
                    if leaf.wide is not None or not device.is_cpu:
                        return None
                    views.append(leaf._view or view_on_cpu(leaf, device))
                elif leaf.kind.device.memory == device.memory:
                    views.append(leaf._view)
                else:
                    return None
            elif (
                type(leaf) is np.ndarray
                and element_type is not None
                and (leaf.dtype is dtype or leaf.dtype == dtype)
                and leaf.flags.c_contiguous
            ):
                views.append(device.copy_in(leaf, element_type))
            else:
                return None
        return views

    def _called(self, views: list[Any], leaves: Sequence[Any], kinds: tuple[Kind, ...]) -> Any:
        """The result tree for the views of the arguments."""
        try:
            results = self.function.call_views(views)
        except AdzeError as error:
            self._raise_located(error, leaves)
        if self.is_single:
            return array_of_view(results[0], kinds[0])
        return self.unflatten([array_of_view(v, k) for v, k in zip(results, kinds, strict=True)])

    def _call_elsewhere(self, arrays: Sequence[Array]) -> Any:
        """In a forked child, where the function opens its device again with the first call."""
        results = self._call_converted(arrays)
        self._device = self.function.device
        self._result_kinds = self._kinds_of_results(results)
        return results

    def call(self, leaves: Sequence[Any]) -> Any:
        """The result tree for the leaves of the arguments."""
        function, kinds = self.function, self._result_kinds
        if self.is_static and kinds is not None:
            if not function.is_usable or function.device is not self._device:
                return self._call_elsewhere(leaves)
            views = self.views(leaves)
            if views is not None:
                return self._called(views, leaves, kinds)
        return self._call_converted(leaves)

    def _call_converted(self, leaves: Sequence[Any]) -> Any:
        """The general way: each leaf is converted and compared with what the program takes."""
        arguments = [
            leaf.buffer
            if type(leaf) is Array and leaf.kind is not None
            else runtime_argument(leaf, dtype, self._device)
            for leaf, dtype in zip(leaves, self.dtypes, strict=True)
        ]
        try:
            results = self.function.call(arguments)
        except AdzeError as error:
            self._raise_located(error, leaves)
        arrays = list(map(Array, results))
        for array, is_weak in zip(arrays, self._weak_results, strict=True):
            if is_weak and array.kind is not None:
                array.kind = kind_of(array.shape, array.dtype, array.kind.device, True)
                array.weak_type = True
        return arrays[0] if self.is_single else tree.unflatten(self.result_tree, arrays)

    def _fail(self, error: Exception, leaves: Sequence[Any]) -> NoReturn:
        """Raise what a call that IREE ended with `error` is to the user."""
        try:
            self.function.fail(error)
        except AdzeError as failure:
            self._raise_located(failure, leaves)

    def _raise_located(self, error: AdzeError, leaves: Sequence[Any]) -> NoReturn:
        """Raise the error of a call as the user gets it."""
        from .debug import explained

        located = explained(error, self.compiled.program.parameters, leaves)
        located.locate(user_location_text())
        if located is error:
            raise error
        raise located from error


@dataclass(frozen=True, slots=True)
class _KnownTree:
    """Arguments of one structure: their leaves, and the programs for kinds of leaves."""

    structure: tree.Structure
    flatten: Flatten
    calls: dict[tuple[Any, ...], CallCode]


class KnownCalls:
    """The programs of one function by the kinds of its arguments.

    Code of calls is for the process that wrote it: a forked child begins with none.
    """

    def __init__(self) -> None:
        self.arrays: dict[tuple[Any, ...], CallCode] = {}
        """The calls with arrays on a device, each of them an argument, by their kinds."""
        self._trees: list[_KnownTree] = []
        self._host: dict[tuple[Any, ...], tuple[Entry, CallCode | None]] = {}
        """The programs for arrays in host memory, and the code that calls them."""
        _KNOWN.add(self)

    def forget(self) -> None:
        """Know no calls any more."""
        self.arrays, self._trees, self._host = {}, [], {}

    def _count(self) -> int:
        return len(self._host) + sum(len(each.calls) for each in self._trees)

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The results of a call: of arrays on a device, trees of them, or arrays in host memory."""
        if not kwargs and args and type(args[0]) is Array:
            try:
                run = self.arrays.get(tuple([arg.kind for arg in args]))
            except (AttributeError, TypeError):  # no array, or a stranger whose `kind` has no hash
                run = None
            if run is not None:
                return run(*args)
        for known in self._trees:
            found = known.flatten(args, kwargs)
            if found is not None:
                leaves, kinds = found
                try:
                    run = known.calls.get(kinds)
                except TypeError:
                    return UNKNOWN
                return UNKNOWN if run is None else run(*leaves)
        return UNKNOWN if kwargs else self._call_with_host(args)

    def _call_with_host(self, args: tuple[Any, ...]) -> Any:
        """A call with arrays in host memory, and perhaps others on a device, as direct arguments."""
        key: list[tuple[Any, ...]] = []
        for arg in args:
            if type(arg) is not np.ndarray and (type(arg) is not Array or arg.wide is not None):
                return UNKNOWN
            is_weak = type(arg) is Array and arg.weak_type
            key.append((arg.shape, arg.dtype, "weak") if is_weak else (arg.shape, arg.dtype))
        found = self._host.get(tuple(key))
        if found is None:
            return UNKNOWN
        entry, run = found
        views = None if run is None else entry.views(args)
        results = entry.call_direct(args) if run is None or views is None else run(args, *views)
        if args and type(args[0]) is Array and entry.takes(args):
            self.arrays[tuple([arg.kind for arg in args])] = entry.code()
        return results

    def add(
        self,
        structure: tree.Structure,
        kinds: tuple[Any, ...],
        leaves: Sequence[Any],
        is_direct: bool,
        entry: Entry,
    ) -> None:
        """Know `entry` for arguments like these; they are direct where each of them is a leaf."""
        if not entry.is_static and self._count() >= MOST_KINDS:
            self.forget()
        if is_direct:
            # A program of named sizes may be called with others each time: code is for those that come again.
            self._host[kinds] = entry, entry.code_of_views() if entry.is_static else None
        elif leaves and entry.takes(leaves):
            on_device = tuple([leaf.kind for leaf in leaves])
            for known in self._trees:
                if known.structure == structure:
                    known.calls[on_device] = entry.code()
                    return
            flatten = flatten_code(structure) if len(self._trees) < MOST_TREES else None
            if flatten is not None:
                self._trees.append(_KnownTree(structure, flatten, {on_device: entry.code()}))


_KNOWN: Final[WeakSet[KnownCalls]] = WeakSet()


def _forget_after_fork() -> None:
    for known in list(_KNOWN):
        known.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
