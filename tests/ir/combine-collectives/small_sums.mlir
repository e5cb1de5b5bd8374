// Two sums wait until one is needed, and are sent in a row; the maximum is of another kind, the last sum comes after.
// RUN: adze opt %s --pass-pipeline='combine-collectives' | filecheck %s

func.func @f(%a: tensor<2x3xf32>, %b: tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %i = "adze.mesh_index"() {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : () -> tensor<i32>
  %0 = "adze.all_reduce"(%a, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = "adze.all_reduce"(%b, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  %2 = "adze.neg"(%b) : (tensor<f32>) -> tensor<f32>
  %3 = "adze.all_reduce"(%2, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  %4 = "adze.neg"(%3) : (tensor<f32>) -> tensor<f32>
  %5 = "adze.all_reduce"(%4, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return %0, %1, %4, %5 : tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @f
// CHECK: %[[MAX:.*]] = "adze.all_reduce"(%arg1, %{{.*}}) {axis = 0 : i64, axis_name = "d", kind = "max"
// CHECK: %[[NEG:.*]] = "adze.neg"(%arg1)
// CHECK: %[[A:.*]] = "adze.reshape"(%arg0) {shape = array<i64: 6>}
// CHECK: %[[B:.*]] = "adze.reshape"(%[[NEG]]) {shape = array<i64: 1>}
// CHECK: %[[ROW:.*]] = "adze.concatenate"(%[[A]], %[[B]])
// CHECK: %[[SUM:.*]] = "adze.all_reduce"(%[[ROW]], %{{.*}}) {axis = 0 : i64, axis_name = "d", kind = "sum"
// CHECK: "adze.slice"(%[[SUM]]) {limit = array<i64: 6>, start = array<i64: 0>
// CHECK: "adze.slice"(%[[SUM]]) {limit = array<i64: 7>, start = array<i64: 6>
// CHECK: "adze.all_reduce"({{.*}}kind = "sum"
// CHECK-NOT: "adze.all_reduce"
