// A size check is an assertion that two sizes are equal.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "adze.dim"(%y) {axis = 0 : i64} : (tensor<?xf32>) -> index
  "adze.size_check"(%0, %1) {message = "x and y differ in length"} : (index, index) -> ()
  return %x : tensor<?xf32>
}

// CHECK: [[M:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[N:%.+]] = tensor.dim %arg1, %c0
// CHECK: [[SAME:%.+]] = arith.cmpi eq, [[M]], [[N]] : index
// CHECK: cf.assert [[SAME]], "x and y differ in length"
