"""The passes in `docs/architecture.md` are those of the pipeline, in its order and in their own words."""

from __future__ import annotations

import re
from pathlib import Path

from adze.passes.pipeline import PIPELINE
from adze.passes.registry import PASSES, description_of


def test_the_table_of_passes_is_the_pipeline(checkout: Path) -> None:
    text = (checkout / "docs" / "architecture.md").read_text()
    table = text.split("| pass | what it does |\n|---|---|\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(.*)` \| (.*) \|$", table, re.MULTILINE)
    assert rows == [(step.name, description_of(type(step))) for step in PIPELINE]


def test_a_pass_of_the_pipeline_describes_itself_in_one_sentence() -> None:
    for step in PIPELINE:
        description = description_of(type(step))
        assert description.endswith(".") and len(description) < 120, step.name
    assert all(description_of(known) for known in PASSES)
