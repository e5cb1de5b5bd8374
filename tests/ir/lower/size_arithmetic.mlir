// Arithmetic of sizes is arithmetic of indices outside of every loop; kernels get a number, which is filled.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?xf32>) -> tensor<i32> {
  %0 = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "adze.size_constant"() {value = 3 : i64} : () -> index
  %2 = "adze.size_add"(%0, %1) : (index, index) -> index
  %3 = "adze.size_constant"() {value = 2 : i64} : () -> index
  %4 = "adze.size_div"(%2, %3) : (index, index) -> index
  %5 = "adze.size_to_array"(%4) {dtype = i32} : (index) -> tensor<i32>
  return %5 : tensor<i32>
}

// CHECK: [[SIZE:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[SUM:%.+]] = arith.addi [[SIZE]], %c3 : index
// CHECK: arith.floordivsi [[SUM]], %c2 : index
// CHECK: linalg.fill
// CHECK-NOT: linalg.generic
