// The mean of a loss, which only a result needs, waits for the gradient's sum: one message.
// RUN: adze opt %s --pass-pipeline='combine-collectives' | filecheck %s

func.func @f(%loss: tensor<f32>, %slope: tensor<3xf32>, %n: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  %i = "adze.mesh_index"() {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : () -> tensor<i32>
  %0 = "adze.all_reduce"(%loss, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  %1 = "adze.div"(%0, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "adze.sin"(%slope) : (tensor<3xf32>) -> tensor<3xf32>
  %3 = "adze.all_reduce"(%2, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2>} : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  return %1, %3 : tensor<f32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: "adze.sin"
// CHECK: "adze.concatenate"
// CHECK: "adze.all_reduce"({{.*}}-> tensor<4xf32>
// CHECK-NOT: "adze.all_reduce"
// CHECK: "adze.div"
