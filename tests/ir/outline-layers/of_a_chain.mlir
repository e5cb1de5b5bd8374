// Equal layers become calls of one function that IREE does not inline; the first and the last, which are used otherwise, stay.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},outline-layers{least-saved=20}' | filecheck %s
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},outline-layers' | filecheck %s --check-prefix=FEW

func.func @equal(%w: tensor<4x4xf32>, %x: tensor<2048x4xf32>) -> tensor<2048x4xf32> {
  %p0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t0 = "adze.sqrt"(%p0) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a0 = "adze.add"(%t0, %p0) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p1 = "adze.dot_general"(%a0, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t1 = "adze.sqrt"(%p1) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a1 = "adze.add"(%t1, %p1) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p2 = "adze.dot_general"(%a1, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t2 = "adze.sqrt"(%p2) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a2 = "adze.add"(%t2, %p2) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p3 = "adze.dot_general"(%a2, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t3 = "adze.sqrt"(%p3) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a3 = "adze.add"(%t3, %p3) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p4 = "adze.dot_general"(%a3, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t4 = "adze.sqrt"(%p4) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a4 = "adze.add"(%t4, %p4) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p5 = "adze.dot_general"(%a4, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t5 = "adze.sqrt"(%p5) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a5 = "adze.add"(%t5, %p5) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p6 = "adze.dot_general"(%a5, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t6 = "adze.sqrt"(%p6) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a6 = "adze.add"(%t6, %p6) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %p7 = "adze.dot_general"(%a6, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<2048x4xf32>, tensor<4x4xf32>) -> tensor<2048x4xf32>
  %t7 = "adze.sqrt"(%p7) : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %a7 = "adze.add"(%t7, %p7) : (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>
  return %a7 : tensor<2048x4xf32>
}

// CHECK: func.func @equal
// CHECK-COUNT-6: call @adze_layer(
// CHECK-NOT: call
// CHECK: linalg.generic
// CHECK: func.func private @adze_layer({{.*}}) -> tensor<2048x4xf32> attributes {noinline}
// CHECK: math.sqrt

// FEW-NOT: call @adze_layer
// FEW: return
