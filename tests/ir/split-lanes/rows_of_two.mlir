// A scan over rows of two carries a vector for each column; a small array that all rows share is its numbers.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},split-lanes' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},split-lanes{kernels=off}' | filecheck %s --check-prefix=OFF
// RUN: adze opt %s --pass-pipeline='plan{target=rocm:gfx942},split-lanes' | filecheck %s --check-prefix=OFF

func.func @f(%x: tensor<40x2xf32>, %w: tensor<2xf32>) -> (tensor<40x2xf32>, tensor<6x40x2xf32>) {
  %0:2 = "adze.scan"(%w, %x) {body = @exchanged, carry_count = 1 : i64, constant_count = 1 : i64, length = array<i64: 6>, results = [tensor<40x2xf32>, tensor<6x40x2xf32>], reverse = false} : (tensor<2xf32>, tensor<40x2xf32>) -> (tensor<40x2xf32>, tensor<6x40x2xf32>)
  return %0#0, %0#1 : tensor<40x2xf32>, tensor<6x40x2xf32>
}
func.func private @exchanged(%w: tensor<2xf32>, %x: tensor<40x2xf32>) -> (tensor<40x2xf32>, tensor<40x2xf32>) {
  %0 = "adze.reverse"(%x) {axes = array<i64: 1>} : (tensor<40x2xf32>) -> tensor<40x2xf32>
  %1 = "adze.broadcast_in_dim"(%w) {dimensions = array<i64: 1>, shape = array<i64: 40, 2>} : (tensor<2xf32>) -> tensor<40x2xf32>
  %2 = "adze.mul"(%0, %1) : (tensor<40x2xf32>, tensor<40x2xf32>) -> tensor<40x2xf32>
  return %2, %x : tensor<40x2xf32>, tensor<40x2xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: %[[LAST:.*]]:4 = "adze.scan"(
// CHECK-SAME: body = @exchanged_columns, carry_count = 2 : i64, constant_count = 2 : i64
// CHECK-SAME: (tensor<f32>, tensor<f32>, tensor<40xf32>, tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>, tensor<6x40xf32>, tensor<6x40xf32>)
// CHECK: adze.concatenate
// CHECK: adze.concatenate
// CHECK-NOT: func.func private @exchanged(
// CHECK-LABEL: func.func private @exchanged_columns(
// CHECK-SAME: %[[U:.*]]: tensor<f32>, %[[V:.*]]: tensor<f32>, %[[A:.*]]: tensor<40xf32>, %[[B:.*]]: tensor<40xf32>)
// CHECK-DAG: %[[US:.*]] = "adze.broadcast_in_dim"(%[[U]])
// CHECK-DAG: %[[VS:.*]] = "adze.broadcast_in_dim"(%[[V]])
// CHECK-DAG: %[[FIRST:.*]] = "adze.mul"(%[[B]], %[[US]])
// CHECK-DAG: %[[SECOND:.*]] = "adze.mul"(%[[A]], %[[VS]])
// CHECK: return %[[FIRST]], %[[SECOND]], %[[A]], %[[B]]

// OFF: body = @exchanged, carry_count = 1
// OFF: func.func private @exchanged(
// OFF-NOT: @exchanged_columns
