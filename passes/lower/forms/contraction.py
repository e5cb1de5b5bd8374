"""Forms of contractions: every `dot_general` is a batched matrix product of at most four loops.

The axes of each operand fall into batch, free and contracting ones. Each group is merged to one axis (the
operand is permuted first where a group does not lie together), groups that are absent or of size 1 are left
out of the loops, and what remains is a `linalg.generic` that reads both operands as they lie: vecdot, matvec,
matmul with either operand transposed, or a batched one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.ops.contraction.dot_general import Axes, Pairs, operand_axes
from ....dialects.ops.reduction import accumulation_dtype
from ..builder import Size
from ..tuning import configuration
from .rearrangement import units_beside
from .reductions import ReductionForms

LEFT, RIGHT, OUT = "bmk", "bnk", "bmn"


class ContractionForms(ReductionForms):
    """`dot_general` and what it needs."""

    def contract(self, x: Any, y: Any, contracting: Pairs, batch: Pairs) -> Any:
        """The contraction of the op being lowered."""
        source, target = self.operand_types[0].dtype, self.result_type.dtype  # type: ignore[union-attr]
        for rows in (contracting, batch):
            for i, j in zip(rows[0], rows[1], strict=True):
                self.require_equal(
                    self.shape(x)[i], self.shape(y)[j], "adze: contracted or batch axes differ in size"
                )
        left = operand_axes(len(self.shape(x)), 0, contracting, batch)
        right = operand_axes(len(self.shape(y)), 1, contracting, batch)
        shape = [self.shape(x)[a] for a in left.batch + left.free]
        shape += [self.shape(y)[a] for a in right.free]
        # Sizes that both operands have are taken from whichever knows them.
        for position, (i, j) in enumerate(zip(batch[0], batch[1], strict=True)):
            shape[position] = self._known_size(self.shape(x)[i], self.shape(y)[j])
        carried = accumulation_dtype(target)
        product = self.product_over(x, y, contracting, batch, source, carried)
        product = self.convert(carried, target, product)
        groups, position = [], 0
        for count in (len(left.batch), len(left.free), len(right.free)):
            groups.append(list(range(position, position + count)))
            position += count
        return self._ungroup(product, groups, shape)

    def product_over(
        self, x: Any, y: Any, contracting: Pairs, batch: Pairs, source: np.dtype, carried: np.dtype
    ) -> Any:
        """The contraction as `out[b, m, n]`, each group of axes merged."""
        left = operand_axes(len(self.shape(x)), 0, contracting, batch)
        right = operand_axes(len(self.shape(y)), 1, contracting, batch)
        x, x_order = self._grouped(x, left, LEFT)
        y, y_order = self._grouped(y, right, RIGHT)
        return self.matrix_product(x, x_order, y, y_order, source, carried)

    @staticmethod
    def _known_size(m: Size, n: Size) -> Size:
        return n if isinstance(n, int) else m

    def _grouped(self, x: Any, axes: Axes, letters: str) -> tuple[Any, str]:
        """`x` with its groups merged, one axis for each that is not empty, and their letters in order."""
        groups = dict(zip(letters, axes, strict=True))
        order = [g for g, _ in sorted((g, letter) for letter, g in groups.items() if g)]
        rank = len(self.shape(x))
        if [a for g in order for a in g] != list(range(rank)):
            flat = [a for g in groups.values() for a in g]
            x = self.permute(x, flat)
            if self.hints.data_tiling:  # which fails on dynamic axes that are moved and merged at once
                x = self.materialise(x)
            position = 0
            for letter, group in groups.items():
                groups[letter] = tuple(range(position, position + len(group)))
                position += len(group)
        present = sorted((g, letter) for letter, g in groups.items() if g)
        return self.collapse(x, [g for g, _ in present]), "".join(letter for _, letter in present)

    def _ungroup(self, product: Any, groups: Sequence[Sequence[int]], shape: Sequence[Size]) -> Any:
        """The result (batch, left, right) with each of its axes expanded to what it was merged from."""
        present = [g for g in groups if g]
        if len(present) < len(groups):
            product = self.drop_units(product, [bool(g) for g in groups])
        if not present:
            return product
        return self.expand(product, present, shape)

    def matrix_product(
        self, x: Any, x_order: str, y: Any, y_order: str, source: np.dtype, carried: np.dtype
    ) -> Any:
        """`out[b, m, n] = sum_k x[...] y[...]`; the orders name the axes of the operands as they lie."""
        sizes: dict[str, Size] = {}
        for order, value in ((x_order, x), (y_order, y)):
            for letter, n in zip(order, self.shape(value), strict=True):
                sizes[letter] = self._known_size(sizes.get(letter, n), n)
        for letter in "bmnk":
            sizes.setdefault(letter, 1)
        if 0 in sizes.values():  # IREE's data tiling fails on a product that is statically empty
            return self.repeated_constant(np.zeros((), carried), [sizes[letter] for letter in OUT])
        x = self.retype(x, [sizes[letter] for letter in x_order])
        y = self.retype(y, [sizes[letter] for letter in y_order])
        # A loop that turns once is left out.
        loops = [letter for letter in "bmnk" if not self._is_one(sizes[letter])]
        x, x_order = self._without_units(x, x_order, loops)
        y, y_order = self._without_units(y, y_order, loops)
        if not all(isinstance(sizes[letter], int) for letter in loops):
            # Observed: a sum of dynamic size, fused with operands that are used elsewhere too, keeps them
            # on the stack ("exceeded stack allocation limit").
            x, y = self.materialise(x), self.materialise(y)
        if loops == ["k"]:
            product = self._inner_product(x, y, source, carried)
        elif {"m", "n", "k"} <= set(loops):
            product = self._product_of_matrices(x, x_order, y, y_order, sizes, loops, source, carried)
        else:
            tiles = configuration.vector_product(self.target, sizes, (x_order, y_order), loops, source)
            product = self._products(x, x_order, y, y_order, sizes, loops, source, carried, tiles)
        kept = [letter in loops for letter in OUT]
        return self.expand(product, units_beside(kept) if any(kept) else [], [sizes[c] for c in OUT])

    def _inner_product(self, x: Any, y: Any, source: np.dtype, carried: np.dtype) -> Any:
        """The sum of the products of two vectors, in the stages of any sum."""

        def body(left: Any, right: Any, _: Any) -> Any:
            left = self.scalars.convert(source, carried, left)
            right = self.scalars.convert(source, carried, right)
            return self.scalars.mul(carried, left, right)

        init = self.empty(self.shape(x), carried)
        products = self.generic([x, y], [init], [self.identity_map(1)] * 3, ["parallel"], body)
        return self.fold("reduce_sum", products, (0,), 0, carried, carried)

    def _product_of_matrices(
        self,
        x: Any,
        x_order: str,
        y: Any,
        y_order: str,
        sizes: dict[str, Size],
        loops: Sequence[str],
        source: np.dtype,
        carried: np.dtype,
    ) -> Any:
        form = None
        if not self.hints.data_tiling:
            form = configuration.matrix_product(self.target, sizes, y_order, loops, carried)
            larger = configuration.rounded_product(self.target, sizes, loops, carried)
            if form is None and larger is not None:
                x, y = self._enlarged(x, x_order, larger, source), self._enlarged(y, y_order, larger, source)
                product = self._product_of_matrices(x, x_order, y, y_order, larger, loops, source, carried)
                out = [letter for letter in loops if letter != "k"]
                if larger["m"] != sizes["m"]:  # IREE would take the slice of the operand instead
                    product = self.materialise(product)
                return self.window(product, [0] * len(out), [sizes[c] for c in out], [1] * len(out))
        if form is not None and source != carried:
            # Tiles of f32 on f32 operands are faster than tiles that widen each element they load.
            x, y = (self.materialise(self.convert(source, carried, v)) for v in (x, y))
            source = carried
        if form is None:
            return self._products(x, x_order, y, y_order, sizes, loops, source, carried, None)
        if form.panel is None:
            if form.transpose:
                y, y_order = self._reordered(y, y_order, y_order[:-2] + "kn")
            return self._products(x, x_order, y, y_order, sizes, loops, source, carried, form.tiles)
        # n becomes p panels of t columns
        at = y_order.index("n")
        groups = [[a + (a > at)] if a != at else [a, a + 1] for a in range(len(y_order))]
        apart = {**sizes, "p": sizes["n"] // form.panel, "t": form.panel}
        order = y_order.replace("n", "pt")
        y = self.expand(y, groups, [apart[letter] for letter in order])
        y, y_order = self._reordered(y, order, y_order[:-2] + "pkt")
        panels = [c for letter in loops for c in ("pt" if letter == "n" else letter)]
        product = self._products(x, x_order, y, y_order, apart, panels, source, carried, form.tiles)
        last = len(loops) - 2
        return self.collapse(product, [*([a] for a in range(last)), [last, last + 1]])

    def _enlarged(self, x: Any, order: str, sizes: dict[str, Size], dtype: np.dtype) -> Any:
        """`x` with zeros behind it until its axes have these sizes."""
        more = [sizes[letter] - n for letter, n in zip(order, self.shape(x), strict=True)]
        return self.pad_with(x, [0] * len(more), more, self.scalar_constant(dtype, 0))

    def _reordered(self, y: Any, order: str, wanted: str) -> tuple[Any, str]:
        """`y` copied to another order of its axes; IREE would undo the copy if it could see through it."""
        return self.materialise(self.permute(y, [order.index(letter) for letter in wanted])), wanted

    def _products(
        self,
        x: Any,
        x_order: str,
        y: Any,
        y_order: str,
        sizes: dict[str, Size],
        loops: Sequence[str],
        source: np.dtype,
        carried: np.dtype,
        tiles: str | None,
    ) -> Any:
        """The `linalg.generic` over `loops`, of which k, if there, is summed over."""
        out = [letter for letter in loops if letter != "k"]
        shape = [sizes[letter] for letter in out]
        zero = self.scalar_constant(carried, 0)
        init = self.fill(zero, shape, carried) if "k" in loops else self.empty(shape, carried)

        def body(left: Any, right: Any, total: Any) -> Any:
            left = self.scalars.convert(source, carried, left)
            right = self.scalars.convert(source, carried, right)
            product = self.scalars.mul(carried, left, right)
            return self.scalars.add(carried, total, product) if "k" in loops else product

        maps = [
            self.axes_map(len(loops), [loops.index(letter) for letter in order])
            for order in (x_order, y_order, out)
        ]
        iterators = ["reduction" if letter == "k" else "parallel" for letter in loops]
        return self.generic([x, y], [init], maps, iterators, body, self.attribute(tiles))

    @staticmethod
    def _is_one(n: Size) -> bool:
        return isinstance(n, int) and n == 1

    def _without_units(self, x: Any, order: str, loops: Sequence[str]) -> tuple[Any, str]:
        keep = [letter in loops for letter in order]
        if all(keep):
            return x, order
        return self.drop_units(x, keep), "".join(c for c in order if c in loops)
