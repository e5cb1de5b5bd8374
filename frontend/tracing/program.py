"""The module that a trace writes: one MLIR module, with what its functions share.

Input: names and places that its functions ask for. Output: unique symbols, locations, and the caches that
hold for the whole module. `frames.py` records the functions in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import mlir
from ...dialects.codec import Codec
from ...passes.ir.construction import reserved_symbols, unique_symbol
from .array import Array
from .locations import place_of_op

if TYPE_CHECKING:
    from .size_assumptions import SizeAssumptions


class Program:
    """One MLIR module under construction, with the context and caches that its frames share."""

    def __init__(self, name: str = "program") -> None:
        self.context = mlir.new_context(is_light=True)
        self.codec = Codec(self.context)
        self.unknown = mlir.ir.Location.unknown(self.context)
        self.module = mlir.ir.Module.create(self.unknown)
        self.memo: dict[Any, Any] = {}
        self.callees: list[Any] = []  # Python functions that the program calls by name
        self.arrays: dict[Any, Array] = {}
        """The arrays of rank 0 that are constants of its functions, by the values of these constants."""
        self.lifted: dict[int, Array | None] | None = None
        """Arrays, by their `id`, that inner functions capture from the outermost one, in place of constants
        of their own; of NumPy's arrays what `as_value` made of them."""
        self.assumptions: SizeAssumptions | None = None
        """What is known of named sizes of its arguments beyond their names."""
        self._locations: dict[tuple[str, int], mlir.ir.Location] = {}

    def unique_symbol(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, ... when it is taken; nothing else gets it, engines included."""
        symbol = unique_symbol(self.module, name)
        self.symbols.add(symbol)
        return symbol

    @property
    def symbols(self) -> set[str]:
        """The symbols that are taken, of functions that are still to be traced too."""
        return reserved_symbols(self.module)

    def location(self, key: tuple[str, int] | None = None) -> mlir.ir.Location:
        """A file and line, by default the user's current one, as an MLIR location."""
        key = key or place_of_op()
        location = self._locations.get(key)
        if location is None:
            file = key[0].encode(errors="backslashreplace").decode()  # names of files need not be UTF-8
            location = self._locations[key] = mlir.ir.Location.file(file, key[1], 1, self.context)
        return location
