"""Dataclasses whose functions are made when they are first needed, since a process uses few of them.

Input and output are those of `dataclasses.dataclass`, as is the meaning. Idea: that one writes the source of
six functions for each class and compiles them, 0.3 to 1 ms, and adze loads 400 such classes for a process
that compiles a small program. Here one function compares, hashes, prints or refuses for all classes, by the
names of their fields, and a class gets its `__init__`, which has to be fast, when the first instance is made.
"""

from __future__ import annotations

import dataclasses
import inspect
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass` with the options `frozen`, `slots`, `eq` and `repr`."""
        return _made(cls, **options) if cls is not None else lambda cls: _made(cls, **options)

    def _made(cls, *, frozen=False, slots=False, eq=True, repr=True):
        own = frozenset(vars(cls))
        has_hash = "__hash__" in own and not (cls.__hash__ is None and "__eq__" in own)
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # `dataclasses` would look for the signature of what it has not made
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        methods = {}
        if "__init__" not in own:
            methods |= {"__init__": _first_init(cls, frozen), "__signature__": _Signature()}
        if repr:
            methods["__repr__"] = _repr
        if eq:
            methods["__eq__"] = _equality(_values(f.name for f in dataclasses.fields(cls) if f.compare))
        if frozen:
            methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            if name not in own:
                setattr(cls, name, method)
        if eq and not has_hash:
            hashed = (f.name for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash))
            cls.__hash__ = _hash(_values(hashed)) if frozen else None
        return cls

    def _first_init(cls, frozen):
        """An `__init__` that makes the one of the class, and is replaced by it."""

        def __init__(self, *arguments, **keywords):
            cls.__init__ = made = _init(cls, frozen)
            made(self, *arguments, **keywords)

        return __init__

    class _Signature:
        """What `inspect` sees of a class: the parameters that `__init__` will have."""

        def __get__(self, instance, owner):
            if instance is not None or "__signature__" not in vars(owner):
                raise AttributeError("__signature__")
            _, *parameters = inspect.signature(_init(owner, True)).parameters.values()
            return inspect.Signature(parameters, return_annotation=None)

    class _Factory:
        """Stands for a default that is made at the call."""

        def __repr__(self):
            return "<factory>"

    def _init(cls, frozen):
        """The function that sets each field to its argument or its default."""
        known = {"__name__": cls.__module__, "_set": object.__setattr__, "_absent": _Factory()}
        positional, named, lines = ["self"], [], []
        for f in dataclasses.fields(cls):
            value = f.name if f.init else f"_default_{f.name}"
            parameter = f.name
            if f.default_factory is not dataclasses.MISSING:
                known[f"_make_{f.name}"] = f.default_factory
                made = f"_make_{f.name}()"
                value = f"{made} if {f.name} is _absent else {f.name}" if f.init else made
                parameter += "=_absent"
            elif f.default is not dataclasses.MISSING:
                known[f"_default_{f.name}"] = f.default
                parameter += f"=_default_{f.name}"
            elif not f.init:
                continue
            if f.init:
                (named if f.kw_only else positional).append(parameter)
            lines.append(f"_set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join([*positional, *(["*", *named] if named else [])])
        exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), known)
        init = known["__init__"]
        init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        init.__annotations__ = {f.name: f.type for f in dataclasses.fields(cls) if f.init}
        return init

    def _values(names):
        """A function of an instance: the tuple of some of its fields."""
        names = tuple(names)
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple([getattr(self, name) for name in names])

    def _equality(values):
        def __eq__(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hash(values):
        def __hash__(self):
            return hash(values(self))

        return __hash__

    @recursive_repr()
    def _repr(self):
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr]
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    def _is_frozen(self, name):
        """Whether it is the name of a field, or the instance is not one of a plain subclass."""
        return name in self.__dataclass_fields__ or "__dataclass_fields__" in vars(type(self))

    def _refuse_assignment(self, name, value):
        if _is_frozen(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def _refuse_deletion(self, name):
        if _is_frozen(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def _state(self):
        return [getattr(self, f.name) for f in dataclasses.fields(self)]

    def _set_state(self, state):
        for f, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, f.name, value)
