"""`adze.dialects.dataclass` beside the standard library's: the same classes, made by both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

from adze.dialects.dataclass import dataclass

Maker = Callable[..., Any]
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq} for frozen in (0, 1) for slots in (0, 1) for eq in (0, 1)
]
each_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


@dataclass(frozen=True, slots=True)
class Kept:
    """Pickled by name."""

    x: int
    y: list[int] = field(default_factory=list)


@dataclass
class Open:
    x: int = 1


def classes(make: Maker, options: dict[str, Any]) -> list[Any]:
    @make(**options)
    class Base:
        """A base."""

        kind: ClassVar[str] = "base"
        x: int
        y: float = 2.5
        hidden: int = field(default=7, repr=False, compare=False)

        def double(self) -> int:
            return 2 * self.x

    @make(**options)
    class Derived(Base):
        z: list[int] = field(default_factory=lambda: [1, 2])
        made: int = field(default=3, init=False)
        named: str = field(default="n", kw_only=True)

    @make(**options)
    class Empty:
        """Without fields."""

    @make(**options)
    class Single:
        """Of one field."""

        x: Any

        def __post_init__(self) -> None:
            object.__setattr__(self, "x", (self.x, "seen"))

    return [Base, Derived, Empty, Single]


ARGUMENTS: list[list[tuple[tuple[Any, ...], dict[str, Any]]]] = [
    [((1,), {}), ((1, 2.5), {}), ((1,), {"y": 3.5, "hidden": 1}), ((), {}), ((1,), {"q": 2})],
    [((1,), {}), ((1, 2.0, 7, [5]), {"named": "other"}), ((1, 2.0, 7, [5], "n"), {}), ((1,), {"made": 2})],
    [((), {}), ((1,), {})],
    [((float("nan"),), {}), (("text",), {}), ((), {})],
]


def seen(make: Maker, options: dict[str, Any], number: int) -> list[Any]:
    """What one can see of a class and of its instances, as plain values."""
    cls = classes(make, options)[number]
    said: list[Any] = [cls.__name__, cls.__match_args__, "__dict__" in dir(cls), str(inspect.signature(cls))]
    said += [[(f.name, f.type) for f in dataclasses.fields(cls)], cls.__hash__ is None]
    found = []
    for arguments, keywords in ARGUMENTS[number]:
        try:
            found.append(cls(*arguments, **keywords))
        except TypeError as error:
            said.append(str(error))
    for one in found:
        said += [repr(one).rpartition("<locals>.")[2], dataclasses.asdict(one)]
        said += [one == other for other in [*found, object()]]
        said.append(one == copy.copy(one) if options["eq"] else one == one)
        if cls.__hash__ is not None and options["eq"] and not dataclasses.asdict(one).get("z"):
            said.append(hash(one) == hash(copy.deepcopy(one)))
    for one in found if dataclasses.fields(cls) else ():
        for change in (lambda one=one: setattr(one, "x", 5), lambda one=one: delattr(one, "x")):
            try:
                change()
                said.append("changed")
            except (FrozenInstanceError, AttributeError) as error:
                said.append((type(error).__name__, str(error)) if options["frozen"] else type(error).__name__)
    return said


@each_option
@pytest.mark.parametrize("number", range(4))
def test_classes_are_those_of_the_standard_library(options: dict[str, Any], number: int) -> None:
    options = {name: bool(value) for name, value in options.items()}
    assert seen(dataclass, options, number) == seen(dataclasses.dataclass, options, number)


def test_methods_of_the_class_stay() -> None:
    @dataclass(frozen=True)
    class Own:
        x: int

        def __init__(self) -> None:
            object.__setattr__(self, "x", 4)

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 11

    assert (Own().x, Own() == 3, repr(Own()), hash(Own())) == (4, True, "own", 11)
    assert str(inspect.signature(Own)) == "() -> 'None'"


def test_instances_are_copied_pickled_and_replaced() -> None:
    kept = Kept(1, [2])
    assert pickle.loads(pickle.dumps(kept)) == copy.deepcopy(kept) == kept
    assert dataclasses.replace(kept, x=3) == Kept(3, [2]) and Kept(1).y is not Kept(1).y
    with pytest.raises(TypeError, match="unhashable"):
        hash(kept)
    assert not hasattr(kept, "__dict__") and Open() == Open(1) and pickle.loads(pickle.dumps(Open(4))).x == 4
    with pytest.raises(TypeError, match="unhashable"):
        hash(Open())


def test_plain_subclasses_and_cached_properties_of_frozen_classes() -> None:
    @dataclass(frozen=True)
    class Frozen:
        x: int

        @cached_property
        def twice(self) -> int:
            return 2 * self.x

    class Plain(Frozen):
        def __init__(self) -> None:
            super().__init__(5)
            self.more = 6

    assert Plain().twice == 10 and Plain().more == 6
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        Plain().x = 3  # type: ignore[misc]
    assert (
        str(inspect.signature(Frozen)) == "(x: 'int') -> None"
        and str(inspect.signature(Plain)) == "() -> 'None'"
    )


def test_an_instance_within_itself_is_printed() -> None:
    opened = Open()
    opened.x = opened  # type: ignore[assignment]
    assert repr(opened) == "Open(x=...)"


def test_fields_are_compared_as_tuples_are() -> None:
    """The same object is equal to itself, also one that is not."""

    @dataclass(frozen=True)
    class One:
        x: Any

    nan = float("nan")
    array = np.arange(3)
    assert One(nan) == One(nan) and One(array) == One(array) and One(1) != One(2)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match="order"):
        dataclass(order=True)(type("A", (), {}))


def test_loading_adze_compiles_no_dataclass_of_its_own() -> None:
    """The standard library compiles what it writes with `exec`, one function after the other."""
    code = """
import dataclasses
made, process = [], dataclasses._process_class
dataclasses._process_class = lambda cls, init, *rest: made.append((cls, init)) or process(cls, init, *rest)
from adze import jit, lax, nn, numpy
import adze.passes.pipeline
print([cls for cls, init in made if init and cls.__module__.startswith("adze")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
