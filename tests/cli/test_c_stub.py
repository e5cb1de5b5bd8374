"""`adze build --c-stub` writes the header beside the program, or refuses to before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from adze.runtime.artifact.artifact import read

from .conftest import Adze


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def double(x):\n    return x + x\n")
    return tmp_path


def test_the_header_has_the_function_and_the_bytes(adze: Adze, model: Path) -> None:
    done = adze(
        "build", "model.py:double", "--in", "f32[n]", "-o", "out.vmfb", "--c-stub", "out.h", "--c-embed"
    )
    assert done.exit_code == 0, done.stderr
    text = (model / "out.h").read_text()
    assert "iree_status_t out_call(\n    out_program_t* program,\n    int64_t n,\n    const float* x," in text
    assert f"out_vmfb[{len(read(model / 'out.vmfb').module)}]" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--c-embed"], "--c-embed: there is no header to put the program into"),
        (["--c-stub", "out.vmfb"], "--c-stub: 'out.vmfb' is read by this command"),
        (["--c-stub", "model.py"], "--c-stub: 'model.py' is read by this command"),
        (["--c-stub", "no/out.h"], "--c-stub: there is no folder 'no'"),
    ],
)
def test_a_wrong_header_is_refused_before_the_build(
    options: list[str], message: str, adze: Adze, model: Path
) -> None:
    done = adze("build", "model.py:double", "--in", "f32[n]", "-o", "out.vmfb", *options)
    assert done.exit_code == 2 and message in done.stderr
    assert not (model / "out.vmfb").exists()
