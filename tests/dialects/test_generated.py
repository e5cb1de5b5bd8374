"""The files generated from the declarations are what the declarations say now."""

from pathlib import Path

from adze.dialects.dialect import OPS
from adze.dialects.generate.__main__ import generated_files
from adze.dialects.generate.builder import method_name
from adze.dialects.generate.reference import reference_text


def test_generated_files_are_current(checkout: Path) -> None:
    stale = [
        str(path.relative_to(checkout))
        for path, text in generated_files(checkout).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `python -m adze.dialects.generate`: {stale} are stale"


def test_builder_methods_avoid_reserved_words() -> None:
    names = {method_name(op) for op in OPS}
    assert {"and_", "or_", "not_", "add"} <= names
    assert not {"and", "or", "not"} & names


def test_every_op_has_a_section_that_says_what_it_lacks() -> None:
    page = reference_text(OPS)
    for op in OPS:
        assert page.count(f"\n### {op.name}\n") == 1
    assert "no jvp (its result is discrete and carries no tangent)" in page


def test_page_names_choices_and_dtypes() -> None:
    section = reference_text(OPS).split("\n### compare\n")[1].split("\n### ")[0]
    assert "- attribute `direction` (choice, one of EQ, NE, LT, LE, GT, GE): the relation" in section
    assert "- operand `x`: any" in section
    assert "- result: an array of `i1` of the operands' common shape" in section
