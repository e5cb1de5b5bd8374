"""Functions that compute what a function of the library computes.

What programs written for JAX find under its name differs in weak types (`compat/weak_types.py`). Functions
that know others, such as `lax.reduce_window` its maxima, ask here which one they got.
"""

from __future__ import annotations

from typing import Any, Final

_ORIGINALS: Final[dict[Any, Any]] = {}


def note_same(function: Any, original: Any) -> None:
    """Say that `function` computes what `original`, a function of the library, computes."""
    _ORIGINALS[function] = original_of(original)


def original_of(function: Any) -> Any:
    """The function of the library that `function` computes, `function` itself if none is known."""
    try:
        return _ORIGINALS.get(function, function)
    except TypeError:  # a callable object without a hash
        return function
