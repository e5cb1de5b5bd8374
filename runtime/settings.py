"""The environment variables of adze: the whole list, their types and their checks.

Input: a mapping such as `os.environ`. Output: one frozen `Settings`. The variables are read at the API's
edge; below it the values are passed as arguments. `adze doctor` prints the text of `describe_settings`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ..dialects.dataclass import dataclass
from .errors import SettingError

CACHE_SUFFIX: Final = ".entry"
"""The end of the names of the compile cache's files."""
KNOWN_SUFFIX: Final = ".known"
"""The end of the names of files beside them, which say what a traced program became."""

_UNITS: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_ON: Final = ("1", "on", "true", "yes")
_OFF: Final = ("0", "off", "false", "no")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment asks for, checked."""

    cache: bool
    cache_dir: Path
    cache_max_bytes: int
    dump_dir: Path | None
    device: str | None
    loop_kernels: bool
    verify: bool
    first_call: str
    default_dtypes: str
    threads: int | None
    unused_max_bytes: int


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One line of `adze doctor`: a variable, its value, where the value came from and what it means."""

    variable: str
    value: str
    from_environment: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class _Variable:
    field: str
    meaning: str
    default: Callable[[], Any]
    parse: Callable[[str, str], Any]


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process; a value that makes no sense is a SettingError naming the variable."""
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for name, variable in VARIABLES.items():
        text = environment.get(name, "").strip()
        try:
            values[variable.field] = variable.parse(name, text) if text else variable.default()
        except SettingError:
            if text or values["cache"]:
                raise
            values[variable.field] = Path(os.devnull)  # without a cache there need not be a place for it
    return Settings(**values)


def read_setting(field: str) -> Any:
    """One setting of this process, where the others do not matter: the same value as in `read_settings`."""
    name, variable = next((n, v) for n, v in VARIABLES.items() if v.field == field)
    text = os.environ.get(name, "").strip()
    return variable.parse(name, text) if text else variable.default()


def describe_settings(environment: Mapping[str, str] | None = None) -> list[SettingValue]:
    """Every variable with its value now, for people; a bad value is shown as such and not raised."""
    environment = os.environ if environment is None else environment
    lines = []
    for name, variable in VARIABLES.items():
        text = environment.get(name, "").strip()
        try:
            value = variable.parse(name, text) if text else variable.default()
            shown = _shown(value)
        except SettingError as error:
            shown = f"INVALID: {error.message}"
        lines.append(SettingValue(name, shown, bool(text), variable.meaning))
    return lines


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Variables that begin with ADZE_ and mean nothing: most likely misspelt."""
    environment = os.environ if environment is None else environment
    return sorted(name for name in environment if name.startswith("ADZE_") and name not in VARIABLES)


def _default_cache_dir() -> Path:
    import platformdirs  # which only who compiles needs

    try:
        return Path(platformdirs.user_cache_dir("adze", appauthor=False))
    except RuntimeError:
        raise SettingError(
            "there is no place for the compile cache: this user has no home folder, and HOME is not set",
            hint="set ADZE_CACHE_DIR to a folder, or ADZE_CACHE=off to compile without a cache",
        ) from None


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _parse_switch(name: str, text: str) -> bool:
    lowered = text.lower()
    if lowered in _ON:
        return True
    if lowered in _OFF:
        return False
    raise SettingError(f"{name} is {text!r}: expected one of {', '.join(_ON + _OFF)}")


def parse_bytes(name: str, text: str) -> int:
    """A number of bytes such as 500MB; `name` is what a SettingError calls it."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", text)
    if match is None or match[2].lower() not in _UNITS:
        raise SettingError(f"{name} is {text!r}: expected a number of bytes such as 500000000, 500MB or 2GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _parse_folder(name: str, text: str) -> Path:
    folder = Path(text).expanduser()
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{name} is {text!r}: that is a file, expected a folder")
    return folder.absolute()


def _parse_text(name: str, text: str) -> str:
    return text


def _parse_count(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise SettingError(f"{name} is {text!r}: expected a number of at least 1")
    return int(text)


def _parse_first_call(name: str, text: str) -> str:
    if text not in ("compile", "evaluate"):
        raise SettingError(f"{name} is {text!r}: expected compile or evaluate")
    return text


def _parse_default_dtypes(name: str, text: str) -> str:
    if text not in ("float32", "numpy"):
        raise SettingError(f"{name} is {text!r}: expected float32 or numpy")
    return text


VARIABLES: Final[dict[str, _Variable]] = {
    "ADZE_CACHE": _Variable("cache", "use the persistent compile cache", lambda: True, _parse_switch),
    "ADZE_CACHE_DIR": _Variable(
        "cache_dir",
        "folder of the compile cache",
        _default_cache_dir,
        _parse_folder,
    ),
    "ADZE_CACHE_MAX_BYTES": _Variable(
        "cache_max_bytes", "size at which old entries leave the cache", lambda: 2 * 2**30, parse_bytes
    ),
    "ADZE_DUMP_DIR": _Variable(
        "dump_dir",
        "folder for per-stage IR and for reproducers of failed compiles",
        lambda: None,
        _parse_folder,
    ),
    "ADZE_DEVICE": _Variable(
        "device", "device that compiled functions run on when none is named", lambda: None, _parse_text
    ),
    "ADZE_LOOP_KERNELS": _Variable(
        "loop_kernels",
        "run small loops, and many ops on small arrays, as one kernel each",
        lambda: True,
        _parse_switch,
    ),
    "ADZE_FIRST_CALL": _Variable(
        "first_call",
        "what the first call of a jitted function does: compile, or evaluate while a thread compiles",
        lambda: "compile",
        _parse_first_call,
    ),
    "ADZE_DEFAULT_DTYPES": _Variable(
        "default_dtypes",
        "what NumPy's float64 constants are: float32 lets them yield to what they meet, numpy keeps them",
        lambda: "numpy",
        _parse_default_dtypes,
    ),
    "ADZE_THREADS": _Variable(
        "threads",
        "how many threads a large program runs on; the CPUs that the process may use when not set",
        lambda: None,
        _parse_count,
    ),
    "ADZE_UNUSED_MAX_BYTES": _Variable(
        "unused_max_bytes",
        "how much memory of arrays that are gone a CPU device keeps for later ones",
        lambda: 2**30,
        parse_bytes,
    ),
    "ADZE_VERIFY": _Variable(
        "verify", "let IREE verify the module behind each of its passes", lambda: False, _parse_switch
    ),
}
