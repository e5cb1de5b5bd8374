"""The names of a package as its stub lists them, each loaded when it is first used.

Input: a package whose `__init__.pyi` has a line `from MODULE import NAME as NAME` for each public name, or
`from PACKAGE import *` for all names of another one. Output: what its `__init__.py` answers with. Idea: a
program uses few of the hundreds of names, so that the others cost it nothing; and there is one list, which
type checkers read too.
"""

from __future__ import annotations

import importlib
import os.path
from collections.abc import Callable, Mapping
from typing import Any


class ListedNames:
    """The public names of a package, whose `__getattr__` is `load` and whose `__dir__` is `all_names`."""

    def __init__(
        self, namespace: dict[str, Any], others: Callable[[], Mapping[str, Any]] = dict[str, Any]
    ) -> None:
        """`namespace` is the package's globals; `others` makes the values that no module has."""
        self._namespace, self._others = namespace, others
        self._package: str = namespace["__name__"]
        stub = os.path.join(os.path.dirname(namespace["__file__"]), "__init__.pyi")
        with open(stub, encoding="utf-8") as file:
            self.modules = modules_of_names(file.read(), self._package)

    def load(self, name: str) -> Any:
        """The value of a name, which the package has from then on; AttributeError for an unknown one."""
        value = self._namespace[name] = self._loaded(name)
        return value

    def _loaded(self, name: str) -> Any:
        if name == "__all__":
            return self.all_names()
        if name in self.modules:
            module = self.modules[name]
            if module == ".":
                return importlib.import_module(f".{name}", self._package)
            return getattr(importlib.import_module(module, self._package), name)
        if name.startswith("_") or name not in (others := self._others()):
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        return others[name]

    def all_names(self) -> list[str]:
        """Every public name, sorted."""
        return sorted({*self.modules, *self._others()})


def modules_of_names(stub: str, package: str) -> dict[str, str]:
    """The module of each name that the lines of a package's stub list; "." for a module of the package."""
    found: dict[str, str] = {}
    for line in stub.replace("import (\n", "import ").replace(",\n)", "").splitlines():
        match line.split():
            case ["from", module, "import", "*", *_]:
                found |= dict.fromkeys(importlib.import_module(module, package).__all__, module)
            case ["from", module, "import", name, "as", _]:
                found[name] = module
    return found
