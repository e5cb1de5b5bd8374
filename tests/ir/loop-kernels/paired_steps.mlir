// Two steps of a stencil are done at once, between two buffers, so that no step copies its result back.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<1002xf32>, %i: tensor<7xi32>) -> tensor<1002xf32> {
    %0 = "adze.scan"(%x, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 7>, results = [tensor<1002xf32>], reverse = false} : (tensor<1002xf32>, tensor<7xi32>) -> tensor<1002xf32>
    return %0 : tensor<1002xf32>
  }
  func.func private @step(%x: tensor<1002xf32>, %i: tensor<i32>) -> tensor<1002xf32> {
    %zero = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %left = "adze.slice"(%x) {start = array<i64: 0>, limit = array<i64: 1000>, strides = array<i64: 1>} : (tensor<1002xf32>) -> tensor<1000xf32>
    %right = "adze.slice"(%x) {start = array<i64: 2>, limit = array<i64: 1002>, strides = array<i64: 1>} : (tensor<1002xf32>) -> tensor<1000xf32>
    %new = "adze.add"(%left, %right) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
    %0 = "adze.pad"(%new, %zero) {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<1000xf32>, tensor<f32>) -> tensor<1002xf32>
    return %0 : tensor<1002xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: scf.for {{.*}} step %c2
// CHECK: memref.load %[[ONE:.*]][
// CHECK: arith.addf
// CHECK: memref.store {{.*}}, %[[OTHER:.*]][
// CHECK: memref.load %[[OTHER]][
// CHECK: arith.addf
// CHECK: memref.store {{.*}}, %[[ONE]][
// The seventh step follows:
// CHECK: memref.load %[[ONE]][
// CHECK: arith.addf
// CHECK-NOT: scf.for
// CHECK: return
