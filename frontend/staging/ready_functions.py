"""`ReadyFunction`: a function of a loaded program, ready to be called with leaves, and what calls are known.

Input: the leaves of the arguments of a call. Output: the tree of its results. Leaves that the runtime takes
as they are, or that need a copy alone, go straight to the function; others are converted first. The calls of
a `ReadyFunction` with leaves like earlier ones are code that was written for these (`KnownLeaves`). Programs
that were compiled here (`entries.py`) and those that were loaded (`artifacts.py`) are called so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn
from weakref import WeakSet

import numpy as np

from ...dialects.errors import AdzeError
from ..tracing.array import Array, array_of_view
from ..tracing.kinds import Kind, kind_of
from .call_arguments import UNKNOWN, ViewOf, call_key, views_of
from .call_code import CallCode, Expression, call_code
from .host import runtime_argument, view_on_cpu

if TYPE_CHECKING:
    from ...runtime.execute.devices import Device
    from ...runtime.execute.program import Function


MOST_KINDS: Final = 64
"""Kinds of arguments that a program whose sizes show at the call is known for."""


class ReadyFunction:
    """A function of a loaded program, ready to be called with leaves.

    Where sizes show at the call, it is for arguments of the shapes of an earlier call, whose results are
    passed with those shapes: the results of arguments of the same shapes have the same shapes.
    """

    def __init__(
        self,
        function: Function,
        dtypes: Sequence[np.dtype],
        weak_results: Sequence[bool],
        results: Sequence[Array] | None = None,
        shapes: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.function = function
        self.dtypes = tuple(dtypes)
        self._shapes = shapes
        self.device: Device = function.device
        self.is_static = all(spec.static_shape is not None for spec in function.signature.inputs)
        """Whether the program takes arguments of one shape each."""
        self._weak_results = weak_results
        self._result_kinds = self._kinds_of_results(results)

    def tree_of(self, arrays: Sequence[Array]) -> Any:
        """The tree of the results."""
        raise NotImplementedError

    def expression(self, results: Sequence[str]) -> Expression | None:
        """An expression of `tree_of` results that are called so; None where there is none."""
        raise NotImplementedError

    def raise_located(self, error: AdzeError, leaves: Sequence[Any]) -> NoReturn:
        """Raise the error of a call as the user gets it."""
        raise NotImplementedError

    def _kinds_of_results(self, results: Sequence[Array] | None) -> tuple[Kind, ...] | None:
        """The kinds of the results on the function's device, None where a shape shows only after a call.

        `results`: those of an earlier call, None for none.
        """
        specs = self.function.signature.outputs
        arrays = [None] * len(specs) if results is None else results
        kinds = []
        for spec, result, is_weak in zip(specs, arrays, self._weak_results, strict=True):
            shape = spec.static_shape if result is None else result.shape
            if shape is None:
                return None
            kinds.append(kind_of(shape, spec.dtype, self.device, is_weak))
        return tuple(kinds)

    @property
    def is_known(self) -> bool:
        """Whether the kinds of the results are known before a call."""
        return self._result_kinds is not None

    def takes(self, leaves: Sequence[Any]) -> bool:
        """Whether arrays of the kinds of these leaves, which fit the program, may go to `call_arrays`."""
        memory = self.function.device.memory
        return self.is_known and all(
            type(leaf) is Array
            and leaf.call_kind is not None
            and leaf.weak_type == leaf.call_kind.is_weak
            and leaf.call_kind.device.memory == memory
            for leaf in leaves
        )

    def call_arrays(self, arrays: Sequence[Array]) -> Any:
        """As `call`, for arrays whose kinds are those of leaves that it `takes`: nothing is checked again."""
        function, kinds = self.function, self._result_kinds
        if not function.is_usable or function.device is not self.device or kinds is None:
            return self._call_elsewhere(arrays)
        return self._called([array._view for array in arrays], arrays, kinds)

    def code(self) -> CallCode:
        """As `call_arrays`, of single arguments, for this process; see `KnownLeaves`."""
        return self._written(None) or (lambda *arrays: self.call_arrays(arrays))

    def code_of_leaves(self, views: Sequence[ViewOf]) -> CallCode:
        """As `code`, of a sequence of leaves that have these views, for `UNKNOWN` where one has none."""
        # A program of named sizes may be called with others each time: code is for those that come again.
        return (self._written(views) if self.is_static else None) or self._call_of_leaves(views)

    def _call_of_leaves(self, views: Sequence[ViewOf]) -> CallCode:
        """What the code does, for any sizes and any device."""

        def run(leaves: Sequence[Any]) -> Any:
            viewed = [view_of(leaf) for view_of, leaf in zip(views, leaves, strict=True)]
            return UNKNOWN if any(view is None for view in viewed) else self.call_views(viewed, leaves)

        return run

    def _written(self, views: Sequence[ViewOf] | None) -> CallCode | None:
        function, kinds = self.function, self._result_kinds
        is_here = function.is_usable and function.device is self.device
        if not is_here or kinds is None:
            return None
        return call_code(function, kinds, self.expression, self._fail, views=views, shapes=self._shapes)

    def call_views(self, views: list[Any], leaves: Sequence[Any]) -> Any:
        """As `call`, of leaves whose views are those of the right shapes and dtypes."""
        function, kinds = self.function, self._result_kinds
        if not function.is_usable or function.device is not self.device or kinds is None:
            return self._call_elsewhere(leaves)
        return self._called(views, leaves, kinds)

    def _views(self, leaves: Sequence[Any]) -> list[Any] | None:
        """The runtime's views of strong arrays and small NumPy arrays; None where a leaf is another one."""
        device = self.device
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
            self.raise_located(error, leaves)
        return self.tree_of([array_of_view(v, k) for v, k in zip(results, kinds, strict=True)])

    def _call_elsewhere(self, arrays: Sequence[Array]) -> Any:
        """In a forked child, where the function opens its device again with the first call."""
        results = self._arrays(arrays)
        self.device = self.function.device
        self._result_kinds = self._kinds_of_results(results)
        return self.tree_of(results)

    def call(self, leaves: Sequence[Any]) -> Any:
        """The result tree for the leaves of the arguments."""
        function, kinds = self.function, self._result_kinds
        if self.is_static and kinds is not None:
            if not function.is_usable or function.device is not self.device:
                return self._call_elsewhere(leaves)
            views = self._views(leaves)
            if views is not None:
                return self._called(views, leaves, kinds)
        return self.tree_of(self._arrays(leaves))

    def _arrays(self, leaves: Sequence[Any]) -> list[Array]:
        """The results, the general way: each leaf is converted and compared with what the program takes."""
        arguments = [
            leaf.buffer
            if type(leaf) is Array and leaf.kind is not None
            else runtime_argument(leaf, dtype, self.device)
            for leaf, dtype in zip(leaves, self.dtypes, strict=True)
        ]
        try:
            results = self.function.call(arguments)
        except AdzeError as error:
            self.raise_located(error, leaves)
        arrays = list(map(Array, results))
        for array, is_weak in zip(arrays, self._weak_results, strict=True):
            if is_weak and array.kind is not None:
                array.kind = array.call_kind = kind_of(array.shape, array.dtype, array.kind.device, True)
                array.weak_type = True
        return arrays

    def _fail(self, error: Exception, leaves: Sequence[Any]) -> NoReturn:
        """Raise what a call that IREE ended with `error` is to the user."""
        try:
            self.function.fail(error)
        except AdzeError as failure:
            self.raise_located(failure, leaves)


