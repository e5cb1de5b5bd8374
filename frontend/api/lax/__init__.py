"""The primitives of adze under JAX's names and calling conventions."""

from collections.abc import Mapping as _Mapping
from typing import Any as _Any

from ..frontend.listed_names import ListedNames as _ListedNames


def _primitives() -> _Mapping[str, _Any]:
    from ..frontend.library.lax.primitives import PRIMITIVES

    return PRIMITIVES


_names = _ListedNames(globals(), _primitives)
__getattr__, __dir__ = _names.load, _names.all_names
