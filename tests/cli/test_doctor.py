"""`adze doctor`: versions, devices, cache and settings; what is wrong is said and is the exit code."""

import importlib.metadata
import json

import pytest

from adze.runtime.execute import devices
from adze.runtime.execute.gpu_drivers import Absence

from ..gpu.drivers import needs_vulkan
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


def test_gpus_that_are_not_here_are_problems(adze: Adze, monkeypatch: pytest.MonkeyPatch) -> None:
    here = [device for device in devices.list_devices() if device.kind.value == "cpu"]
    monkeypatch.setattr(devices, "list_devices", lambda: here)
    monkeypatch.setattr(devices, "absence", lambda driver: Absence(f"{driver} is missing", "install it"))
    result = adze("doctor", "--gpu")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "  cuda    cuda is missing; install it" in lines
    assert lines[-2:] == ["  vulkan: vulkan is missing: install it", "  cuda: cuda is missing: install it"]
    assert "gpus" not in json.loads(adze("doctor", "--json").stdout)


@pytest.mark.vulkan
@pytest.mark.thorough
@needs_vulkan
def test_products_of_a_gpu_are_checked_and_timed(adze: Adze) -> None:
    result = adze("doctor", "--gpu", "--json")
    assert result.exit_code == 0, result.stdout
    [gpu] = [row for row in json.loads(result.stdout)["gpus"] if row.get("device") == "vulkan:0"]
    assert gpu["memory"] > 0 and gpu["driver"] and gpu["clock"] == "the device's clock"
    assert [product["dtype"] for product in gpu["products"]] == ["float32", "float16"]
    for product in gpu["products"]:
        assert product["is_right"] and product["flops"] > 0
    text = adze("doctor", "--gpu").stdout
    assert "right (off by" in text and "% of the peak in float32" in text
