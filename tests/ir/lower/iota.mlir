// An iota is the index of its axis, with no operand.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f() -> tensor<3x4xi32> {
  %0 = "adze.iota"() {axis = 1 : i64, dtype = i32, shape = array<i64: 3, 4>} : () -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// CHECK: linalg.generic {{.*}}outs({{.*}} : tensor<3x4xi32>)
// CHECK-NOT: linalg.index 0
// CHECK: linalg.index 1 : index
// CHECK: arith.trunci {{.*}} : i64 to i32
