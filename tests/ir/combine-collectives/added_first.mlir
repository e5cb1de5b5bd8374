// What is summed over the same ranks and then added is added first; a sum that something else needs is not.
// RUN: adze opt %s --pass-pipeline='combine-collectives' | filecheck %s

func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x4xf32>, %c: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %i = "adze.mesh_index"() {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : () -> tensor<i32>
  %0 = "adze.all_reduce"(%a, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  %1 = "adze.add"(%c, %0) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = "adze.all_reduce"(%b, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %3 = "adze.transpose"(%2) {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %4 = "adze.add"(%1, %3) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = "adze.sin"(%4) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %6 = "adze.all_reduce"(%5, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  %7 = "adze.all_reduce"(%6, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  %8 = "adze.add"(%6, %7) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %4, %6, %8 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: %[[B:.*]] = "adze.transpose"(%arg1)
// CHECK: %[[PARTS:.*]] = "adze.add"(%arg0, %[[B]])
// CHECK: %[[SUM:.*]] = "adze.all_reduce"(%[[PARTS]], %{{.*}}) {{.*}}kind = "sum"
// CHECK: "adze.add"(%arg2, %[[SUM]])
// CHECK: %[[NEEDED:.*]] = "adze.all_reduce"({{.*}}kind = "sum"
// CHECK: %[[MOST:.*]] = "adze.all_reduce"(%[[NEEDED]], %{{.*}}) {{.*}}kind = "max"
// CHECK: "adze.add"(%[[NEEDED]], %[[MOST]])
