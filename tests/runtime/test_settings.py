"""The environment variables: defaults, parsing, and what a bad value says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adze.runtime.errors import SettingError
from adze.runtime.settings import describe_settings, read_settings, unknown_variables


def test_defaults_need_no_environment() -> None:
    settings = read_settings({})
    assert settings.cache is True
    assert settings.cache_dir.name == "adze"
    assert settings.cache_max_bytes == 2 * 2**30
    assert settings.dump_dir is None
    assert settings.device is None
    assert settings.loop_kernels is True
    assert settings.verify is False
    assert settings.first_call == "compile"


def test_values_are_parsed(tmp_path: Path) -> None:
    settings = read_settings(
        {
            "ADZE_CACHE": "off",
            "ADZE_CACHE_DIR": str(tmp_path / "cache"),
            "ADZE_CACHE_MAX_BYTES": "1.5MiB",
            "ADZE_DUMP_DIR": str(tmp_path),
            "ADZE_DEVICE": "local-task",
            "ADZE_LOOP_KERNELS": "off",
            "ADZE_VERIFY": "on",
            "ADZE_FIRST_CALL": "evaluate",
            "ADZE_THREADS": "3",
            "ADZE_UNUSED_MAX_BYTES": "64MiB",
        }
    )
    assert settings.unused_max_bytes == 2**26
    assert settings.threads == 3
    assert settings.cache is False
    assert settings.cache_dir == tmp_path / "cache"
    assert settings.cache_max_bytes == 1572864
    assert settings.dump_dir == tmp_path
    assert settings.device == "local-task"
    assert settings.loop_kernels is False
    assert settings.verify is True
    assert settings.first_call == "evaluate"


@pytest.mark.parametrize(
    ("text", "value"), [("500000000", 500000000), ("500MB", 500000000), ("2 GiB", 2**31), ("0", 0)]
)
def test_sizes_take_units(text: str, value: int) -> None:
    assert read_settings({"ADZE_CACHE_MAX_BYTES": text}).cache_max_bytes == value


def test_an_empty_value_is_the_default() -> None:
    assert read_settings({"ADZE_CACHE": " "}).cache is True


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        (
            "ADZE_CACHE",
            "maybe",
            "ADZE_CACHE is 'maybe': expected one of 1, on, true, yes, 0, off, false, no",
        ),
        (
            "ADZE_CACHE_MAX_BYTES",
            "-1",
            "ADZE_CACHE_MAX_BYTES is '-1': expected a number of bytes such as 500000000, 500MB or 2GiB",
        ),
        (
            "ADZE_CACHE_MAX_BYTES",
            "2 apples",
            "ADZE_CACHE_MAX_BYTES is '2 apples': expected a number of bytes such as 500000000, 500MB or 2GiB",
        ),
        ("ADZE_THREADS", "0", "ADZE_THREADS is '0': expected a number of at least 1"),
        ("ADZE_THREADS", "two", "ADZE_THREADS is 'two': expected a number of at least 1"),
        ("ADZE_FIRST_CALL", "later", "ADZE_FIRST_CALL is 'later': expected compile or evaluate"),
        ("ADZE_DEFAULT_DTYPES", "half", "ADZE_DEFAULT_DTYPES is 'half': expected float32 or numpy"),
        ("ADZE_CACHE_DIR", __file__, f"ADZE_CACHE_DIR is {__file__!r}: that is a file, expected a folder"),
    ],
)
def test_a_bad_value_names_the_variable(variable: str, text: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({variable: text})
    assert str(caught.value) == message


def test_the_description_lists_every_variable_and_survives_bad_values() -> None:
    lines = {line.variable: line for line in describe_settings({"ADZE_CACHE": "maybe", "ADZE_DEVICE": "cpu"})}
    assert set(lines) == {
        "ADZE_CACHE",
        "ADZE_CACHE_DIR",
        "ADZE_CACHE_MAX_BYTES",
        "ADZE_DUMP_DIR",
        "ADZE_DEVICE",
        "ADZE_LOOP_KERNELS",
        "ADZE_FIRST_CALL",
        "ADZE_DEFAULT_DTYPES",
        "ADZE_THREADS",
        "ADZE_UNUSED_MAX_BYTES",
        "ADZE_VERIFY",
    }
    assert lines["ADZE_CACHE"].value.startswith("INVALID: ADZE_CACHE is 'maybe'")
    assert (lines["ADZE_DEVICE"].value, lines["ADZE_DEVICE"].from_environment) == ("cpu", True)
    assert (lines["ADZE_DUMP_DIR"].value, lines["ADZE_DUMP_DIR"].from_environment) == ("not set", False)


def test_misspelt_variables_are_found() -> None:
    assert unknown_variables({"ADZE_CASH": "1", "ADZE_CACHE": "1", "HOME": "/"}) == ["ADZE_CASH"]


def test_without_a_home_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*arguments: object, **settings: object) -> str:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("platformdirs.user_cache_dir", nowhere)
    with pytest.raises(SettingError, match="this user has no home folder, and HOME is not set"):
        read_settings({})
    assert not read_settings({"ADZE_CACHE": "off"}).cache
    assert read_settings({"ADZE_CACHE_DIR": "/tmp"}).cache_dir == Path("/tmp")
    (line,) = (line for line in describe_settings({}) if line.variable == "ADZE_CACHE_DIR")
    assert line.value.startswith("INVALID: there is no place for the compile cache")
