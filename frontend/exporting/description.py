"""What is known of an exported function: its adze IR, and how it is called."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...runtime.artifact.manifest import ExportedFunction
from .. import tree
from ..sharding.mesh import PartitionSpec
from ..tracing.specs import ShapedArray
from .checks import DisabledSafetyCheck

minimum_supported_calling_convention_version: Final = 9
maximum_supported_calling_convention_version: Final = 10
"""Versions of how the main function of the StableHLO text is called; 10 is what adze writes."""


@dataclass(frozen=True, eq=False)
class Description:
    """An exported function as it is written to bytes."""

    fun_name: str
    in_tree: tree.Structure
    in_avals: tuple[ShapedArray, ...]
    out_tree: tree.Structure
    out_avals: tuple[ShapedArray, ...]
    platforms: tuple[str, ...]
    disabled_safety_checks: tuple[DisabledSafetyCheck, ...]
    ir: bytes = field(repr=False)
    """The adze IR, with the custom rules of what it calls."""
    function: ExportedFunction = field(repr=False)
    """The function's name in the IR, and its signature."""
    constraints: tuple[str, ...] = ()
    """What is assumed of symbolic dimensions; calls check it."""
    vjp_order: int | None = None
    """How often it may be differentiated in reverse, None for any number of times."""
    calling_convention_version: int = maximum_supported_calling_convention_version
    nr_devices: int = 1
    """How many devices the meshes of its arguments have: only arrays on as many fit, if there are several."""
    in_specs: tuple[PartitionSpec | None, ...] = ()
    """How the flat arguments are divided along the axes of a mesh, None where nothing is stated."""
    out_specs: tuple[PartitionSpec | None, ...] = ()
    ordered_effects: tuple[Any, ...] = ()
    unordered_effects: tuple[Any, ...] = ()

    @property
    def uses_global_constants(self) -> bool:
        """Whether shapes of arguments are symbolic."""
        return any(not isinstance(n, int) for aval in self.in_avals for n in aval.shape)
