"""`ArrayMethods`, what traced and concrete arrays share, and `Array`, the concrete one.

Input: elements, as NumPy or the runtime holds them. Output: Python's syntax on them (`x + y`, `x[i]`,
`x.sum()`), and their memory for NumPy, DLPack and pickle, without a copy where that is possible.

Idea: operators and methods only name functions of the library, see `operators.py`, so that a traced and a
concrete array behave alike. An `Array` never changes, on the host or on a device.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ...dialects.types import short_name
from ..errors import TraceError
from .default_dtypes import narrow_stated
from .jax_rules import array_text, follows_jax
from .kinds import Kind, kind_of
from .locations import user_location_text
from .missing_methods import ASKED_BY_NUMPY, missing_attribute
from .operators import binary, library_function, method, reflected
from .sizes import product

if TYPE_CHECKING:
    from ...runtime.execute.array import DeviceArray

_any = library_function("any")
_array_namespace = library_function("array_namespace")
_astype = library_function("astype")
_at = library_function("at")
_call_function = library_function("call_function")
_call_ufunc = library_function("call_ufunc")
_compress = library_function("compress")
_copy_array = library_function("copy_array")
_device_of_jax = library_function("device_of_jax")
_delete_array = library_function("delete_array")
_get_index = library_function("get_index")
_lying_as = library_function("lying_as")
_imag = library_function("imag")
_matrix_transpose = library_function("matrix_transpose")
_ravel = library_function("ravel")
_real = library_function("real")
_reshape = library_function("reshape")
_round = library_function("round")
_rows_of = library_function("rows_of")
_type_of = library_function("type_of")
_sharding_of = library_function("sharding_of")
_shards_of = library_function("shards_of")
_to_device = library_function("to_device")
_transpose = library_function("transpose")
_view = library_function("view")


class ArrayMethods:
    """Operators, methods and protocols of an array; subclasses have `shape`, `dtype`, `ndim`."""

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    weak_type: bool

    if TYPE_CHECKING:  # a class with slots has no place for these: subclasses define them

        @property
        def shape(self) -> tuple[Any, ...]: ...

        @property
        def dtype(self) -> np.dtype: ...

        @property
        def ndim(self) -> int: ...

    if not TYPE_CHECKING:  # to a type checker this would be any attribute

        def __getattr__(self, name: str) -> Any:
            if name in ASKED_BY_NUMPY:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise missing_attribute(self, name)

    __add__, __radd__ = binary("add"), reflected("add")
    __sub__, __rsub__ = binary("subtract"), reflected("subtract")
    __mul__, __rmul__ = binary("multiply"), reflected("multiply")
    __truediv__, __rtruediv__ = binary("divide"), reflected("divide")
    __floordiv__, __rfloordiv__ = binary("floor_divide"), reflected("floor_divide")
    __mod__, __rmod__ = binary("remainder"), reflected("remainder")
    __divmod__, __rdivmod__ = binary("divmod"), reflected("divmod")
    __pow__, __rpow__ = binary("pow"), reflected("pow")
    __matmul__, __rmatmul__ = binary("matmul"), reflected("matmul")
    __and__, __rand__ = binary("bitwise_and"), reflected("bitwise_and")
    __or__, __ror__ = binary("bitwise_or"), reflected("bitwise_or")
    __xor__, __rxor__ = binary("bitwise_xor"), reflected("bitwise_xor")
    __lshift__, __rlshift__ = binary("bitwise_left_shift"), reflected("bitwise_left_shift")
    __rshift__, __rrshift__ = binary("bitwise_right_shift"), reflected("bitwise_right_shift")
    __lt__, __le__ = binary("less"), binary("less_equal")
    __gt__, __ge__ = binary("greater"), binary("greater_equal")
    __eq__, __ne__ = binary("equal"), binary("not_equal")
    __neg__, __pos__ = method("negative"), method("positive")
    __abs__, __invert__ = method("abs"), method("bitwise_invert")

    def __round__(self, ndigits: int | None = None) -> Any:
        return _round(self, ndigits or 0)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TraceError("len() of a 0-d array", where=user_location_text())
        return int(self.shape[0]) if isinstance(self.shape[0], int) else self.shape[0].__index__()

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TraceError("iteration over a 0-d array", where=user_location_text())
        rows: Iterator[Any] = _rows_of(self)
        return rows

    def __contains__(self, item: Any) -> bool:
        return bool(_any(self == item))

    def __getitem__(self, index: Any) -> Any:
        return _get_index(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TraceError(
            "arrays of adze are immutable: item assignment x[...] = y is not possible",
            where=user_location_text(),
            hint="write x = x.at[index].set(y); .add .mul .min .max exist too",
        )

    def __delitem__(self, index: Any) -> None:
        raise TraceError(
            "arrays of adze are immutable: del x[...] is not possible",
            where=user_location_text(),
            hint="write x = adze.numpy.delete(x, index, axis)",
        )

    def __copy__(self) -> Any:
        return _copy_array(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return _copy_array(self)

    @property
    def at(self) -> Any:
        """Functional updates: `x.at[index].set(y)`."""
        return _at(self)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return product(self.shape)

    def item(self, *index: Any) -> Any:
        """One element as a Python scalar."""
        raise NotImplementedError  # stated here too, since clients look methods up in `jax.Array`

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> Any:
        """The transpose: all axes reversed."""
        return _transpose(self)

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return _matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real part."""
        return _real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return _imag(self)

    @property
    def flat(self) -> Any:
        """The elements in row-major order, as a flat array."""
        return _ravel(self)

    def reshape(self, *shape: Any, order: str = "C", out_sharding: Any = None) -> Any:
        """`adze.numpy.reshape`; the shape as one tuple or as separate arguments."""
        wanted = _one_or_several(shape)
        if out_sharding is not None:
            return _lying_as(out_sharding, lambda: _reshape(self, wanted, order=order))
        return _reshape(self, wanted, order=order)

    def transpose(self, *axes: Any) -> Any:
        """`adze.numpy.transpose`; the axes as one tuple or as separate arguments."""
        return _transpose(self, _one_or_several(axes) or None)

    @property
    def aval(self) -> Any:
        """The type: shape, dtype and whether it is weak, by JAX's name."""
        return _type_of(self)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The same numbers in another dtype."""
        return _astype(self, narrow_stated(dtype, "astype"), copy=copy)

    def view(self, dtype: Any = None, type: None = None) -> Any:
        """The same bits in another dtype."""
        return _view(self, dtype, type)

    def copy(self) -> Any:
        """The same elements as an array of its own, which lives on when this one is donated or deleted."""
        return _copy_array(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on `device`."""
        return _to_device(self, device)

    sum, prod, mean = method("sum"), method("prod"), method("mean")
    max, min, ptp = method("max"), method("min"), method("ptp")
    std, var, all, any = method("std"), method("var"), method("all"), method("any")
    argmax, argmin, argsort = method("argmax"), method("argmin"), method("argsort")
    cumsum, cumprod, clip = method("cumsum"), method("cumprod"), method("clip")
    sort, round, dot = method("sort"), method("round"), method("dot")
    flatten, ravel, squeeze = method("ravel"), method("ravel"), method("squeeze")
    swapaxes, diagonal, trace = method("swapaxes"), method("diagonal"), method("trace")
    repeat, take, conj, conjugate = method("repeat"), method("take"), method("conj"), method("conj")
    nonzero, searchsorted = method("nonzero"), method("searchsorted")
    argpartition, partition, choose = method("argpartition"), method("partition"), method("choose")

    def compress(
        self,
        condition: Any,
        axis: int | None = None,
        *,
        out: Any = None,
        size: Any = None,
        fill_value: Any = 0,
    ) -> Any:
        """The entries along `axis` where `condition` holds."""
        return _compress(condition, self, axis, out=out, size=size, fill_value=fill_value)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """`adze.numpy`, as the array API standard asks."""
        return _array_namespace()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _call_function(function, args, kwargs)


