"""What functions can see besides their arguments: whether two calls of them must compute the same.

Input: Python functions. Output: a key that is equal while nothing that they can see has changed: closures,
defaults, names of modules, attributes of objects, and the same of the functions that they call; and the
arrays among that. `None` where it cannot be said.

Idea: a function that only computes needs no second trace, but Python does not say which functions do. So what
a function's code looks up is read from its bytecode, and compared: numbers and small arrays by value, arrays
of adze by identity, as they never change, lists and objects by what they hold. Whatever is none of these (an
iterator, a generator of random numbers, a clock, `print`) makes the answer `None`.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import weakref
from collections.abc import Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple

import numpy as np

from ...dialects.communicator import bound
from ...passes.analysis.evaluate import is_watching
from .. import tree
from .array import Array
from .default_dtypes import chosen, floating, names_widening
from .frames import Tracer
from .jax_rules import Installed
from .mesh_in_force import mesh_in_force
from .random_counts import RandomCounts
from .varying import mesh_axes
from .written_checks import WRITTEN

_MOST: Final = 1_000
"""So many objects are looked at; functions that can see more are not compared."""
_SMALL: Final = 4_096
"""Arrays of at most so many bytes are compared by their elements."""
_LARGE: Final = 1 << 20
"""Those of NumPy that have more bytes are not compared."""

_OWN: Final = __name__.partition(".")[0]
_PURE_MODULES: Final = frozenset(
    (
        *(_OWN, "jax", "numpy", "ml_dtypes", "math", "cmath", "operator", "functools", "typing"),
        *("collections", "dataclasses", "enum", "numbers", "string", "types", "abc", "builtins"),
    )
)
"""Packages whose functions compute and do nothing else, apart from those of `_IMPURE_MODULES`."""
_IMPURE_MODULES: Final = ("numpy.random", "numpy.testing", "numpy.lib.npyio")
_IMPURE_NAMES: Final = frozenset(
    (
        *("config", "load", "loads", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap"),
        *("save", "savez", "savez_compressed", "savetxt", "seterr", "setbufsize", "set_printoptions"),
        *("get_printoptions", "geterr"),
    )
)
"""Names in them that read or write files and settings."""
_PURE_BUILTINS: Final = frozenset(
    (
        *("abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate"),
        *("filter", "float", "format", "frozenset", "getattr", "hasattr", "int", "isinstance", "issubclass"),
        *("len", "list", "map", "max", "min", "object", "ord", "pow", "property", "range", "repr"),
        *("reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip"),
        *("staticmethod", "classmethod", "Ellipsis", "NotImplemented", "__name__", "__build_class__"),
    )
)
_PLAIN: Final = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented), np.dtype, range)
_IMMORTAL: Final = (
    BuiltinFunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
    np.ufunc,
)


class _UnknownError(Exception):
    """A function can see what cannot be compared."""


class _Same:
    """Equal for one and the same object while it lives; an address alone may be that of a later one."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: Any) -> None:
        self._value = weakref.ref(value)
        self._hash = id(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        value = self._value()
        return isinstance(other, _Same) and value is not None and value is other._value()


def may_be_known() -> bool:
    """Whether nothing decides what a trace is but its arguments, what its functions see, and `surroundings`:
    no watch of values, no ranks, no written checks."""
    return not (is_watching() or bound() is not None or mesh_axes() or WRITTEN.get() is not None)


def surroundings() -> Any:
    """What else decides what a trace is: the defaults of dtypes, the rules in force, the mesh in force."""
    is_older = not RandomCounts.are_partitionable
    return chosen(), names_widening(), floating(), Installed.is_on, mesh_in_force(), is_older


class Seen(NamedTuple):
    """What functions see."""

    key: Any
    """Equal, and hashable, while they see the same."""
    arrays: list[Array]
    """The arrays that are compared by identity, in an order that belongs to the key."""


def seen_by(functions: Sequence[Any]) -> Seen | None:
    """What these functions, or other objects, see; None where nobody can say.

    That costs time too, so functions of the same code are not looked at for ever.
    """
    codes = tuple([_codes(f, _DEPTH) for f in functions])
    if _in_vain.get(codes, 0) >= _TRIES:
        return None
    look = _Look()
    try:
        return Seen(tuple([look.at(f) for f in functions]), look.arrays)
    except (_UnknownError, RecursionError):
        if len(_in_vain) >= _MOST:
            _in_vain.clear()
        _in_vain[codes] = _in_vain.get(codes, 0) + 1
        return None


def _codes(function: Any, depth: int) -> Any:
    """The code of a function and of those that it holds; the class of another object."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    if code is None or depth == 0:
        return type(function)
    held = [_cell(cell) for cell in getattr(function, "__closure__", None) or ()]
    return code, tuple([_codes(f, depth - 1) for f in held if callable(f)])


_DEPTH: Final = 4
_TRIES: Final = 8
_in_vain: Final[dict[Any, int]] = {}
"""How often nobody could say what functions see, by their code."""


class _Look:
    """One look at all that some functions can see; what is seen twice is compared once."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no address is that of another object
        self.arrays: list[Array] = []

    def at(self, value: Any) -> Any:
        """The key of one object."""
        if isinstance(value, _PLAIN):
            return type(value), value
        if isinstance(value, (float, complex)):
            return type(value), repr(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return _elements(value)
        if isinstance(value, Array) and _is_small(value):
            return Array, value.weak_type, _elements(value.numpy())
        number = self._seen.get(id(value))
        if number is not None:
            return number
        if len(self._seen) >= _MOST:
            raise _UnknownError
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._looked(value)

    def _looked(self, value: Any) -> Any:
        if isinstance(value, Array):
            self.arrays.append(value)
            return _Same(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return "method", self.at(value.__func__), self.at(value.__self__)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, (tuple, list, set, frozenset)) and type(value).__module__ == "builtins":
            return type(value), tuple([self.at(v) for v in value])
        if type(value) is dict:
            return dict, tuple([(self.at(k), self.at(v)) for k, v in value.items()])
        if isinstance(value, ModuleType):
            return self._module(value, ())
        if isinstance(value, functools.partial):
            return functools.partial, self.at(value.func), self.at(value.args), self.at(value.keywords)
        if isinstance(value, _IMMORTAL):
            return self._immortal(value)
        return self._object(value)

    def _function(self, function: FunctionType) -> Any:
        code = function.__code__
        held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        held += [_cell(cell) for cell in function.__closure__ or ()]
        held += [v for k, v in vars(function).items() if k != "__wrapped__" or not function.__closure__]
        kinds = tuple([self.at(v) for v in held])
        if is_pure_module(function.__globals__.get("__name__", "")):
            return code, kinds
        cells = dict(zip(code.co_freevars, map(_cell, function.__closure__ or ()), strict=True))
        return code, kinds, tuple([self._name(read, function, cells) for read in _reads(code)])

    def _name(self, read: tuple[str, ...], function: FunctionType, cells: dict[str, Any]) -> Any:
        """What a name is that the code of a function looks up, and the names behind it in modules."""
        name, *attributes = read
        if name in cells:
            value = cells[name]
            return self._module(value, attributes) if isinstance(value, ModuleType) else None
        known = function.__globals__
        if name in known:
            value = known[name]
            return self._module(value, attributes) if isinstance(value, ModuleType) else self.at(value)
        if name in _PURE_BUILTINS or _is_exception(name):
            return name
        if hasattr(builtins, name):
            raise _UnknownError
        return None  # defined later, or never

    def _module(self, module: Any, attributes: Sequence[str]) -> Any:
        """What `module.a.b` is; of a module of the user it matters what it has now."""
        names = iter(attributes)
        while isinstance(module, ModuleType):
            own = is_pure_module(module.__name__)
            name = next(names, None)
            if name is None:
                if own and not module.__name__.startswith("numpy"):
                    return module.__name__
                raise _UnknownError
            if own and not _IMPURE_NAMES.isdisjoint(attributes):
                raise _UnknownError
            if own and module.__name__.partition(".")[0] in (_OWN, "jax"):
                return module.__name__, *attributes
            if not own and not hasattr(module, name):
                raise _UnknownError
            value = getattr(module, name, None)
            if own and not isinstance(value, ModuleType):
                return module.__name__, name
            module = value
        return self.at(module)

    def _class(self, kind: type) -> Any:
        """A class with its methods, as their names may be those of other things by now."""
        if is_pure_module(kind.__module__) or kind.__module__ == "builtins":
            return kind
        parts = [
            v for base in kind.__mro__[:-1] if not is_pure_module(base.__module__) for v in _methods(base)
        ]
        return _Same(kind), tuple([self.at(v) for v in parts])

    def _immortal(self, value: Any) -> Any:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, (ModuleType, type)):
            return value.__name__, self.at(owner)
        module = str(getattr(value, "__module__", None) or getattr(owner, "__name__", ""))
        is_pure = is_pure_module(module) and (module != "builtins" or value.__name__ in _PURE_BUILTINS)
        if isinstance(value, BuiltinFunctionType) and not is_pure:
            raise _UnknownError
        return value

    def _object(self, value: Any) -> Any:
        """An object by its class and attributes."""
        if isinstance(value, enum.Enum):
            return _Same(value)
        if isinstance(value, functools._lru_cache_wrapper):
            return "cached", self.at(value.__wrapped__)
        if isinstance(value, Tracer) or (isinstance(value, tree.Structure) and not is_plain(value)):
            raise _UnknownError
        if isinstance(value, tree.Structure):
            return value
        kind = type(value)
        decides = getattr(kind, "DECIDES", None)
        if decides is not None:
            return kind, tuple([self.at(getattr(value, name)) for name in decides])
        if isinstance(value, (str, int, float)):
            return self.at(kind), repr(value), self._attributes(value)
        if isinstance(value, (tuple, list, dict, set, frozenset)):
            items = value.items() if isinstance(value, dict) else value
            return self.at(kind), tuple([self.at(v) for v in items]), self._attributes(value)
        if not hasattr(value, "__dict__") and not any(map(_slots, kind.__mro__)):
            raise _UnknownError  # written in C: nobody knows what it holds
        if not _is_written_in_python(kind):
            raise _UnknownError
        return self.at(kind), self._attributes(value)

    def _attributes(self, value: Any) -> Any:
        """What an object holds by name."""
        names = [name for base in type(value).__mro__ for name in _slots(base) if hasattr(value, name)]
        held = {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in names}}
        return self.at(held) if held else None


