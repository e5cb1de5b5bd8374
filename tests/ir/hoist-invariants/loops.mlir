// A step's exponential and product of constants move before a scan, out of two; a broadcast and a sum of two stay.
// RUN: adze opt %s --pass-pipeline='hoist-invariants' | filecheck %s

func.func @f(%v: tensor<4xf32>, %w: tensor<4x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "adze.scan"(%v, %w, %c) {body = @outer, carry_count = 1, constant_count = 2, length = array<i64: 5>, results = [tensor<3x4xf32>], reverse = false} : (tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func private @outer(%v: tensor<4xf32>, %w: tensor<4x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "adze.scan"(%v, %w, %c) {body = @inner, carry_count = 1, constant_count = 2, length = array<i64: 7>, results = [tensor<3x4xf32>], reverse = false} : (tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func private @inner(%v: tensor<4xf32>, %w: tensor<4x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "adze.exp"(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 1>, shape = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = "adze.add"(%v, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "adze.broadcast_in_dim"(%2) {dimensions = array<i64: 1>, shape = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<3x4xf32>
  %4 = "adze.dot_general"(%w, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "adze.dot_general"(%c, %4) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %6 = "adze.mul"(%5, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %7 = "adze.add"(%6, %3) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %7 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-DAG: %[[POWERS:.*]] = "adze.exp"(%arg0)
// CHECK-DAG: %[[PRODUCT:.*]] = "adze.dot_general"(%arg1, %arg1)
// CHECK: "adze.scan"(%arg0, {{.*}}, %arg2)
// CHECK-SAME: constant_count = 3
// CHECK-LABEL: func.func private
// CHECK-NOT: "adze.exp"
// CHECK: "adze.broadcast_in_dim"
// CHECK: "adze.add"
// CHECK-NOT: "adze.exp"