def _one_or_several(arguments: tuple[Any, ...]) -> Any:
    """A shape or axes, given as one tuple or as separate arguments."""
    return arguments[0] if len(arguments) == 1 and not isinstance(arguments[0], int) else arguments


def is_frozen(array: np.ndarray) -> bool:
    """Whether neither `array` nor an array that it is a view of can be written to."""
    viewed: Any = array
    while isinstance(viewed, np.ndarray):
        if viewed.flags.writeable:
            return False
        viewed = viewed.base
    return True


_NUMBERS: Final = itertools.count()
next_number: Final[Callable[[], int]] = _NUMBERS.__next__
"""The number of the next array, see `number_of`."""


def moment() -> int:
    """What arrays made so far have less than as their number."""
    return next_number()


def number_of(array: Array) -> int:
    """What tells an array from others: those that are made later have a greater one."""
    return array._number


def strong(array: Array) -> Array:
    """The same array, strongly typed; the user's own object keeps its weak type."""
    copy = Array(array.numpy())
    copy._number = array._number
    return copy


class Array(ArrayMethods):
    """A concrete, immutable array, in host memory or on a device.

    `numpy.asarray(x)` returns its elements, without a copy where the device's memory is the host's.
    """

    __slots__ = (
        *("__weakref__", "_buffer", "_host", "_number", "_view"),
        *("call_kind", "kind", "weak_type", "wide"),
    )

    kind: Kind | None
    """Shape, dtype and device; None for arrays in host memory."""

    call_kind: Kind | None
    """What compiled programs know the array by: `kind`, or for an array in host memory that of the view
    which a program on the CPU has taken. None where there is no such view."""

    _number: int
    """How many arrays are older, and what a copy that differs in its type alone is known by (`number_of`)."""

    def __init__(self, value: Any) -> None:
        self.kind = self.call_kind = None
        self._number = next_number()
        self._view: Any = None
        self.weak_type = False
        self.wide: Array | None = None
        self._host: np.ndarray | None = None
        self._buffer: Any = None
        if isinstance(value, (np.ndarray, np.generic)):
            host = np.asarray(value)
            if host.flags.writeable:
                host = host.view()
                host.setflags(write=False)
            self._host = host
        else:
            self._buffer = value
            self._view = value.view
            self.kind = self.call_kind = kind_of(tuple(value.shape), value.dtype, value.device)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.kind.shape if self.kind is not None else self._host.shape  # type: ignore[union-attr]

    @property
    def dtype(self) -> np.dtype:
        return self.kind.dtype if self.kind is not None else self._host.dtype  # type: ignore[union-attr]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> Any:
        """The name of the device that holds the elements; `host` for an array that NumPy holds. To a program
        written for JAX, the memory of a CPU is a device of `jax.devices()`."""
        is_cpu = self.kind is None or self.kind.device.is_cpu
        if is_cpu and follows_jax():
            return _device_of_jax()
        return "host" if self.kind is None else self.kind.device.name

    @property
    def buffer(self) -> Any:
        """The runtime's device array, None for an array in host memory."""
        if self._buffer is None and self.kind is not None:
            kind = self.kind
            self._buffer = _device_array()(self._view, kind.shape, kind.dtype, kind.device)
        return self._buffer

    def numpy(self) -> np.ndarray:
        """The elements as a read-only NumPy array."""
        if self._host is None:
            kind = self.kind
            if self._buffer is None and kind is not None and kind.device.is_cpu:
                self._host = _mapped()(self._view, kind.shape, kind.dtype)
            else:
                self._host = self.buffer.numpy()
        return self._host

    def block_until_ready(self) -> Array:
        """The array itself: calls return when their results are there."""
        return self

    def copy_to_host_async(self) -> None:
        """Let the elements of an array on a GPU come to the host; NumPy waits for them when it asks."""
        if self._host is None and self.kind is not None and not self.kind.device.is_cpu:
            self.buffer.start_to_host()

    def is_deleted(self) -> bool:
        """Whether the elements are gone: the array was donated to a call, or `delete()` was called."""
        return False

    def delete(self) -> None:
        """Let go of the elements now; using them later is a `DeletedArrayError`."""
        _delete_array(self, "by delete()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = self.numpy()
        return host if dtype is None and not copy else np.array(host, dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        options: dict[str, Any] = {"stream": stream, "max_version": max_version}
        options |= {"dl_device": dl_device, "copy": copy}
        if self.kind is not None:
            return self.buffer.__dlpack__(**options)
        host = self.numpy()
        return (host if host.flags.writeable else host.copy()).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        holder = self.buffer if self.kind is not None else self.numpy()
        return holder.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()

    def __format__(self, specification: str) -> str:
        return format(self.numpy() if self.ndim else self.numpy()[()], specification)

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements, in row-major order or as `order` says."""
        return self.numpy().tobytes(order)  # type: ignore[arg-type]

    @property
    def sharding(self) -> Any:
        """How the array lies on devices, or on the ranks of a mesh."""
        return _sharding_of(self)

    layout: ClassVar[Any] = None
    """How it lies on a mesh whose axes are explicit: on none."""

    @property
    def committed(self) -> bool:
        """Whether it was put on the ranks of a mesh; an array of one device goes wherever a program runs."""
        return False

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process has all elements."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every rank has all elements."""
        return True

    @property
    def addressable_shards(self) -> list[Any]:
        """The parts of this process: all of the array, unless ranks divide it."""
        parts: list[Any] = _shards_of(self)
        return parts

    def addressable_data(self, index: int) -> Array:
        """The part with the number `index` among those of this process."""
        data: Array = self.addressable_shards[index].data
        return data

    def devices(self) -> set[Any]:
        """The devices that hold the elements, as `device` has it: one."""
        return {self.device}

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python scalars."""
        return self.numpy().tolist()

    def item(self, *index: Any) -> Any:
        """One element as a Python scalar."""
        return self.numpy().item(*index)

    def __reduce__(self) -> Any:
        return _restored, (np.array(self.numpy()), self.weak_type)

    def __str__(self) -> str:
        """The elements alone, as NumPy prints them."""
        return str(self.numpy())

    def __repr__(self) -> str:
        if follows_jax():
            return array_text(self.numpy(), self.weak_type)
        body = np.array2string(self.numpy(), separator=", ", prefix="Array(", threshold=100)
        place = "" if self.kind is None else f", device={self.device!r}"
        return f"Array({body}, dtype={short_name(self.dtype)}{place})"


@functools.cache
def _device_array() -> type[DeviceArray]:
    """The runtime's class, which is loaded with the first array on a device."""
    from ...runtime.execute.array import DeviceArray

    return DeviceArray


@functools.cache
def _mapped() -> Callable[[Any, tuple[int, ...], np.dtype], np.ndarray]:
    """The runtime's view of a CPU's memory for NumPy."""
    from ...runtime.execute.array import mapped

    return mapped


def array_of_view(view: Any, kind: Kind) -> Array:
    """The array whose elements the runtime's `view` holds: the result of a call, made in no time."""
    array = _new(Array)
    array.kind = array.call_kind = kind
    array._view = view
    array._buffer = array._host = array.wide = None
    array._number = next_number()
    array.weak_type = kind.is_weak
    return array


_new: Final = object.__new__


def _restored(elements: np.ndarray, weak_type: bool) -> Array:
    """An array that was pickled."""
    array = Array(elements)
    array.weak_type = weak_type
    return array
