"""Tracers and the frames that record them: how a Python function becomes a `func.func` of adze ops.

Input: ops applied to tracers on this thread. Output: a finished `func.func` in a `Program` (`program.py`).

Idea: a `Frame` is one function under construction. Applying an op to a `Tracer` appends the op to the frame
on top of this thread's stack. A tracer of an enclosing frame is captured: it becomes one more argument of
the inner function. A tracer of any other frame has leaked, and the error names the line that computed it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter
from ...dialects.dialect import BY_NAME
from ...dialects.op import Op
from ...dialects.ops.constants import Constant
from ...dialects.types import SIZE, TensorType, storage
from ...passes.ir.construction import add_function, finish_function
from ..errors import LeakedTracerError
from .array import Array
from .asked_elements import AskedForElements
from .concrete_values import (
    FrameValues,
    KnownArgument,
    MappedArgument,
    UnknownValueError,
    keep_fixed_values,
)
from .jax_rules import Installed, follows_jax
from .locations import user_location_text
from .operators import library_function
from .program import Program
from .sizes import Dim

JIT_DISABLED: Final[ContextVar[bool]] = ContextVar("disable_jit", default=False)
"""Whether functions run as the Python that they are: `disable_jit`."""

_sharding_of = library_function("sharding_of")


class Tracer(AskedForElements):
    """An array that will exist when the traced program runs; has a shape and a dtype, but no elements."""

    __slots__ = (
        "__weakref__",
        "_shape",
        "frame",
        "kept",
        "sizes",
        "type",
        "value",
        "weak_type",
        "where",
        "wide",
    )

    def __init__(
        self, frame: Frame, value: Any, type_: TensorType, shape: tuple[Any, ...] | None = None
    ) -> None:
        self.frame = frame
        self.value = value
        self.type = type_
        self.weak_type = False
        self.wide: Tracer | None = None
        self._shape = shape if shape is not None else (type_.shape if type_.is_static else None)
        self.sizes: tuple[int | str | None, ...] | None = None
        """The texts of dimensions, where nobody has asked for their values yet."""
        self.where: tuple[str, int] | None = None
        self.kept: Array | None = None
        """Its elements, where it has outlived its trace and depended on nothing of it."""
        if frame.live is not None:
            frame.live.append(weakref.ref(self))

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape; a dynamic dimension is a `Dim`."""
        if self._shape is None:
            frame = current_frame() or self.frame
            self._shape = frame.shape_of(self)
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return self.type.rank

    @property
    def device(self) -> str:
        """`host`, as of an array that NumPy holds: what the array API passes on to creation functions."""
        return "host"

    @property
    def sharding(self) -> Any:
        """How it lies on a mesh whose axes are explicit."""
        if self.value not in self.frame.layouts:
            raise AttributeError(f"a traced array has no sharding while tracing: {self.type}")
        return _sharding_of(self)

    @property
    def _trace(self) -> Frame:
        """The frame, under the name by which clients written for JAX ask for it."""
        return self.frame

    def size_texts(self) -> tuple[int | str | None, ...]:
        """The shape, where dynamic dimensions are texts, and None those that have no name."""
        if self._shape is None:
            return self.sizes or self.type.static_shape
        shape: tuple[Any, ...] = self._shape
        return tuple(n.text if isinstance(n, Dim) else int(n) for n in shape)

    def __repr__(self) -> str:
        if self.kept is not None:
            return repr(self.kept)
        if follows_jax():
            sizes = ",".join(map(str, self.size_texts()))
            return f"JitTracer({'~' if self.weak_type else ''}{self.dtype.name}[{sizes}])"
        return f"Tracer<{self.type}>"

    def __str__(self) -> str:
        return repr(self) if self.kept is None else str(self.kept)

    def origin(self) -> str:
        """Where the value was made, for messages."""
        location = str(getattr(self.value, "location", ""))
        if location.startswith('loc("'):
            file, _, rest = location[5:].partition('":')
            return f"{file}:{rest.split(':')[0]}"
        return "an argument of the traced function"

    def concrete(self) -> np.ndarray:
        """The elements, which it has outside `jit`; raises `UnknownValueError` elsewhere."""
        if self.kept is not None:
            return self.kept.numpy()
        if not self.frame.open:
            raise leaked(self)
        for frame in STACK.frames:
            frame.asked = True
        return np.asarray(self.frame.values.of(self.value))


def known_value(x: Any) -> np.ndarray | None:
    """The elements of a traced array, which it has outside `jit`; None elsewhere, and if `x` is no tracer."""
    if not isinstance(x, Tracer):
        return None
    try:
        return x.concrete()
    except UnknownValueError:
        return None


