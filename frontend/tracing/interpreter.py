"""`ops`: the builder behind every array function. It records in a trace, and computes outside one.

Input: tracers, adze arrays, and what `as_value` converts to them (NumPy arrays, Python scalars, lists);
sizes are integers or `Dim`s. Output: `ops.add(x, y)` inside a traced function appends `adze.add` to the
frame on top and returns a `Tracer`; outside it evaluates with NumPy and returns an `Array`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from ...dialects.dialect import BY_NAME
from ...dialects.errors import AdzeError, MissingRuleError, OutOfMemoryError
from ...dialects.generated.builder import Builder
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.ops.elementwise.family import Elementwise
from ...dialects.types import (
    BOOL,
    FLOAT32,
    SIZE,
    TensorType,
    ValueType,
    as_dtype,
    plain_array,
    require_possible,
)
from ...passes.analysis.evaluate import WATCH
from ..errors import ArgumentTypeError, OutOfRangeError
from .array import Array, is_frozen, strong
from .default_dtypes import floating, integral, is_narrow_program, narrowed, stated_dtype, yields
from .exchange import of_dlpack
from .frames import Frame, Tracer, current_frame, leaked
from .interludes import suspended_frame
from .jax_rules import FLOAT0, Installed
from .layouts import follow, layouts_of_results
from .locations import located, user_location_text
from .operators import library_function
from .result_shapes import result_shapes
from .scalars import WIDE, is_python_scalar, scalar_in_dtype, wide_array
from .sizes import Dim
from .varying import mesh_axes, note, prepared

stack = library_function("stack")
"""Arrays of one shape along a new leading axis, promoted to one dtype."""


laid_out = library_function("laid_out")
"""An array that lies on a mesh, as a layout says; as it is where that says nothing."""


_MOST_KNOWN: Final = 4096
_LARGE: Final = 256  # bytes of an attribute that is looked at in each call


class Interpreter(Builder[Any]):
    """Applies ops to whatever values the user has; see the module docstring."""

    dialect = BY_NAME

    def __init__(self) -> None:
        self._possible: set[Any] = set()
        """Ops with operands and attributes that have been checked: eager programs apply them often."""

    def type_of(self, value: Any) -> ValueType:
        if isinstance(value, Tracer):
            return value.type
        if isinstance(value, (Dim, int)):
            return SIZE
        return TensorType(value.shape, value.dtype)

    def sizes(self, value: Any) -> tuple[Any, ...]:
        return tuple(value.shape)

    def apply(self, op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        frame = current_frame()
        try:
            if frame is not None:
                return self._record(frame, op, operands, attributes)
            for operand in operands:
                if isinstance(operand, Tracer) and operand.kept is None:
                    return self._record(_recorded(operand), op, operands, attributes)
            return self._evaluate(op, operands, attributes)
        except AdzeError as error:
            error.locate(user_location_text())
            raise

    def _record(
        self, frame: Frame, op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        types: list[ValueType] = []
        values: list[Any] = []
        for declared, operand in zip(_declared(op, len(operands)), operands, strict=True):
            if declared is None or isinstance(operand, Dim):
                types.append(SIZE)
                values.append(frame.size_value(operand))
            else:
                values.append(frame.value_of(operand))
                types.append(self.type_of(operand))
        written: dict[str, Any] = dict(attributes)
        for name, attribute in op.attributes.items():
            if attribute.kind == "sizes":
                written[name] = tuple(frame.size_or_int(n) for n in written[name])
        on_mesh = bool(mesh_axes())
        if on_mesh:
            values = prepared(frame, op, values, types, written)
        frame.emitter.location = frame.program.location()
        results, result_types = frame.emitter.emit(op, values, types, written)
        if on_mesh:
            note(frame, op, values, results, written)
        if frame.layouts:
            follow(frame, op, values, types, written, results, result_types)
        wrapped = tuple(_wrap(frame, v, t) for v, t in zip(results, result_types, strict=True))
        self._name_dimensions(op, operands, attributes, wrapped)
        return wrapped

    def _name_dimensions(
        self, op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any], results: Sequence[Any]
    ) -> None:
        """Keep the identity of dynamic dimensions where the op plainly preserves it."""
        unknown = [r for r in results if isinstance(r, Tracer) and r._shape is None]
        if not unknown:
            return
        if "shape" in op.attributes and op.attributes["shape"].kind == "sizes":
            for result in unknown:
                result._shape = tuple(attributes["shape"])
        elif issubclass(op, Elementwise):
            for result in unknown:
                result._shape = _elementwise_shape(operands, result.type)
        else:
            shapes = result_shapes(op, operands, attributes, len(results))
            for result, shape in zip(results, shapes, strict=False):
                if isinstance(result, Tracer) and result._shape is None:
                    _keep_shape(result, shape)

    def _note_possible(self, known: Any) -> None:
        if len(self._possible) >= _MOST_KNOWN:
            self._possible = set()
        self._possible.add(known)

    def _evaluate(
        self, op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        if isinstance(op.evaluate, Undefined):
            raise MissingRuleError(f"{op.name} cannot be evaluated: {op.evaluate.reason}")
        arrays = [_elements(v) for v in operands]
        kinds = tuple([SIZE if isinstance(v, int) else (v.shape, v.dtype) for v in arrays])
        known: Any = (op, kinds, tuple(attributes.values()))
        is_hashable = True
        try:
            is_possible = known in self._possible
        except TypeError:  # an attribute is an array
            known = (op, kinds, tuple(map(_hashable, attributes.values())))
            try:
                is_possible = known in self._possible
            except TypeError:
                is_possible = is_hashable = False
        if not is_possible:
            require_possible(op.name, op.result_types(_types(arrays), attributes))
            if is_hashable:
                self._note_possible(known)
        try:
            results = as_tuple(op.evaluate(*arrays, **attributes))
        except MemoryError as error:
            raise OutOfMemoryError(f"{op.name}: there is not enough memory: {error}") from None
        watch = WATCH.get()
        if watch is not None and results:
            watch(op, arrays, results, user_location_text())
        for operand in operands:
            if type(operand) is not Array and getattr(operand, "layout", None) is not None:
                return _laid(op, operands, _types(arrays), attributes, results)
        return tuple(map(_concrete, results))


def _laid(
    op: type[Op],
    operands: Sequence[Any],
    types: Sequence[ValueType],
    attributes: Mapping[str, Any],
    results: Sequence[Any],
) -> tuple[Any, ...]:
    """Results of which some operands lie on a mesh whose axes are explicit, and so do they."""
    layouts = [getattr(v, "layout", None) for v in operands]
    result_types = [SIZE if isinstance(r, int) else TensorType(r.shape, r.dtype) for r in results]
    found = layouts_of_results(None, op, layouts, types, attributes, result_types)
    return tuple(laid_out(_concrete(r), layout) for r, layout in zip(results, found, strict=True))


def _recorded(operand: Tracer) -> Frame:
    """The frame that an op on a traced value belongs to where no frame is current; else it is leaked."""
    frame = suspended_frame()
    if frame is None:
        raise leaked(operand)
    return frame


def _declared(op: type[Op], count: int) -> list[Any]:
    """For each operand the dtypes it may have, None for a size."""
    declared = [o.dtypes for o in op.operands]
    while len(declared) < count:
        declared.append(declared[-1])
    return declared[:count]


def _wrap(frame: Frame, value: Any, type_: ValueType) -> Any:
    if isinstance(type_, TensorType):
        return Tracer(frame, value, type_)
    return Dim(frame, value, frame._fresh_dim())


def _types(values: Sequence[Any]) -> list[ValueType]:
    return [SIZE if isinstance(v, int) else TensorType(v.shape, v.dtype) for v in values]


def _elements(operand: Any) -> Any:
    """A size as it is, and the elements of anything else as NumPy has them."""
    if type(operand) is Array:
        return operand.numpy()
    return operand if isinstance(operand, int) else np.asarray(operand)


def _hashable(attribute: Any) -> Any:
    """What tells an attribute that is a small array from others; other attributes are what they are."""
    if type(attribute) is not np.ndarray or attribute.nbytes > _LARGE:
        return attribute
    return attribute.shape, attribute.dtype, attribute.tobytes()


def _concrete(value: Any) -> Any:
    """An array of memory that belongs to nobody else, or a size."""
    if isinstance(value, int):
        return value
    if type(value) is np.ndarray:
        value.flags.writeable = False
    return Array(value)


def _keep_shape(result: Tracer, shape: tuple[Any, ...]) -> None:
    """Let a result know its dimensions: those of operands at once, new ones when they are asked for."""
    if any(n is None or isinstance(n, str) for n in shape):
        result.sizes = tuple(n.text if isinstance(n, Dim) else n for n in shape)
    else:
        result._shape = shape


def _elementwise_shape(operands: Sequence[Any], type_: TensorType) -> tuple[Any, ...] | None:
    shape: list[Any] = list(type_.shape)
    for axis, n in enumerate(type_.shape):
        if n is None:
            shape[axis] = operands[0].shape[axis]
    return tuple(shape)


ops = Interpreter()


def as_value(x: Any, dtype: Any = None) -> Any:
    """`x` as a tracer or an adze array; Python scalars and lists too. `dtype=None` keeps its own.

    A Python scalar without `dtype` becomes weakly typed: int64, float32 or complex64 (with all of its bits
    beside it, see `as_weak`), yielding to the other operand's dtype; NumPy's scalars are strongly typed.
    Memory that its owner can write to is copied, as an adze array never changes. An object with
    `__jax_array__` is the array that this returns. Raises `ArgumentError` for what is not array-like.
    """
    wanted = None if dtype is None else stated_dtype(dtype)
    if isinstance(x, (Tracer, Array)):
        x = x.kept if isinstance(x, Tracer) and x.kept is not None else x
        return x if wanted is None or x.dtype == wanted else ops.convert(wide_of(x), dtype=wanted)
    if isinstance(x, Dim):
        result = ops.size_to_array(x, dtype=wanted or integral())
        result.weak_type = wanted is None
        return result
    if is_python_scalar(x):
        return scalar_value(x, wanted)
    if isinstance(x, (list, tuple)):
        _check_plain(x)
    elif isinstance(x, np.ndarray) and type(x) is not np.ndarray:
        _check_plain([x])
    if isinstance(x, (list, tuple)) and _holds_tracer(x):
        return stack([as_value(item, dtype) for item in x])
    if hasattr(type(x), "__jax_array__"):
        return as_value(x.__jax_array__(), dtype)
    if hasattr(x, "__dlpack__") and not isinstance(x, (np.ndarray, np.generic)):
        x = of_dlpack(x)
        if isinstance(x, Array):
            return as_value(x, dtype)
    if isinstance(x, (str, bytes)) or x is None or callable(x):
        raise _not_an_array(x)
    try:
        array = np.asarray(x)
    except AdzeError:  # of an array among the items, which has its own text
        raise
    except (ValueError, TypeError):
        raise _not_an_array(x) from None
    if array.dtype == FLOAT0:  # the tangent of integers becomes zeros of a dtype that programs have
        return Array(np.zeros(array.shape, BOOL))
    if array.dtype.kind in "OSUVMm" and array.dtype.name != "bfloat16":
        raise _not_an_array(x)
    lifted = _lifted(x, wanted)
    if lifted is not None:
        return lifted
    if wanted is None and isinstance(x, (np.ndarray, np.generic)):
        wanted = narrowed(as_dtype(array.dtype))
        wanted = None if wanted == array.dtype else wanted
    converted = array.astype(wanted or as_dtype(array.dtype), copy=False)
    is_users = converted is array and not isinstance(x, (list, tuple, np.generic))
    result = _concrete(converted.copy() if is_users and not is_frozen(converted) else converted)
    is_constant = isinstance(x, np.generic) or (isinstance(x, np.ndarray) and current_frame() is not None)
    return as_weak(result) if is_constant and wanted is None and yields(result.dtype) else result


def _lifted(x: Any, wanted: Any) -> Any:
    """The one array that an array of NumPy becomes in a program that lifts it, None in others."""
    frame = current_frame()
    lifted = None if frame is None else frame.program.lifted
    if lifted is None or id(x) not in lifted or wanted not in (None, x.dtype) or yields(x.dtype):
        return None
    known = lifted[id(x)]
    if known is None:
        known = lifted[id(x)] = Array(x.copy())
        lifted[id(known)] = known
    return known


def scalar_value(x: bool | int | float | complex, dtype: np.dtype | None) -> Array:
    """A Python scalar as a 0-d array; weakly typed unless `dtype` is given.

    Raises `OutOfRangeError` for a number that `dtype` cannot hold: an integer out of its range, or a finite
    float that would become infinite.
    """
    if dtype is not None:
        return scalar_in_dtype(x, dtype)
    if isinstance(x, bool):
        return Array(np.asarray(x))
    if isinstance(x, int):
        return as_weak(Array(np.asarray(x, _dtype_of_integer(x))))
    return as_weak(Array(np.asarray(x)))


def _dtype_of_integer(x: int) -> np.dtype:
    """The dtype of a Python integer that nothing else decides; raises where it does not hold it."""
    dtype = integral()
    bits = 8 * dtype.itemsize
    if not -(1 << bits - 1) <= x < 1 << bits - 1:
        wider = "set jax_enable_x64, or " if is_narrow_program() else ""
        raise OutOfRangeError(
            f"Python integer {x} does not fit in {bits} bits",
            where=user_location_text(),
            hint=f"{wider}give it a dtype: numpy.uint{bits}(...) or a float",
        )
    return dtype


_NARROW: Final[ContextVar[bool]] = ContextVar("narrow_numbers", default=False)


@contextmanager
def narrow_numbers() -> Iterator[None]:
    """A context in which weakly typed numbers have the bits of their dtype and no more, as in JAX."""
    token = _NARROW.set(True)
    try:
        yield
    finally:
        _NARROW.reset(token)


def are_narrow() -> bool:
    """Whether numbers are narrow here: in that context, and in programs written for JAX without 64 bits."""
    return _NARROW.get() or is_narrow_program()


_FACES: Final = {wide: narrow for narrow, wide in WIDE.items()}


def as_weak(value: Any) -> Any:
    """A float64 or complex128 result of weak values alone as what a user sees: weakly typed, of the default
    dtype (float32, complex64). It carries `value` along, which `wide_of` returns when it meets 64 bits.

    Integers are weak as they are, floats too where float64 is the default, and booleans never are.
    """
    narrow = _FACES.get(value.dtype) if floating() == FLOAT32 else None
    if isinstance(value, Array) and value.kind is not None:
        value = Array(value.numpy())  # compiled programs know an array on a device by its kind alone
    if narrow is None:
        value.weak_type = value.dtype != BOOL
        return value
    if isinstance(value, Array):
        with np.errstate(all="ignore"):
            face: Any = Array(value.numpy().astype(narrow))
    else:
        face = ops.convert(value, dtype=narrow)
    face.weak_type, face.wide = True, value
    return face


def weak_in_jax(value: Any, is_weak: bool) -> Any:
    """A result of a transform. In programs written for JAX (after `adze.compat.install()`) it is weakly typed
    where `is_weak`, and an array of its own then; elsewhere it is strongly typed, as it is."""
    if not is_weak or not Installed.is_on:
        return value
    if type(value) is Array:
        value = strong(value)
    elif isinstance(value, Tracer):
        value = Tracer(value.frame, value.value, value.type, value.shape)
    else:
        return value
    value.weak_type = value.dtype != BOOL
    return value


def wide_of(value: Any) -> Any:
    """A weakly typed float or complex with all of its bits: in float64 or complex128, strongly typed.
    Any other value as it is."""
    if are_narrow():
        return value
    if isinstance(value, Array):
        return wide_array(value)
    if not value.weak_type or value.dtype not in WIDE:
        return value
    return ops.convert(value, dtype=WIDE[value.dtype]) if value.wide is None else value.wide


def _check_plain(items: Any) -> None:
    """Raise the error for arrays, in lists too, whose class says more than their elements."""
    for item in items:
        if isinstance(item, (list, tuple)):
            _check_plain(item)
        elif isinstance(item, np.ndarray) and type(item) is not np.ndarray:
            with located():
                plain_array(item)


def _holds_tracer(items: Any) -> bool:
    return any(
        isinstance(i, (Tracer, Dim)) or (isinstance(i, (list, tuple)) and _holds_tracer(i)) for i in items
    )


def _not_an_array(x: Any) -> ArgumentTypeError:
    if isinstance(x, np.ndarray):
        return ArgumentTypeError(
            f"arrays of dtype {x.dtype} have no counterpart: expected bools, integers, floats, complex",
            where=user_location_text(),
            hint="convert it first: x.astype(dtype)" if x.dtype.kind in "mM" else None,
        )
    if isinstance(x, (list, tuple)):
        return ArgumentTypeError(
            f"expected numbers, or lists of one length and shape, got {str(x)[:60]!r}",
            where=user_location_text(),
            hint="pad the shorter ones",
        )
    return ArgumentTypeError(
        f"expected an array or a number, got {type(x).__name__}: {str(x)[:60]!r}",
        where=user_location_text(),
    )
