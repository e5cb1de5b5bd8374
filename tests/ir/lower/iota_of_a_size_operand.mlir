// An iota of a dynamic size takes the size operand for its empty result.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?xf32>) -> tensor<?xi32> {
  %0 = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "adze.iota"(%0) {axis = 0 : i64, dtype = i32, shape = array<i64: -9223372036854775808>} : (index) -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

// CHECK: [[SIZE:%.+]] = tensor.dim %arg0, %c0
// CHECK: tensor.empty([[SIZE]]) : tensor<?xi32>
// CHECK: linalg.index 0 : index
