"""Mutable arrays: `new_ref` makes a `Ref`, whose elements are read and written by index.

Input: an array. Output: an object that holds an array, another one after each write. Idea: arrays stay
immutable, and a write is a functional update. A function that is traced apart (the body of a loop, a mapped
or differentiated function) leaves no value of its trace behind: `uses()` records which references it touched
and gives them their values back, and whoever traced it carries the new ones out as further results.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final
from weakref import WeakSet

from ...dialects.types import short_name
from ..errors import ArgumentTypeError, TraceError
from .array import Array
from .frames import Tracer
from .interpreter import as_value, ops
from .locations import user_location_text
from .specs import ShapeDtype


class Uses:
    """The references that were made outside of a function and are touched by it, in order."""

    def __init__(self) -> None:
        self.refs: list[Ref] = []
        self.written: list[Ref] = []
        self._before: list[Any] = []

    def note(self, ref: Ref, is_written: bool) -> None:
        """`ref` is read, or is about to be written."""
        if not any(r is ref for r in self.refs):
            self.refs.append(ref)
        if is_written and not any(r is ref for r in self.written):
            self.written.append(ref)
            self._before.append(ref._value)

    def undo(self) -> None:
        """Give the references the values that they had."""
        for ref, value in zip(self.written, self._before, strict=True):
            ref._value = value


class _Stack(threading.local):
    def __init__(self) -> None:
        self.uses: list[Uses] = []


_stack: Final = _Stack()
_alive: Final[WeakSet[Ref]] = WeakSet()


class _Used:
    """Whether there ever was a reference, and what happens when there is the first."""

    is_used = False
    hooks: ClassVar[list[Callable[[], None]]] = []

    @classmethod
    def begin(cls) -> None:
        if not cls.is_used:
            cls.is_used = True
            for hook in cls.hooks:
                hook()


def when_used(hook: Callable[[], None]) -> None:
    """Call `hook` once there is a reference."""
    if _Used.is_used:
        hook()
    else:
        _Used.hooks.append(hook)


def any_alive() -> bool:
    """Whether there is any reference: programs without one pay nothing more than this question."""
    return bool(_alive)


def any_in_reach() -> bool:
    """Whether there is any reference that is not garbage: for what decides what a program consists of."""
    if _alive:
        gc.collect()
    return bool(_alive)


@contextmanager
def uses() -> Iterator[Uses]:
    """Record which of the references that are there already are touched; then they have their values back."""
    inner = Uses()
    _stack.uses.append(inner)
    try:
        yield inner
    finally:
        _stack.uses.pop()
        inner.undo()


class Ref:
    """A mutable array: `ref[i]` reads, `ref[i] = x` writes, `ref[...]` is all of it."""

    __iter__ = None  # `ref[i]` for i = 0, 1, ... would never end where indices are clamped

    def __init__(self, value: Any) -> None:
        self._value = value
        self._frozen: str | None = None
        self._depth = len(_stack.uses)
        _alive.add(self)
        _Used.begin()

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape, which stays the same."""
        return tuple(self._value.shape)

    @property
    def dtype(self) -> Any:
        """The dtype, which stays the same."""
        return self._value.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return self._value.size

    @property
    def aval(self) -> ShapeDtype:
        """The type of the array."""
        return ShapeDtype(self.shape, self.dtype)

    @property
    def at(self) -> _At:
        """`ref.at[i]` is the part `ref[i]` as a reference: what is written to it is written to `ref`."""
        return _At(self)

    def read(self) -> Any:
        """The array that it holds now."""
        self._touch(is_written=False)
        if isinstance(self._value, Tracer) and not self._value.frame.open:
            raise TraceError(
                f"a reference {self._text()} was written in a function whose trace has ended: what traced it "
                "cannot carry the value out",
                where=user_location_text(),
                hint="write references in functions of jit, grad, vjp, vmap, checkpoint, scan, fori_loop, "
                "while_loop, cond and switch, and return the value from others",
            )
        return self._value

    def write(self, value: Any) -> None:
        """Hold `value` from now on, an array of the same shape and dtype."""
        self._touch(is_written=True)
        self._value = value

    def addupdate(self, index: Any, value: Any) -> None:
        """Add `value` to the part `index`; an element that is named twice is added to twice."""
        self.write(self.read().at[index].add(value))

    def unsafe_buffer_pointer(self) -> int:
        """The address of the elements now; a write may move them."""
        value = self.read()
        if isinstance(value, Tracer):
            raise TraceError("a traced reference has no address", where=user_location_text())
        address: int = value.numpy().ctypes.data
        return address

    def __getitem__(self, index: Any) -> Any:
        return self.read()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.write(self.read().at[index].set(value))

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        if self._frozen is not None:
            return f"Ref({self._text()}, {self._frozen})"
        value = self._value
        if isinstance(value, Array):
            return f"Ref{repr(value).removeprefix('Array')}"
        return f"Ref({value})"

    def _text(self) -> str:
        return f"{short_name(self.dtype)}[{','.join(map(str, self.shape))}]"

    def _touch(self, is_written: bool) -> None:
        if self._frozen is not None:
            raise TraceError(
                f"a reference {self._text()} was used after it was {self._frozen}",
                where=user_location_text(),
                hint="make another one: new_ref(array)",
            )
        if _stack.uses and self._depth < len(_stack.uses):
            _stack.uses[-1].note(self, is_written)

    def end(self, how: str) -> Any:
        """The array that it holds, for the last time."""
        value = self.read()
        if self._depth < len(_stack.uses):
            raise TraceError(
                f"a reference {self._text()} is {how} in a function that it was not made in",
                where=user_location_text(),
                hint="do it where new_ref was called",
            )
        self._frozen = how
        _alive.discard(self)
        return value


