"""The folders of the tests are those of the source, so that a test is where its subject is."""

from pathlib import Path
from typing import Final

BESIDE_THE_SOURCE: Final = {
    "docs": "what the pages show",
    "examples": "the examples",
    "gpu": "the code for GPUs, as far as it can be judged without one",
    "ir": "the IR book, a folder for each pass",
    "large_sizes": "what all families compute at the sizes of kernels, with odd axes",
    "other_cpu": "how tests run on a processor of another kind",
    "outside": "other projects' test suites",
    "packaging": "the package as a whole",
    "programs": "NumPy programs as users bring them",
    "random_programs": "random programs for any test",
    "passes/autodiff/adbench": "the problems of ADBench, as data of one test",
}
"""The folders of tests that no source folder is named like, with what is in them."""


def test_folders_of_tests_are_those_of_the_source(checkout: Path) -> None:
    tests = checkout / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.py") if path.parent != tests}
    roots = [Path(name) for name in BESIDE_THE_SOURCE]
    mirrored = {folder for folder in folders if not any(folder.is_relative_to(root) for root in roots)}
    assert [str(folder) for folder in sorted(mirrored) if not any((checkout / folder).glob("*.py"))] == []


def test_each_folder_beside_the_source_exists_and_is_in_the_table(checkout: Path) -> None:
    table = (checkout / "docs" / "testing.md").read_text().split("## Where a test goes")[1]
    for name in BESIDE_THE_SOURCE:
        assert any((checkout / "tests" / name).iterdir())
        assert "/" in name or f"`tests/{name}/" in table, name
