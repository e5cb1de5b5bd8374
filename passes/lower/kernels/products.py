"""The kernels that multiply matrices: any sizes, with the right operand packed into panels where that pays.

Input: a left operand `[b, m, k]` or `[b, k, m]`, a right one `[b, k, n]` or, packed, `[b, p, k, t]`: panels
of `t` columns, the last filled up with zeros. Output: the products `[b, m, n]`.
Idea: a tile of the result stays in registers, a few rows by a few vectors, while `k` is scanned: a step loads
the vectors of the right operand and one element of each row of the left one. Rows and columns that are left
have code of their own, so no size needs to be a multiple of anything (Goto and van de Geijn, Anatomy of
high-performance matrix multiplication, 2008). Each element is summed in the order of `k`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ....dialects import mlir
from ...ir.aliases import Type, Value
from ..tuning.product_tiles import PACKED_ROWS, ProductSizes, ProductTiles, tiles_of_few_rows
from .builder import (
    Array,
    Number,
    Place,
    branches,
    broadcast,
    carried,
    ceil_divided,
    choose,
    constant,
    index,
    least,
    loop,
    most,
    when,
)
from .executable import Kernel, Kernels, Result, Size, Sizes, tensor_sizes, workgroup_id
from .partial_vectors import load_some, store_some

UNROLLED: Final = 4  # steps along k in an iteration
STRAIGHT: Final = 16  # so many steps along k need no loop
ROWS_OF_REST: Final = 4  # rows of tiles of the columns that are left, where it shows at the call how many


def multiply(
    kernels: Kernels,
    left: Value,
    right: Value,
    sizes: ProductSizes,
    tiles: ProductTiles,
    *,
    left_along_k: bool,
    columns: Size,
    unpacked: Value | None = None,
    shape: Sizes = tensor_sizes,
) -> Value:
    """`out[b, m, n] = sum_k left[b, m, k] right[b, k, n]`; not `left_along_k`: the left one is `[b, k, m]`.

    The right operand is packed if `tiles` say so. Both are tensors of f32 or of f64; `shape` tells the sizes
    of their axes, which may show at the call. `columns`: how many the right one has, packed or not.
    `unpacked`: the right operand as it lies, by which few rows are multiplied, for which none is packed.
    """
    batches, *axes = shape(left)
    rows = axes[0 if left_along_k else 1]
    out = result_of([batches, rows, columns], mlir.ir.RankedTensorType(left.type).element_type)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        first, second, *others = map(Array, given)
        product = _Product(first, second, Array(written[0]), sizes, tiles, left_along_k)
        if not others:
            product.run()
            return
        has_few = index(product.out.size(1)) < PACKED_ROWS
        with when(has_few):
            replace(product, right=others[0], tiles=tiles_of_few_rows(tiles)).run()
        with when(has_few ^ 1):
            product.run()

    workgroups = (
        size_of(ceil_divided(place_of(rows), tiles.block_rows)),
        size_of(ceil_divided(place_of(columns), tiles.block_columns)),
        batches,
    )
    operands = [left, right] if unpacked is None else [left, right, unpacked]
    key = sizes, tiles, left_along_k, len(operands)
    kernel = Kernel("product", (out,), emit, key=key, workgroups=workgroups)
    (product,) = kernels.call(kernel, operands, sizes=shape)
    return product


def result_of(shape: Sequence[Size], element: Type) -> Result:
    """A result with these sizes."""
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    type_ = mlir.ir.RankedTensorType.get([n if isinstance(n, int) else dynamic for n in shape], element)
    return Result(type_, tuple(n for n in shape if not isinstance(n, int)))


def place_of(size: Size) -> Place:
    """A size in the code of the caller."""
    return size if isinstance(size, int) else Number(size)


def size_of(place: Place) -> Size:
    """A place as the size of an array."""
    return place.value if isinstance(place, Number) else place


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile of the result: its batch, first row and first column, and how many rows and columns it has."""

    batch: Place
    row: Place
    column: Place
    rows: int
    columns: Place


