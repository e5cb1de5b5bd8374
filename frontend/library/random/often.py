"""Samplers that are called again and again outside of traces: compiled.

Input: a function of a key and of Python's values, whose results are the same to the bit whether they are
evaluated with NumPy or compiled: bits, integers, and floats of bits. (A product to which something is added
is not the same: compiled, it may be rounded once.) Output: the same function. Idea: evaluated it takes some
tenths of a millisecond, in which a loop that splits a key and draws would spend its time. Which call compiles
depends on the calls before, and on no clock.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.errors import AdzeError
from ....passes.analysis.evaluate import is_watching
from ...tracing.array import Array
from ...tracing.frames import current_frame
from ...tracing.interludes import suspended_frame
from ...tracing.operators import library_function
from ...tracing.random_counts import RandomCounts
from .reuse import watches_keys

Sampler = TypeVar("Sampler", bound=Callable[..., Any])

MOST_CALLS: Final = 200
"""So many calls with the same values are evaluated: they take as long as a compile."""

_MOST_KNOWN: Final = 256
_jitted_function = library_function("jitted_function")


@dataclass
class _Calls:
    """The calls of a sampler with the same values."""

    count: int = 0
    compiled: Callable[..., Any] | None = None
    may_compile: bool = True


def compiled_if_often(sampler: Sampler) -> Sampler:
    """`sampler`, a function of a key that returns one array; calls with other arrays are evaluated."""
    known: dict[Any, _Calls] = {}

    @functools.wraps(sampler)
    def call(key: Any, *args: Any, **kwargs: Any) -> Any:
        if type(key) is not Array or not _may_compile():
            return sampler(key, *args, **kwargs)
        named = [(name, _known_by(value)) for name, value in kwargs.items()]
        values = RandomCounts.are_partitionable, *map(_known_by, args), *named
        try:
            calls = known.get(values)
        except TypeError:  # an array, or an error of the user's
            return sampler(key, *args, **kwargs)
        if calls is None:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            calls = known[values] = _Calls()
        calls.count += 1
        if calls.count > MOST_CALLS and calls.may_compile:
            compiled = calls.compiled or _jitted_function(lambda key: sampler(key, *args, **kwargs))
            if compiled is not None:
                try:
                    result = Array(np.asarray(compiled(key)))
                except AdzeError:  # the evaluator says what is wrong
                    calls.may_compile = False
                else:
                    calls.compiled = compiled
                    return result
        return sampler(key, *args, **kwargs)

    return call  # type: ignore[return-value]


def _may_compile() -> bool:
    """Whether nobody looks at single ops."""
    is_traced = current_frame() is not None or suspended_frame() is not None
    return not (is_traced or is_watching() or watches_keys())


def _known_by(value: Any) -> Any:
    """A value with its type: 1 is not 1.0, and 0.0 not -0.0."""
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, tuple):
        return tuple(map(_known_by, value))
    return type(value), value