def _slots(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, MemberDescriptorType)]


def _is_small(array: Array) -> bool:
    """Whether an array is compared by its elements: one that nothing but itself belongs to."""
    is_plain = type(array) is Array and array.kind is None and array.wide is None
    return is_plain and array.numpy().nbytes <= _SMALL


def _elements(array: np.ndarray | np.generic) -> Any:
    """An array of NumPy by its elements: its owner can write to it at any time."""
    is_known = type(array) is np.ndarray or isinstance(array, np.generic)
    if not is_known or array.nbytes > _LARGE or array.dtype.hasobject:
        raise _UnknownError
    elements = array.tobytes()
    if len(elements) > _SMALL:
        import hashlib

        elements = hashlib.blake2b(elements).digest()
    return type(array), array.dtype, array.shape, elements


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def is_pure_module(name: str) -> bool:
    """Whether functions of a module only compute, as far as their arguments do."""
    return name.partition(".")[0] in _PURE_MODULES and not name.startswith(_IMPURE_MODULES)


def _is_exception(name: str) -> bool:
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, BaseException)


def _methods(kind: type) -> Iterator[Any]:
    """What a class defines: its functions, and other values that its methods may read."""
    for name, value in vars(kind).items():
        if isinstance(value, (staticmethod, classmethod)):
            yield value.__func__
        elif isinstance(value, property):
            yield from (f for f in (value.fget, value.fset) if f is not None)
        elif name not in _OF_CLASSES and not isinstance(value, (GetSetDescriptorType, MemberDescriptorType)):
            yield value


