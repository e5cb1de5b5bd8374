// Threads of a GPU share the results of a product, and each adds up all terms of its own.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cuda:sm_80"} {
  func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %0 = "adze.scan"(%w, %x) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 1 : i64, length = array<i64: 5>, results = [tensor<4x8xf32>], reverse = false} : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @step(%w: tensor<8x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: scf.for {{.*}} to %c5
// CHECK: scf.for {{.*}} = %[[THREAD]] to %c32 step %c32
// CHECK: scf.for {{.*}} to %c8 step %c1
// CHECK: arith.mulf
// CHECK-NOT: scf.parallel
