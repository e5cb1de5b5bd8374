"""The passes on buffers of loop kernels: which copies go, what is copied, where temporaries and bools lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adze.dialects import mlir
from adze.passes.lower.kernels.loops.allocations import MOST_ARGUMENTS, STACK, settle_allocations
from adze.passes.lower.kernels.loops.buffers import drop_self_copies, read_directly, write_directly
from adze.passes.lower.kernels.loops.bytes import store_bytes
from adze.passes.lower.kernels.loops.destinations import own_destinations
from adze.passes.lower.kernels.loops.errors import KernelError
from adze.passes.lower.kernels.loops.parameters import RESULT, order_results
from adze.passes.lower.kernels.loops.walk import operations_inside

ADD = """linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
      iterator_types = ["parallel"]} ins(%FROM : memref<TYPE>) outs(%made : memref<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %in : f32
      linalg.yield %sum : f32
    }"""


def names(code: str, rewrite: Callable[[mlir.ir.Module], Any]) -> list[str]:
    """The names of the ops of a function after a pass, but for constants, views and ends."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(code)
        rewrite(module)
        assert module.operation.verify()
        dull = ("arith.constant", "memref.subview", "func.func", "func.return", "linalg.yield", "scf.yield")
        return [o.name for o in operations_inside(module) if o.name not in dull]