_OF_CLASSES: Final = frozenset(
    (
        *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
        *("__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"),
        *("__match_args__", "__parameters__", "__orig_bases__", "__slots__", "__firstlineno__"),
        *("__static_attributes__", "__annotate__", "__annotate_func__"),
    )
)
"""Attributes of classes that no method reads for what it computes."""


def _is_written_in_python(kind: type) -> bool:
    """Whether all that instances hold is in their attributes."""
    return all(
        base is object or is_pure_module(base.__module__) or any(map(_is_of_python, vars(base).items()))
        for base in kind.__mro__
    )


def _is_of_python(item: tuple[str, Any]) -> bool:
    """Whether an attribute shows that its class is written in Python."""
    name, value = item
    return name in ("__slots__", "__weakref__") or isinstance(value, (FunctionType, property, classmethod))


@functools.lru_cache(maxsize=4096)
def _reads(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The names outside a function that it, or a function inside it, looks up, each with the attributes that
    follow it: `("np", "random", "normal")`. Raises `_UnknownError` for code that imports."""
    found: dict[tuple[str, ...], None] = {}
    chain: list[str] | None = None
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if chain is not None and name in _ATTRIBUTE:
            chain.append(instruction.argval)
            continue
        if chain is not None and name not in ("CACHE", "EXTENDED_ARG"):
            found[tuple(chain)] = None
            chain = None
        if name in _NAME:
            chain = [instruction.argval]
        elif name in _IMPORTS:
            raise _UnknownError
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            own = set(inner.co_freevars) - set(code.co_freevars)  # variables of this function
            found.update(dict.fromkeys(read for read in _reads(inner) if read[0] not in own))
    return tuple(found)


_NAME: Final = (
    *("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"),
    *("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
)
_ATTRIBUTE: Final = ("LOAD_ATTR", "LOAD_METHOD")
_IMPORTS: Final = ("IMPORT_NAME", "IMPORT_STAR")


@functools.lru_cache(maxsize=4096)
def is_plain(structure: tree.Structure) -> bool:
    """Whether a tree has no nodes but tuples, lists, dicts and None: others may hold anything."""
    pending = [structure]
    while pending:
        node = pending.pop()
        kind = node.type
        if kind is not None and not node.is_leaf() and kind not in (tuple, list, dict, type(None)):
            return False
        pending += node.children()
    return True
