"""The public names of a module that only imports them: each name is written once, in its import."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any


def public_names(namespace: Mapping[str, Any]) -> list[str]:
    """The names of `namespace`, the globals of a module, which are neither modules nor private."""
    return [
        name
        for name, value in namespace.items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
