"""The kernels that multiply matrices: any sizes, with the right operand packed into panels where that pays.

Input: a left operand `[b, m, k]` or `[b, k, m]`, a right one `[b, k, n]` or, packed, `[b, p, k, t]`: panels
of `t` columns, the last filled up with zeros. Output: the products `[b, m, n]`.
Idea: a tile of the result stays in registers, a few rows by a few vectors, while `k` is scanned: a step loads
the vectors of the right operand and one element of each row of the left one. Rows and columns that are left
have code of their own, so no size needs to be a multiple of anything (Goto and van de Geijn, Anatomy of
high-performance matrix multiplication, 2008). Each element is summed in the order of `k`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.product_tiles import PACKED_ROWS_OF_CALL, ProductSizes, ProductTiles, tiles_of_few_rows
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
    opaque,
    when,
)
from .executable import Kernel, Kernels, Result, Size, Sizes, tensor_sizes, workgroup_id
from .partial_vectors import load_some, store_some

UNROLLED: Final = 4  # steps along k in an iteration
STRAIGHT: Final = 16  # products of so many steps along k need no loop
ROWS_OF_REST: Final = 4  # rows of tiles of the columns that are left, where it shows at the call how many
SUMS_AT_ONCE: Final = 8  # vectors of sums that keep a processor's units for multiplication busy
MANY: Final = 4  # tiles beside which one that is left has little of the work


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
    rows = axes[0 if left_along_k else 1] if sizes.m is None else sizes.m
    out = result_of([batches, rows, columns], mlir.ir.RankedTensorType(left.type).element_type)

    def emit(given: Sequence[Value], written: Sequence[Value]) -> None:
        first, second, *others = map(Array, given)
        product = Product(first, second, Array(written[0]), sizes, tiles, left_along_k)
        if not others:
            product.run()
            return
        has_few = index(product.out.size(1)) < PACKED_ROWS_OF_CALL
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
class Strip:
    """Columns of the result that tiles have: of which batch, the first one, and how many.

    The last strip may have fewer, `last`; it does where `is_whole` is false. One that `is_rest` has little of
    the work and gets little code: each step along `k` that is written out takes time to compile.
    """

    batch: Place
    column: Place
    columns: Place
    is_rest: bool = False
    last: Place | None = None
    is_whole: Number | None = None


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile of the result: its columns, its first row, and how many rows; `is_rest` as in a strip."""

    strip: Strip
    row: Place
    rows: int
    is_rest: bool


@dataclass(frozen=True, slots=True)
class Block:
    """Steps along `k`: the first one, and how many."""

    first: Place
    depth: Place


