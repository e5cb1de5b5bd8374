// NCCL says nothing of NaN, so a maximum of floats is gathered and computed here; one of integers is NCCL's.
// RUN: adze opt %s --pass-pipeline='direct-collectives{target=cuda:sm_80+nccl}' | filecheck %s

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xi32>) -> (tensor<2x3xf32>, tensor<4xi32>) {
  %i = "adze.mesh_index"() {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : () -> tensor<i32>
  %0 = "adze.all_reduce"(%a, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = "adze.all_reduce"(%b, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2>} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @f
// CHECK: %[[ONE:.*]] = "adze.reshape"(%arg0) {shape = array<i64: 1, 2, 3>}
// CHECK: %[[ALL:.*]] = "adze.all_gather"(%[[ONE]], {{.*}}dim = 0 : i64
// CHECK: %[[MAX:.*]] = "adze.reduce_max"(%[[ALL]]) {axes = array<i64: 0>}
// CHECK: %[[WHOLE:.*]] = "adze.all_reduce"(%arg1, {{.*}}kind = "max"
// CHECK: return %[[MAX]], %[[WHOLE]]
