"""The builder of lowered IR: sizes, shapes, tensors, constants and `linalg.generic`. It knows no op of adze.

Input: MLIR values of signless types, and sizes: an `int` where a size is known, an `index` value where not.
Output: the values of the ops that it emits at the ambient insertion point.
Idea: `shape` remembers the size of each axis of each lowered tensor. Two dynamic dimensions that are one
value need no check; two that may differ get a `cf.assert`, since IREE does not compare them and would read
out of bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import numpy as np

from ...dialects import mlir
from ...dialects.types import BFLOAT16, COMPLEX, storage
from ...runtime.targets import TargetKind
from ..ir.aliases import Attribute as Attribute
from ..ir.aliases import Operation as Operation
from ..ir.aliases import Type as Type
from ..ir.aliases import Value as Value
from .barriers import compute_barrier, opaque
from .iree import complex_constants
from .named_ops import filled
from .scalars import Scalars

if TYPE_CHECKING:
    from iree.compiler import ir

Size: TypeAlias = "int | ir.Value"
Body: TypeAlias = "Callable[..., ir.Value | Sequence[ir.Value]]"  # scalars of a generic -> what it yields
ScalarRule: TypeAlias = "Callable[..., ir.Value]"  # (scalars, dtypes, *operands, **attributes) -> result
SizeOperation = Literal["size_add", "size_sub", "size_mul", "size_div", "size_max", "size_min"]

DYNAMIC: Final = -(2**63)


class LinalgBuilder:
    """Emits lowered IR, and remembers the shapes of what it emitted.

    `complex_numbers` holds the tensors of equal complex elements with their number, `bfloat16_arrays` what
    MLIR does not tell of constants, `counts` the vectors 0, 1, 2, ... with their dtype.
    """

    repeats_ops: ClassVar[bool] = True
    """Whether elementwise ops are copies of others: not where code follows from what is known of operands."""

    def __init__(self, context: ir.Context, kind: TargetKind) -> None:
        self.context = context
        self.kind = kind
        self.scalars = Scalars(kind.value)
        self.complex_numbers: dict[Value, np.generic] = {}
        self.bfloat16_arrays: dict[Value, np.ndarray] = {}
        self.counts: dict[Value, np.dtype] = {}
        self._shapes: dict[Value, tuple[Size, ...]] = {}
        self._constants: dict[Value, int] = {}
        self._equal: set[tuple[Size, Size]] = set()
        self._identity_maps: dict[int, Attribute] = {}
        self._axes_maps: dict[tuple[int, ...], Attribute] = {}
        self._arrays: dict[tuple[Attribute, ...], Attribute] = {}
        self._segments: dict[tuple[int, int], Attribute] = {}
        self._tensor_types: dict[tuple[tuple[int, ...], np.dtype], Type] = {}
        self._templates: dict[tuple[object, ...], Operation] = {}
        self._iterators = {
            kind: mlir.ir.Attribute.parse(f"#linalg.iterator_type<{kind}>", context)
            for kind in ("parallel", "reduction")
        }

    # -- sizes ---------------------------------------------------------------------------------

    def size(self, value: Size) -> Size:
        """`value` as an int if it is one or is known to be a constant."""
        return value if isinstance(value, int) else self._constants.get(value, value)

    def size_value(self, size: Size) -> Value:
        """`size` as an `index` value."""
        if not isinstance(size, int):
            return size
        value = mlir.arith.constant(mlir.ir.IndexType.get(self.context), size)
        self._constants[value] = size
        return value

    def size_arithmetic(self, name: SizeOperation, m: Size, n: Size) -> Value:
        """The size `name` of `m` and `n` as an `index` value, a constant where both are known or cancel."""
        m, n = self.size(m), self.size(n)
        if name == "size_sub" and m == n:
            return self.size_value(0)
        if isinstance(m, int) and isinstance(n, int):
            return self.size_value(
                {
                    "size_add": m + n,
                    "size_sub": m - n,
                    "size_mul": m * n,
                    "size_div": m // n if n else 0,
                    "size_max": max(m, n),
                    "size_min": min(m, n),
                }[name]
            )
        if name == "size_div" and not isinstance(n, int):
            n = self._divisor(n)
        emit = {
            "size_add": mlir.arith.addi,
            "size_sub": mlir.arith.subi,
            "size_mul": mlir.arith.muli,
            "size_div": mlir.arith.floordivsi,
            "size_max": mlir.arith.maxsi,
            "size_min": mlir.arith.minsi,
        }[name]
        return emit(self.size_value(m), self.size_value(n))

    def _divisor(self, n: Value) -> Value:
        """`n`, checked at run time: CPUs end the process at a division by zero, IREE may hoist it."""
        zero = self.size_value(0)
        is_zero = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, n, zero)
        is_other = mlir.arith.cmpi(mlir.arith.CmpIPredicate.ne, n, zero)
        mlir.cf.assert_(is_other, "adze: a size is divided by a size that is 0")
        return mlir.arith.select(is_zero, self.size_value(1), n)

    def size_scalar(self, n: Size) -> Value:
        """A size as an i64."""
        i64 = mlir.ir.IntegerType.get_signless(64, self.context)
        return mlir.arith.index_cast(i64, self.size_value(n))

    def calculate(self, name: SizeOperation, m: Size, n: Size) -> Size:
        """`size_arithmetic`, as an int where it is known."""
        if isinstance(n, int) and n == 0 and name in ("size_add", "size_sub"):
            return m
        return self.size(self.size_arithmetic(name, m, n))

    def require_equal(self, left: Size, right: Size, message: str) -> None:
        """Emit a run-time check that two sizes agree, unless they are known to."""
        left, right = self.size(left), self.size(right)
        if left is right or (isinstance(left, int) and isinstance(right, int)):
            assert left == right, message  # inference has rejected unequal static sizes
            return
        if left == right or (left, right) in self._equal:
            return
        self._equal.update(((left, right), (right, left)))
        equal = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, self.size_value(left), self.size_value(right))
        mlir.cf.assert_(equal, message)

    def require_at_most(self, low: Size, high: Size, message: str) -> None:
        """Emit a run-time check that `low <= high`, unless both are known or they are the same value."""
        low, high = self.size(low), self.size(high)
        if (isinstance(low, int) and isinstance(high, int)) or low == high:
            return  # inference has rejected static contradictions
        predicate = mlir.arith.CmpIPredicate.sle
        holds = mlir.arith.cmpi(predicate, self.size_value(low), self.size_value(high))
        mlir.cf.assert_(holds, message)

    # -- tensors -------------------------------------------------------------------------------

    def tensor_type(self, shape: Sequence[Size | None], dtype: np.dtype) -> Type:
        """The signless tensor type of a shape (entries that are not integers are dynamic)."""
        static = tuple(n if isinstance(n, int) else DYNAMIC for n in shape)
        type_ = self._tensor_types.get((static, dtype))
        if type_ is None:
            type_ = mlir.ir.RankedTensorType.get(static, self.scalars.element_type(dtype))
            self._tensor_types[static, dtype] = type_
        return type_

    def shape(self, value: Value) -> tuple[Size, ...]:
        """The sizes of a tensor's axes; emits `tensor.dim` the first time a dynamic one is asked for."""
        shape = self._shapes.get(value)
        if shape is None:
            sizes = []
            for axis, n in enumerate(mlir.ir.RankedTensorType(value.type).shape):
                if n == DYNAMIC:
                    sizes.append(mlir.tensor.dim(value, self.size_value(axis)))
                else:
                    sizes.append(n)
            shape = self._shapes[value] = tuple(sizes)
        return shape

    def bind_shape(self, value: Value, shape: Sequence[Size]) -> Value:
        """Remember the sizes of `value`'s axes, so that equal ones are seen to be equal."""
        self._shapes[value] = self._sizes(shape)
        return value

    def _sizes(self, shape: Sequence[Size]) -> tuple[Size, ...]:
        return tuple([n if type(n) is int else self.size(n) for n in shape])

    def merged_shape(self, *values: Value) -> tuple[Size, ...]:
        """The common shape of tensors that must agree; static sizes win, the rest is checked at run time."""
        shapes = [self.shape(v) for v in values]
        if all(shape == shapes[0] for shape in shapes):
            return shapes[0]
        merged = list(shapes[0])
        for shape in shapes[1:]:
            for axis, n in enumerate(shape):
                m = merged[axis]
                self.require_equal(m, n, f"adze: sizes of axis {axis} differ between operands")
                merged[axis] = m if isinstance(m, int) else n if isinstance(n, int) else m
        return tuple(merged)

    def retype(self, value: Value, shape: Sequence[Size]) -> Value:
        """`value` cast to the static knowledge in `shape` (`tensor.cast`), shape remembered."""
        old = mlir.ir.RankedTensorType(value.type)
        static = [n if isinstance(n, int) else DYNAMIC for n in shape]
        if list(old.shape) != static:
            value = mlir.tensor.cast(mlir.ir.RankedTensorType.get(static, old.element_type), value)
        return self.bind_shape(value, shape)

    def as_known(self, value: Value) -> Value:
        """`value`, a tensor with all that is known of its sizes in its type; what is no tensor as it is."""
        shape = self._shapes.get(value)
        return value if shape is None or value.type.has_static_shape else self.retype(value, shape)

    def cast(self, value: Value, type_: Type) -> Value:
        """`value` as a tensor of another static knowledge of its sizes (`tensor.cast`)."""
        if value.type == type_:
            return value
        sizes = zip(mlir.ir.RankedTensorType(type_).shape, self.shape(value), strict=True)
        return self.bind_shape(
            mlir.tensor.cast(type_, value), [n if static == DYNAMIC else static for static, n in sizes]
        )

    def empty(self, shape: Sequence[Size], dtype: np.dtype) -> Value:
        """An uninitialised tensor."""
        shape = self._sizes(shape)
        dynamic = [n for n in shape if not isinstance(n, int)]
        type_ = self.tensor_type(shape, dtype)
        value = mlir.ir.Operation.create("tensor.empty", results=[type_], operands=dynamic).result
        self._shapes[value] = shape
        return value

    def empty_of_element(self, element: Type, shape: Sequence[Size]) -> Value:
        """An uninitialised tensor of an MLIR element type."""
        shape = [self.size(n) for n in shape]
        return self.bind_shape(mlir.tensor.EmptyOp(shape, element).result, shape)

    def fill(self, scalar: Value, shape: Sequence[Size], dtype: np.dtype) -> Value:
        """A tensor all of whose elements are the scalar value."""
        init = self.empty(shape, dtype)
        return self.bind_shape(filled(scalar, init), self.shape(init))

    def host_number(self, scalar: Value, dtype: np.dtype) -> Value:
        """An array without axes of a number that the host has.

        Kernels of IREE take what is filled as a number. `tensor.from_elements` is a kernel that writes it to
        memory, which costs a microsecond; for CUDA the pass `host-numbers` looks for it.
        """
        if self.kind is TargetKind.CPU:
            return self.fill(scalar, (), dtype)
        return mlir.tensor.from_elements(self.tensor_type((), dtype), [scalar])

    def constant(self, array: np.ndarray) -> Value:
        """A constant tensor, in a signless element type."""
        type_ = self.tensor_type(array.shape, array.dtype)
        if array.dtype in COMPLEX:
            return self._complex_constant(array)
        if array.dtype == BFLOAT16:
            return self._bfloat16_constant(array, type_)
        if array.dtype.kind == "u":
            array = array.view(np.dtype(f"i{array.dtype.itemsize}"))
        attribute = mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=type_)
        return self.bind_shape(mlir.arith.constant(type_, attribute), array.shape)

    def _bfloat16_constant(self, array: np.ndarray, type_: Type) -> Value:
        attribute = mlir.ir.DenseElementsAttr.get(storage(array), type=type_)
        value = self.bind_shape(mlir.arith.constant(type_, attribute), array.shape)
        self.bfloat16_arrays[value] = array
        return value

    def _complex_constant(self, array: np.ndarray) -> Value:
        """Two real constants put together (`iree/complex_constants.py`)."""
        real, imag = map(self.constant, complex_constants.parts(array))
        value = self.map_elements(
            array.dtype, lambda s, dtypes, re, im: s.complex(dtypes[0], re, im), real, imag
        )
        if array.size and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
            self.complex_numbers[value] = array.reshape(-1)[0]
        return value

    def materialise(self, x: Value) -> Value:
        """`x`, written to memory before it is used: IREE does not fuse through this."""
        return self.bind_shape(compute_barrier(x), self.shape(x))

    def materialise_opaque(self, x: Value) -> Value:
        """`x`, written to memory before it is used, with what IREE knows of its sizes forgotten."""
        shape = self.shape(x)
        return self.bind_shape(opaque(x, [n for n in shape if not isinstance(n, int)]), shape)

    # -- linalg --------------------------------------------------------------------------------

    def identity_map(self, rank: int) -> Attribute:
        """The affine map attribute `(d0, ..., dn) -> (d0, ..., dn)`."""
        attribute = self._identity_maps.get(rank)
        if attribute is None:
            map_ = mlir.ir.AffineMap.get_identity(rank, self.context)
            attribute = self._identity_maps[rank] = mlir.ir.AffineMapAttr.get(map_)
        return attribute

    def axes_map(self, rank: int, axes: Sequence[int]) -> Attribute:
        """The affine map attribute `(d0, ..., d<rank-1>) -> (d<axes[0]>, ...)`."""
        attribute = self._axes_maps.get((rank, *axes))
        if attribute is None:
            dims = [mlir.ir.AffineExpr.get_dim(a, self.context) for a in axes]
            attribute = mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get(rank, 0, dims, self.context))
            self._axes_maps[rank, *axes] = attribute
        return attribute

    def _array(self, entries: Sequence[Attribute]) -> Attribute:
        key = tuple(entries)
        array = self._arrays.get(key)
        if array is None:
            array = self._arrays[key] = mlir.ir.ArrayAttr.get(list(key), self.context)
        return array

    def _segment(self, inputs: int, inits: int) -> Attribute:
        segment = self._segments.get((inputs, inits))
        if segment is None:
            segment = mlir.ir.DenseI32ArrayAttr.get([inputs, inits], self.context)
            self._segments[inputs, inits] = segment
        return segment

    def generic(
        self,
        inputs: Sequence[Value],
        inits: Sequence[Value],
        maps: Sequence[Attribute],
        iterators: Sequence[str],
        body: Body,
        configuration: Attribute | None = None,
    ) -> Value:
        """The result of a `linalg.generic` with one init; see `generics`."""
        (result,) = self.generics(inputs, inits, maps, iterators, body, configuration)
        return result

    def generics(
        self,
        inputs: Sequence[Value],
        inits: Sequence[Value],
        maps: Sequence[Attribute],
        iterators: Sequence[str],
        body: Body,
        configuration: Attribute | None = None,
    ) -> tuple[Value, ...]:
        """The results of a `linalg.generic`; `body` takes a scalar of each input and init and returns the
        scalars that are yielded."""
        ir = mlir.ir
        numbers = self._repeated_numbers(inputs, iterators)
        is_read = [*(number is None for number in numbers), *(True for _ in inits)]
        maps = list(itertools.compress(maps, is_read))
        inputs = list(itertools.compress(inputs, is_read))
        attributes: dict[str, Attribute] = {
            "indexing_maps": self._array(maps),
            "iterator_types": self._array([self._iterators[i] for i in iterators]),
            "operandSegmentSizes": self._segment(len(inputs), len(inits)),
        }
        if configuration is not None:
            attributes["compilation_info"] = configuration
        op = ir.Operation.create(
            "linalg.generic",
            results=[v.type for v in inits],
            operands=[*inputs, *inits],
            attributes=attributes,
            regions=1,
        )
        types = [v.type.element_type for v in (*inputs, *inits)]
        location = ir.Location.current
        block = op.regions[0].blocks.append(*types, arg_locs=[location] * len(types))
        with ir.InsertionPoint(block):
            scalars = iter(block.arguments)
            elements = [next(scalars) if n is None else self.scalars.constant(n.dtype, n) for n in numbers]
            yielded = body(*elements, *scalars)
            values = [yielded] if isinstance(yielded, ir.Value) else list(yielded)
            ir.Operation.create("linalg.yield", operands=values)
        # Observed: fused with an op of more axes, it adds to its destination once for each element of these.
        adds = any(True for argument in list(block.arguments)[len(inputs) :] for _ in argument.uses)
        assert "reduction" in iterators or not adds, "a generic without sums reads its destination"
        for result, init in zip(op.results, inits, strict=True):
            self._shapes[result] = self.shape(init)
        return tuple(op.results)

    def _repeated_numbers(self, inputs: Sequence[Value], iterators: Sequence[str]) -> list[np.generic | None]:
        """For each input the complex number that it repeats, where the body can have that in its place.

        Why: `iree/complex_constants.py`. A body without any input would not do: of it IREE makes a fill, and
        has none for elements of 128 bits.
        """
        is_parallel = all(iterator == "parallel" for iterator in iterators)
        numbers = [self.complex_numbers.get(v) if is_parallel or not v.type.shape else None for v in inputs]
        return numbers if any(number is None for number in numbers) else [None] * len(inputs)

    def map_elements(self, dtype: np.dtype, rule: ScalarRule, *operands: Value) -> Value:
        """`rule` of each element of equally shaped tensors; `dtype` is that of operands and result."""
        return self.elementwise(rule, (dtype,) * len(operands), dtype, operands, {})

    def elementwise(
        self,
        rule: ScalarRule,
        dtypes: tuple[np.dtype, ...],
        result: np.dtype,
        operands: Sequence[Value],
        attributes: Mapping[str, object],
    ) -> Value:
        """The tensor of dtype `result` of `rule(scalars, dtypes, *elements, **attributes)`.

        An op equal to an earlier one but for its operands is a copy of it, which is four times as fast.
        """
        has_numbers = bool(self.complex_numbers) and any(v in self.complex_numbers for v in operands)
        types = [v.type for v in operands]
        if any(t != types[0] for t in types) or not types[0].has_static_shape:
            shape = self.merged_shape(*operands)
            operands = [self.retype(v, shape) for v in operands]
            types = [v.type for v in operands]
        else:
            shape = self.shape(operands[0])
        rank = len(shape)
        key = (rule, dtypes, result, *types, *attributes.items())
        template = None if has_numbers else self._templates.get(key)
        init = self.empty(shape, result)
        if template is not None:
            return self._instantiate(template, [*operands, init])

        def body(*scalars: Value) -> Value:
            return rule(self.scalars, dtypes, *scalars[:-1], **attributes)

        maps = [self.identity_map(rank)] * (len(operands) + 1)
        mapped = self.generic(operands, [init], maps, ["parallel"] * rank, body)
        if not has_numbers:
            self._templates[key] = mapped.owner
        return mapped

    @staticmethod
    def is_of(value: Value, operands: Sequence[Value]) -> bool:
        """Whether `value`, of known sizes, is an elementwise op of just these operands."""
        if isinstance(value.owner, mlir.ir.Block) or value.owner.name != "linalg.generic":
            return False
        *inputs, init = value.owner.operands
        is_static = all(v.type.has_static_shape for v in (*inputs, init))
        return inputs == list(operands) and is_static and init.owner.name == "tensor.empty"

    @staticmethod
    def copy_of(
        template: Operation,
        operands: Sequence[Value],
        ip: mlir.ir.InsertionPoint,
        location: mlir.ir.Location,
    ) -> Value:
        """An elementwise op like `template`, for which `is_of` holds, of other operands of the same types."""
        empty = mlir.ir.Operation.create(
            "tensor.empty", results=[template.results[0].type], loc=location, ip=ip
        ).results[0]
        clone = template.clone(ip=ip)
        clone.location = location
        taken = clone.operands
        for position, operand in enumerate((*operands, empty)):
            taken[position] = operand
        return clone.results[0]

    def _instantiate(self, template: Operation, operands: Sequence[Value]) -> Value:
        """A copy of `template` on other operands of the same types."""
        clone = template.clone(ip=mlir.ir.InsertionPoint.current)
        clone.location = mlir.ir.Location.current
        clone_operands = clone.operands
        for position, operand in enumerate(operands):
            clone_operands[position] = operand
        value = clone.results[0]
        self._shapes[value] = self._shapes[operands[-1]]
        return value
