// A sum of the elements before a place, the rest masked by zeros, runs up to that place alone.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu:x86-64-v4"} {
  func.func @f(%x: tensor<64xf32>, %limits: tensor<6xi64>) -> tensor<6xf32> {
    %0 = "adze.scan"(%x, %limits) {adze.loop = "kernel: for this test", body = @step, carry_count = 0 : i64, constant_count = 1 : i64, length = array<i64: 6>, results = [tensor<6xf32>], reverse = false} : (tensor<64xf32>, tensor<6xi64>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @step(%x: tensor<64xf32>, %limit: tensor<i64>) -> tensor<f32> {
    %0 = "adze.iota"() {axis = 0 : i64, dtype = i64, shape = array<i64: 64>} : () -> tensor<64xi64>
    %1 = "adze.broadcast_in_dim"(%limit) {dimensions = array<i64>, shape = array<i64: 64>} : (tensor<i64>) -> tensor<64xi64>
    %2 = "adze.compare"(%0, %1) {direction = "LT"} : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi1>
    %3 = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %4 = "adze.broadcast_in_dim"(%3) {dimensions = array<i64>, shape = array<i64: 64>} : (tensor<f32>) -> tensor<64xf32>
    %5 = "adze.select"(%2, %x, %4) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %6 = "adze.reduce_sum"(%5) {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
    return %6 : tensor<f32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: scf.for {{.*}} to %c6
// CHECK: %[[LIMIT:.*]] = arith.index_cast {{.*}} : i64 to index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[LIMIT]], %c64 : index
// CHECK: %[[STOP:.*]] = arith.maxsi %[[LEAST]], %c0_1 : index
// CHECK: scf.for {{.*}} = %c0_1 to %[[TOGETHER:.*]] step %c64
// CHECK-COUNT-4: vector.load
// CHECK: scf.for {{.*}} = %[[TOGETHER]] to %[[WHOLE:.*]] step %c16
// CHECK: scf.for {{.*}} = %[[WHOLE]] to %[[STOP]] step
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
