// A size operand that is a constant makes the type of what has it static again, also of what a loop carries.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4x3xf32>) -> tensor<?xf32> {
  %n = "adze.size_constant"() {value = 4 : i64} : () -> index
  %0 = "adze.reshape"(%x, %n) {shape = array<i64: -9223372036854775808, 3>} : (tensor<4x3xf32>, index) -> tensor<?x3xf32>
  %1 = "adze.reduce_sum"(%0) {axes = array<i64: 1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-NOT: tensor.dim
// CHECK: linalg.generic {{.*}}ins(%arg0 : tensor<4x3xf32>) outs({{.*}} : tensor<4xf32>)
// CHECK: tensor.cast {{.*}} : tensor<4xf32> to tensor<?xf32>