class Frame:
    """One function being traced: its block, its arguments, and the outer values that it captured."""

    def __init__(
        self,
        program: Program,
        name: str,
        parent: Frame | None,
        private: bool,
        symbol: str | None = None,
        where: tuple[str, int] | None = None,
    ) -> None:
        """Begin the function; `where` is the file and line that define it (else: the user's current one)."""
        self.program = program
        self.parent = parent
        self.symbol = symbol or program.unique_symbol(name)
        self.captured: dict[Any, tuple[Tracer | Dim, Any]] = {}  # by `capture_key`
        self.varying: dict[Any, frozenset[str]] = {}
        """The axes of a mesh that values vary over; see `varying.py`."""
        self.layouts: dict[Any, Any] = {}
        """How values lie on a mesh whose axes are explicit; see `layouts.py`."""
        self.indices: dict[str, Any] = {}
        self.least: frozenset[str] = frozenset()
        self._constants: dict[int, tuple[Any, Any]] = {}
        self._lifted: dict[int, Tracer] = {}
        self._sizes: dict[int, Any] = {}
        self._dim_names: int = 0 if parent is None else parent._dim_names  # an inner size has no outer name
        self._values: FrameValues | None = None
        self.argument_sources: dict[Any, KnownArgument | MappedArgument] = {}
        """What arguments stand for, where the function is traced for one call."""
        self.asked = False
        """Whether Python asked for a value while the function was traced, so that it holds for that alone."""
        self.open = True
        self.live: list[weakref.ref[Tracer]] | None = [] if Installed.is_on else None
        """The tracers of the frame, where some may outlive it: in programs written for JAX."""
        self.location = program.location(where)
        self.operation, self.block = add_function(program.module, self.symbol, self.location, private=private)
        self.emitter = Emitter(program.codec, mlir.ir.InsertionPoint(self.block), self.location)

    @property
    def main(self) -> Frame:
        """The frame: JAX's trace has one for its levels, which clients compare."""
        return self

    @property
    def values(self) -> FrameValues:
        """What the values of the function are in the call that it is traced for."""
        if self._values is None:
            self._values = FrameValues(self)
        return self._values

    def add_argument(self, type_: TensorType, names: Sequence[str | None] | None = None) -> Tracer:
        """One more array argument; `names` name its dynamic dimensions (None: a name of its own)."""
        value = self.block.add_argument(self.program.codec.write_type(type_), self.location)
        tracer = Tracer(self, value, type_)
        if not type_.is_static:
            tracer._shape = self._argument_shape(tracer, names or [None] * type_.rank)
        return tracer

    def add_size(self, name: str | None = None) -> Dim:
        """One more argument that is a size."""
        value = self.block.add_argument(self.program.codec.write_type(SIZE), self.location)
        return Dim(self, value, name or self._fresh_dim())

    def _argument_shape(self, tracer: Tracer, names: Sequence[str | None]) -> tuple[Any, ...]:
        shape: list[Any] = []
        for axis, n in enumerate(tracer.type.shape):
            if n is not None:
                shape.append(n)
                continue
            text = names[axis] or self._fresh_dim()
            shape.append(Dim(self, self._dim_value(tracer.value, axis), text))
        return tuple(shape)

    def _fresh_dim(self) -> str:
        self._dim_names += 1
        return f"?{self._dim_names}"

    def _dim_value(self, value: Any, axis: int) -> Any:
        (size,) = self.emit(BY_NAME["dim"], (value,), {"axis": axis})
        return size

    def emit(self, op: type[Op], values: Sequence[Any], attributes: dict[str, Any]) -> tuple[Any, ...]:
        """Append an op applied to values of this frame; its results."""
        self.emitter.location = self.program.location()
        return self.emitter.apply(op, values, attributes)

    def shape_of(self, tracer: Tracer) -> tuple[Any, ...]:
        """The shape of a value for whose dynamic dimensions nobody has asked yet."""
        value = self.value_of(tracer)
        texts = tracer.sizes or (None,) * tracer.type.rank
        return tuple(
            Dim(self, self._dim_value(value, axis), str(texts[axis] or self._fresh_dim())) if n is None else n
            for axis, n in enumerate(tracer.type.shape)
        )

    def size_op(self, op: str, left: Any, right: Any, text: str) -> Dim:
        """Arithmetic on sizes, recorded in the frame on top of the stack; `text` is the expression it is."""
        frame = require_frame(self)
        (value,) = frame.emit(BY_NAME[op], (frame.size_value(left), frame.size_value(right)), {})
        return Dim(frame, value, text)

    # -- values --------------------------------------------------------------------------------

    def value_of(self, operand: Any) -> Any:
        """The SSA value of an operand in this frame: a tracer, a captured tracer, or a constant."""
        if isinstance(operand, Tracer):
            if operand.frame is self:
                return operand.value
            if operand.kept is not None:
                return self.value_of(operand.kept)
            return self._capture(operand, operand.type)
        array = operand if isinstance(operand, np.ndarray) else np.asarray(operand)
        known = self._constants.get(id(operand))
        if known is not None:
            return known[1]
        lifted = self.program.lifted
        if lifted is not None and self.parent is not None and id(operand) in lifted:
            outermost = self.parent
            while outermost.parent is not None:
                outermost = outermost.parent
            kind = TensorType(array.shape, array.dtype)
            return self._capture(outermost.constant(operand, kind), kind)
        (value,) = self.emit(Constant, (), {"value": storage(array), "dtype": array.dtype})
        self._constants[id(operand)] = (operand, value)
        if isinstance(operand, Array) and not array.ndim:
            self.program.arrays[value] = operand
        layout = getattr(operand, "layout", None)
        if layout is not None:
            self.layouts[value] = layout
        return value

    def hold(self, array: Any, argument: Tracer) -> None:
        """Let the function use its `argument` wherever it uses this array."""
        self._constants[id(array)] = (array, argument.value)

    def constant(self, array: Any, type_: TensorType) -> Tracer:
        """The tracer of an array that is a constant of this function, one for each array."""
        if id(array) not in self._lifted:
            self._lifted[id(array)] = Tracer(self, self.value_of(array), type_)
        return self._lifted[id(array)]

    def size_value(self, size: Any) -> Any:
        """The `index` value of a size in this frame."""
        if isinstance(size, Dim):
            return size.value if size.frame is self else self._capture(size, SIZE)
        size = int(size)
        if size not in self._sizes:
            (self._sizes[size],) = self.emit(BY_NAME["size_constant"], (), {"value": size})
        return self._sizes[size]

    def size_or_int(self, size: Any) -> Any:
        """A size as an op takes it: an integer, or an `index` value of this frame."""
        return self.size_value(size) if isinstance(size, Dim) else int(size)

    def _capture(self, outer: Tracer | Dim, type_: Any) -> Any:
        key = capture_key(outer)
        known = self.captured.get(key)
        if known is not None:
            return known[1]
        if not (outer.frame.open and self._encloses(outer.frame)) and not self._is_argument_above(key):
            raise leaked(outer)
        value = self.block.add_argument(self.program.codec.write_type(type_), self.program.location())
        self.captured[key] = (outer, value)
        axes = outer.frame.varying.get(outer.value, frozenset()) | self.least
        if axes:
            self.varying[value] = axes
        layout = outer.frame.layouts.get(outer.value)
        if layout is not None:
            self.layouts[value] = layout
        return value

    def _is_argument_above(self, key: Any) -> bool:
        """Whether an enclosing function takes an outer value, whose trace has ended since, as an argument."""
        ancestor = self.parent
        while ancestor is not None and not (ancestor.open and key in ancestor.captured):
            ancestor = ancestor.parent
        return ancestor is not None

    def _encloses(self, frame: Frame) -> bool:
        ancestor = self.parent
        while ancestor is not None and ancestor is not frame:
            ancestor = ancestor.parent
        return ancestor is frame

    def finish(self, results: Sequence[Any]) -> None:
        """Return `results` (operands of any kind) and close the function."""
        keep_fixed_values(self, results)
        finish_function(self.operation, [self.value_of(r) for r in results], self.location)
        self.open = False
        self._values = None

    def discard(self) -> None:
        """Close the function without keeping it: tracing failed."""
        self.open = False
        self._values = None


