"""`adze doctor`: versions, devices, cache and settings; what is wrong is said and is the exit code."""

import importlib.metadata
import json

import pytest

from .conftest import Adze


def test_report_has_versions_devices_cache_and_settings(adze: Adze) -> None:
    result = adze("doctor", "--json")
    report = json.loads(result.stdout)
    assert report["versions"]["adze-compiler"] == importlib.metadata.version("adze-compiler")
    assert [device["name"] for device in report["devices"]][:2] == ["local-sync", "local-task"]
    assert report["cache"]["enabled"] is True
    assert "ADZE_CACHE_DIR" in {setting["variable"] for setting in report["settings"]}
    assert report["problems"] == []
    assert result.exit_code == 0


def test_text_has_one_block_a_topic(adze: Adze) -> None:
    result = adze("doctor")
    lines = result.stdout.splitlines()
    for title in ("versions", "machine", "devices", "compile cache", "settings", "no problems found"):
        assert title in lines


def test_misspelt_and_invalid_settings_are_problems(adze: Adze, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CASH", "1")
    monkeypatch.setenv("ADZE_CACHE", "perhaps")
    result = adze("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == [
        "ADZE_CACHE is 'perhaps': expected one of 1, on, true, yes, 0, off, false, no",
        "ADZE_CASH is set and means nothing to adze",
    ]
    text = adze("doctor")
    assert text.exit_code == 1
    assert text.stdout.endswith("\n  ADZE_CASH is set and means nothing to adze\n")