@dataclass(frozen=True, slots=True)
class _Product:
    """The code of one workgroup: one batch, a block of rows, and a block of columns."""

    left: Array
    right: Array
    out: Array
    sizes: ProductSizes
    tiles: ProductTiles
    left_along_k: bool

    def run(self) -> None:
        """Every tile of the workgroup, for one block of `k` after the other."""
        depth, k = self.tiles.depth, self.sizes.k
        batch = Number(workgroup_id(2))
        if k is None:
            steps = index(self.left.size(2 if self.left_along_k else 1))
            with loop(0, steps.most(1), depth) as first:  # of no steps the sums are zeros
                self._columns(batch, first, (steps - first).least(depth))
            return
        whole = k // depth * depth
        if whole == depth:
            self._columns(batch, 0, depth)
        else:
            with loop(0, whole, depth) as first:
                self._columns(batch, first, depth)
        if k > whole:
            self._columns(batch, whole, k - whole)

    def _columns(self, batch: Place, first: Place, depth: Place) -> None:
        step, n = self.tiles.columns, self.sizes.n
        place = Number(workgroup_id(1))
        if n is None:
            start = place * self.tiles.block_columns
            stop = (start + self.tiles.block_columns).least(self.out.size(2))
            whole_columns = start + (stop - start) // step * step
            with loop(start, whole_columns, step) as at:
                self._rows(batch, at, step, first, depth)
            with when(stop > whole_columns):
                self._rows(batch, whole_columns, stop - whole_columns, first, depth)
            return
        for column in _scanned(place.value, self.tiles.block_columns, n // step * step, step):
            self._rows(batch, column, step, first, depth)
        if n % step:
            with when(place.equals(index((n - 1) // self.tiles.block_columns))):
                self._rows(batch, index(n // step * step), n % step, first, depth)

    def _rows(self, batch: Place, column: Place, columns: Place, first: Place, depth: Place) -> None:
        step, m = self.tiles.rows, self.sizes.m
        place = Number(workgroup_id(0))
        if m is None or isinstance(columns, Number):
            self._counted_rows(place, batch, column, columns, first, depth)
            return
        for row in _scanned(place.value, self.tiles.block_rows, m // step * step, step):
            self._tile(_Tile(batch, row, column, step, columns), first, depth)
        if m % step:
            with when(place.equals(index((m - 1) // self.tiles.block_rows))):
                self._tile(_Tile(batch, index(m // step * step), column, m % step, columns), first, depth)

    def _counted_rows(
        self, place: Number, batch: Place, column: Place, columns: Place, first: Place, depth: Place
    ) -> None:
        """As many rows as show at the call: whole tiles, and for what is left tiles of halves of that.

        Where columns are left, tiles have few rows: there is less to gain than code to compile.
        """
        step, block = self.tiles.rows, self.tiles.block_rows
        if isinstance(columns, Number):
            step = min(step, ROWS_OF_REST)
        start = place * block
        stop = (start + block).least(self.out.size(1))
        whole = start + (stop - start) // step * step
        with loop(start, whole, step) as row:
            self._tile(_Tile(batch, row, column, step, columns), first, depth)
        row, rows = whole, 1 << (step - 1).bit_length()
        while rows > 1:
            rows //= 2
            fits = stop - row >= rows
            with when(fits):
                self._tile(_Tile(batch, row, column, rows, columns), first, depth)
            row = choose(fits, row + rows, row)

    def _tile(self, tile: _Tile, first: Place, depth: Place) -> None:
        """Add `depth` steps along `k` to a tile of the result, or begin it with them."""
        vector = mlir.ir.VectorType.get([self.tiles.width], self.out.element)
        zero = broadcast(constant(self.out.element, 0.0), vector)
        places = [(row, at, count) for row in range(tile.rows) for at, count in self._vectors(tile.columns)]

        def present() -> list[Number]:
            return [
                load_some(
                    self.out,
                    self.tiles.width,
                    count,
                    tile.batch,
                    index(tile.row) + row,
                    index(tile.column) + at,
                )
                for row, at, count in places
            ]

        if not isinstance(first, int):
            types: list[Type] = [vector] * len(places)
            totals = branches(first.equals(0), types, lambda: [zero] * len(places), present)
        else:
            totals = present() if first else [zero] * len(places)
        totals = self._steps(tile, zero, first, depth, totals)
        for (row, at, count), total in zip(places, totals, strict=True):
            store_some(self.out, total, count, tile.batch, index(tile.row) + row, index(tile.column) + at)

    def _vectors(self, columns: Place) -> list[tuple[int, Place]]:
        """Where the vectors of a tile begin, and how many columns each has."""
        width = self.tiles.width
        if isinstance(columns, int):
            return [(at, min(columns - at, width)) for at in range(0, columns, width)]
        return [
            (at, least(most(columns - at if at else columns, 0), width))
            for at in range(0, self.tiles.columns, width)
        ]

    def _steps(
        self, tile: _Tile, zero: Number, first: Place, depth: Place, totals: Sequence[Number]
    ) -> list[Number]:
        def body(at: Number, *sums: Number) -> Sequence[Number]:
            following = list(sums)
            for step in range(UNROLLED):
                following = self._step(tile, zero, at + step, following)
            return following

        values = list(totals)
        if isinstance(depth, Number):
            whole_stop = first + depth // UNROLLED * UNROLLED
            values = carried(first, whole_stop, values, body, UNROLLED)
            return carried(
                whole_stop, first + depth, values, lambda at, *sums: self._step(tile, zero, at, sums)
            )
        whole = 0 if depth <= STRAIGHT else depth // UNROLLED * UNROLLED
        if whole:
            values = carried(first, index(first) + whole, values, body, UNROLLED)
        for step in range(whole, depth):
            values = self._step(tile, zero, index(first) + step, values)
        return values

    def _step(self, tile: _Tile, zero: Number, at: Number, totals: Sequence[Number]) -> list[Number]:
        vectors = list(self._right_vectors(tile, zero, at))
        following: list[Number] = []
        for row in range(tile.rows):
            place = index(tile.row) + row
            x = self.left[tile.batch, place, at] if self.left_along_k else self.left[tile.batch, at, place]
            spread = broadcast(x, zero.type)
            for number, vector in enumerate(vectors):
                following.append(multiply_add(spread, vector, totals[row * len(vectors) + number]))
        return following

    def _right_vectors(self, tile: _Tile, zero: Number, at: Number) -> Iterator[Number]:
        width = self.tiles.width
        for place, count in self._vectors(tile.columns):
            if self.tiles.is_packed:
                panel = index(tile.column) // self.tiles.columns
                yield self.right.vector(width, tile.batch, panel, at, place)
            else:
                yield load_some(self.right, width, count, tile.batch, at, index(tile.column) + place)


def _scanned(workgroup: Value, block: int, size: int, step: int) -> Iterator[Place]:
    """The places of a workgroup's block, `step` apart and below `size`: one loop, emitted once."""
    if size:
        start = Number(workgroup) * block
        with loop(start, (start + block).least(size), step) as place:
            yield place


def multiply_add(x: Number, y: Number, total: Number) -> Number:
    """`total + x * y`, in one instruction where the target has it."""
    fast = mlir.ir.Attribute.parse("#arith.fastmath<contract>")
    product = mlir.arith.mulf(x.value, y.value, fastmath=fast)
    return Number(mlir.arith.addf(total.value, product, fastmath=fast))


# -- packing ---------------------------------------------------------------------------------------


def pack(
    kernels: Kernels,
    right: Value,
    sizes: ProductSizes,
    tiles: ProductTiles,
    *,
    along_k: bool,
    rows: Size | None = None,
    shape: Sizes = tensor_sizes,
) -> Value:
    """The right operand `[b, k, n]`, or `[b, n, k]` if `along_k`, as panels `[b, p, k, t]` of columns.

    `rows`: how many rows of the left one are multiplied by it, if nothing is to be packed for few.
    """
    batches, *axes = shape(right)
    steps, columns = reversed(axes) if along_k else axes
    panels = ceil_divided(place_of(columns), tiles.columns)
    element = mlir.ir.RankedTensorType(right.type).element_type

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        _Packing(Array(given[0]), Array(written[0]), sizes, tiles, along_k).run()

    count = ceil_divided(panels, tiles.packed_panels)
    if rows is not None and not isinstance(rows, int):
        count = choose(Number(rows) < PACKED_ROWS, index(0), index(count))
    kernel = Kernel(
        "pack",
        (result_of([batches, size_of(panels), steps, tiles.columns], element),),
        emit,
        key=(sizes, tiles, along_k),
        workgroups=(size_of(count), batches),
    )
    (packed,) = kernels.call(kernel, [right], sizes=shape)
    return packed


def packed_array(right: np.ndarray, tiles: ProductTiles, *, along_k: bool) -> np.ndarray:
    """What `pack` makes of a right operand that is known."""
    columns = np.swapaxes(right, 1, 2) if along_k else right
    batches, k, n = columns.shape
    panels = -(-n // tiles.columns)
    packed = np.zeros((batches, k, panels * tiles.columns), right.dtype)
    packed[..., :n] = columns
    divided = packed.reshape(batches, k, panels, tiles.columns)
    return np.ascontiguousarray(np.swapaxes(divided, 1, 2))


@dataclass(frozen=True, slots=True)
class _Packing:
    """The code of one workgroup: some panels of one batch."""

    source: Array
    packed: Array
    sizes: ProductSizes
    tiles: ProductTiles
    along_k: bool

    def run(self) -> None:
        """Whole panels, and then the last one if it has fewer columns."""
        columns, together = self.tiles.columns, self.tiles.packed_panels
        n = self.source.size(1 if self.along_k else 2)
        batch, place = Number(workgroup_id(1)), Number(workgroup_id(0))
        whole = n // columns
        copied = self._transposed if self.along_k else self._rows
        if not isinstance(whole, int) or whole:
            start = place * together
            copied(batch, start, (start + together).least(whole), columns)
        if not isinstance(n, int) or not isinstance(whole, int):
            left = index(n) % columns
            with when(left.differs(0) & place.equals(whole // together)):
                copied(batch, index(whole), index(whole) + 1, left)
        elif n % columns:
            with when(place.equals(index(whole // together))):
                copied(batch, index(whole), index(whole + 1), n % columns)

    def _rows(self, batch: Number, first: Number, stop: Number, count: Place) -> None:
        """`count` columns of each panel, row by row."""
        width = self.tiles.width
        with loop(0, self.source.size(1)) as at, loop(first, stop) as panel:
            for place in range(0, self.tiles.columns, width):
                here = least(most(count - place if place else count, 0), width)
                column = panel * self.tiles.columns + place
                self.packed[batch, panel, at, place] = load_some(self.source, width, here, batch, at, column)

    def _transposed(self, batch: Number, first: Number, stop: Number, count: Place) -> None:
        """The same from rows that lie along `k`: blocks are transposed in registers."""
        width = min(self.tiles.width, 8)
        k = self.source.size(2)
        whole = k // width * width
        with loop(first, stop) as panel:
            column = panel * self.tiles.columns

            def block(at: Number, depth: Place) -> None:
                for place in range(0, self.tiles.columns, width):
                    rows = [
                        load_some(self.source, width, here, batch, column + place + r, at)
                        for r in range(width)
                        for here in [depth_of(place + r, depth)]
                    ]
                    for step, row in enumerate(transposed(rows)):
                        if isinstance(depth, Number):
                            with when(depth > step):
                                self.packed[batch, panel, at + step, place] = row
                        elif step < depth:
                            self.packed[batch, panel, at + step, place] = row

            def depth_of(place: int, depth: Place) -> Place:
                """How many elements a row has there, of columns beyond the last one none."""
                if isinstance(count, int):
                    return depth if place < count else 0
                return choose(count > place, index(depth), 0)

            if not isinstance(whole, int) or whole:
                with loop(0, whole, width) as at:
                    block(at, width)
            if not isinstance(k, int) or not isinstance(whole, int):
                with when(index(k) > whole):
                    block(index(whole), index(k) - whole)
            elif k > whole:
                block(index(whole), k - whole)


def transposed(rows: Sequence[Number]) -> list[Number]:
    """The columns of a square of as many vectors as each has elements, a power of two."""
    width, values = len(rows), list(rows)
    distance = 1
    while distance < width:
        for i in range(width):
            if i & distance:
                continue
            a, b = values[i], values[i + distance]
            low = [j if not j & distance else width + j - distance for j in range(width)]
            high = [j + distance if not j & distance else width + j for j in range(width)]
            values[i], values[i + distance] = _shuffled(a, b, low), _shuffled(a, b, high)
        distance *= 2
    return values


def _shuffled(a: Number, b: Number, mask: Sequence[int]) -> Number:
    return Number(mlir.vector.shuffle(a.value, b.value, list(mask)))
