"""The names of `adze`: what a type checker reads and what an attribute of the package loads are the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import adze


def test_a_type_checker_sees_the_names_that_are_loaded_lazily(checkout: Path) -> None:
    syntax = ast.parse((checkout / "frontend" / "api" / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in syntax.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: f".{node.module}" for node in imports if node.module for alias in node.names}
    modules = {alias.asname for node in imports if not node.module for alias in node.names}
    assert seen == adze._WHERE
    assert modules == set(adze._MODULES)


def test_every_public_name_can_be_loaded() -> None:
    for name, module in adze._WHERE.items():
        home = importlib.import_module(module, "adze")
        assert getattr(adze, name) is getattr(home, name), name
