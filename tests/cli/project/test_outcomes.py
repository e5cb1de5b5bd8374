"""How outcomes are told to pipelines: each format can be read by who reads it."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from adze.cli.project.budgets import problems
from adze.cli.project.configuration import Budgets
from adze.cli.project.outcomes import Outcome, Problem, shown

WEIRD = 'a < b & "c"\x00\n100% \x1b[0m'
OUTCOMES = [
    Outcome("good", "built", "it was never built here", 1.5, {"bytes": 2048}),
    Outcome(
        "bad", "failed", "", 0.0, {}, (Problem(WEIRD, "src/m.py:3", "do it"),), "adze.toml:9", "log \x01"
    ),
]


def test_json_has_everything() -> None:
    told = json.loads(shown(OUTCOMES, "json", "adze build", project="adze.toml"))
    assert (told["ok"], told["command"], told["project"]) == (False, "adze build", "adze.toml")
    good, bad = told["artifacts"]
    assert (good["bytes"], good["problems"]) == (2048, [])
    assert bad["problems"] == [{"message": WEIRD, "where": "src/m.py:3", "hint": "do it"}]


def test_junit_is_xml_whatever_a_message_holds() -> None:
    suite = ElementTree.fromstring(shown(OUTCOMES, "junit", "adze build"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    good, bad = suite
    assert good.get("name") == "good" and good.find("failure") is None
    failure = bad.find("failure")
    assert failure is not None and (failure.get("message") or "").startswith(
        'a < b & "c"\N{REPLACEMENT CHARACTER}\n'
    )
    assert "src/m.py:3" in (failure.text or "")


def test_annotations_are_one_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *table = shown(OUTCOMES, "github", "adze build").split("\n")
    assert first.startswith("::error file=src/m.py,line=3,title=adze%3A bad::a < b")
    assert "%0A100%25" in first and first.endswith("%0Ahint: do it")
    assert len(table) == 2


def test_table_has_columns() -> None:
    assert shown(OUTCOMES, "text", "adze build").splitlines() == [
        "good  built   2.0 KiB  1.50 s  it was never built here",
        "bad   FAILED",
    ]


def test_budgets_are_exceeded_or_cannot_be_told() -> None:
    result = {"bytes": 10, "compile_s": 2.0, "kernels": 3, "error": float("nan"), "peak_bytes": None}
    assert problems(Budgets(max_bytes=10, max_compile_s=2.0, max_kernels=3), result, "a:1") == []
    every = problems(Budgets(9, 1.0, 2, 1.0, 5), result, "a:1")
    assert [str(problem).split(":")[0].split(" is ")[0] for problem in every] == [
        "max_bytes",
        "max_compile_s",
        "max_kernels",
        "max_error",
        "budgets.max_peak_bytes cannot be told",
    ]
