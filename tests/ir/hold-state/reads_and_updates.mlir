// What a program keeps becomes globals: one that calls change, and one whose value is outside.
// RUN: adze opt %s --pass-pipeline='hold-state' | filecheck %s

module attributes {adze.held = [
  {name = "w", type = tensor<2xf32>, mutable = true, initial = dense<[1.0, 2.0]> : tensor<2xf32>},
  {name = "rate", type = tensor<f32>, mutable = false, scope = "model"}
]} {
  func.func @read(%w: tensor<2xf32>, %rate: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32>
      attributes {adze.holds = "reads", adze.changes = array<i64>} {
    %0 = arith.addf %w, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @step(%w: tensor<2xf32>, %rate: tensor<f32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      attributes {adze.holds = "updates", adze.changes = array<i64: 0>} {
    %0 = arith.mulf %w, %x : tensor<2xf32>
    return %0, %rate : tensor<2xf32>, tensor<f32>
  }
}

// CHECK-NOT: adze.held =
// CHECK: util.global private mutable @adze.held.0 = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: util.global private @adze.held.1 = #stream.parameter.named<"model"::"rate"> : tensor<f32>
// CHECK: func.func private @read.held(%{{.*}}: tensor<2xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<2xf32>)
// CHECK: func.func @read(%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: %[[W:.*]] = util.global.load @adze.held.0 : tensor<2xf32>
// CHECK-NEXT: %[[RATE:.*]] = util.global.load @adze.held.1 : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = call @read.held(%[[W]], %[[RATE]], %[[X]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func @step(%{{.*}}: tensor<2xf32>) -> tensor<f32> {
// CHECK: %[[S:.*]]:2 = call @step.held(
// CHECK-NEXT: util.global.store %[[S]]#0, @adze.held.0 : tensor<2xf32>
// CHECK-NEXT: return %[[S]]#1
// CHECK: func.func @state.get() -> tensor<2xf32>
// CHECK: func.func @state.set(%[[NEW:.*]]: tensor<2xf32>) {
// CHECK-NEXT: util.global.store %[[NEW]], @adze.held.0 : tensor<2xf32>
