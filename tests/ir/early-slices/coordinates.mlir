// Coordinates of pairs are computed one by one; what a product is made of, and parts that overlap, are left whole.
// RUN: adze opt %s --pass-pipeline='early-slices' | filecheck %s

func.func @areas(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> tensor<5x1xf32> {
  %0 = "adze.sub"(%x, %y) : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %1 = "adze.abs"(%0) : (tensor<5x2xf32>) -> tensor<5x2xf32>
  %2 = "adze.slice"(%1) {limit = array<i64: 5, 1>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<5x1xf32>
  %3 = "adze.slice"(%1) {limit = array<i64: 5, 2>, start = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<5x1xf32>
  %4 = "adze.mul"(%2, %3) : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  return %4 : tensor<5x1xf32>
}

func.func @neighbours(%x: tensor<8xf32>) -> tensor<7xf32> {
  %0 = "adze.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "adze.slice"(%0) {limit = array<i64: 7>, start = array<i64: 0>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<7xf32>
  %2 = "adze.slice"(%0) {limit = array<i64: 8>, start = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<7xf32>
  %3 = "adze.sub"(%2, %1) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %3 : tensor<7xf32>
}

func.func @gates(%x: tensor<3x4xf32>, %w: tensor<4x6xf32>, %b: tensor<3x6xf32>) -> tensor<3x3xf32> {
  %0 = "adze.dot_general"(%x, %w) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  %1 = "adze.add"(%0, %b) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %2 = "adze.tanh"(%1) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %3 = "adze.slice"(%2) {limit = array<i64: 3, 3>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<3x6xf32>) -> tensor<3x3xf32>
  return %3 : tensor<3x3xf32>
}

func.func @used_whole(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = "adze.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "adze.slice"(%0) {limit = array<i64: 4>, start = array<i64: 0>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @areas
// CHECK-DAG: %[[X0:.*]] = "adze.slice"(%arg0) {limit = array<i64: 5, 1>
// CHECK-DAG: %[[Y0:.*]] = "adze.slice"(%arg1) {limit = array<i64: 5, 1>
// CHECK-DAG: "adze.sub"(%[[X0]], %[[Y0]]) : (tensor<5x1xf32>, tensor<5x1xf32>)
// CHECK-DAG: %[[X1:.*]] = "adze.slice"(%arg0) {limit = array<i64: 5, 2>
// CHECK-DAG: %[[Y1:.*]] = "adze.slice"(%arg1) {limit = array<i64: 5, 2>
// CHECK-DAG: "adze.sub"(%[[X1]], %[[Y1]]) : (tensor<5x1xf32>, tensor<5x1xf32>)
// CHECK-NOT: tensor<5x2xf32>) -> tensor<5x2xf32>
// CHECK: return
// CHECK-LABEL: func.func @neighbours
// CHECK: "adze.exp"(%arg0) : (tensor<8xf32>)
// CHECK-NOT: "adze.exp"
// CHECK-LABEL: func.func @gates
// CHECK: %[[SUM:.*]] = "adze.add"
// CHECK: %[[ALL:.*]] = "adze.tanh"(%[[SUM]])
// CHECK: "adze.slice"(%[[ALL]])
// CHECK-LABEL: func.func @used_whole
// CHECK: %[[WHOLE:.*]] = "adze.exp"(%arg0)
// CHECK: "adze.slice"(%[[WHOLE]])
