"""What every lowering form stands on: constants, sizes, shapes, empty tensors and `linalg.generic`.

Values here are MLIR values of signless types; a size is an `int` where it is known and an `index` value
where not. `shape` remembers, for each lowered tensor, the size of each of its axes, so that two dynamic
dimensions that are one and the same value need no check, and two that may differ get a `cf.assert`:
IREE itself does not compare them and would read out of bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.types import BFLOAT16, BOOL, COMPLEX, TensorType, ValueType, storage
from ...runtime.targets import TargetKind
from .barriers import compute_barrier, opaque
from .scalars import Scalars
from .tuning.configuration import ModuleHints

Size = Any  # int | ir.Value of type index
ScalarRule = Callable[..., Any]
DYNAMIC = -(2**63)


class LoweringCore:
    """State of lowering one module, and the primitives that the forms are written in.

    `operand_types` and `result_types` are the adze types (signed) of the op being lowered.
    """

    def __init__(self, context: mlir.ir.Context, target: Any) -> None:
        self.context = context
        self.target = target
        self.scalars = Scalars(TargetKind(target.kind).value)
        self.operand_types: tuple[ValueType, ...] = ()
        self.result_types: tuple[ValueType, ...] = ()
        self.operation: Any = None  # the op being lowered
        self.hints = ModuleHints()
        self.module: Any = None
        self.readers: dict[mlir.ir.Value, int] = {}  # how many ops read what this value stands for
        self._shapes: dict[mlir.ir.Value, tuple[Size, ...]] = {}
        self.complex_numbers: dict[mlir.ir.Value, np.generic] = {}  # complex constants of equal elements
        self._known: dict[mlir.ir.Value, int] = {}
        self._equal: set[tuple[Any, Any]] = set()
        self._identity_maps: dict[int, mlir.ir.Attribute] = {}
        self._axes_maps: dict[tuple[int, ...], mlir.ir.Attribute] = {}
        self._arrays: dict[tuple[Any, ...], mlir.ir.Attribute] = {}
        self._segments: dict[tuple[int, int], mlir.ir.Attribute] = {}
        self._tensors: dict[Any, mlir.ir.Type] = {}
        self.copied: dict[Any, mlir.ir.Operation] = {}  # elementwise ops, to be made again
        self.is_configured = False  # whether an op has `compilation_info`
        self._iterators = {
            kind: mlir.ir.Attribute.parse(f"#linalg.iterator_type<{kind}>", context)
            for kind in ("parallel", "reduction")
        }

    @property
    def result_type(self) -> TensorType:
        """The type of the only result of the op being lowered."""
        (type_,) = self.result_types
        assert isinstance(type_, TensorType)
        return type_

    @property
    def is_returned(self) -> bool:
        """Whether nothing but the function's `return` reads what is being lowered: no one to fuse it with."""
        uses = (use for result in self.operation.results for use in result.uses)
        return all(use.owner.operation.name == "func.return" for use in uses)

    # -- sizes ---------------------------------------------------------------------------------

    def size(self, value: Size) -> Size:
        """`value` as an int if it is one or is known to be a constant."""
        return value if isinstance(value, int) else self._known.get(value, value)

    def size_value(self, size: Size) -> mlir.ir.Value:
        """`size` as an `index` value."""
        if not isinstance(size, int):
            return size
        value = mlir.arith.constant(mlir.ir.IndexType.get(self.context), size)
        self._known[value] = size
        return value

    def size_arithmetic(self, name: str, m: Size, n: Size) -> Size:
        """`size_add`, `size_sub`, `size_mul`, `size_div`, `size_max` or `size_min`, folded where known."""
        m, n = self.size(m), self.size(n)
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
        emit = {
            "size_add": mlir.arith.addi,
            "size_sub": mlir.arith.subi,
            "size_mul": mlir.arith.muli,
            "size_div": mlir.arith.floordivsi,
            "size_max": mlir.arith.maxsi,
            "size_min": mlir.arith.minsi,
        }[name]
        return emit(self.size_value(m), self.size_value(n))

    def size_scalar(self, n: Size) -> mlir.ir.Value:
        """A size as an i64."""
        i64 = mlir.ir.IntegerType.get_signless(64, self.context)
        return mlir.arith.index_cast(i64, self.size_value(n))

    def size_to_array(self, n: Size, dtype: np.dtype) -> mlir.ir.Value:
        """A size as a 0-d tensor."""
        scalar = self.scalars.convert(np.dtype(np.int64), dtype, self.size_scalar(n))
        return mlir.tensor.from_elements(self.tensor((), dtype), [scalar])

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

    # -- tensors -------------------------------------------------------------------------------

    def tensor(self, shape: Sequence[Size | None], dtype: np.dtype) -> mlir.ir.Type:
        """The signless tensor type of a shape (entries that are not integers are dynamic)."""
        static = tuple(n if isinstance(n, int) else DYNAMIC for n in shape)
        found = self._tensors.get((static, dtype))
        if found is None:
            found = mlir.ir.RankedTensorType.get(static, self.scalars.element_type(dtype))
            self._tensors[static, dtype] = found
        return found

    def shape(self, value: mlir.ir.Value) -> tuple[Size, ...]:
        """The sizes of a tensor's axes; emits `tensor.dim` the first time a dynamic one is asked for."""
        found = self._shapes.get(value)
        if found is None:
            sizes = []
            for axis, n in enumerate(mlir.ir.RankedTensorType(value.type).shape):
                if n == DYNAMIC:
                    sizes.append(mlir.tensor.dim(value, self.size_value(axis)))
                else:
                    sizes.append(n)
            found = self._shapes[value] = tuple(sizes)
        return found

    def bind_shape(self, value: mlir.ir.Value, shape: Sequence[Size]) -> mlir.ir.Value:
        """Remember the sizes of `value`'s axes, so that equal ones are seen to be equal."""
        self._shapes[value] = self._sizes(shape)
        return value

    def _sizes(self, shape: Sequence[Size]) -> tuple[Size, ...]:
        return tuple([n if type(n) is int else self.size(n) for n in shape])

    def merged_shape(self, *values: mlir.ir.Value) -> tuple[Size, ...]:
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

    def retype(self, value: mlir.ir.Value, shape: Sequence[Size]) -> mlir.ir.Value:
        """`value` cast to the static knowledge in `shape` (`tensor.cast`), shape remembered."""
        old = mlir.ir.RankedTensorType(value.type)
        static = [n if isinstance(n, int) else DYNAMIC for n in shape]
        if list(old.shape) != static:
            value = mlir.tensor.cast(mlir.ir.RankedTensorType.get(static, old.element_type), value)
        return self.bind_shape(value, shape)

    def empty(self, shape: Sequence[Size], dtype: np.dtype) -> mlir.ir.Value:
        """An uninitialised tensor."""
        shape = self._sizes(shape)
        dynamic = [n for n in shape if not isinstance(n, int)]
        type_ = self.tensor(shape, dtype)
        op = mlir.ir.Operation.create("tensor.empty", results=[type_], operands=dynamic)
        self._shapes[op.result] = shape
        return op.result

    def fill(self, scalar: mlir.ir.Value, shape: Sequence[Size], dtype: np.dtype) -> mlir.ir.Value:
        """A tensor all of whose elements are the scalar value."""
        init = self.empty(shape, dtype)
        filled = mlir.linalg.fill(scalar, outs=[init])
        return self.bind_shape(filled, self.shape(init))

    def constant(self, array: np.ndarray) -> mlir.ir.Value:
        """A constant tensor, in a signless element type."""
        type_ = self.tensor(array.shape, array.dtype)
        if array.dtype in COMPLEX:
            return self._complex_constant(array)
        if array.dtype == BFLOAT16:
            return self._bfloat16_constant(array, type_)
        if array.dtype.kind == "u":
            array = array.view(np.dtype(f"i{array.dtype.itemsize}"))
        attribute = mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=type_)
        return self.bind_shape(mlir.arith.constant(type_, attribute), array.shape)

    def _bfloat16_constant(self, array: np.ndarray, type_: mlir.ir.Type) -> mlir.ir.Value:
        attribute = mlir.ir.DenseElementsAttr.get(storage(array), type=type_)
        return self.bind_shape(mlir.arith.constant(type_, attribute), array.shape)

    def _complex_constant(self, array: np.ndarray) -> mlir.ir.Value:
        """Two real constants put together: a dense complex attribute crashes IREE."""
        real, imag = self.constant(array.real.copy()), self.constant(array.imag.copy())
        made = self.elementwise_as(
            array.dtype, lambda s, dtypes, re, im: s.complex(dtypes[0], re, im), real, imag
        )
        if array.size and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
            self.complex_numbers[made] = array.reshape(-1)[0]
        return made

    def materialise(self, x: Any) -> Any:
        """`x`, written to memory before it is used: IREE does not fuse through this."""
        return self.bind_shape(compute_barrier(x), self.shape(x))

    def hidden(self, x: Any) -> Any:
        """`x`, written to memory before, with what IREE knows of its sizes forgotten."""
        shape = self.shape(x)
        return self.bind_shape(opaque(x, [n for n in shape if not isinstance(n, int)]), shape)

    # -- linalg --------------------------------------------------------------------------------

    def identity_map(self, rank: int) -> mlir.ir.Attribute:
        """The affine map attribute `(d0, ..., dn) -> (d0, ..., dn)`."""
        found = self._identity_maps.get(rank)
        if found is None:
            map_ = mlir.ir.AffineMap.get_identity(rank, self.context)
            found = self._identity_maps[rank] = mlir.ir.AffineMapAttr.get(map_)
        return found

    def axes_map(self, rank: int, axes: Sequence[int]) -> mlir.ir.Attribute:
        """The affine map attribute `(d0, ..., d<rank-1>) -> (d<axes[0]>, ...)`."""
        found = self._axes_maps.get((rank, *axes))
        if found is None:
            dims = [mlir.ir.AffineExpr.get_dim(a, self.context) for a in axes]
            found = mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get(rank, 0, dims, self.context))
            self._axes_maps[rank, *axes] = found
        return found

    def _array(self, entries: Sequence[mlir.ir.Attribute]) -> mlir.ir.Attribute:
        key = tuple(entries)
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = mlir.ir.ArrayAttr.get(list(key), self.context)
        return found

    def _segment(self, inputs: int, inits: int) -> mlir.ir.Attribute:
        found = self._segments.get((inputs, inits))
        if found is None:
            found = mlir.ir.DenseI32ArrayAttr.get([inputs, inits], self.context)
            self._segments[inputs, inits] = found
        return found

    def generic(
        self,
        inputs: Sequence[mlir.ir.Value],
        inits: Sequence[mlir.ir.Value],
        maps: Sequence[mlir.ir.Attribute],
        iterators: Sequence[str],
        body: Callable[..., mlir.ir.Value | Sequence[mlir.ir.Value]],
        configuration: mlir.ir.Attribute | None = None,
    ) -> Any:
        """A `linalg.generic`; `body` gets one scalar an input and an init, and gives the yielded scalars."""
        ir = mlir.ir
        numbers = self._numbers(inputs, iterators)
        is_read = [*(number is None for number in numbers), *(True for _ in inits)]
        maps = list(itertools.compress(maps, is_read))
        inputs = list(itertools.compress(inputs, is_read))
        attributes: dict[str, mlir.ir.Attribute] = {
            "indexing_maps": self._array(maps),
            "iterator_types": self._array([self._iterators[i] for i in iterators]),
            "operandSegmentSizes": self._segment(len(inputs), len(inits)),
        }
        if configuration is not None:
            self.is_configured = True
            attributes["compilation_info"] = configuration
        op = ir.Operation.create(
            "linalg.generic",
            results=[v.type for v in inits],
            operands=[*inputs, *inits],
            attributes=attributes,
            regions=1,
        )
        elements = [v.type.element_type for v in (*inputs, *inits)]
        location = ir.Location.current
        block = op.regions[0].blocks.append(*elements, arg_locs=[location] * len(elements))
        with ir.InsertionPoint(block):
            scalars = iter(block.arguments)
            given = [next(scalars) if n is None else self.scalars.constant(n.dtype, n) for n in numbers]
            yielded = body(*given, *scalars)
            values = [yielded] if isinstance(yielded, ir.Value) else list(yielded)
            ir.Operation.create("linalg.yield", operands=values)
        for result, init in zip(op.results, inits, strict=True):
            self._shapes[result] = self.shape(init)
        return op.results[0] if len(inits) == 1 else tuple(op.results)

    def _numbers(self, inputs: Sequence[mlir.ir.Value], iterators: Sequence[str]) -> list[Any]:
        """For each input the complex number that it repeats, where the body can have that in its place.

        A dispatch that computes a constant, read both inside a loop and outside, IREE leaves where it may not
        be ("streamable op expected to be in an execution region"). A body without any input would not do: of
        it IREE makes a fill, and of complex128 it cannot.
        """
        is_parallel = all(iterator == "parallel" for iterator in iterators)
        found = [self.complex_numbers.get(v) if is_parallel or not v.type.shape else None for v in inputs]
        return found if any(number is None for number in found) else [None] * len(inputs)

    def elementwise(self, rule: ScalarRule, *operands: mlir.ir.Value, **attributes: Any) -> Any:
        """Apply a scalar rule to each element of equally shaped tensors; the dtypes are the op's own."""
        dtypes = tuple(t.dtype for t in self.operand_types if isinstance(t, TensorType))
        return self._map(rule, dtypes, self.result_type.dtype, operands, attributes)

    def elementwise_as(self, dtype: np.dtype, rule: ScalarRule, *operands: mlir.ir.Value) -> Any:
        """`elementwise` for tensors that are not the op's operands: `dtype` names result and operands."""
        return self._map(rule, (dtype,) * len(operands), dtype, operands, {})

    def _map(
        self,
        rule: ScalarRule,
        dtypes: tuple[np.dtype, ...],
        result: np.dtype,
        operands: Sequence[mlir.ir.Value],
        attributes: dict[str, Any],
    ) -> mlir.ir.Value:
        shape = self.merged_shape(*operands)
        static = [n if isinstance(n, int) else DYNAMIC for n in shape]
        if any(v.type.shape != static for v in operands):
            operands = [self.retype(v, shape) for v in operands]
        rank = len(shape)
        init = self.empty(shape, result)
        key = (rule, dtypes, init.type, *[v.type for v in operands], *attributes.items())
        has_numbers = any(v in self.complex_numbers for v in operands)
        like = None if has_numbers else self.copied.get(key)
        if like is not None:
            return self._again(like, [*operands, init])

        def body(*scalars: mlir.ir.Value) -> mlir.ir.Value:
            return rule(self.scalars, dtypes, *scalars[:-1], **attributes)

        maps = [self.identity_map(rank)] * (len(operands) + 1)
        made = self.generic(operands, [init], maps, ["parallel"] * rank, body)
        if not has_numbers:
            self.copied[key] = made.owner
        return made

    def _again(self, like: mlir.ir.Operation, operands: Sequence[mlir.ir.Value]) -> mlir.ir.Value:
        """What `like` computes, of other operands of the same types: copied, which is four times as fast."""
        clone = like.clone(ip=mlir.ir.InsertionPoint.current)
        clone.location = mlir.ir.Location.current
        places = clone.operands
        for position, operand in enumerate(operands):
            places[position] = operand
        return self.bind_shape(clone.results[0], self.shape(operands[-1]))

    def is_bool(self, type_: TensorType) -> bool:
        """Whether arrays of this type hold i1."""
        return type_.dtype == BOOL