class _At:
    def __init__(self, ref: Any) -> None:
        self._ref = ref

    def __getitem__(self, index: Any) -> Part:
        return Part(self._ref, index)


class Part:
    """A part of a reference, as a reference."""

    __iter__ = None

    def __init__(self, ref: Any, index: Any) -> None:
        self._ref = ref
        self._index = index

    @property
    def at(self) -> _At:
        """Parts of the part."""
        return _At(self)

    def read(self) -> Any:
        """The array that it holds now."""
        return self._ref[self._index]

    def write(self, value: Any) -> None:
        """Write all of it."""
        self._ref[self._index] = value

    def addupdate(self, index: Any, value: Any) -> None:
        """Add `value` to the part `index` of it."""
        self.write(self.read().at[index].add(value))

    def __getitem__(self, index: Any) -> Any:
        return self.read()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.write(self.read().at[index].set(value))


def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Ref:
    """A mutable array that holds `init_val` first.

    Its shape and dtype stay. `memory_space` and `kind` are hints of JAX's and change no value.
    """
    if isinstance(init_val, Ref):
        raise ArgumentTypeError("new_ref of a reference", where=user_location_text(), hint="pass ref[...]")
    value = as_value(init_val)
    return Ref(as_value(value, value.dtype) if value.weak_type else value)


def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """A mutable array of the shape and dtype of `ty`, which holds zeros first."""
    return Ref(ops.full(0, tuple(ty.shape), ty.dtype))


def freeze(ref: Ref) -> Any:
    """The array that `ref` holds; `ref` cannot be used afterwards."""
    return _reference(ref, "freeze").end("frozen")


def free_ref(ref: Ref) -> None:
    """Let go of the array that `ref` holds; `ref` cannot be used afterwards."""
    _reference(ref, "free_ref").end("freed")


def get(ref: Any, idx: Any = None) -> Any:
    """`ref[idx]`, all of it where `idx` is None."""
    return _reference(ref, "get")[... if idx is None else idx]


def swap(ref: Any, idx: Any, value: Any) -> Any:
    """`ref[idx]`, which is `value` afterwards."""
    index = ... if idx is None else idx
    before = _reference(ref, "swap")[index]
    ref[index] = value
    return before


def set(ref: Any, idx: Any, value: Any) -> None:
    """`ref[idx] = value`."""
    _reference(ref, "set")[... if idx is None else idx] = value


def addupdate(ref: Any, idx: Any, x: Any) -> None:
    """Add `x` to `ref[idx]`."""
    _reference(ref, "addupdate").addupdate(... if idx is None else idx, x)


def _reference(ref: Any, function: str) -> Any:
    if not isinstance(ref, (Ref, Part)):
        raise ArgumentTypeError(
            f"{function} takes a reference, got {type(ref).__name__}",
            where=user_location_text(),
            hint="make one with new_ref(array)",
        )
    return ref


# -- functions that touch references -----------------------------------------------------------------


def of_values(function: Callable[..., Any], refs: Sequence[Ref]) -> Callable[..., Any]:
    """`function` as one of the values of `refs` too: `(values, *args)` to `(result, values afterwards)`."""

    def call(values: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        with uses() as inner:
            for ref, value in zip(refs, values, strict=True):
                ref.write(value)
            result = function(*args, **kwargs)
            require_no_reference(result)
            if any(not any(w is r for r in refs) for w in inner.written):
                raise TraceError(
                    "a function writes a reference that it did not write when it was traced first",
                    where=user_location_text(),
                )
            after = [ref.read() for ref in refs]
        return result, after

    call.__name__ = getattr(function, "__name__", "call")
    return call


def require_no_reference(result: Any) -> None:
    """Raise for a reference among the results of a traced function."""
    from .. import tree

    if any(isinstance(leaf, Ref) for leaf in tree.leaves(result)):
        raise TraceError(
            "a traced function returns a reference",
            where=user_location_text(),
            hint="return ref[...], its array",
        )


class Effects:
    """What a function that is called once writes: `function` returns it as a second result."""

    def __init__(self, function: Callable[..., Any], with_aux: bool = False) -> None:
        self.refs: list[Ref] = []
        self.function = function
        self._with_aux = with_aux
        self.__name__ = getattr(function, "__name__", "call")
        self.__wrapped__ = function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """`(result, values)`; with aux `(result, (aux, values))`."""
        with uses() as inner:
            result = self.function(*args, **kwargs)
            require_no_reference(result)
            self.refs = inner.written
            values = [ref.read() for ref in self.refs]
        if not self._with_aux:
            return result, values
        value, aux = result
        return value, (aux, values)

    def apply(self, values: Sequence[Any]) -> None:
        """Let the references hold what the function wrote."""
        for ref, value in zip(self.refs, values, strict=True):
            ref.write(value)


__all__ = [
    "Ref",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]
