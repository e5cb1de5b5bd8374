// Weights that each step multiplies along their rows are turned once, before the loop.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu:x86-64-v3"} {
  func.func @f(%w: tensor<16x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %0 = "adze.scan"(%w, %x) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 1 : i64, length = array<i64: 7>, results = [tensor<4x16xf32>], reverse = false} : (tensor<16x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
  func.func private @step(%w: tensor<16x16xf32>, %x: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 1>], dtype = f32} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[TURNED:.*]] = memref.alloca() {{.*}} : memref<16x16xf32>
// CHECK: vector.store {{.*}}, %[[TURNED]]
// CHECK: scf.for {{.*}} to %c7
// CHECK-NOT: store {{.*}}, %[[TURNED]]
// CHECK: vector.load %[[TURNED]]
