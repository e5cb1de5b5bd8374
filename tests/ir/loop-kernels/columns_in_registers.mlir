// Sums of the columns of a matrix stay in registers for all rows: 20 columns are two vectors of 8 and one of 4.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu:x86-64-v3"} {
  func.func @f(%x: tensor<20xf32>, %m: tensor<6x20xf32>) -> tensor<20xf32> {
    %0 = "adze.scan"(%m, %x) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 1 : i64, length = array<i64: 7>, results = [tensor<20xf32>], reverse = false} : (tensor<6x20xf32>, tensor<20xf32>) -> tensor<20xf32>
    return %0 : tensor<20xf32>
  }
  func.func private @step(%m: tensor<6x20xf32>, %x: tensor<20xf32>) -> tensor<20xf32> {
    %0 = "adze.broadcast_in_dim"(%x) {dimensions = array<i64: 1>, shape = array<i64: 6, 20>} : (tensor<20xf32>) -> tensor<6x20xf32>
    %1 = "adze.mul"(%m, %0) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
    %2 = "adze.reduce_sum"(%1) {axes = array<i64: 0>} : (tensor<6x20xf32>) -> tensor<20xf32>
    return %2 : tensor<20xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: scf.for {{.*}} to %c7
// CHECK: vector.store %cst{{[_0-9]*}}, %[[SUMS:.*]][%c16
// CHECK: %[[FIRST:.*]] = vector.load %[[SUMS]][%c0{{[_0-9]*}}] : memref<20xf32>, vector<8xf32>
// CHECK: %[[SECOND:.*]] = vector.load %[[SUMS]][%c8{{[_0-9]*}}] : memref<20xf32>, vector<8xf32>
// CHECK: %[[THIRD:.*]] = vector.load %[[SUMS]][%c16{{[_0-9]*}}] : memref<20xf32>, vector<4xf32>
// CHECK: scf.for {{.*}} to %c6 {{.*}} iter_args({{.*}} = %[[FIRST]], {{.*}} = %[[SECOND]], {{.*}} = %[[THIRD]])
// CHECK-NOT: store
// CHECK: scf.yield {{.*}} : vector<8xf32>, vector<8xf32>, vector<4xf32>
