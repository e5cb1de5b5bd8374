// An array that only the condition uses is passed to the body all the same, which writes the next one in its place.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0:2 = "adze.while"(%x, %x) {adze.loop = "kernel: for this test", body = @step, body_constants = 0 : i64, condition = @large, condition_constants = 0 : i64, saved_states = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#0 : tensor<8xf32>
  }
  func.func private @large(%x: tensor<8xf32>, %move: tensor<8xf32>) -> tensor<i1> {
    %0 = "adze.reduce_max"(%move) {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    %1 = "adze.constant"() {dtype = f32, value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "adze.compare"(%0, %1) {direction = "GT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %2 : tensor<i1>
  }
  func.func private @step(%x: tensor<8xf32>, %move: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = "adze.sqrt"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "adze.sub"(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[MOVE:.*]] = memref.alloca() {{.*}} : memref<8xf32>
// CHECK: scf.while
// CHECK: memref.load %[[MOVE]]
// CHECK: arith.maximumf
// CHECK: } do {
// CHECK: vector.store {{.*}}, %[[MOVE]]
// CHECK-LABEL: func.func @f
// CHECK: flow.dispatch @kernel_loop::@kernel_loop
