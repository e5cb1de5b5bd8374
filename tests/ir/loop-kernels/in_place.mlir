// A scan that updates an element of its carry is one dispatch; the update is in place, in the result's buffer.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xf32>, %i: tensor<6xi32>) -> tensor<8xf32> {
    %0 = "adze.scan"(%x, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<6xi32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @step(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
    %0 = "adze.dynamic_slice"(%x, %i) {slice_sizes = array<i64: 1>} : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = "adze.add"(%0, %0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %2 = "adze.dynamic_update_slice"(%x, %1, %i) : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[RESULT:.*]] = stream.binding.subspan %arg2
// CHECK: scf.for {{.*}} to %c6
// CHECK: %[[INDEX:.*]] = memref.load {{.*}} : memref<6xi32>
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[OLD:.*]] = memref.load %[[RESULT]][%[[AT:.*]]] : memref<8xf32>
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[OLD]] : f32
// CHECK: memref.store %[[NEW]], %[[RESULT]][%[[AT]]] : memref<8xf32>
// CHECK-NOT: memref.store
// CHECK-LABEL: func.func @f
// CHECK: [[EMPTY:%.+]] = flow.tensor.alloca : tensor<8xf32>
// CHECK: flow.dispatch @kernel_loop::@kernel_loop(%arg0, %arg1, [[EMPTY]]) {adze.loop = "kernel: for this test"} : (tensor<8xf32>, tensor<6xi32>, tensor<8xf32>) -> [[EMPTY]]
// CHECK-NOT: @step
