"""Arrays as users hold them: the operators and methods shared by traced and concrete arrays, and `Array`.

`ArrayMethods` turns Python's syntax (`x + y`, `x[i]`, `x.sum()`) into calls of the array namespace, so
that a traced and a concrete array behave alike. `Array` is the concrete one: immutable, on the host or
on a device, given to NumPy without a copy where that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects.types import dtype_name
from ..errors import TraceError
from .locations import user_location_text


def _namespace() -> Any:
    from ..library import (
        numpy as namespace,  # the namespace is written in terms of arrays, and arrays in terms of it
    )

    return namespace


def _binary(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return getattr(_namespace(), name)(self, other)

    return method


def _reflected(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return getattr(_namespace(), name)(other, self)

    return method


def _unary(name: str) -> Any:
    def method(self: Any) -> Any:
        return getattr(_namespace(), name)(self)

    return method


def _method(name: str) -> Any:
    """A method that is the function `name` of the namespace with the array as first argument."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(_namespace(), name)(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`adze.numpy.{name}` of this array."
    return method


def _is_operand(other: Any) -> bool:
    if getattr(type(other), "__array_ufunc__", other) is None:
        return False  # NumPy's sign of objects that want to answer themselves, such as pytest.approx
    return other is not None and not isinstance(other, (str, bytes, dict, set))


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

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __divmod__, __rdivmod__ = _binary("divmod"), _reflected("divmod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("bitwise_left_shift"), _reflected("bitwise_left_shift")
    __rshift__, __rrshift__ = _binary("bitwise_right_shift"), _reflected("bitwise_right_shift")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __neg__, __pos__ = _unary("negative"), _unary("positive")
    __abs__, __invert__ = _unary("abs"), _unary("bitwise_invert")

    def __round__(self, ndigits: int | None = None) -> Any:
        return _namespace().round(self, ndigits or 0)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TraceError("len() of a 0-d array", where=user_location_text())
        return int(self.shape[0]) if isinstance(self.shape[0], int) else self.shape[0].__index__()

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TraceError("iteration over a 0-d array", where=user_location_text())
        return (self[i] for i in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        return bool(_namespace().any(self == item))

    def __getitem__(self, index: Any) -> Any:
        return _namespace().get_index(self, index)

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
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # nothing can change it

    @property
    def at(self) -> Any:
        """Functional updates: `x.at[index].set(y)`."""
        return _namespace().Indexer(self)

    @property
    def size(self) -> Any:
        """The number of elements."""
        from .sizes import product

        return product(self.shape)

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
        return _namespace().transpose(self)

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return _namespace().matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real part."""
        return _namespace().real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return _namespace().imag(self)

    @property
    def flat(self) -> Any:
        """The elements in row-major order, as a flat array."""
        return _namespace().ravel(self)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """`adze.numpy.reshape`; the shape as one tuple or as separate arguments."""
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return _namespace().reshape(self, given, order=order)

    def transpose(self, *axes: Any) -> Any:
        """`adze.numpy.transpose`; the axes as one tuple or as separate arguments."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return _namespace().transpose(self, given or None)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The same numbers in another dtype."""
        return _namespace().astype(self, dtype, copy=copy)

    def view(self, dtype: Any) -> Any:
        """The same bits in another dtype of equal width."""
        return _namespace().view(self, dtype)

    def copy(self) -> Any:
        """The array itself: arrays are immutable."""
        return self

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on `device`."""
        return _namespace().to_device(self, device)

    sum, prod, mean = _method("sum"), _method("prod"), _method("mean")
    max, min, ptp = _method("max"), _method("min"), _method("ptp")
    std, var, all, any = _method("std"), _method("var"), _method("all"), _method("any")
    argmax, argmin, argsort = _method("argmax"), _method("argmin"), _method("argsort")
    cumsum, cumprod, clip = _method("cumsum"), _method("cumprod"), _method("clip")
    sort, round, dot = _method("sort"), _method("round"), _method("dot")
    flatten, ravel, squeeze = _method("ravel"), _method("ravel"), _method("squeeze")
    swapaxes, diagonal, trace = _method("swapaxes"), _method("diagonal"), _method("trace")
    repeat, take, conj, conjugate = _method("repeat"), _method("take"), _method("conj"), _method("conj")
    nonzero, searchsorted = _method("nonzero"), _method("searchsorted")
    argpartition, partition, choose = _method("argpartition"), _method("partition"), _method("choose")

    def compress(self, condition: Any, axis: int | None = None) -> Any:
        """The entries along `axis` where `condition` holds."""
        return _namespace().compress(condition, self, axis)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """`adze.numpy`, as the array API standard asks."""
        return _namespace()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ..library.numpy.numpy_protocol import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ..library.numpy.numpy_protocol import call_function

        return call_function(function, args, kwargs)


def is_frozen(array: np.ndarray) -> bool:
    """Whether neither `array` nor an array that it is a view of can be written to."""
    viewed: Any = array
    while isinstance(viewed, np.ndarray):
        if viewed.flags.writeable:
            return False
        viewed = viewed.base
    return True


class Array(ArrayMethods):
    """A concrete, immutable array, in host memory or on a device.

    `numpy.asarray(x)` gives its elements, without a copy where the device's memory is the host's.
    """

    __slots__ = ("_buffer", "_host", "weak_type", "wide")

    def __init__(self, value: Any) -> None:
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

    @property
    def shape(self) -> tuple[int, ...]:
        return self._host.shape if self._host is not None else tuple(self._buffer.shape)

    @property
    def dtype(self) -> np.dtype:
        return self._host.dtype if self._host is not None else self._buffer.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> str:
        """The name of the device that holds the elements; `host` for an array that NumPy holds."""
        return "host" if self._buffer is None else str(self._buffer.device.name)

    @property
    def buffer(self) -> Any:
        """The runtime's device array, None for an array in host memory."""
        return self._buffer

    def numpy(self) -> np.ndarray:
        """The elements as a read-only NumPy array."""
        if self._host is None:
            self._host = self._buffer.numpy()
        return self._host

    def block_until_ready(self) -> Array:
        """The array itself: calls return when their results are there."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

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
        if self._buffer is not None:
            return self._buffer.__dlpack__(**options)
        host = self.numpy()
        return (host if host.flags.writeable else host.copy()).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        holder = self._buffer if self._buffer is not None else self.numpy()
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

    def devices(self) -> set[str]:
        """The names of the devices that hold the elements: one."""
        return {self.device}

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python scalars."""
        return self.numpy().tolist()

    def item(self, *index: Any) -> Any:
        """One element as a Python scalar."""
        return self.numpy().item(*index)

    def __reduce__(self) -> Any:
        return _restored, (np.array(self.numpy()), self.weak_type)

    def __repr__(self) -> str:
        body = np.array2string(self.numpy(), separator=", ", prefix="Array(", threshold=100)
        place = "" if self._buffer is None else f", device={self.device!r}"
        return f"Array({body}, dtype={dtype_name(self.dtype)}{place})"


def _restored(elements: np.ndarray, weak_type: bool) -> Array:
    """An array that was pickled."""
    array = Array(elements)
    array.weak_type = weak_type
    return array
