"""Two programs beside each other: what of them differs, from their signatures to their IR.

Input: the contents of two artifacts. Output: rows of a name and two texts, equal ones included, and the
difference of their IR where both keep it. Nothing is loaded or run.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ...dialects.dataclass import dataclass
from ...passes.analysis.cost import costs
from ...passes.ir.pretty import pretty
from ...runtime.artifact.artifact import Contents
from ...runtime.artifact.variants import variant_of
from .kept import KeptFunction


@dataclass(frozen=True)
class Row:
    """One property of two programs. `growth` is that of a number, relative to the first."""

    name: str
    left: str
    right: str
    growth: float | None = None

    @property
    def differs(self) -> bool:
        """Whether it is not the same in both."""
        return self.left != self.right


def rows(left: Contents, right: Contents) -> list[Row]:
    """The properties of two programs."""
    one, other = left.manifest, right.manifest
    found = [
        Row("functions", _functions(left), _functions(right)),
        Row("state", _state(left), _state(right)),
        Row("targets", _targets(left), _targets(right)),
        Row("IR", one.ir_sha256[:16], other.ir_sha256[:16]),
    ]
    for name in sorted({*one.versions, *other.versions}):
        versions = one.versions.get(name, "none"), other.versions.get(name, "none")
        found.append(Row(name.replace("_", " "), *versions))
    found.append(Row("flags of one", _only(one.flags, other.flags), _only(other.flags, one.flags)))
    found.append(_number("bytes", len(left.to_bytes()), len(right.to_bytes())))
    found.append(_number("bytes of the module", len(left.module), len(right.module)))
    found.append(_number("kernels", _kernels(left), _kernels(right)))
    if one.work is not None and other.work is not None:
        found.append(_number("operations of a call", int(one.work), int(other.work)))
    if left.ir and right.ir:
        found += _costs(left, right)
    return found


def _costs(left: Contents, right: Contents) -> list[Row]:
    """The costs of the functions that both programs have."""
    before, after = costs(KeptFunction(left).module), costs(KeptFunction(right).module)
    names = [name for name in before if name in after]
    found = []
    for name in names:
        first, second, of = before[name], after[name], f" of {name}" if len(names) > 1 else ""
        found.append(_number(f"flop{of}", first.flops, second.flops))
        found.append(_number(f"bytes moved{of}", first.bytes_moved, second.bytes_moved))
        found.append(_number(f"bytes alive at most{of}", first.peak_bytes, second.peak_bytes))
    return found


def ir_difference(left: Contents, right: Contents, names: tuple[str, str]) -> list[str]:
    """The lines of a unified difference of the kept IR; none where one keeps no IR, or both the same."""
    if not left.ir or not right.ir:
        return []
    before = pretty(KeptFunction(left).module).splitlines()
    after = pretty(KeptFunction(right).module).splitlines()
    return list(difflib.unified_diff(before, after, names[0], names[1], lineterm="", n=2))


def _functions(contents: Contents) -> str:
    return "; ".join(map(str, contents.manifest.signatures))


def _state(contents: Contents) -> str:
    """What the program keeps, and where."""
    parameters = contents.manifest.parameters
    if parameters is None:
        return "none"
    places = (f"{held.spec}{', outside' if held.is_parameter else ''}" for held in parameters.held)
    return "; ".join(places)


def _targets(contents: Contents) -> str:
    manifest = contents.manifest
    return ", ".join(variant.target for variant in manifest.variants) or manifest.target


def _kernels(contents: Contents) -> int:
    return variant_of(contents.manifest, contents.module).kernels


def _only(flags: Sequence[str], others: Sequence[str]) -> str:
    """The flags that the other program was not compiled with."""
    return " ".join(flag for flag in flags if flag not in others) or "none"


def _number(name: str, left: int, right: int) -> Row:
    return Row(name, str(left), str(right), (right - left) / left if left else None)
