"""The names of `adze`: the one list is read as Python reads it, and each name can be loaded."""

from __future__ import annotations

import ast
import importlib.metadata
from pathlib import Path

import pytest

import adze


def test_the_list_is_read_as_python_reads_it(checkout: Path) -> None:
    syntax = ast.parse((checkout / "frontend" / "api" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in syntax.body if isinstance(node, ast.ImportFrom)]
    expected = {
        alias.asname: "." * node.level + (node.module or "") for node in imports for alias in node.names
    }
    assert expected == adze._WHERE
    assert len(expected) == sum(len(node.names) for node in imports)  # no name stands there twice


def test_every_public_name_can_be_loaded() -> None:
    for name, module in adze._WHERE.items():
        home = importlib.import_module(f".{name}" if module == "." else module, "adze")
        assert getattr(adze, name) is (home if module == "." else getattr(home, name)), name


def test_every_public_module_is_a_name(checkout: Path) -> None:
    folder = checkout / "frontend" / "api"
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert modules - {"__init__"} == {name for name, module in adze._WHERE.items() if module == "."}


def test_the_version_is_that_of_the_distribution() -> None:
    assert adze.__version__ == importlib.metadata.version("adze-compiler")


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'adze' has no attribute 'compile'"):
        adze.compile  # noqa: B018
