// A loop whose elements stop by themselves: each vector of elements runs its own loop, until none of its lanes goes on.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu:x86-64-v3"} {
  func.func @f(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = "adze.while"(%x) {adze.loop = "kernel: each of its 35 elements, for this test", body = @step, body_constants = 0 : i64, condition = @any, condition_constants = 0 : i64, saved_states = 0 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }
  func.func private @any(%x: tensor<5x7xf32>) -> tensor<i1> {
    %0 = "adze.constant"() {dtype = f32, value = dense<9.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 5, 7>} : (tensor<f32>) -> tensor<5x7xf32>
    %2 = "adze.compare"(%x, %1) {direction = "LT"} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
    %3 = "adze.reduce_or"(%2) {axes = array<i64: 0, 1>} : (tensor<5x7xi1>) -> tensor<i1>
    return %3 : tensor<i1>
  }
  func.func private @step(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = "adze.constant"() {dtype = f32, value = dense<9.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 5, 7>} : (tensor<f32>) -> tensor<5x7xf32>
    %2 = "adze.compare"(%x, %1) {direction = "LT"} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
    %3 = "adze.add"(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    %4 = "adze.select"(%2, %3, %x) : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    return %4 : tensor<5x7xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop_of_elements
// CHECK: scf.for
// CHECK: %[[START:.*]] = vector.load {{.*}} : memref<35xf32>, vector<32xf32>
// CHECK: %[[END:.*]] = scf.while (%[[X:.*]] = %[[START]]) : (vector<32xf32>) -> vector<32xf32>
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[X]], {{.*}} : vector<32xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[SMALL]] : vector<32xi1> into i1
// CHECK: scf.condition(%[[ANY]])
// CHECK: arith.cmpf olt, {{.*}} : vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: arith.select {{.*}} : vector<32xi1>, vector<32xf32>
// CHECK: vector.store %[[END]]
// CHECK-LABEL: func.func @f
// CHECK: %[[ROW:.*]] = flow.tensor.reshape %arg0 : tensor<5x7xf32> -> tensor<35xf32>
// CHECK: flow.dispatch @kernel_loop_of_elements::@kernel_loop_of_elements(%[[ROW]]
