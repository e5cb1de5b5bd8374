// Ops on small arrays are called together, on both sides of one on a large array; what is between them moves behind.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},group-small-ops' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},group-small-ops{kernels=off}' | filecheck %s --check-prefix=OFF
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},group-small-ops' | filecheck %s --check-prefix=OFF

func.func @f(%x: tensor<4x4xf32>, %large: tensor<256x128xf32>) -> (tensor<4x4xf32>, tensor<256x128xf32>) {
  %zero = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "adze.pad"(%x, %zero) {high = array<i64: 1, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  %1 = "adze.reduce_sum"(%0) {axes = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<f32>
  %2 = "adze.broadcast_in_dim"(%1) {dimensions = array<i64>, shape = array<i64: 256, 128>} : (tensor<f32>) -> tensor<256x128xf32>
  %3 = "adze.add"(%large, %2) : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
  %4 = "adze.dot_general"(%x, %x) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "adze.dot_general"(%4, %x) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "adze.slice"(%3) {limit = array<i64: 4, 4>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<256x128xf32>) -> tensor<4x4xf32>
  %7 = "adze.reduce_max"(%6) {axes = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %8 = "adze.concatenate"(%7, %7, %7, %7) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>
  %9 = "adze.reshape"(%8) {shape = array<i64: 4, 4>} : (tensor<16xf32>) -> tensor<4x4xf32>
  %10 = "adze.mul"(%9, %5) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %10, %3 : tensor<4x4xf32>, tensor<256x128xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: adze.constant
// CHECK-NEXT: %[[FIRST:.*]]:2 = "adze.call"(%arg0) {adze.loop = "kernel: 4 ops on small arrays take about {{.*}} in one kernel, {{.*}} apart", callee = @small,
// CHECK-NEXT: broadcast_in_dim"(%[[FIRST]]#0)
// CHECK-NEXT: adze.add
// CHECK-NEXT: adze.slice
// CHECK-NEXT: "adze.call"({{.*}}, %[[FIRST]]#1) {adze.loop = "kernel: 4 ops{{.*}}callee = @small_1,
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @small(
// CHECK-NEXT: adze.constant
// CHECK-NEXT: adze.pad
// CHECK-NEXT: adze.reduce_sum
// CHECK-NEXT: adze.dot_general
// CHECK-NEXT: adze.dot_general
// CHECK-LABEL: func.func private @small_1(
// OFF-NOT: adze.call
