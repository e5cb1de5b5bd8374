"""The kernels that sort rows, or select the first elements of the sorted ones, stably, with their places.

Input: rows of elements and how an element becomes a signed integer (`key`). Output: each row's elements in
rising order of keys, and where they were.
Idea: rows of up to `SHORT` elements by insertion, longer ones by a radix sort from the lowest digit on
(Knuth, The Art of Computer Programming 3, 5.2.5): all digits are counted in one scan, then each digit moves
the elements once between two halves of a scratch buffer. A digit that all elements share moves nothing. To
select, only the elements are sorted whose highest bits are among those of the first ones. Every workgroup
sorts every so many rows, with scratch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from .builder import (
    Array,
    Number,
    Place,
    branches,
    broadcast,
    carried,
    choose,
    constant,
    index,
    loop,
    repeated,
    when,
)
from .executable import Kernel, Kernels, Result, Size, workgroup_count, workgroup_id

SHORT: Final = 32  # the longest row that is sorted by insertion
FEW: Final = 16  # the most elements that are selected by insertion
LONG: Final = range(1 << 13, 1 << 18)  # lengths of rows whose digits have more bits; the caches bound them
SELECTING_BITS: Final = 11
MOST_WORKGROUPS: Final = 64


@dataclass(frozen=True, slots=True)
class Ordering:
    """How rows are sorted: `key` makes the signed integer of an element, of which `bits` are significant.

    `name` is that of the dtype and of the order: equal names have equal keys.
    """

    name: str
    key: Callable[[Value], Value]
    bits: int


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows to sort: a tensor `[count, size]`, its sizes, and the number of workgroups."""

    tensor: Value
    sizes: tuple[Size, Size]
    workgroups: Size

    @property
    def element(self) -> Type:
        """The type of an element."""
        return mlir.ir.RankedTensorType(self.tensor.type).element_type


def sort_rows(
    kernels: Kernels, rows: Rows, how: Ordering, *, has_order: bool = True
) -> tuple[Value, Value | None]:
    """The elements of each row in order, and with `has_order` the places (i32) they come from."""
    digits = _digits(rows, how)
    results = [_result(rows.sizes, rows.element), *_scratch(rows, digits, has_order)]
    if has_order:
        results.append(_result(rows.sizes, _integer()))

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        values, moved, counts, *order = map(Array, written)
        if has_order:
            _Sort(digits, Array(operands[0]), values, moved, counts, order[1], order[0]).run()
        else:
            _Sort(digits, Array(operands[0]), values, moved, counts).run()

    key = (how.name, digits.bits, has_order)
    kernel = Kernel("sort", tuple(results), emit, key=key, workgroups=(rows.workgroups,))
    values, *others = kernels.call(kernel, [rows.tensor], sizes=lambda _: rows.sizes)
    return values, others[-1] if has_order else None


def select_first(kernels: Kernels, rows: Rows, how: Ordering, count: int) -> tuple[Value, Value]:
    """The first `count` elements of each row in order, and the places (i32) they come from."""
    digits = _digits(rows, how)
    kept = (rows.sizes[0], count)
    if count <= FEW:
        return _insert_first(kernels, rows, how, kept)
    buckets = _result((rows.workgroups, 1 << SELECTING_BITS), _integer())
    results = (
        _result(kept, rows.element),
        *_scratch(rows, digits, True),
        _result(kept, _integer()),
        buckets,
    )

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        values, moved, counts, places, order, selected = map(Array, written)
        _Sort(digits, Array(operands[0]), values, moved, counts, order, places, selected).run()

    kernel = Kernel("select", results, emit, key=(how.name, digits.bits), workgroups=(rows.workgroups,))
    values, _, _, _, order, _ = kernels.call(kernel, [rows.tensor], sizes=lambda _: rows.sizes)
    return values, order


def _insert_first(
    kernels: Kernels, rows: Rows, how: Ordering, kept: tuple[Size, Size]
) -> tuple[Value, Value]:
    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        (elements,), (values, order) = map(Array, operands), map(Array, written)
        _Insertion(lambda x: Number(how.key(x.value)), elements, values, order).run_of_first()

    results = (_result(kept, rows.element), _result(kept, _integer()))
    kernel = Kernel("select", results, emit, key=how.name, workgroups=(rows.workgroups,))
    values, order = kernels.call(kernel, [rows.tensor], sizes=lambda _: rows.sizes)
    return values, order


