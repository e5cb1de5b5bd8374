// What one loop computes for another one alone is updated in its buffer; what has another use is copied.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xf32>, %i: tensor<6xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = "adze.scan"(%x, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<6xi32>) -> tensor<8xf32>
    %1 = "adze.scan"(%0, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<6xi32>) -> tensor<8xf32>
    %2 = "adze.scan"(%1, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<6xi32>) -> tensor<8xf32>
    return %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @step(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
    %0 = "adze.dynamic_slice"(%x, %i) {slice_sizes = array<i64: 1>} : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = "adze.add"(%0, %0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %2 = "adze.dynamic_update_slice"(%x, %1, %i) : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// CHECK-LABEL: func.func @f
// CHECK: %[[EMPTY:.*]] = flow.tensor.alloca
// CHECK: %[[FIRST:.*]] = flow.dispatch {{.*}}(%arg0, %arg1, %[[EMPTY]]) {{.*}} -> %[[EMPTY]]
// CHECK: %[[SECOND:.*]] = flow.dispatch {{.*}}(%[[FIRST]], %arg1) {{.*}} -> %[[FIRST]]
// CHECK: %[[OTHER:.*]] = flow.tensor.alloca
// CHECK: %[[THIRD:.*]] = flow.dispatch {{.*}}(%[[SECOND]], %arg1, %[[OTHER]]) {{.*}} -> %[[OTHER]]
// CHECK: return %[[SECOND]], %[[THIRD]]