def text(code: str, rewrite: Callable[[mlir.ir.Module], Any]) -> str:
    """The code after a pass."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(code)
        rewrite(module)
        assert module.operation.verify()
        return str(module)


# -- copies of a window onto itself ------------------------------------------------------------------

ROW = "strided<[4, 1], offset: ?>"


@pytest.mark.parametrize(
    ("source", "target", "is_dropped"),
    [
        ("%x[%i, 0] [1, 4] [1, 1]", "%x[%i, 0] [1, 4] [1, 1]", True),
        ("%x[%i, 0] [1, 4] [1, 1]", "%x[%j, 0] [1, 4] [1, 1]", False),
        ("%x[%i, 0] [1, 4] [1, 1]", "%y[%i, 0] [1, 4] [1, 1]", False),
    ],
)
def test_a_window_is_copied_onto_itself_in_vain(source: str, target: str, is_dropped: bool) -> None:
    type_ = f"memref<3x4xf32> to memref<1x4xf32, {ROW}>"
    code = f"""func.func @kernel(%x: memref<3x4xf32>, %y: memref<3x4xf32>, %i: index, %j: index) {{
      %from = memref.subview {source} : {type_}
      %to = memref.subview {target} : {type_}
      memref.copy %from, %to : memref<1x4xf32, {ROW}> to memref<1x4xf32, {ROW}>
      return
    }}"""
    assert names(code, drop_self_copies) == ([] if is_dropped else ["memref.copy"])


def test_windows_of_two_shapes_of_one_buffer_are_two_windows() -> None:
    """Row 1 of 3 x 4 elements begins at 4, row 1 of 2 x 6 at 6; both were taken for one window."""
    code = """func.func @kernel(%x: memref<12xf32>) {
      %a = memref.expand_shape %x [[0, 1]] output_shape [3, 4] : memref<12xf32> into memref<3x4xf32>
      %b = memref.expand_shape %x [[0, 1]] output_shape [2, 6] : memref<12xf32> into memref<2x6xf32>
      %from = memref.subview %a[1, 0] [1, 4] [1, 1]
        : memref<3x4xf32> to memref<4xf32, strided<[1], offset: 4>>
      %to = memref.subview %b[1, 0] [1, 4] [1, 1]
        : memref<2x6xf32> to memref<4xf32, strided<[1], offset: 6>>
      memref.copy %from, %to
        : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: 6>>
      return
    }"""
    assert names(code, drop_self_copies)[-1] == "memref.copy"


def test_windows_of_other_depth_are_compared() -> None:
    """A window of a window beside a window with a value: they are compared without an error."""
    code = """func.func @kernel(%x: memref<8xf32>, %i: index) {
      %half = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
      %from = memref.subview %half[0] [2] [1] : memref<4xf32, strided<[1]>> to memref<2xf32, strided<[1]>>
      %to = memref.subview %x[%i] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: ?>>
      memref.copy %from, %to : memref<2xf32, strided<[1]>> to memref<2xf32, strided<[1], offset: ?>>
      return
    }"""
    assert names(code, drop_self_copies) == ["memref.copy"]


# -- temporaries that are only copied ----------------------------------------------------------------


def copied(source: str, type_: str, between: str = "", target: str = "%y") -> str:
    """A function that adds what is in a view and copies the sum to a part of `%y` or `%x`."""
    return f"""func.func @kernel(%x: memref<8xf32>, %y: memref<4xf32>, %i: index, %v: f32) {{
      %c0 = arith.constant 0 : index
      %made = memref.alloc() : memref<4xf32>
      {source}
      {ADD.replace("FROM", "from").replace("TYPE", type_)}
      {between}
      {target if target.startswith("%to") else ""}
      memref.copy %made, {"%to" if target.startswith("%to") else target}
        : memref<4xf32> to memref<4xf32{", strided<[1], offset: ?>" if target.startswith("%to") else ""}>
      return
    }}"""


AT = "memref.subview %x[{}] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>"
MOVED = "4xf32, strided<[1], offset: ?>"


STORED = "memref.store %v, %y[%c0] : memref<4xf32>"
STORED_ELSEWHERE = "memref.store %v, %x[%c0] : memref<8xf32>"


def plus(number: int) -> str:
    return f"%n = arith.constant {number} : index\n %next = arith.addi %i, %n : index\n"


@pytest.mark.parametrize(
    ("code", "is_direct"),
    [
        (copied(f"%from = {AT.format('%i')}", MOVED), True),
        (copied(f"%from = {AT.format('%i')}", MOVED, target=f"%to = {AT.format('%i')}"), True),
        (copied(f"{plus(4)} %from = {AT.format('%next')}", MOVED, target=f"%to = {AT.format('%i')}"), True),
        (copied(f"{plus(3)} %from = {AT.format('%next')}", MOVED, target=f"%to = {AT.format('%i')}"), False),
        (copied(f"%from = {AT.format('%c0')}", MOVED, target=f"%to = {AT.format('%i')}"), False),
        (copied(f"%from = {AT.format('%i')}", MOVED, STORED), True),
        (copied(f"%from = {AT.format('%i')}", MOVED, "%1 = memref.load %y[%c0] : memref<4xf32>"), True),
        (copied(f"%from = {AT.format('%i')}", MOVED, STORED + "\n" + STORED_ELSEWHERE), False),
        (copied(f"%from = {AT.format('%i')}", MOVED, STORED_ELSEWHERE), True),
    ],
    ids=[
        *("other", "same", "apart", "overlapping", "unknown"),
        *("stored", "loaded", "stored_in_both", "stored_elsewhere"),
    ],
)
def test_what_is_only_copied_is_written_where_it_goes(code: str, is_direct: bool) -> None:
    assert ("memref.copy" in names(code, write_directly)) is not is_direct


@pytest.mark.parametrize(
    ("filled", "is_direct"), [("%y", True), ("%x", False), ("%part", False)], ids=["target", "source", "part"]
)
def test_what_is_only_copied_is_computed_behind_a_fill_of_where_it_goes(filled: str, is_direct: bool) -> None:
    """A fill of what it takes may not come before it."""
    types = {"%x": "memref<8xf32>", "%y": "memref<4xf32>", "%part": f"memref<{MOVED}>"}
    code = f"""func.func @kernel(%x: memref<8xf32>, %y: memref<4xf32>, %i: index, %v: f32) {{
      %made = memref.alloc() : memref<4xf32>
      %from = {AT.format("%i")}
      {ADD.replace("FROM", "from").replace("TYPE", MOVED)}
      %part = {AT.format("%i")}
      linalg.fill ins(%v : f32) outs(%y : memref<4xf32>)
      linalg.fill ins(%v : f32) outs({filled} : {types[filled]})
      memref.copy %made, %y : memref<4xf32> to memref<4xf32>
      return
    }}"""
    inside = names(code, write_directly)
    assert ("memref.copy" not in inside) is is_direct
    assert not is_direct or inside.index("linalg.generic") > inside.index("linalg.fill")


COPIED_TO_A_LATER_ALLOCATION = """
func.func @kernel(%x: memref<4xf32>, %y: memref<4xf32>) {
  %made = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                  iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%made : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %kept = memref.alloc() : memref<4xf32>
  memref.copy %made, %kept : memref<4xf32> to memref<4xf32>
  memref.copy %kept, %y : memref<4xf32> to memref<4xf32>
  return
}
"""


def test_what_is_copied_to_an_allocation_arrives_in_that_allocation() -> None:
    """It was written to a copy of the allocation, and the other uses of the allocation had no value."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(COPIED_TO_A_LATER_ALLOCATION)
        write_directly(module)
        inside = [o.operation for o in module.body.operations[0].regions[0].blocks[0].operations]
        (copied,) = [o.operands[0] for o in inside if o.name == "memref.copy"][-1:]
        written = [o.operands[1] for o in inside if o.name in ("memref.copy", "linalg.generic")]
        assert copied in written


