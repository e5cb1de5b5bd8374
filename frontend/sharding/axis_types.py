"""Types of a mesh's axes: what JAX's names say of them. adze divides every axis as it finds best."""

from __future__ import annotations

import enum


class AxisType(enum.Enum):
    """How JAX's axes of a mesh treat the shardings of values. adze divides as it finds best: `Auto`.

    `Explicit`: how arrays lie is part of their types, as JAX has it. `Manual`: of an axis inside of
    `shard_map`.
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self) -> str:
        return self.name


class TypedAxes:
    """What programs ask of a mesh about the types of its axes, under JAX's names."""

    axis_names: tuple[str, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether it has axes, all of them `Auto`."""
        return self._are_all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether it has axes, all of them `Explicit`."""
        return self._are_all(AxisType.Explicit)

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether it has axes, all of them `Manual`."""
        return self._are_all(AxisType.Manual)

    @property
    def auto_axes(self) -> tuple[str, ...]:
        """The names of the axes that are `Auto`."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[str, ...]:
        """The names of the axes that are `Explicit`."""
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[str, ...]:
        """The names of the axes that are `Manual`."""
        return self._of_type(AxisType.Manual)

    def _are_all(self, kind: AxisType) -> bool:
        return bool(self.axis_types) and set(self.axis_types) == {kind}

    def _of_type(self, kind: AxisType) -> tuple[str, ...]:
        return tuple(n for n, t in zip(self.axis_names, self.axis_types, strict=True) if t is kind)