def _digits(rows: Rows, how: Ordering) -> _Digits:
    bits = 11 if rows.sizes[1] in LONG else 8
    return _Digits(how, bits, -(-how.bits // bits))


def _scratch(rows: Rows, digits: _Digits, has_order: bool) -> list[Result]:
    """Two halves for elements, counts of digits, and two halves for places."""
    halves = (rows.workgroups, 2, rows.sizes[1])
    counts = (rows.workgroups, digits.passes, 1 << digits.bits)
    scratch = [_result(halves, rows.element), _result(counts, _integer())]
    return [*scratch, _result(halves, _integer())] if has_order else scratch


def _integer() -> Type:
    return mlir.ir.IntegerType.get_signless(32)


def _result(shape: Sequence[Size], element: Type) -> Result:
    static = [n if isinstance(n, int) else mlir.ir.ShapedType.get_dynamic_size() for n in shape]
    type_ = mlir.ir.RankedTensorType.get(static, element)
    return Result(type_, tuple(n for n in shape if not isinstance(n, int)))


@dataclass(frozen=True, slots=True)
class _Digits:
    """The digits of keys, the lowest first."""

    how: Ordering
    bits: int
    passes: int

    def key(self, element: Number) -> Number:
        """The key, a signed integer."""
        return Number(self.how.key(element.value))

    def unsigned(self, element: Number) -> Number:
        """An unsigned integer of the same order; all above the lower `bits` is zero."""
        key = self.key(element)
        return (key ^ (1 << (self.how.bits - 1))) & ((1 << self.how.bits) - 1)

    def bucket(self, element: Number) -> Number:
        """The bucket, an index, that an element is selected by: its highest bits."""
        return (self.unsigned(element) >> max(self.how.bits - SELECTING_BITS, 0)).as_index()

    def digit(self, unsigned: Number, which: Number | int) -> Number:
        """One digit, as an index."""
        if isinstance(which, Number):
            shift = which.as_integer(unsigned.type) * self.bits
        else:
            shift = constant(unsigned.type, which * self.bits)
        return ((unsigned >> shift) & ((1 << self.bits) - 1)).as_index()


@dataclass(frozen=True, slots=True)
class _Insertion:
    """Insertion into a row of results; `key` makes the key of an element."""

    key: Callable[[Number], Number]
    rows: Array
    values: Array
    order: Array | None

    def sort(self, row: Number, size: Place) -> None:
        """Put each of the first `size` elements behind those before it that are not greater."""
        with loop(0, size) as i:
            element = self.rows[row, i]
            self._put(row, i, i, element, self.key(element))

    def run_of_first(self) -> None:
        """Keep the first elements in order of every so many rows."""
        count = int(self.values.type.shape[1])
        with loop(Number(workgroup_id()), self.rows.size(0), Number(workgroup_count())) as row:
            self.sort(row, count)

            def keep(i: Number, last: Number) -> list[Number]:
                element = self.rows[row, i]
                key = self.key(element)

                def put() -> list[Number]:
                    self._put(row, index(count - 1), i, element, key)
                    return [self.key(self.values[row, count - 1])]

                return branches(key < last, [last.type], put, lambda: [last])

            carried(count, self.rows.size(1), [self.key(self.values[row, count - 1])], keep)

    def _put(self, row: Number, end: Number, origin: Number, element: Number, key: Number) -> None:
        """Put an element before those greater ones that end before the place `end`."""

        def is_greater(place: Number) -> Number:
            before = choose(place.equals(0), place, place - 1)
            return place.differs(0) & (self.key(self.values[row, before]) > key)

        def shift(place: Number) -> list[Number]:
            self.values[row, place] = self.values[row, place - 1]
            if self.order is not None:
                self.order[row, place] = self.order[row, place - 1]
            return [place - 1]

        self.values[row, end] = element  # what was there has been read, or is dropped
        (place,) = repeated([end], is_greater, shift)
        self.values[row, place] = element
        if self.order is not None:
            self.order[row, place] = origin.as_integer(_integer())


@dataclass(frozen=True, slots=True)
class _Sort:
    """The code of one workgroup. `moved` and `places` are indexed by workgroup, half and place, `counts` by
    workgroup, digit and its value, `buckets` by workgroup and bucket; with `buckets` only as many elements as
    `values` has columns are wanted.
    """

    digits: _Digits
    rows: Array
    values: Array
    moved: Array
    counts: Array
    order: Array | None = None
    places: Array | None = None
    buckets: Array | None = None

    def run(self) -> None:
        """Sort every so many rows."""
        mine = Number(workgroup_id())
        size = self.rows.size(1)
        insertion = _Insertion(self.digits.key, self.rows, self.values, self.order)
        with loop(mine, self.rows.size(0), Number(workgroup_count())) as row:
            if self.buckets is not None:
                self._radix(mine, row, size)
            elif isinstance(size, int):
                insertion.sort(row, size) if size <= SHORT else self._radix(mine, row, size)
            else:
                is_short = size <= SHORT
                with when(is_short):
                    insertion.sort(row, size)
                with when(is_short ^ 1):
                    self._radix(mine, row, size)

    def _radix(self, mine: Number, row: Number, size: Place) -> None:
        """Sort by one digit after the other."""
        _clear(self.counts, 1 << self.digits.bits, [(mine, p) for p in range(self.digits.passes)])
        if self.buckets is None:
            with loop(0, size) as i:
                self._take(mine, self.rows[row, i], i, i)
            taken = wanted = index(size)
        else:
            taken = self._select(mine, row, size)
            wanted = taken.least(self.values.size(1))

        def by_digit(which: Number, half: Number) -> list[Number]:
            first = self.digits.unsigned(self.moved[mine, half, 0])
            count = self.counts[mine, which, self.digits.digit(first, which)].as_index()
            moved: Callable[[], list[Number]] = lambda: [self._move(mine, which, half, taken)]  # noqa: E731
            return branches(count.equals(taken), [half.type], lambda: [half], moved)

        (half,) = carried(0, self.digits.passes, [index(0)], by_digit)
        _copy(wanted, (self.moved, (mine, half)), (self.values, (row,)))
        if self.order is not None and self.places is not None:
            _copy(wanted, (self.places, (mine, half)), (self.order, (row,)))

    def _take(self, mine: Number, element: Number, origin: Number, place: Number) -> None:
        """Put an element, from the place `origin` of its row, into the scratch, and count its digits."""
        unsigned = self.digits.unsigned(element)
        for which in range(self.digits.passes):
            value = self.digits.digit(unsigned, which)
            self.counts[mine, which, value] = self.counts[mine, which, value] + 1
        self.moved[mine, 0, place] = element
        if self.places is not None:
            self.places[mine, 0, place] = origin.as_integer(_integer())

    def _select(self, mine: Number, row: Number, size: Place) -> Number:
        """Take the elements of the first buckets that together have as many as are wanted; their number."""
        buckets, wanted = self.buckets, constant(_integer(), int(self.values.type.shape[1]))
        assert buckets is not None
        _clear(buckets, 1 << SELECTING_BITS, [(mine,)])
        with loop(0, size) as i:
            bucket = self.digits.bucket(self.rows[row, i])
            buckets[mine, bucket] = buckets[mine, bucket] + 1

        def is_too_few(bucket: Number, total: Number) -> Number:
            return (total < wanted) & (bucket < 1 << SELECTING_BITS)

        def add(bucket: Number, total: Number) -> list[Number]:
            return [bucket + 1, total + buckets[mine, bucket]]

        end, _ = repeated([index(0), constant(_integer(), 0)], is_too_few, add)

        def take(i: Number, place: Number) -> list[Number]:
            element = self.rows[row, i]

            def taken() -> list[Number]:
                self._take(mine, element, i, place)
                return [place + 1]

            return branches(self.digits.bucket(element) < end, [place.type], taken, lambda: [place])

        (taken,) = carried(0, size, [index(0)], take)
        return taken

    def _move(self, mine: Number, which: Number, half: Number, size: Place) -> Number:
        """Move the elements to the other half, in the order of one digit."""

        def start_of_value(value: Number, start: Number) -> list[Number]:
            count = self.counts[mine, which, value]
            self.counts[mine, which, value] = start
            return [start + count]

        carried(0, 1 << self.digits.bits, [constant(_integer(), 0)], start_of_value)
        other = 1 - half
        with loop(0, size) as i:
            element = self.moved[mine, half, i]
            value = self.digits.digit(self.digits.unsigned(element), which)
            place = self.counts[mine, which, value]
            self.counts[mine, which, value] = place + 1
            self.moved[mine, other, place.as_index()] = element
            if self.places is not None:
                self.places[mine, other, place.as_index()] = self.places[mine, half, i]
        return other


def _clear(array: Array, size: int, places: Sequence[tuple[Place, ...]]) -> None:
    """Set rows of `size` elements, a multiple of 8, to zero."""
    zero = constant(array.element, 0)
    zeros = broadcast(zero, mlir.ir.VectorType.get([8], array.element))
    with loop(0, size, 8) as i:
        for place in places:
            array[(*place, i)] = zeros


def _copy(
    size: Place, source: tuple[Array, tuple[Number, ...]], target: tuple[Array, tuple[Number, ...]]
) -> None:
    """Copy a row, eight elements at a time and then one by one."""
    width = 8
    (read, here), (written, there) = source, target
    whole = index(size) // width * width
    with loop(0, whole, width) as i:
        written[(*there, i)] = read.vector(width, *here, i)
    with loop(whole, size) as i:
        written[(*there, i)] = read[(*here, i)]
