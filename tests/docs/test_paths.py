"""The files and folders that the pages name exist."""

import re
from pathlib import Path

import pytest

PAGES = ("README.md", *(f"docs/{name}.md" for name in ("architecture", "add_an_op", "iree_notes", "testing")))
SOURCE = re.compile(r"`((?:frontend|dialects|passes|runtime|cli|tests|benchmarks|examples)/[\w./]*)`")


@pytest.mark.parametrize("page", PAGES)
def test_paths_on_a_page_exist(page: str, checkout: Path) -> None:
    named = set(SOURCE.findall((checkout / page).read_text(encoding="utf-8")))
    assert named, f"{page} names no path"
    assert [path for path in sorted(named) if not (checkout / path).exists()] == []
