// The cotangent of what all ranks have the same of goes to the first of them.
// RUN: adze opt %s --pass-pipeline='transpose{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = "adze.unvary"(%x, %i) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<i32>, %arg1: tensor<4x2xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %0 = "adze.vary"(%arg1, %arg0) {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2>} : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %[[IS_FIRST:.*]] = "adze.compare"(%arg0, %{{.*}}) {direction = "EQ"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK: %[[MASK:.*]] = "adze.broadcast_in_dim"(%[[IS_FIRST]]) {dimensions = array<i64>, shape = array<i64: 4, 2>} : (tensor<i1>) -> tensor<4x2xi1>
// CHECK: %[[PART:.*]] = "adze.select"(%[[MASK]], %0, %{{.*}}) : (tensor<4x2xi1>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %[[PART]] : tensor<4x2xf32>