@dataclass(frozen=True, slots=True)
class Product:
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
            with loop(0, steps.most(1), depth) as at:  # of no steps the sums are zeros
                first = index(self._begun(at))
                self.columns(batch, Block(first, (steps - first).least(depth)))
            return
        if k <= depth:
            self.columns(batch, Block(0, k))
            return
        with loop(0, k, depth) as at:  # the last block, which may be shorter, shares the others' code
            first = index(self._begun(at))
            self.columns(batch, Block(first, (index(k) - first).least(depth) if k % depth else depth))

    def _begun(self, place: Place) -> Place:
        """Where tiles of several rows begin, with many addresses; a vector would be multiplied slower."""
        return opaque(place) if self.tiles.rows > 1 else place

    def columns(self, batch: Place, block: Block) -> None:
        """Every tile, for a block of `k`."""
        step, n = self.tiles.columns, self.sizes.n
        place = Number(workgroup_id(1))
        if n is None:
            self._counted_columns(place, batch, block)
            return
        left = n % step
        if self.tiles.is_packed and left > step - self.tiles.width and n > step:
            for column in _scanned(place.value, self.tiles.block_columns, n, step):
                is_whole = index(column) + step <= n
                self._rows(Strip(batch, column, step, last=left, is_whole=is_whole), block)
            return
        for column in _scanned(place.value, self.tiles.block_columns, n // step * step, step):
            self._rows(Strip(batch, column, step), block)
        if left:
            with when(place.equals(index((n - 1) // self.tiles.block_columns))):
                strip = Strip(batch, index(n // step * step), left, is_rest=n // step >= MANY)
                self._rows(strip, block)

    def _counted_columns(self, place: Number, batch: Place, block: Block) -> None:
        """As many columns as show at the call. Panels are filled up, so their last tile is as the others."""
        step = self.tiles.columns
        start = place * self.tiles.block_columns
        stop = (start + self.tiles.block_columns).least(self.out.size(2))
        if self.tiles.is_packed:
            with loop(start, stop, step) as at:
                last = stop - at
                self._rows(Strip(batch, at, step, last=last, is_whole=last >= step), block)
            return
        whole = start + (stop - start) // step * step
        with loop(start, whole, step) as at:
            self._rows(Strip(batch, at, step), block)
        with when(stop > whole):
            self._rows(Strip(batch, whole, stop - whole, is_rest=True), block)

    def _rows(self, strip: Strip, block: Block) -> None:
        step, m = self.tiles.rows, self.sizes.m
        place = Number(workgroup_id(0))
        if m is None or isinstance(strip.columns, Number):
            self._counted_rows(place, strip, block)
            return
        end: Place = m // step * step
        if self.tiles.is_symmetric:
            end = least(end, ceil_divided(index(strip.column) + strip.columns, step) * step)
        for row in _scanned(place.value, self.tiles.block_rows, end, step):
            self._tile(_Tile(strip, row, step, strip.is_rest), block)
        if m % step:
            with when(place.equals(index((m - 1) // self.tiles.block_rows))):
                is_rest = strip.is_rest or m // step >= MANY
                self._tile(_Tile(strip, index(m // step * step), m % step, is_rest), block)

    def _counted_rows(self, place: Number, strip: Strip, block: Block) -> None:
        """As many rows as show at the call: whole tiles, and for what is left tiles of powers of two.

        Where columns are left, tiles have few rows: there is less to gain than code to compile.
        """
        step = min(self.tiles.rows, ROWS_OF_REST) if isinstance(strip.columns, Number) else self.tiles.rows
        start = place * self.tiles.block_rows
        stop = (start + self.tiles.block_rows).least(self.out.size(1))
        row = start + (stop - start) // step * step
        with loop(start, row, step) as at:
            self._tile(_Tile(strip, at, step, strip.is_rest), block)
        rows, several = (1 << (step - 1).bit_length()) // 2, max(SUMS_AT_ONCE // self.tiles.vectors, 1)
        is_rest = strip.is_rest or step > ROWS_OF_REST
        if rows > several:
            rest = row + (stop - row) // several * several
            with loop(row, rest, several) as at:
                self._tile(_Tile(strip, at, several, is_rest), block)
            row, rows = rest, several // 2
        while rows:
            fits = stop - row >= rows
            with when(fits):
                self._tile(_Tile(strip, row, rows, is_rest), block)
            row = choose(fits, row + rows, row)
            rows //= 2

    def _tile(self, tile: _Tile, block: Block) -> None:
        """Add the steps of a block of `k` to a tile of the result, or begin it with them."""
        strip = replace(tile.strip, column=self._begun(tile.strip.column))
        tile = replace(tile, strip=strip, row=self._begun(tile.row))
        vector = mlir.ir.VectorType.get([self.tiles.width], self.out.element)
        zero = broadcast(constant(self.out.element, 0.0), vector)
        rows = [index(tile.row) + row for row in range(tile.rows)]
        zeros = [zero] * (tile.rows * len(self._vectors(tile.strip.columns)))
        types, first = [vector] * len(zeros), block.first
        if not isinstance(first, int):
            totals = branches(first.equals(0), types, lambda: zeros, lambda: self._loaded(tile, rows, types))
        else:
            totals = self._loaded(tile, rows, types) if first else zeros
        self._store(tile, rows, self._steps(tile, rows, zero, block, totals))

    def _loaded(self, tile: _Tile, rows: Sequence[Number], types: Sequence[Type]) -> list[Number]:
        """The sums of a tile so far."""
        strip, width = tile.strip, self.tiles.width

        def loaded(columns: Place) -> list[Number]:
            places = self._places(strip, columns)
            return [load_some(self.out, width, n, strip.batch, row, at) for row in rows for at, n in places]

        last = strip.last
        if last is None or strip.is_whole is None:
            return loaded(strip.columns)
        if tile.is_rest and isinstance(last, Number):  # masks are less code than two ways
            return loaded(last)
        return branches(strip.is_whole, types, lambda: loaded(strip.columns), lambda: loaded(last))

    def _store(self, tile: _Tile, rows: Sequence[Number], totals: Sequence[Number]) -> None:
        """Store the sums of a tile."""
        strip, last = tile.strip, tile.strip.last

        def store(columns: Place) -> None:
            places = self._places(strip, columns)
            where = [(row, at, count) for row in rows for at, count in places]
            for (row, at, count), total in zip(where, totals, strict=True):
                store_some(self.out, total, count, strip.batch, row, at)

        if last is None or strip.is_whole is None:
            store(strip.columns)
        elif tile.is_rest and isinstance(last, Number):
            store(last)
        else:
            with when(strip.is_whole):
                store(strip.columns)
            with when(strip.is_whole ^ 1):
                store(last)

    def _places(self, strip: Strip, columns: Place) -> list[tuple[Number, Place]]:
        """Where the vectors of a strip begin, and how many of these `columns` each has."""
        return [(index(strip.column) + at, count) for at, count in self._vectors(columns)]

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
        self, tile: _Tile, rows: Sequence[Number], zero: Number, block: Block, totals: Sequence[Number]
    ) -> list[Number]:
        """The sums of a tile behind the steps of a block of `k`."""
        first, depth = block.first, block.depth
        together = 1 if tile.is_rest or self._has_counted_rows() else UNROLLED
        right_vectors = self._right_vectors(tile.strip, zero)

        def step(at: Number, *sums: Number) -> list[Number]:
            return self._step(self._left_elements(tile, rows, at), zero, right_vectors(at), sums)

        def several(at: Number, *sums: Number) -> Sequence[Number]:
            following: Sequence[Number] = sums
            for place in range(together):
                following = step(at + place if place else at, *following)
            return following

        values = list(totals)
        if isinstance(depth, int) and depth == self.sizes.k and depth <= STRAIGHT and not tile.is_rest:
            for place in range(depth):
                values = step(index(first) + place, *values)
            return values
        whole = first + depth // together * together
        values = carried(first, whole, values, several, together)
        if not self._has_rest(depth, together):
            return values
        return carried(whole, first + depth, values, step)

    def _has_counted_rows(self) -> bool:
        """Whether rows of the left operand lie along `k` at a distance that shows at the call.

        LLVM computes the address of each row from the row before, and loads the elements of all steps of an
        iteration there: more than registers hold. So an iteration has one step (`docs/kernels.md`).
        """
        return self.left_along_k and self.sizes.k is None

    def _has_rest(self, depth: Place, together: int) -> bool:
        """Whether there may be more steps in a block of `depth` than multiples of `together`."""
        if isinstance(depth, int):
            return depth % together > 0
        return self.sizes.k is None or self.sizes.k % together > 0 or self.tiles.depth % together > 0

    def _step(
        self, lefts: Iterable[Number], zero: Number, vectors: Sequence[Number], totals: Sequence[Number]
    ) -> list[Number]:
        following: list[Number] = []
        for x in lefts:
            spread = broadcast(x, zero.type)
            for vector in vectors:
                following.append(multiply_add(spread, vector, totals[len(following)]))
        return following

    def left_element(self, batch: Place, row: Number, at: Number) -> Number:
        """An element of the left operand, as it lies."""
        return self.left[batch, row, at] if self.left_along_k else self.left[batch, at, row]

    def right_batch(self, strip: Strip) -> Place:
        """Which of the right operands a strip is multiplied by."""
        return strip.batch

    def _left_elements(self, tile: _Tile, rows: Sequence[Number], at: Number) -> Iterator[Number]:
        """The element of each row in a step along `k`."""
        batch = tile.strip.batch
        for number, row in enumerate(rows):
            if self.tiles.packs_left:
                yield self.left[batch, index(tile.row) // self.tiles.rows, at, number]
            else:
                yield self.left_element(batch, row, at)

    def _right_vectors(self, strip: Strip, zero: Number) -> Callable[[Number], list[Number]]:
        """What loads the vectors of the right operand in a step along `k`."""
        width, vectors = self.tiles.width, self._vectors(strip.columns)
        batch = self.right_batch(strip)
        if self.tiles.is_packed:
            panel = index(strip.column) // self.tiles.columns
            return lambda at: [self.right.vector(width, batch, panel, at, each) for each, _ in vectors]
        places = self._places(strip, strip.columns)
        return lambda at: [load_some(self.right, width, n, batch, at, each) for each, n in places]


def _scanned(workgroup: Value, block: int, size: Place, step: int) -> Iterator[Place]:
    """The places of a workgroup's block, `step` apart and below `size`: one loop, emitted once."""
    if isinstance(size, Number) or size:
        start = Number(workgroup) * block
        with loop(start, (start + block).least(size), step) as place:
            yield place


def multiply_add(x: Number, y: Number, total: Number) -> Number:
    """`total + x * y`, in one instruction where the target has it."""
    fast = mlir.ir.Attribute.parse("#arith.fastmath<contract>")
    product = mlir.arith.mulf(x.value, y.value, fastmath=fast)
    return Number(mlir.arith.addf(total.value, product, fastmath=fast))
