"""What is checked of an exported function when it is called, and which of these checks were switched off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...runtime.execute.devices import get_device
from ...runtime.settings import read_settings
from ..errors import ArgumentError
from ..tracing.locations import user_location_text

PLATFORMS: Final = ("cpu", "cuda", "rocm", "tpu", "vulkan", "metal")


class DisabledSafetyCheck:
    """A check that an export leaves out: made by `platform()` or `custom_call(name)`."""

    def __init__(self, description: str) -> None:
        self._description = description

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Let the function be called on other platforms than it was exported for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Let the function have a custom call of this name; adze's programs have none."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The name of the custom call that it allows, None for another check."""
        kind, _, name = self._description.partition(":")
        return name if kind == "custom_call" else None

    def __str__(self) -> str:
        return self._description

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self._description)


def default_export_platform() -> str:
    """The platform that programs run on here, and are exported for unless others are named: `cpu`, `cuda`."""
    name = read_settings().device
    if name is None:
        return "cpu"
    kind = get_device(name).kind.value
    return {"hip": "rocm"}.get(kind, kind)


def checked_platforms(platforms: Sequence[str] | None) -> tuple[str, ...]:
    """The platforms of an export. Raises `ArgumentError` for a name that is none."""
    if platforms is None:
        return (default_export_platform(),)
    names = tuple(platforms)
    unknown = [name for name in names if name not in PLATFORMS]
    if unknown or isinstance(platforms, str) or not names:
        raise ArgumentError(
            f"platforms={platforms!r}: expected a sequence of {', '.join(PLATFORMS)}",
            where=user_location_text(),
        )
    return names


def check_platform(name: str, platforms: Sequence[str], disabled: Sequence[DisabledSafetyCheck]) -> None:
    """Raise `ArgumentError` where a function is called on a platform that it was not exported for."""
    here = default_export_platform()
    if here not in platforms and DisabledSafetyCheck.platform() not in disabled:
        raise ArgumentError(
            f"function '{name}' was lowered for platforms {tuple(platforms)} but it is used on ({here!r},)",
            where=user_location_text(),
            hint=f"export it with platforms=[{here!r}], or disabled_checks=[DisabledSafetyCheck.platform()]",
        )
