// Elements at places that are computed element by element: no array of the places is stored.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<64xf32>, %i: tensor<40xi64>, %y: tensor<40xf32>, %shifts: tensor<6xi64>) -> tensor<6xf32> {
    %0 = "adze.scan"(%x, %i, %y, %shifts) {adze.loop = "kernel: for this test", body = @step, carry_count = 0 : i64, constant_count = 3 : i64, length = array<i64: 6>, results = [tensor<6xf32>], reverse = false} : (tensor<64xf32>, tensor<40xi64>, tensor<40xf32>, tensor<6xi64>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @step(%x: tensor<64xf32>, %i: tensor<40xi64>, %y: tensor<40xf32>, %shift: tensor<i64>) -> tensor<f32> {
    %0 = "adze.broadcast_in_dim"(%shift) {dimensions = array<i64>, shape = array<i64: 40>} : (tensor<i64>) -> tensor<40xi64>
    %1 = "adze.add"(%i, %0) : (tensor<40xi64>, tensor<40xi64>) -> tensor<40xi64>
    %2 = "adze.reshape"(%1) {shape = array<i64: 40, 1>} : (tensor<40xi64>) -> tensor<40x1xi64>
    %3 = "adze.gather"(%x, %2) {collapsed_slice_dims = array<i64: 0>, fill_value = 0.0 : f32, mode = "clip", offset_dims = array<i64>, operand_batching_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, start_indices_batching_dims = array<i64>} : (tensor<64xf32>, tensor<40x1xi64>) -> tensor<40xf32>
    %w = "adze.mul"(%3, %y) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %4 = "adze.reduce_sum"(%w) {axes = array<i64: 0>} : (tensor<40xf32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: scf.for {{.*}} to %c6
// CHECK: scf.for {{.*}} to %c40
// CHECK: %[[I:.*]] = memref.load {{.*}} : memref<40xi64>
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[I]]
// CHECK: arith.minsi %[[SHIFTED]]
// CHECK: memref.load {{.*}} : memref<64xf32>
// CHECK-NOT: memref.store {{.*}} : memref<40
