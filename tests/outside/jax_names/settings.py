"""`jax.config`: settings that tests switch; most mean nothing to adze and only keep their value."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Final


class Setting:
    """A value, and a context manager when called: `with setting(value):`."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    @contextlib.contextmanager
    def __call__(self, value: Any = True) -> Iterator[None]:
        before, self.value = self.value, value
        try:
            yield
        finally:
            self.value = before

    def set_global(self, value: Any) -> None:
        self.value = value

    def get_global(self) -> Any:
        return self.value


# 64-bit types are off as in JAX's own runs: tests then ask for 32 bits, and compare dtypes up to their width.
_settings: Final = {
    name: Setting(name, value)
    for name, value in {
        "enable_x64": False,
        "explicit_x64_dtypes": "warn",
        "enable_checks": False,
        "numpy_dtype_promotion": "standard",
        "numpy_rank_promotion": "allow",
        "traceback_filtering": "off",
        "legacy_prng_key": "allow",
        "disable_jit": False,
        "default_matmul_precision": None,
        "threefry_partitionable": True,
        "use_simplified_jaxpr_constants": False,
        "dynamic_shapes": False,
    }.items()
}


def setting(name: str) -> Setting:
    """The setting of this name, made on first use."""
    return _settings.setdefault(name.removeprefix("jax_"), Setting(name, False))


class _States(dict[str, Setting]):
    def __missing__(self, name: str) -> Setting:
        return setting(name)


def flag(name: str, default: Any, help: str = "") -> Setting:
    """A flag: its value is its default (JAX reads the environment for that)."""
    created = setting(name)
    created.value = default
    return created


class Config:
    """`jax.config`, `jax._src.config` and `jax._src.config.config` in one."""

    config_states: Final = _States()
    values: Final[dict[str, Any]] = {}  # compared before and after each test
    string_flag = int_flag = bool_flag = staticmethod(flag)

    @property
    def config(self) -> Config:
        return self

    @staticmethod
    def bool_env(name: str, default: bool) -> bool:
        return os.environ.get(name, str(default)).lower() in ("1", "true", "yes")

    @staticmethod
    def parse_flags_with_absl() -> None:
        """The runner reads the command line."""

    @staticmethod
    def update(name: str, value: Any) -> None:
        setting(name).value = value

    @staticmethod
    def _read(name: str) -> Any:
        return setting(name).value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = setting(name)
        return found.value if name.startswith("jax_") else found


config: Final = Config()