class KnownLeaves:
    """The calls of functions by the leaves of their arguments.

    Code of calls is for the process that wrote it: a forked child begins with none.
    """

    def __init__(self) -> None:
        self.arrays: dict[tuple[Any, ...], CallCode] = {}
        """Those of arrays that the runtime has already, by their kinds."""
        self.mixed: dict[tuple[Any, ...], CallCode] = {}
        """Those of other leaves, by `call_key`."""
        _KNOWN.add(self)

    def __len__(self) -> int:
        return len(self.arrays) + len(self.mixed)

    def forget(self) -> None:
        """Know no calls any more."""
        self.arrays, self.mixed = {}, {}

    def call(self, leaves: Sequence[Any]) -> Any:
        """The results of a call with leaves that are not all arrays of `arrays`, or `UNKNOWN`."""
        key = call_key(leaves)
        run = None if key is None else self.mixed.get(key)
        return UNKNOWN if run is None else run(leaves)

    def add(self, key: tuple[Any, ...], leaves: Sequence[Any], ready: ReadyFunction) -> None:
        """Know a function for leaves like these, which had this `call_key` before it was called with them."""
        if key and ready.takes(leaves) and all(map(_is_kind, key)):
            self.arrays[key] = ready.code()
            return
        views = views_of(leaves, ready.dtypes, ready.device) if ready.is_known else None
        if views is not None:
            self.mixed[key] = ready.code_of_leaves(views)


def _is_kind(part: Any) -> bool:
    return not isinstance(part, (tuple, type))


_KNOWN: Final[WeakSet[KnownLeaves]] = WeakSet()


def _forget_after_fork() -> None:
    for known in list(_KNOWN):
        known.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