# -- copies of windows that are only read ------------------------------------------------------------


def read(
    target: str, map_: str = "(d) -> (d)", before: str = "", kind: str = "parallel", also: str = ""
) -> str:
    """A function that adds what is in a copy of elements 1 to 4 of `%x` to a view."""
    type_ = target.split(" to ")[-1] if " to " in target else "memref<4xf32>"
    return f"""func.func @kernel(%x: memref<8xf32>, %y: memref<4xf32>, %i: index, %v: f32) {{
      %c0 = arith.constant 0 : index
      %window = memref.subview %x[1] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 1>>
      %copy = memref.alloc() : memref<4xf32>
      memref.copy %window, %copy : memref<4xf32, strided<[1], offset: 1>> to memref<4xf32>
      {before}
      {f"%to = {target}" if " to " in target else ""}
      linalg.generic {{indexing_maps = [affine_map<{map_}>, affine_map<(d) -> (d)>],
          iterator_types = ["parallel"]}} ins(%copy : memref<4xf32>)
          outs({"%to" if " to " in target else target} : {type_}) {{
        ^bb0(%in: f32, %out: f32):
          %sum = arith.addf %in, %out : f32
          linalg.yield %sum : f32
        }}
      {also}
      return
    }}"""


def part(start: object) -> str:
    offset = start if isinstance(start, int) else "?"
    return (
        f"memref.subview %x[{start}] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: {offset}>>"
    )


REVERSED = "(d) -> (3 - d)"


@pytest.mark.parametrize(
    ("code", "is_direct"),
    [
        (read("%y"), True),
        (read("%y", REVERSED), True),
        (read(part(1)), True),
        (read(part(1), REVERSED), False),
        (read(part(2)), False),
        (read(part("%i")), False),
        (read("%y", before="memref.store %v, %x[%i] : memref<8xf32>"), False),
        (read("%y", before="%0 = memref.load %x[%i] : memref<8xf32>"), True),
        (read("%y", before="memref.store %v, %y[%i] : memref<4xf32>"), True),
        (read("%y", before="linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)"), False),
        (read("%y", before="memref.store %v, %copy[%i] : memref<4xf32>"), False),
        (read("%y", also="%0 = memref.load %copy[%i] : memref<4xf32>"), False),
        (read("%copy"), False),
    ],
    ids=[
        *("other", "other, reversed", "same", "same, reversed", "overlapping", "unknown"),
        *("stored", "loaded", "stored elsewhere", "filled", "copy changed", "copy loaded", "copy written"),
    ],
)
def test_a_window_that_is_only_read_is_not_copied(code: str, is_direct: bool) -> None:
    assert ("memref.copy" in names(code, read_directly)) is not is_direct


def stepped(read: str, written: str) -> str:
    """A function that adds up a copied window of `%x` and writes the sum into another: `offset, stride`."""
    windows = []
    for name, window in (("from", read), ("to", written)):
        offset, stride = window.split(", ")
        type_ = f"memref<4xf32, strided<[{stride}], offset: {'?' if offset.startswith('%') else offset}>>"
        windows.append(
            (f"%{name} = memref.subview %x[{offset}] [4] [{stride}] : memref<16xf32> to {type_}", type_)
        )
    (source, type_), (target, written_type) = windows
    return f"""func.func @kernel(%x: memref<16xf32>, %i: index) {{
      %c1 = arith.constant 1 : index
      %next = arith.addi %i, %c1 : index
      {source}
      {target}
      %copy = memref.alloc() : memref<4xf32>
      memref.copy %from, %copy : {type_} to memref<4xf32>
      linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
        iterator_types = ["parallel"]}} ins(%copy : memref<4xf32>) outs(%to : {written_type}) {{
      ^bb0(%in: f32, %out: f32):
        %sum = arith.addf %in, %in : f32
        linalg.yield %sum : f32
      }}
      return
    }}"""


