"""`adze report`: pages of functions and of programs that keep their IR, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import adze as api
from adze import ShapeDtype
from adze import numpy as xp

from .conftest import Adze


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "scores.vmfb"
    compiled = api.trace(lambda x: xp.tanh(x).sum(), ShapeDtype(("n", 3))).lower().compile()
    compiled.save(path.with_name("bare.vmfb"))
    return compiled.save(path, keep_ir=True)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    value: dict[str, Any] = json.loads(found[1])
    return value


@pytest.mark.thorough
def test_kept_ir_is_the_source_of_its_gradient(adze: Adze, kept: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    done = adze("report", kept, "--grad", "-o", output, "--size", "n=4", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["output"] == str(output) and told["bytes"] == output.stat().st_size
    page = output.read_text()
    data = data_of(page)
    assert data["files"] == ["the kept IR"] and "Times are medians of 10 calls on local-sync, n=4" in page
    tanh = next(
        n
        for n, line in enumerate(re.findall(r'role="option"[^>]*>(.*?)</div>', page), 1)
        if "adze.tanh" in line
    )
    backward = [o for o in data["origins"] if o["via"][:1] == ["transpose"]]
    assert [0, tanh] in [line for origin in backward for line in origin["lines"]]


def test_a_function_with_open_sizes_is_shown_and_not_timed(adze: Adze, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def double(x):\n    return x + x\n")
    done = adze("report", f"{tmp_path / 'model.py'}:double", "--in", "f32[n]", "-o", tmp_path / "r.html")
    assert done.exit_code == 0 and done.stdout.startswith(f"{tmp_path / 'r.html'}: "), done.stderr
    page = (tmp_path / "r.html").read_text()
    assert "Not timed: the sizes are stated by calls. To time it, add --size n=64" in page
    assert str(tmp_path) not in page.replace(f"{tmp_path / 'model.py'}:double", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{kept}", "--in", "f32[3]", "-o", "r.html"], "--in: the program has its shapes already"),
        (["{kept}", "-o", "{kept}"], "is read by this command"),
        (["{kept}", "-o", "no/r.html"], "--output: there is no folder 'no'"),
        (["{kept}", "--size", "m=1", "-o", "r.html"], "--size: the program has no dimension 'm': it has n"),
        (["none.vmfb", "-o", "r.html"], "there is no file 'none.vmfb'"),
        (["none.py:f", "-o", "r.html"], "there is no file 'none.py'"),
        (["none.py", "-o", "r.html"], "does not name a function"),
        (["{kept}", "-t", "abacus", "-o", "r.html"], "--target: unknown target"),
    ],
)
def test_wrong_arguments_are_bad_usage(
    arguments: list[str],
    message: str,
    adze: Adze,
    kept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = adze("report", *(argument.format(kept=kept) for argument in arguments))
    assert done.exit_code == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_program_without_ir_says_how_to_keep_it(adze: Adze, kept: Path, tmp_path: Path) -> None:
    done = adze("report", kept.with_name("bare.vmfb"), "-o", tmp_path / "r.html")
    assert done.exit_code == 1 and "the file keeps no adze IR" in done.stderr and "--keep-ir" in done.stderr