def capture_key(outer: Any) -> Any:
    """What makes two captured values the same: two tracers of one value (a weak and a strong one) are."""
    return outer.value if isinstance(outer, (Tracer, Dim)) else id(outer)


class _Stack(threading.local):
    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.suspended: Frame | None = None
        """The frame that `at_compile_time` left, to which ops on its values still belong."""


STACK: Final = _Stack()
"""The frames that this thread records, the outermost first."""


def current_frame() -> Frame | None:
    """The frame that ops are recorded in on this thread, None outside a trace."""
    frames = STACK.frames
    return frames[-1] if frames else None


def is_usable(value: Tracer) -> bool:
    """Whether a traced value may be used where ops are recorded now: its trace goes on, around this one."""
    frame = current_frame()
    return frame is not None and (frame is value.frame or frame._encloses(value.frame))


def require_frame(owner: Frame) -> Frame:
    """The frame on top, when a value of `owner` may be used there; else the leak is reported."""
    frame = current_frame()
    if frame is None or (frame is not owner and not frame._encloses(owner)):
        raise LeakedTracerError(
            "a dynamic dimension was used outside the trace it belongs to", where=user_location_text()
        )
    return frame


@contextmanager
def recording(frame: Frame) -> Iterator[Frame]:
    """Make `frame` the one that ops are recorded in."""
    STACK.frames.append(frame)
    try:
        yield frame
    except BaseException:
        frame.discard()
        raise
    finally:
        popped = STACK.frames.pop()
        assert popped is frame


def hold(arrays: Sequence[Array], arguments: Sequence[Tracer]) -> None:
    """Let the function that is being recorded use its `arguments` wherever it uses these arrays."""
    frame = current_frame()
    assert frame is not None
    for array, argument in zip(arrays, arguments, strict=True):
        frame.hold(array, argument)


def leaked(value: Tracer | Dim) -> LeakedTracerError:
    """The error for a traced value that is used while no frame that may see it is being recorded."""
    what = value.type if isinstance(value, Tracer) else f"dimension {value}"
    origin = value.origin() if isinstance(value, Tracer) else "a traced function"
    return LeakedTracerError(
        f"a traced value of type {what} was used after its trace had ended (it comes from {origin})",
        where=user_location_text(),
        hint="return it from the function instead of storing it in a list, an attribute or a global",
    )
