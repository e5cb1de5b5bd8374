"""`adze cache`: counts what the folder holds, and empties it of entries only."""

import json
from pathlib import Path

import pytest

from .conftest import Adze


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one entry of 100 bytes or more, and a file of the user's beside it."""
    from adze.runtime.compile.cache import CacheKey, CompileCache

    monkeypatch.setenv("ADZE_CACHE_DIR", str(tmp_path))
    key = CacheKey(ir_sha256="0" * 64, target="cpu", machine="", flags=(), versions=())
    assert CompileCache(tmp_path, 2**30).put(key, b"x" * 100, {}) is None
    (tmp_path / "notes.txt").write_text("mine")
    return tmp_path


def test_stats_count_entries_and_bytes(adze: Adze, folder: Path) -> None:
    result = adze("cache", "stats", "--json")
    assert result.exit_code == 0, result.stderr
    stats = json.loads(result.stdout)
    assert stats["folder"] == str(folder)
    assert stats["enabled"] is True
    assert stats["entries"] == 1
    assert stats["bytes"] > 100


def test_stats_are_readable(adze: Adze, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE_MAX_BYTES", "10MiB")
    lines = adze("cache", "stats").stdout.splitlines()
    assert lines[:3] == [f"folder   {folder}", "state    on", "entries  1"]
    assert lines[3].endswith("of at most 10.0 MiB")


def test_clear_removes_entries_and_nothing_else(adze: Adze, folder: Path) -> None:
    result = adze("cache", "clear")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"removed 1 entries from {folder}\n"
    assert json.loads(adze("cache", "stats", "--json").stdout)["entries"] == 0
    assert (folder / "notes.txt").read_text() == "mine"


def test_setting_that_makes_no_sense_is_named(adze: Adze, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE_MAX_BYTES", "plenty")
    result = adze("cache", "stats")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: ADZE_CACHE_MAX_BYTES is 'plenty': "
        "expected a number of bytes such as 500000000, 500MB or 2GiB\n"
    )


def test_list_explain_and_prune_name_entries(
    adze: Adze, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = adze("cache", "list").stdout.splitlines()
    assert listed[-1] == "1 program" and listed[0].endswith("cpu")
    (entry,) = json.loads(adze("cache", "list", "--json").stdout)
    assert entry["key"]["target"] == "cpu"
    shown = adze("cache", "explain", entry["entry"][:8]).stdout
    assert "compiled in  unknown" in shown and entry["entry"] in shown
    assert json.loads(adze("cache", "explain", entry["entry"], "--json").stdout) == entry
    missing = adze("cache", "explain", "zz")
    assert (missing.exit_code, "no entry begins with 'zz'" in missing.stderr) == (2, True)
    assert "removed 0 programs" in adze("cache", "prune", "--days", "1").stdout
    assert "removed 0 programs" in adze("cache", "prune", "--max-bytes", "1MB").stdout
    assert adze("cache", "prune", "--max-bytes", "much").exit_code == 2
    assert adze("cache", "prune").exit_code == 2
    assert "removed 1 program," in adze("cache", "prune", "--other-versions").stdout
    assert (folder / "notes.txt").read_text() == "mine"


def test_explain_says_what_differs(adze: Adze, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "model_of_the_cache.py").write_text("def f(x):\n    return x + 1\n")
    told = json.loads(adze("cache", "explain", "model_of_the_cache.py:f", "--in", "f32[2]", "--json").stdout)
    assert told["hit"] is False
    assert told["why"].startswith("the nearest entry differs in the program;")