@pytest.mark.parametrize(
    ("read", "written", "is_direct"),
    [
        ("0, 2", "1, 2", True),
        ("0, 2", "9, 2", True),
        ("0, 2", "2, 2", False),
        ("0, 2", "0, 2", True),
        ("0, 2", "0, 1", False),
        ("0, 1", "4, 2", True),
        ("0, 2", "6, 1", False),
        ("0, 2", "7, 1", True),
        ("0, 2", "1, 4", True),
        ("0, 2", "1, 3", False),
        ("1, 2", "0, 4", True),
        ("%i, 2", "%next, 2", True),
        ("%i, 3", "%next, 2", False),
        ("%i, 2", "1, 2", False),
    ],
)
def test_windows_with_steps_are_apart_where_one_lies_between(
    read: str, written: str, is_direct: bool
) -> None:
    assert ("memref.copy" in names(stepped(read, written), read_directly)) is not is_direct


# -- destinations ------------------------------------------------------------------------------------


def inserted(destination: str, start: str = "%x") -> str:
    """A loop that inserts a slice into a destination in each iteration."""
    return f"""func.func @kernel(%x: tensor<4x2xf32>, %row: tensor<1x2xf32>, %flag: i1) -> tensor<4x2xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %outer = tensor.empty() : tensor<4x2xf32>
      %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = {start}) -> tensor<4x2xf32> {{
        {destination}
        %new = tensor.insert_slice %row into %to[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
        scf.yield %new : tensor<4x2xf32>
      }}
      return %last : tensor<4x2xf32>
    }}"""


VIEW = "%to = tensor.insert_slice %row into {}[0, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>"
BRANCH = """%to = scf.if %flag -> tensor<4x2xf32> {{
          scf.yield {} : tensor<4x2xf32>
        }} else {{
          scf.yield %carried : tensor<4x2xf32>
        }}"""
INNER = """%to = scf.for %j = %c0 to %i step %c1 iter_args(%d = {}) -> tensor<4x2xf32> {{
          scf.yield %d : tensor<4x2xf32>
        }}"""


@pytest.mark.parametrize(
    ("destination", "copies"),
    [
        (VIEW.format("%carried"), 0),
        (VIEW.format("%outer"), 0),  # another empty one
        (VIEW.format("%x"), 1),
        (BRANCH.format("%carried"), 0),
        (BRANCH.format("%x"), 1),
        (INNER.format("%carried"), 0),
        (INNER.format("%outer"), 1),
    ],
    ids=["carried", "outer", "argument", "branch_carried", "branch_argument", "loop_carried", "loop_outer"],
)
def test_a_destination_from_outside_of_the_loop_is_copied(destination: str, copies: int) -> None:
    assert names(inserted(destination), own_destinations).count("bufferization.alloc_tensor") == copies


def test_of_two_insertions_into_one_array_one_has_a_copy() -> None:
    """Upstream computes both slices in the array itself, and both results were the second one."""
    code = """func.func @kernel(%x: tensor<4xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>)
        -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>) {
      %one = tensor.insert_slice %a into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      %view = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
      %other = tensor.insert_slice %b into %view[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
      %none = tensor.empty() : tensor<4xf32>
      %first = tensor.insert_slice %a into %none[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      %second = tensor.insert_slice %b into %none[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
      return %one, %other, %first, %second
        : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>
    }"""
    inside = names(code, own_destinations)
    assert inside.count("bufferization.alloc_tensor") == 1
    assert inside.count("tensor.empty") == 2


def test_a_destination_without_a_loop_stays() -> None:
    code = """func.func @kernel(%x: tensor<4xf32>, %part: tensor<2xf32>) -> tensor<4xf32> {
      %new = tensor.insert_slice %part into %x[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
      return %new : tensor<4xf32>
    }"""
    assert names(code, own_destinations) == ["tensor.insert_slice"]


def test_each_op_that_writes_into_a_filled_array_has_its_own() -> None:
    code = """func.func @kernel(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %0 = linalg.copy ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      %1 = linalg.copy ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      return %0, %1, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }"""
    inside = names(code, own_destinations)
    assert (inside.count("tensor.empty"), inside.count("linalg.fill")) == (2, 2)


# -- the order of results ------------------------------------------------------------------------------


