// A choice between two whole arrays is made for each element: bufferization wants both in one buffer otherwise.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: tensor<6xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0:2 = "adze.scan"(%x, %y, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 2 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xf32>, tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<8xf32>, tensor<6xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @step(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = "adze.cond"(%i, %x, %y) {branches = [@first, @second], results = [tensor<8xf32>]} : (tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0, %x : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @first(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
  func.func private @second(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    return %y : tensor<8xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[FIRST:.*]] = arith.cmpi sle
// CHECK: scf.for
// CHECK: arith.select %[[FIRST]], {{.*}} : f32
// CHECK-LABEL: func.func @f
// CHECK: flow.dispatch @kernel_loop::@kernel_loop
