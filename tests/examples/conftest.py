"""What the examples jit is evaluated: they show programs, whose ops and loops other tests compile."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from ..evaluation import jitted_functions_are_evaluated

__all__ = ["jitted_functions_are_evaluated"]


@pytest.fixture
def module_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], ModuleType]:
    """Imports a module of an example as its scripts do; several examples have modules of one name."""

    def load(folder: Path, name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(folder))
        for path in folder.glob("*.py"):
            monkeypatch.delitem(sys.modules, path.stem, raising=False)
        return importlib.import_module(name)

    return load