def copied(*pairs: tuple[str, str]) -> str:
    """A kernel of arguments %a and results %x, %y and %z that ends with copies."""
    arrays = ", ".join(f"%{name}: memref<4xf32>" for name in "axyz")
    type_ = "memref<4xf32> to memref<4xf32>"
    copies = "\n".join(
        f'memref.copy %{source}, %{target} : {type_} loc("{RESULT}")' for source, target in pairs
    )
    return f"func.func @kernel({arrays}) {{\n{copies}\nreturn\n}}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((("a", "x"), ("x", "y")), (("x", "y"), ("a", "x"))),
        ((("a", "x"), ("x", "y"), ("y", "z")), (("y", "z"), ("x", "y"), ("a", "x"))),
        ((("a", "x"), ("a", "y")), (("a", "x"), ("a", "y"))),
    ],
)
def test_a_result_is_copied_from_the_place_of_another_one_first(
    before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]
) -> None:
    assert text(copied(*before), order_results) == text(copied(*after), lambda _: None)


def test_a_copy_that_a_result_begins_as_stays_first() -> None:
    code = copied(("a", "x"), ("x", "y")).replace(f' loc("{RESULT}")', "", 1)
    assert text(code, order_results) == text(code, lambda _: None)


def test_copies_before_an_element_is_stored_stay() -> None:
    later = (
        "memref.store %f, %x[%i] : memref<4xf32>\nmemref.copy %x, %y : memref<4xf32> to memref<4xf32>\nreturn"
    )
    code = copied(("a", "y"), ("a", "x")).replace("return", later)
    code = code.replace("@kernel(", "@kernel(%f: f32, %i: index, ")
    assert text(code, order_results) == text(code, lambda _: None)


def test_results_in_each_others_places_are_refused() -> None:
    with pytest.raises(KernelError, match="two of its results are in each other's place"):
        names(copied(("x", "y"), ("y", "x")), order_results)


# -- allocations -------------------------------------------------------------------------------------


def allocated(*types: str) -> str:
    """A loop that allocates temporaries and frees them."""
    places = "\n".join(f"%t{k} = memref.alloc() : memref<{t}>" for k, t in enumerate(types))
    ends = "\n".join(f"memref.dealloc %t{k} : memref<{t}>" for k, t in enumerate(types))
    return f"""func.func @kernel(%n: index) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {{
        {places}
        {ends}
      }}
      return
    }}"""


def settled(code: str) -> tuple[int, list[str]]:
    """How many temporaries are on the stack, and the types of those in scratch."""
    scratch: list[str] = []
    inside = names(code, lambda m: scratch.extend(str(s.type) for s in settle_allocations(m)))
    assert not {"memref.alloc", "memref.dealloc"} & set(inside)
    return inside.count("memref.alloca"), scratch


def test_small_temporaries_are_on_the_stack_and_large_ones_in_scratch() -> None:
    whole, beyond = f"{STACK // 4}xf32", f"{STACK // 4 + 1}xf32"
    assert settled(allocated("3xf64", "5xi1", whole, beyond)) == (3, [f"tensor<{beyond}>"])
    assert settled(allocated(*[whole] * 6)) == (4, [f"tensor<{whole}>"] * 2)
    assert settled(allocated(f"{STACK // 16}xcomplex<f64>", f"{STACK // 16 + 1}xcomplex<f64>"))[0] == 1


def test_many_large_temporaries_are_parts_of_one_array_again_where_they_are_free() -> None:
    n = STACK // 4 + 1
    stored = "\n".join(
        f"""%t{k} = memref.alloc() : memref<{n}xf32>
        scf.for %i{k} = %c0 to %c9 step %c1 {{
          %v{k} = memref.load %t{max(k - 1, 0)}[%i{k}] : memref<{n}xf32>
          memref.store %v{k}, %t{k}[%i{k}] : memref<{n}xf32>
        }}"""
        for k in range(MOST_ARGUMENTS + 1)
    )
    constants = "\n".join(f"%c{k} = arith.constant {k} : index" for k in (0, 1, 9))
    size = -(-4 * n // 64) * 64
    assert settled(f"func.func @kernel() {{\n{constants}\n{stored}\nreturn\n}}") == (
        0,
        [f"tensor<{2 * size}xi8>"],
    )


def test_more_arrays_than_a_dispatch_takes_are_refused() -> None:
    arrays = ", ".join(f"%x{k}: memref<4xf32>" for k in range(MOST_ARGUMENTS + 1))
    with pytest.raises(KernelError, match=r"it works on 33 arrays: a dispatch has 32 at most"):
        names(f"func.func @kernel({arrays}) {{ return }}", settle_allocations)


CARRIED = {
    "for": """%r = scf.for %i = %c0 to %n step %c1 iter_args(%d = %x) -> memref<4xf32> {
        scf.yield %y : memref<4xf32>
      }""",
    "while": """%r = scf.while (%d = %x) : (memref<4xf32>) -> memref<4xf32> {
        scf.condition(%flag) %d : memref<4xf32>
      } do {
      ^bb0(%e: memref<4xf32>):
        scf.yield %y : memref<4xf32>
      }""",
    "kept": """%r = scf.while (%d = %x) : (memref<4xf32>) -> memref<4xf32> {
        scf.condition(%flag) %d : memref<4xf32>
      } do {
      ^bb0(%e: memref<4xf32>):
        scf.yield %e : memref<4xf32>
      }""",
    "size": """%m = memref.load %z[%c0] : memref<4xindex>
      %t = memref.alloc(%m) : memref<?xf32>
      %r = memref.load %t[%c0] : memref<?xf32>""",
}


def test_temporaries_of_sizes_that_the_kernel_is_passed_are_scratch() -> None:
    code = """func.func @kernel(%x: memref<?xf32>, %m: index, %n: index) {
      %c0 = arith.constant 0 : index
      %less = arith.subi %m, %n : index
      %t = memref.alloc(%n, %less) : memref<?x4x?xf32>
      %1 = memref.load %t[%c0, %c0, %c0] : memref<?x4x?xf32>
      %u = memref.alloc(%less) : memref<?xf32>
      %2 = memref.load %u[%c0] : memref<?xf32>
      return
    }"""
    found: list[tuple[str, tuple[int, ...]]] = []
    inside = names(code, lambda m: found.extend((str(s.type), s.sizes) for s in settle_allocations(m)))
    assert found == [("tensor<?x4x?xf32>", (0, 1)), ("tensor<?xf32>", (1,))]
    assert inside.count("arith.maxsi") == 2  # no array of fewer than no elements


@pytest.mark.parametrize("kind", CARRIED)
def test_buffers_that_change_places_are_refused(kind: str) -> None:
    arguments = "%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xindex>, %n: index, %flag: i1"
    code = f"""func.func @kernel({arguments}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {CARRIED[kind]}
      return
    }}"""
    if kind == "kept":
        assert names(code, settle_allocations) == ["scf.while", "scf.condition"]
    else:
        with pytest.raises(KernelError):
            names(code, settle_allocations)


# -- bools -------------------------------------------------------------------------------------------

BOOLS = """func.func @kernel(%x: memref<4xi1>, %y: memref<4xi1>, %z: memref<4xi8>, %i: index, %flag: i1) {
  %t = memref.alloca() : memref<4xi1>
  %r = scf.if %flag -> memref<4xi1> {
    scf.yield %x : memref<4xi1>
  } else {
    scf.yield %t : memref<4xi1>
  }
  %a = memref.load %r[%i] : memref<4xi1>
  %b = arith.xori %a, %flag : i1
  memref.store %b, %y[%i] : memref<4xi1>
  %c = memref.load %z[%i] : memref<4xi8>
  memref.store %c, %z[%i] : memref<4xi8>
  return
}"""


def test_bools_in_memory_are_bytes() -> None:
    changed = text(BOOLS, store_bytes)
    assert "memref<4xi1>" not in changed
    assert changed.count("arith.trunci") == changed.count("arith.extui") == 1
    assert "arith.xori %" in changed and ": i1" in changed


# -- what all of them have in common -----------------------------------------------------------------


AGAIN = [
    (COPIED_TO_A_LATER_ALLOCATION, write_directly),
    (inserted(VIEW.format("%outer")), own_destinations),
    (BOOLS, store_bytes),
]


@pytest.mark.parametrize(("code", "rewrite"), AGAIN, ids=["direct", "destinations", "bools"])
def test_a_second_run_changes_nothing(code: str, rewrite: Callable[[mlir.ir.Module], Any]) -> None:
    once = text(code, rewrite)
    assert text(once, rewrite) == once
